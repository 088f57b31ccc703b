"""Local arrays that are kept in registers: all their cells are known when the text is written."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import flow
from astile.lower.facts import Facts
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import NARROW, native
from astile.lower.vectors.unrolled import is_vector
from astile.lower.vectors.words import Words

#: Most names that one array may become.
_MOST = 64


@dataclass(frozen=True)
class Strip:
    """A vector loop whose iterations are known.

    Args:
        variable: of the loop.
        starts: its value in the first lane of each vector.
        lanes: of a vector.
    """

    variable: str
    starts: tuple[Affine, ...]
    lanes: int


@dataclass(frozen=True)
class Register:
    """An array in registers.

    Args:
        dtype: name of the type of its cells.
        lanes: cells of one name, side by side along the last axis; 0 where each has its own.
        is_zero: whether its cells start as 0; otherwise they hold nothing at the start.
        is_apart: whether cells are used outside of vector loops.
        names: first cell -> the name that holds it.
    """

    dtype: str
    lanes: int
    is_zero: bool
    is_apart: bool
    names: Mapping[tuple[int, ...], str]

    def name_at(self, cell: Sequence[int]) -> tuple[str, int] | None:
        """The name that holds a cell, and its lane."""
        step = max(self.lanes, 1)
        first = (*cell[:-1], cell[-1] // step * step)
        name = self.names.get(first)
        return None if name is None else (name, cell[-1] % step)


#: The vectors of a loop, where it is one of vectors whose iterations are known.
Strips = Callable[[ast.For], Strip | None]


def find(
    function: ast.FunctionDef, facts: Facts, kinds: Kinds, strips: Strips, words: Words
) -> dict[str, Register]:
    """The local arrays that registers can hold.

    Every access names cells that are known: indices are literal, and the last one may be the
    variable of a vector loop as well, if each of its vectors is a whole part of a row.

    Args:
        function: the tree, its loops over rows written out.
        facts: its integer names.
        kinds: of its arrays.
        strips: the vectors of a vector loop.
        words: for the names.
    """
    uses = _Uses(facts, strips)
    uses.body(function.body, ())
    found = {}
    for array, allocations in uses.made.items():
        made, lanes = allocations[0], uses.lanes.get(array, set())
        dtype = native(kinds.arrays.get(array) or "") or None
        shape = [facts.number(each) for each in made.shape or ()]
        sizes = [each for each in shape if each is not None and each > 0]
        if array in uses.unknown or dtype is None or len(sizes) != len(shape) or not shape:
            continue
        known = uses.counted.get(array, 0) + len(allocations)
        if len(lanes) > 1 or _mentions(function, array) != known:
            continue
        if not all(_is_like(made, each) for each in allocations):
            continue
        width = lanes.pop() if lanes else 0
        if (width and sizes[-1] % width) or (width and array in uses.stored_cells):
            continue
        names = _names(array, sizes, width, words)
        if names is None:
            continue
        is_apart = array in uses.used_cells
        register = Register(dtype, width, made.word == "zeros", is_apart, names)
        if all(map(register.name_at, uses.cells.get(array, ()))):
            found[array] = register
    return found


def is_enough(program: Program) -> bool:
    """Whether no vector loop is left in a program, and no local array of literal size.

    Args:
        program: its vector loops written as operations of vectors, where they fit.
    """
    function = program.function
    for made in map(query.allocation, query.statements(function)):
        shape = made.shape if made is not None and made.scope == "local" else None
        if shape is not None and all(query.integer(each) is not None for each in shape):
            return False
    return not any(map(is_vector, query.loops(function)))


def _mentions(function: ast.FunctionDef, array: str) -> int:
    """How often the name of an array stands in a function."""
    return sum(isinstance(n, ast.Name) and n.id == array for n in query.preorder(function))


def _is_like(one: query.Allocation, other: query.Allocation) -> bool:
    return one.word == other.word and nodes.same(
        [*(one.shape or ()), one.dtype], [*(other.shape or ()), other.dtype]
    )


def _names(
    array: str, shape: Sequence[int], lanes: int, words: Words
) -> dict[tuple[int, ...], str] | None:
    counts = [*shape[:-1], shape[-1] // max(lanes, 1)]
    every = list(itertools.product(*map(range, counts)))
    if len(every) > _MOST:
        return None
    return {
        (*each[:-1], each[-1] * max(lanes, 1)): words.fresh("_".join(map(str, (array, *each))))
        for each in every
    }


class _Uses:
    """What is done with the local arrays of a program."""

    def __init__(self, facts: Facts, strips: Strips) -> None:
        self.made: dict[str, list[query.Allocation]] = {}
        self.unknown: set[str] = set()
        self.lanes: dict[str, set[int]] = {}
        self.cells: dict[str, list[tuple[int, ...]]] = {}
        self.stored_cells: set[str] = set()
        self.used_cells: set[str] = set()
        self.counted: dict[str, int] = {}
        self._facts = facts
        self._strips = strips

    def body(self, body: Sequence[ast.stmt], strips: tuple[Strip, ...]) -> None:
        """Read statements inside vector loops, of which there is one at most."""
        for statement in body:
            made = query.allocation(statement)
            if made is not None and made.word in ("empty", "zeros") and made.scope == "local":
                if strips:
                    self.unknown.add(made.array)
                self.made.setdefault(made.array, []).append(made)
                continue
            inner = strips
            if isinstance(statement, ast.For):
                strip = self._strips(statement)
                inner = strips if strip is None else (*strips, strip)
            for access in _own_accesses(statement):
                self._access(access, strips)
            for each in query.bodies(statement):
                self.body(each, inner)

    def _access(self, access: ast.Subscript, strips: tuple[Strip, ...]) -> None:
        array = query.base_name(access) or ""
        self.counted[array] = self.counted.get(array, 0) + 1
        cells, strip = cells_of(access, strips, self._facts)
        if cells is None:
            self.unknown.add(array)
            return
        self.cells.setdefault(array, []).extend(cells)
        if strip is not None:
            self.lanes.setdefault(array, set()).add(strip.lanes)
            if any(cell[-1] % strip.lanes for cell in cells):
                self.unknown.add(array)
            return
        self.used_cells.add(array)
        if isinstance(access.ctx, ast.Store):
            self.stored_cells.add(array)


def cells_of(
    access: ast.Subscript, strips: Sequence[Strip], facts: Facts
) -> tuple[list[tuple[int, ...]] | None, Strip | None]:
    """The cells that an access names, the first of each vector; None where they are not known."""
    forms = [facts.form(each) for each in query.indices(access)]
    strip = next((e for e in strips if any(form.mentions(e.variable) for form in forms)), None)
    if strip is None:
        values = [form.value for form in forms]
        known = tuple(each for each in values if each is not None)
        return ([known], None) if len(known) == len(values) else (None, None)
    if forms[-1].coefficient(strip.variable) != 1:
        return None, strip
    found = []
    for start in strip.starts:
        values = [form.substituted({strip.variable: start}).value for form in forms]
        known = tuple(each for each in values if each is not None)
        if len(known) != len(values) or any(f.mentions(strip.variable) for f in forms[:-1]):
            return None, strip
        found.append(known)
    return found, strip


def _own_accesses(statement: ast.stmt) -> Iterator[ast.Subscript]:
    """Accesses in a statement, those of statements inside it left out; updates count once."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, (ast.expr, ast.withitem)):
            yield from query.accesses(child)


