"""Loops over the lanes of a vector, and loops that are written out, in CUDA text.

``for v in vector(4): tile[i, j * 4 + v] = A[k, n * 4 + v]`` becomes one load and one store of 16
bytes. What is not neighbouring is accessed lane by lane, and a loop that has no form of this kind
stays a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from astile.analysis.forms import affine
from astile.analysis.reading.fragments import Product
from astile.analysis.reading.hardware import is_cooperative
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import bounds, flow
from astile.lower.assemble import Frame
from astile.lower.facts import Facts
from astile.lower.indices import IndexWriter
from astile.lower.kernels.structure import level
from astile.lower.layouts import Layout
from astile.lower.types import dtypes

#: Bytes that one instruction loads or stores at most, and at least to be worth a form of its own.
_MOST_BYTES, _LEAST_BYTES = 16, 8
#: The numbers of lanes that there are functions for.
_LANES = (2, 4, 8)
#: The most statements that a loop becomes when it is written out.
_MOST_STATEMENTS = 256
#: Nests of no more iterations are unrolled by the compiler itself, which takes less time.
_LEFT_TO_COMPILER = 128


def written_out(loop: ast.For, writer: IndexWriter) -> list[list[ast.stmt]] | None:
    """The iterations of an unrolled loop one after the other; None for what stays a loop.

    Args:
        loop: of any kind.
        writer: rewrites expressions where the loop stands.
    """
    return _turns(loop, writer.inner) if _iterations(loop) > _LEFT_TO_COMPILER else None


def phases_written_out(program: Program) -> Program:
    """The program with unrolled loops around loops over threads written out.

    Barriers stand in each iteration for itself, and slots of tiles have numbers.

    Args:
        program: it is not changed.
    """
    loops = [e for e in query.loops(program.function) if _has_phases(e) and _is_unrolled(e)]
    if not loops:
        return program
    made = program.cloned()
    outside = bounds.variables_read_outside(program.function)
    inner = {n for each in loops for n in query.names_written(each.target)} - outside
    for statement in query.statements(made.function):
        for body in query.bodies(statement):
            body[:] = [part for each in body for part in _parts(each, inner)]
    return made


def _has_phases(loop: ast.For) -> bool:
    return any(level(each) == "thread" for each in query.loops(loop))


def _is_unrolled(loop: ast.For) -> bool:
    header = query.header(loop)
    return header is not None and header.kind == "unroll"


def _parts(statement: ast.stmt, inner: Collection[str]) -> list[ast.stmt]:
    """The iterations of an unrolled loop around loops over threads; other statements as they are.

    Args:
        statement: any.
        inner: variables that may be replaced by numbers.
    """
    if not isinstance(statement, ast.For) or not _has_phases(statement):
        return [statement]
    turns = _turns(statement, inner)
    return [statement] if turns is None else [part for each in turns for part in each]


def _turns(loop: ast.For, inner: Collection[str]) -> list[list[ast.stmt]] | None:
    """The iterations of an unrolled loop; None where it must stay one, or becomes too long.

    Args:
        loop: of any kind.
        inner: variables that nothing reads outside of their loops.
    """
    header = query.header(loop)
    if header is None or not _is_unrolled(loop) or loop.orelse or header.variable not in inner:
        return None
    count = _count(loop)
    if count is None or any(map(flow.has_jump, loop.body)):
        return None
    if any(map(query.is_allocation, query.statements(loop))):
        return None
    statements = sum(1 for each in loop.body for _ in query.statements(each))
    if count * statements > _MOST_STATEMENTS or _is_assigned(loop.body, header.variable):
        return None
    return [_iteration(loop.body, header.variable, value) for value in range(count)]


def _count(loop: ast.For) -> int | None:
    header = query.header(loop)
    assert header is not None
    if not query.is_constant(header.start, 0) or not query.is_constant(header.step, 1):
        return None
    return query.integer(header.stop)


def _iterations(statement: ast.stmt) -> int:
    """How often the innermost statements of a nest run, as far as it is literal."""
    inner = max((_iterations(e) for body in query.bodies(statement) for e in body), default=1)
    if not isinstance(statement, ast.For) or query.header(statement) is None:
        return inner
    return inner * (_count(statement) or 1)


def _is_assigned(body: Sequence[ast.stmt], variable: str) -> bool:
    return any(variable in query.names_written(each) for each in body)


def _iteration(body: Sequence[ast.stmt], variable: str, value: int) -> list[ast.stmt]:
    made = [nodes.substitute(each, {variable: nodes.const(value)}) for each in body]
    for statement in made:
        for access in query.accesses(statement):
            _simplify(access)
    return made


def _simplify(access: ast.Subscript) -> None:
    """Indices as they are best read, in place."""
    walk: ast.expr = access
    while isinstance(walk, ast.Subscript):
        if isinstance(walk.slice, ast.Tuple):
            walk.slice.elts = [affine.simplified(each) for each in walk.slice.elts]
        elif not isinstance(walk.slice, ast.Slice):
            walk.slice = affine.simplified(walk.slice)
        walk = walk.value


@dataclass(frozen=True)
class Form:
    """A loop over the lanes of a vector as statements.

    Args:
        statements: do what the loop does.
        test: where this holds; None where they always do.
    """

    statements: list[ast.stmt]
    test: ast.expr | None = None


@dataclass(frozen=True)
class _Lanes:
    """One loop over the lanes of a vector.

    Args:
        loop: the loop.
        writer: rewrites expressions in its body.
        variable: of the loop.
        count: its iterations.
    """

    loop: ast.For
    writer: IndexWriter
    variable: str
    count: int | None

    def form(self) -> Form | None:
        """The loop without a loop; None where it has no such form."""
        if self.writer.layout is None or self.count not in _LANES or self.loop.orelse:
            return None
        guard = query.only_statement(self.loop.body)
        if not isinstance(guard, ast.If):
            made = self._statements(self.loop.body)
            return None if made is None else Form(made)
        tests = [] if guard.orelse else [self._for_all(e) for e in bounds.conjuncts(guard.test)]
        known = [each for each in tests if each is not None]
        if not known or len(known) < len(tests):
            return None
        test = nodes.conjunction(known)
        inside = replace(self, writer=self.writer.under(test))
        made = inside._statements(guard.body)
        return None if made is None else Form(made, self.writer.condition(test))

    def _for_all(self, condition: ast.expr) -> ast.expr | None:
        """A condition that holds where one holds in all iterations; None where there is none."""
        form = bounds.nonnegative_form(condition, self.writer.facts)
        if (
            form is None
            or self.count is None
            or form.without(self.variable).mentions(self.variable)
        ):
            return None
        lane = 0 if form.coefficient(self.variable) > 0 else self.count - 1
        return nodes.substitute(condition, {self.variable: nodes.const(lane)})

    def _statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        if not all(isinstance(each, ast.Assign) and len(each.targets) == 1 for each in body):
            return None
        assignments = [each for each in body if isinstance(each, ast.Assign)]
        if not all(isinstance(each.targets[0], ast.Subscript) for each in assignments):
            return None
        if not any(self.is_wide(each) for s in assignments for each in query.accesses(s)):
            return None
        return [made for each in assignments for made in self._statement(each)]

    def _statement(self, statement: ast.Assign) -> Iterator[ast.stmt]:
        target = statement.targets[0]
        assert isinstance(target, ast.Subscript)
        value, lanes = statement.value, range(self.count or 0)
        if not (isinstance(value, ast.Subscript) and self.is_wide(value)):
            parts: list[ast.expr] = [self._lane(value, k) for k in lanes]
            values: ast.expr = nodes.tuple_of(parts)
        elif self.is_wide(target):
            values = self._call("load", value, [])
        else:
            assert self.writer.layout is not None
            fresh, base = self.writer.layout.fresh, query.base_name(value)
            names = [fresh(f"{base}_lane_{k}") for k in lanes]
            every = nodes.tuple_of([nodes.target(each) for each in names])
            every.ctx = ast.Store()
            yield nodes.assign(every, self._call("load", value, []))
            parts = [nodes.name(each) for each in names]
        if self.is_wide(target):
            yield ast.Expr(self._call("store", target, [values]))
            return
        for lane, part in zip(lanes, parts, strict=True):
            yield nodes.assign(self._lane(target, lane), part)

    def _lane(self, expression: ast.expr, lane: int) -> ast.expr:
        """An expression in one iteration of the loop."""
        made = nodes.substitute(expression, {self.variable: nodes.const(lane)})
        for access in query.accesses(made):
            _simplify(access)
        return self.writer.value(made)

    def _load(self, access: ast.Subscript) -> ast.expr:
        return self._call("load", access, [])

    def _call(self, word: str, access: ast.Subscript, rest: Sequence[ast.expr]) -> ast.Call:
        """``load4(array, (i, j))`` or ``store4(array, (i, j), values)``."""
        layout, base = self.writer.layout, query.base_name(access)
        assert layout is not None
        assert base is not None
        size = layout.sizes[base] * (self.count or 0)
        layout.wide[base] = max(size, layout.wide.get(base, 0))
        first = self._lane(access, 0)
        index = nodes.tuple_of(query.indices(first))  # type: ignore[arg-type]
        name = layout.word(f"{word}{self.count}")
        return nodes.call(name, [nodes.name(base), index, *rest])

    def is_wide(self, access: ast.Subscript) -> bool:
        """Whether the lanes of an access are neighbours, and the first at a multiple of them."""
        layout, base = self.writer.layout, query.base_name(access)
        if layout is None or base is None or base in layout.local or self.count is None:
            return False
        size = layout.sizes.get(base, 0) * self.count
        if not _LEAST_BYTES <= size <= _MOST_BYTES or size % _LEAST_BYTES:
            return False
        if base in layout.shared and layout.shared[base][-1] % self.count:
            return False
        checks = self.writer.checks
        if checks is not None and base in (*checks.arrays, *(each[0] for each in checks.negative)):
            return False
        *outer, last = query.indices(access)
        if any(self.variable in query.names(each) for each in outer) or self._is_odd(access):
            return False
        form = self.writer.facts.form(last)
        rest = form.without(self.variable)
        numbers = (*rest.coefficients.values(), rest.constant)
        return (
            form.coefficient(self.variable) == 1
            and not rest.mentions(self.variable)
            and all(each % self.count == 0 for each in numbers)
        )

    def _is_odd(self, access: ast.Subscript) -> bool:
        """Whether an index is none of one cell."""
        odd = (ast.Slice, ast.Starred)
        return any(
            isinstance(each, odd) or not self.writer.facts.is_integer(each)
            for each in query.indices(access)
        )


def lanes_of(loop: ast.For, writer: IndexWriter) -> Form | None:
    """A loop over the lanes of a vector without the loop; None for what stays a loop.

    Args:
        loop: of any kind.
        writer: rewrites expressions where the loop stands.
    """
    header = query.header(loop)
    if header is None or header.kind != "vector" or header.variable not in writer.inner:
        return None
    return _Lanes(loop, writer.inside(loop), header.variable, _count(loop)).form()


def lanes_for(loop: ast.For, writer: IndexWriter) -> int | None:
    """How many neighbours the widest access moves of all arrays in a loop; None without one.

    Args:
        loop: of any kind.
        writer: rewrites expressions where the loop stands.
    """
    layout = writer.layout
    if layout is None:
        return None
    bases = {query.base_name(each) for each in query.accesses(loop)}
    sizes = [layout.sizes.get(each or "", 0) for each in bases]
    if not sizes or not all(sizes):
        return None
    count = _MOST_BYTES // max(sizes)
    return count if count in _LANES else None


def moves_whole(loop: ast.For, writer: IndexWriter) -> bool:
    """Whether a loop over lanes becomes accesses of several cells, and no others.

    Args:
        loop: of kind ``vector``.
        writer: rewrites expressions where the loop stands.
    """
    header = query.header(loop)
    if header is None or writer.layout is None:
        return False
    lanes = _Lanes(loop, writer.inside(loop), header.variable, _count(loop))
    body = [each for each in query.statements(loop) if not query.bodies(each)]
    found = [each for statement in body for each in query.accesses(statement)]
    if not found or not all(map(lanes.is_wide, found)):
        return False
    return lanes_of(loop, writer) is not None


def layout_of(
    program: Program,
    root: ast.For,
    facts: Facts,
    types: Mapping[str, str],
    frame: Frame,
    product: Callable[[ast.For], Product | None],
) -> Layout | None:
    """What is known of the arrays of a nest; None where no loop may move several cells at a time.

    Args:
        program: the whole program.
        root: the nest that becomes a kernel.
        facts: the program's integers.
        types: array parameter -> name of its dtype.
        frame: the names of the module.
        product: a loop -> the products in it that matrix units compute.
    """
    kinds = ("vector", *query.MATRIX_WORDS)
    headers = map(query.header, query.loops(root))
    if not any(each is not None and each.kind in kinds for each in headers) and not any(
        map(is_cooperative, query.loops(root))
    ):
        return None
    made = [m for s in query.statements(root) if (m := query.allocation(s)) is not None]
    shared = {
        each.array: tuple(facts.number(extent) or 0 for extent in each.shape or ())
        for each in made
        if each.scope == "shared"
    }
    return Layout(
        dtypes.element_sizes(program, types),
        shared,
        frozenset(each.array for each in made if each.scope == "local"),
        lambda name: frame.word(f"astile.intrinsics.cuda.{name}"),
        lambda name: frame.word(f"astile.intrinsics.matrix_units.{name}"),
        frame.fresh,
        product,
    )
