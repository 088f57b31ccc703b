"""Local arrays of a kernel: each thread keeps only the cells that it uses itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import shapes
from astile.lower.facts import Facts
from astile.lower.indices import Reshape
from astile.lower.kernels.structure import Structure, axis_of, level


@dataclass(frozen=True, eq=False)
class LocalArray:
    """A local array as each thread holds it.

    Args:
        array: its name.
        shape: cells along each axis in the text.
        reshape: indices of the program -> indices of the text; None where they are the same.
    """

    array: str
    shape: tuple[int, ...]
    reshape: Reshape | None


@dataclass(frozen=True)
class _Access:
    """One access: its indices as forms, the thread loops around it, ranges of what is inside."""

    node: ast.Subscript
    forms: tuple[Affine, ...]
    threads: dict[str, ast.For]
    ranges: tuple[Range, ...]


def read(program: Program, structure: Structure, statement: ast.stmt, facts: Facts) -> LocalArray:
    """How each thread holds a local array that the kernel allocates.

    An array allocated inside the thread loops is the thread's own. One allocated outside of
    them belongs to the whole block in the program's order; each thread can keep its part only
    if no other thread uses it, which is so when every access is indexed by all thread
    variables: ``acc[i_1, j_1]``, ``acc[i_1 * 4 + r]``, ``acc[i_1 + 16 * r]``, or both of these.

    Raises:
        LoweringError: when the shape is no literal, or threads would have to share cells.
    """
    made = query.allocation(statement)
    assert made is not None
    accesses = _accesses(structure.root, statement, made.array, facts)
    if not any(each.threads for each in accesses):
        return LocalArray(made.array, shapes.literal(program, statement, facts), None)
    first = accesses[0]
    axes = set(first.threads)
    wide = {axis for axis in structure.wide if axis in axes}
    same = all({a for a in structure.wide if a in each.threads} == wide for each in accesses)
    if not same or not set(structure.wide) <= axes:
        _refuse(program, statement, made.array)
    part: dict[int, _Part] = {}
    for axis in wide:
        found = _part_of(axis, accesses, set(part), structure.threads[axis])
        if found is None:
            _refuse(program, statement, made.array)
        assert found is not None
        part[found[0]] = found[1]
    if _is_used_whole(structure.root, made.array):
        _refuse(program, statement, made.array)
    shape = [facts.number(each) for each in made.shape or ()]
    told = {k for k, each in part.items() if not each.has_turns}  # whatever the extent
    if any(
        (n is None and k not in told) or (n is not None and n <= 0) for k, n in enumerate(shape)
    ):
        shapes.literal(program, statement, facts)
    reshape, kept = _reshape(part, [each or 1 for each in shape], accesses, facts)
    return LocalArray(made.array, kept, reshape)


def _refuse(program: Program, statement: ast.stmt, array: str) -> None:
    raise LoweringError(
        f"{array} is local, but threads of one block would share its cells",
        code="lowering.allocation",
        span=program.source.span(statement),
        notes=["each thread has local memory of its own"],
        hints=[
            f"s.set_scope({array!r}, 'shared'), or allocate it inside the thread loops, or "
            "index it by every thread variable",
        ],
    )


def _is_used_whole(root: ast.For, array: str) -> bool:
    """Whether the array is read other than cell by cell, such as as an argument."""
    reads = sum(
        isinstance(node, ast.Name) and node.id == array and isinstance(node.ctx, ast.Load)
        for node in ast.walk(root)
    )
    return reads != len(query.accesses(root, array))


def _accesses(root: ast.For, home: ast.stmt, array: str, facts: Facts) -> list[_Access]:
    """The accesses of an array, with the thread loops between its allocation and each."""
    found: list[_Access] = []
    start = query.find_place(root, home)
    outside = {id(root), *(map(id, start.loops) if start is not None else ())}

    def walk(node: ast.AST, loops: tuple[ast.For, ...]) -> None:
        if isinstance(node, ast.For):
            loops = (*loops, node)
        expressions = [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.stmt)]
        for each in expressions:
            for access in query.accesses(each, array):
                inner = [loop for loop in loops if id(loop) not in outside]
                threads = {axis_of(e): e for e in inner if level(e) == "thread"}
                ranges = tuple(
                    r
                    for e in inner
                    if level(e) != "thread" and (r := intervals.range_of(e)) is not None
                )
                forms = tuple(facts.form(index) for index in query.indices(access))
                found.append(_Access(access, forms, threads, ranges))
        for body in query.bodies(node):
            for each_statement in body:
                walk(each_statement, loops)

    walk(root, ())
    return found


@dataclass(frozen=True)
class _Part:
    """A dimension split among threads: ``index = (turn * threads + thread) * width + rest``.

    Args:
        axis: of the threads.
        width: neighbouring cells of one thread.
        threads: along the axis.
        has_turns: whether a thread has cells further on, too.
    """

    axis: str
    width: int
    threads: int
    has_turns: bool

    def own(self, form: Affine) -> tuple[Affine, Affine]:
        """An index, less the term of the thread, as the turn times the width, and the rest."""
        whole = self.width * self.threads
        turns = affine.constant(form.constant // whole * self.width)
        rest = affine.constant(form.constant % whole)
        for key, (coefficient, atom) in form.terms.items():
            if coefficient % whole:
                rest = rest + Affine({key: (coefficient, atom)})
            else:
                turns = turns + Affine({key: (coefficient // self.threads, atom)})
        return turns, rest

    def cells(self, size: int) -> int:
        """How many of the cells of a dimension each thread keeps."""
        whole = self.width * self.threads
        return -(-size // whole) * self.width if self.has_turns else self.width


def _part_of(
    axis: str, accesses: Sequence[_Access], taken: set[int], extent: int
) -> tuple[int, _Part] | None:
    """The dimension that tells the threads along an axis apart, and how."""
    for dimension in range(len(accesses[0].forms)):
        if dimension in taken:
            continue
        width = accesses[0].forms[dimension].coefficient(_variable(accesses[0], axis))
        candidate = _Part(axis, width, extent, False)
        if width > 0 and all(_fits(each, dimension, candidate) for each in accesses):
            turns = [candidate.own(_rest(each, dimension, axis))[0] for each in accesses]
            return dimension, replace(candidate, has_turns=any(t.value != 0 for t in turns))
    return None


def _variable(access: _Access, axis: str) -> str:
    header = query.header(access.threads[axis])
    assert header is not None
    return header.variable


def _rest(access: _Access, dimension: int, axis: str) -> Affine:
    return access.forms[dimension].without(_variable(access, axis))


def _fits(access: _Access, dimension: int, part: _Part) -> bool:
    """Whether the index of an access belongs to the thread that runs it."""
    if dimension >= len(access.forms):
        return False
    header = query.header(access.threads[part.axis])
    assert header is not None
    if not query.is_constant(header.start, 0) or not query.is_constant(header.step, 1):
        return False
    rest = _rest(access, dimension, part.axis)
    if rest.names() & {_variable(access, axis) for axis in access.threads}:
        return False
    _, inner = part.own(rest)
    return (
        access.forms[dimension].coefficient(header.variable) == part.width
        and intervals.is_nonnegative(inner, access.ranges)
        and intervals.is_nonnegative(affine.constant(part.width - 1) - inner, access.ranges)
    )


def _reshape(
    parts: dict[int, _Part],
    shape: Sequence[int],
    accesses: Sequence[_Access],
    facts: Facts,
) -> tuple[Reshape, tuple[int, ...]]:
    cells = {k: part.cells(shape[k]) for k, part in parts.items()}
    kept = [n for k, size in enumerate(shape) if (n := cells.get(k, size)) > 1 or k not in cells]
    variables = {_variable(access, axis) for access in accesses for axis in access.threads}

    def reshape(indices: Sequence[ast.expr]) -> list[ast.expr]:
        made: list[ast.expr] = []
        for dimension, index in enumerate(indices):
            part = parts.get(dimension)
            if part is None:
                made.append(nodes.clone(index))
            elif cells[dimension] > 1:
                rest = facts.form(index)
                for variable in variables:
                    rest = rest.without(variable)
                turns, inner = part.own(rest)
                made.append((turns + inner).expression())
        return made or [nodes.const(0)]

    return reshape, tuple(kept) or (1,)
