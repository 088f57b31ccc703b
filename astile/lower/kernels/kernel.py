"""One nest to the body of one CUDA kernel."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from astile.analysis.forms import affine
from astile.analysis.reading import hardware
from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import bounds, flow
from astile.lower.checks import Checks
from astile.lower.facts import Facts
from astile.lower.indices import Casts, IndexWriter
from astile.lower.kernels import emit, matrix_units, restrictions, structure
from astile.lower.kernels.ahead import Ahead
from astile.lower.kernels.declarations import Declarations
from astile.lower.kernels.lanes import Lanes
from astile.lower.kernels.memory import Piece
from astile.lower.kernels.plan import BarrierPlan
from astile.lower.kernels.sharing import Sharing
from astile.lower.kernels.structure import Structure
from astile.lower.layouts import Layout


@dataclass(frozen=True)
class Words:
    """Names that a kernel's text uses for what it imports, and what it knows of the arrays.

    Args:
        cuda: ``numba.cuda``.
        numpy: ``numpy``.
        casts: the integer types.
        fresh: makes names that are free in the text; the same one whenever the same is wanted.
        checks: how indices are checked.
        layout: of the arrays.
    """

    cuda: str
    numpy: str
    casts: Casts
    fresh: Callable[[str], str]
    checks: Checks | None = None
    layout: Layout | None = None
    piece: Piece | None = None


@dataclass(frozen=True)
class Place:
    """Where emitted statements stand.

    Args:
        writer: rewrites expressions here.
        axes: thread axes whose loops are around.
        phase: whether a thread loop is around, so that no barrier can stand here.
    """

    writer: IndexWriter
    axes: frozenset[str] = frozenset()
    phase: bool = False


class KernelBody:
    """Builds the statements of one kernel.

    Args:
        program: the whole program.
        kernel: the structure of the nest.
        facts: the program's integers.
        plan: where barriers stand.
        words: names of the text.
        dtypes: array -> the text of its dtype, for allocations like another array's.
        lanes: writes reductions that warps share; None where sums must keep their order.
        ahead: the copies that run beside the computation.
    """

    def __init__(
        self,
        program: Program,
        kernel: Structure,
        facts: Facts,
        plan: BarrierPlan,
        words: Words,
        dtypes: Mapping[str, ast.expr],
        lanes: Lanes | None = None,
        ahead: Ahead | None = None,
    ) -> None:
        self.program, self.kernel, self.facts, self.lanes = program, kernel, facts, lanes
        self.plan, self.words, self.ahead = plan, words, ahead or Ahead()
        self.private = emit.private_arrays(program, kernel, facts)
        self.declared = Declarations(program, facts, self.private, words.cuda, dtypes)
        self.local = {
            made.array
            for s in query.statements(kernel.root)
            if (made := query.allocation(s)) is not None and made.scope == "local"
        }
        self.sharing = Sharing(kernel, words.casts, words.cuda, words.fresh)
        self.hoisted: set[str] = set()
        self.thread_reads: list[ast.stmt] = []

    def build(self) -> list[ast.stmt]:
        """The statements of the kernel."""
        reshaped = {n: a.reshape for n, a in self.private.items() if a.reshape is not None}
        writer = IndexWriter(
            self.facts,
            emit.unsigned_names(self.kernel.root, self.facts, self.words.layout),
            self.words.casts,
            reshaped,
            checks=self.words.checks,
            layout=self.words.layout,
            inner=self._inner(),
        )
        self.thread_reads = self._thread_reads(writer)
        body = [] if self.kernel.blocks else self.thread_reads
        body += self._statement(self.kernel.root, Place(writer))
        layout = self.words.layout
        is_wide = layout is not None and bool(layout.wide)
        top = self.declared.statements(self.words.piece, is_aligned=is_wide)
        parts = {} if layout is None else layout.parts
        top += matrix_units.declared(parts, self.words.cuda, self.words.numpy)
        if self.lanes is not None:
            top += self.lanes.reads(always=bool(parts))
        return [*top, *self.sharing.reads(), *body]

    def _inner(self) -> frozenset[str]:
        """Variables of the kernel's loops that nothing reads outside of their loops."""
        names = {
            n for each in query.loops(self.kernel.root) for n in query.names_written(each.target)
        }
        return frozenset(names - bounds.variables_read_outside(self.program.function))

    # --- uniform places -------------------------------------------------------------------------

    def _body(self, body: Sequence[ast.stmt], place: Place) -> list[ast.stmt]:
        return [made for each in body for made in self._with_barrier(each, place)]

    def _with_barrier(self, statement: ast.stmt, place: Place) -> Iterator[ast.stmt]:
        comment = self.ahead.barrier(statement, self.plan.before.get(statement))
        yield from self._barrier(comment, statement, place)
        yield from self.ahead.written(statement, self._statement(statement, place))

    def _barrier(
        self, comment: str | None, statement: ast.stmt, place: Place
    ) -> Iterator[ast.stmt]:
        if comment is None or not self.kernel.wide:
            return
        if place.phase:
            self._no_barrier(statement, comment)
        yield from self.ahead.waits(statement)
        sync = ast.Expr(nodes.call(f"{self.words.cuda}.syncthreads"))
        nodes.add_comment(sync, comment)
        yield sync

    def _no_barrier(self, statement: ast.stmt, comment: str) -> None:
        raise LoweringError(
            "a barrier is needed where not all threads of the block come by",
            code="lowering.barrier",
            span=self.program.source.span(statement),
            notes=[f"it separates: {comment}", "the statement stands inside a loop over threads"],
            hints=["reorder so that the loops over threads are innermost, or distribute them"],
        )

    def _statement(self, statement: ast.stmt, place: Place) -> Iterator[ast.stmt]:
        if query.is_allocation(statement):
            self.declared.add(statement, in_phase=place.phase)
        elif isinstance(statement, ast.For) and structure.level(statement) == "block":
            yield from self._block_loop(statement, place)
        elif isinstance(statement, ast.For) and structure.level(statement) == "thread":
            yield from self._thread_loop(statement, place)
        elif self._is_shared(statement, place):
            assert isinstance(statement, ast.For)
            made = self.sharing.written(statement, place.writer)
            self._declare_inside(statement, made, place)
            yield from made
        elif self._is_opened(statement, place):
            yield from self._opened(statement, place)
        else:
            yield from self._closed(statement, place)

    def _block_loop(self, loop: ast.For, place: Place) -> Iterator[ast.stmt]:
        yield self._index_read(loop, "blockIdx", place.writer)
        if not any(structure.level(e) == "block" for e in query.loops(loop) if e is not loop):
            yield from self.thread_reads
        inner = replace(place, writer=place.writer.inside(loop))
        yield from self._body(loop.body, inner)

    def _index_read(self, loop: ast.For, unit: str, writer: IndexWriter) -> ast.stmt:
        """``i_0 = uint32(cuda.blockIdx.x)``, scaled where the loop starts or steps otherwise."""
        header = query.header(loop)
        assert header is not None
        index = nodes.attribute(self.words.cuda, unit, structure.axis_of(loop))
        casts = self.words.casts
        if header.variable not in writer.unsigned:
            counted = affine.atom(nodes.call(casts.int64, [index]))
            step = query.integer(header.step)
            assert step is not None
            form = affine.of(writer.as_signed(header.start)) + counted * step
            return nodes.assign(header.variable, form.expression())
        start, stride = writer.as_unsigned(header.start), writer.as_unsigned(header.step)
        assert start is not None
        assert stride is not None
        value: ast.expr = nodes.call(casts.uint32, [index])
        if not query.is_constant(header.step, 1):
            value = nodes.binary(value, ast.Mult, stride)
        if not query.is_constant(header.start, 0):
            value = nodes.binary(start, ast.Add, value)
        return nodes.assign(header.variable, value)

    def _is_shared(self, statement: ast.stmt, place: Place) -> bool:
        """Whether the threads of the block share out the iterations of a loop."""
        together = not place.phase and bool(self.kernel.wide)
        return together and hardware.is_cooperative(statement)

    def _is_opened(self, statement: ast.stmt, place: Place) -> bool:
        """Whether the statements inside one are placed one by one."""
        if structure.is_bound(statement):
            return True
        if not isinstance(statement, (ast.For, ast.If)) or not self._missing(place):
            return False
        if not place.phase and structure.has_phases(statement):
            return True
        inside = [each for each in query.statements(statement) if each is not statement]
        waits = statement in self.plan.at_end or any(each in self.plan.before for each in inside)
        mixed = self._stores(statement) and self._leaves_names(statement)
        if not waits and (not mixed or any(map(flow.leaves, query.statements(statement)))):
            return False
        if waits and restrictions.is_counted_by_data(statement, self.facts):
            self._check_replicated(statement, restrictions.read_by_head(statement))
        elif not waits and restrictions.is_whole(statement, self.facts):
            self._check_replicated(statement, restrictions.read_by_all(statement, self._stores))
        return True

    def _opened(self, statement: ast.stmt, place: Place) -> Iterator[ast.stmt]:
        """A sequential loop or a condition that all threads run through together."""
        if isinstance(statement, ast.If):
            test = place.writer.condition(statement.test)
            then = replace(place, writer=place.writer.under(statement.test, statement.body))
            body = self._body(statement.body, then)
            orelse = self._body(statement.orelse, place)
            yield from emit.guarded(test, body, orelse)
            return
        assert isinstance(statement, ast.For)
        inner = replace(place, writer=place.writer.inside(statement))
        body = self._body(statement.body, inner)
        body += self._barrier(self.plan.at_end.get(statement), statement, inner)
        target, counter = nodes.clone(statement.target), place.writer.range_call(statement)
        loop = nodes.for_loop(target, counter, body or [ast.Pass()])
        yield nodes.copy_place(statement, loop)

    # --- statements without bound loops inside ---------------------------------------------------

    def _closed(self, statement: ast.stmt, place: Place) -> Iterator[ast.stmt]:
        """A statement as a whole: by every thread for itself, by one thread, or by warps."""
        by_lanes = self._by_lanes(statement, place)
        if by_lanes is not None:
            yield from by_lanes
            return
        made = emit.written(statement, place.writer)
        self._declare_inside(statement, made, place)
        missing = self._missing(place)
        if not missing or not self._stores(statement):
            by_all = missing and not hardware.writes_names_only(statement)
            is_taken_apart = isinstance(statement, (ast.For, ast.If))
            if by_all and not (is_taken_apart and not restrictions.is_macro(statement, self.facts)):
                touched = {query.base_name(each) for each in query.accesses(statement)}
                self._check_replicated(statement, touched)
            yield from made
            return
        if self._leaves_names(statement):
            raise LoweringError(
                "this statement writes cells of an array and names that other threads read",
                code="lowering.every-thread",
                span=self.program.source.span(statement),
                hints=["write the names and the cells in statements of their own"],
            )
        yield from emit.guarded(
            nodes.conjunction([self._first(axis) for axis in missing]), made, []
        )

    def _by_lanes(self, statement: ast.stmt, place: Place) -> list[ast.stmt] | None:
        """A reduction that the lanes of warps share, where all threads come by; None for others."""
        if self.lanes is None or place.phase or not self._missing(place):
            return None
        found = self.lanes.found(statement)
        if found is None or {query.base_name(e) for e in query.accesses(statement)} & self.local:
            return None
        if found.variable in flow.live_after(self.program.function, statement):
            return None
        if not self._stores(statement):
            return self.lanes.by_every_warp(found, place.writer)
        # behind a barrier all lanes see what thread 0 alone would read
        waits = statement in self.plan.before
        return self.lanes.by_first_warp(found, place.writer) if waits else None

    def _declare_inside(self, statement: ast.stmt, made: list[ast.stmt], place: Place) -> None:
        """Declare what is allocated inside a statement at the top, and no more in its text."""
        for each in query.statements(statement):
            if query.is_allocation(each):
                self.declared.add(each, in_phase=place.phase)
        made[:] = [each for each in made if not query.is_allocation(each)]
        for each in (e for statement in made for e in query.statements(statement)):
            for body in query.bodies(each):
                body[:] = [e for e in body if not query.is_allocation(e)] or [ast.Pass()]

    def _missing(self, place: Place) -> list[str]:
        """Axes of the block that no loop around runs over."""
        return [axis for axis in self.kernel.wide if axis not in place.axes]

    def _first(self, axis: str) -> ast.expr:
        index = nodes.attribute(self.words.cuda, "threadIdx", axis)
        return nodes.compare(index, ast.Eq, nodes.const(0))

    def _stores(self, statement: ast.stmt) -> bool:
        """Whether a statement does what must be done once: stores cells, or calls for effect."""
        if any(array not in self.local for array in query.written_arrays(statement)):
            return True
        return any(isinstance(each, ast.Expr) for each in query.statements(statement))

    def _leaves_names(self, statement: ast.stmt) -> bool:
        return bool(
            query.names_written(statement) & flow.live_after(self.program.function, statement)
        )

    def _check_replicated(self, statement: ast.stmt, touched: Collection[str | None]) -> None:
        """A loop or condition that every thread runs for itself must not race with a write."""
        changed = set(query.written_arrays(self.kernel.root)) - self.local
        if changed.intersection(touched):
            raise LoweringError(
                "every thread would run this statement for itself, and it reads cells that "
                "the kernel writes",
                code="lowering.every-thread",
                span=self.program.source.span(statement),
                hints=["store its result in a cell of an array, so that one thread runs it"],
            )

    # --- phases ---------------------------------------------------------------------------------

    def _thread_loop(self, loop: ast.For, place: Place) -> Iterator[ast.stmt]:
        header, axis = query.header(loop), structure.axis_of(loop)
        assert header is not None
        conditions: list[ast.expr] = []
        extent = structure.extent(loop, self.facts)
        if not place.phase:
            used = {
                structure.axis_of(e) for e in query.loops(loop) if structure.level(e) == "thread"
            }
            conditions += [self._first(a) for a in self.kernel.wide if a not in used]
            place = replace(
                place, axes=frozenset(a for a in self.kernel.wide if a not in used), phase=True
            )
        if extent is not None and extent < self.kernel.threads[axis]:
            conditions.append(self._within(loop, extent))
        writer = place.writer.inside(loop)
        inner = replace(place, writer=writer, axes=place.axes | {axis})
        body = self._body(loop.body, inner)
        if extent is None and self.kernel.has_more:  # one thread is there where the loop has none
            within = nodes.compare(nodes.name(header.variable), ast.Lt, nodes.clone(header.stop))
            body = emit.guarded(place.writer.condition(within), body, [])
        if header.variable not in self.hoisted:
            body.insert(0, self._index_read(loop, "threadIdx", place.writer))
        if conditions:
            yield from emit.guarded(nodes.conjunction(conditions), body, [])
        else:
            yield from body

    def _within(self, loop: ast.For, extent: int) -> ast.expr:
        """Whether this thread is one of those that run the loop."""
        header = query.header(loop)
        assert header is not None
        plain = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
        limit = nodes.call(self.words.casts.uint32, [nodes.const(extent)])
        if plain and header.variable in self.hoisted:
            return nodes.compare(nodes.name(header.variable), ast.Lt, limit)
        index = nodes.attribute(self.words.cuda, "threadIdx", structure.axis_of(loop))
        return nodes.compare(index, ast.Lt, nodes.const(extent))

    def _thread_reads(self, writer: IndexWriter) -> list[ast.stmt]:
        """Reads of thread indices that are the same in all phases, for the top of the kernel."""
        loops: dict[str, list[ast.For]] = {}
        for loop in query.loops(self.kernel.root):
            for name in query.names_written(loop.target):
                loops.setdefault(name, []).append(loop)
        other = emit.names_assigned(self.kernel.root)
        made = []
        for name, found in loops.items():
            first = found[0]
            if name in other or structure.level(first) != "thread":
                continue
            if all(emit.same_threads(first, each) for each in found):
                self.hoisted.add(name)
                made.append(self._index_read(first, "threadIdx", writer))
        return made