def replaced(
    node: ast.expr, registers: Mapping[str, Register], facts: Facts, words: Words
) -> ast.expr:
    """An expression outside vector loops, with cells in registers by their names.

    Args:
        node: it is not changed.
        registers: the arrays.
        facts: integer names.
        words: for the function that takes one lane of a vector.
    """
    if isinstance(node, ast.Subscript) and query.base_name(node) in registers:
        return _cell(node, registers[query.base_name(node) or ""], facts, words)
    made = nodes.blank(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr):
            setattr(made, name, replaced(value, registers, facts, words))
        elif isinstance(value, list):
            parts = [
                replaced(e, registers, facts, words) if isinstance(e, ast.expr) else e
                for e in value
            ]
            setattr(made, name, parts)
        else:
            setattr(made, name, nodes.clone(value) if isinstance(value, ast.AST) else value)
    return made


def _cell(node: ast.Subscript, register: Register, facts: Facts, words: Words) -> ast.expr:
    (cells, _) = cells_of(node, (), facts)
    assert cells is not None
    found = register.name_at(cells[0])
    assert found is not None
    name, lane = found
    if isinstance(node.ctx, ast.Store):
        return nodes.target(name)
    if not register.lanes:
        return nodes.name(name)
    return nodes.call(words.intrinsic("lane"), [nodes.name(name), nodes.const(lane)])


def with_names(
    statement: ast.stmt,
    held: Mapping[str, Register],
    facts: Facts,
    kinds: Kinds,
    words: Words,
) -> ast.stmt:
    """A statement outside vector loops, with cells in registers by their names.

    A name takes what it is given as it is, so values get the type of the array first.

    Args:
        statement: what it holds itself is edited, not the statements inside it.
        held: the arrays in registers.
        facts: integer names.
        kinds: of the program's names.
        words: for functions and types.
    """
    made = _typed(statement, held, kinds, words)
    for name, value in ast.iter_fields(made):
        if isinstance(value, ast.expr):
            setattr(made, name, replaced(value, held, facts, words))
        elif isinstance(value, list) and value and isinstance(value[0], ast.expr):
            setattr(made, name, [replaced(each, held, facts, words) for each in value])
    return made


def _typed(
    statement: ast.stmt, held: Mapping[str, Register], kinds: Kinds, words: Words
) -> ast.stmt:
    """An assignment to a cell in a register, its value in the type of the array."""
    if isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value  # type: ignore[assignment]
    else:
        return statement
    register = (
        held.get(query.base_name(target) or "") if isinstance(target, ast.Subscript) else None
    )
    if register is None:
        return statement
    if isinstance(statement, ast.AugAssign):
        value = nodes.binary(nodes.as_load(target), type(statement.op), value)
    cast = nodes.call(words.dtype(register.dtype), [value])
    is_same = native(kinds.of(value) or "") == register.dtype and register.dtype not in NARROW
    made = nodes.assign(target, value if is_same else cast)
    for comment in nodes.comments(statement):
        nodes.add_comment(made, comment)
    return nodes.copy_place(statement, made)


def cleared(register: Register, rest: Sequence[ast.stmt], words: Words) -> list[ast.stmt]:
    """A start value for each name that may be read before it is set.

    Args:
        register: the array that names hold.
        rest: the statements from where the array was made.
        words: for functions and types.
    """
    exposed = flow.exposed(rest)
    zero = nodes.call(words.dtype(register.dtype), [nodes.const(0)])
    if register.lanes:
        zero = nodes.call(words.intrinsic("splat"), [zero, nodes.const(register.lanes)])
    names = [each for each in register.names.values() if each in exposed]
    return [nodes.assign(each, nodes.clone(zero)) for each in names]
