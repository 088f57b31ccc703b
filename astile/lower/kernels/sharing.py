"""The text of loops that the threads of a block share out.

All iterations of the loops are counted through, the axis that is contiguous in memory fastest.
Thread after thread takes the next one, so that neighbouring threads touch neighbouring cells.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from math import prod

from astile.analysis.forms import affine
from astile.analysis.reading import hardware
from astile.ir import nodes, query
from astile.lower import assemble
from astile.lower.indices import Casts, IndexWriter
from astile.lower.kernels import emit, wide
from astile.lower.kernels.structure import Structure

#: What is written above such loops.
_COMMENT = "the threads of the block share these iterations"
#: The least number that needs 64 bits.
_UNSIGNED = 2**32


@dataclass(frozen=True)
class _Axis:
    """One of the loops.

    Args:
        header: of the loop.
        count: its iterations; None where that is no literal.
    """

    header: query.Header
    count: int | None


class Sharing:
    """Writes the cooperative loops of one kernel.

    Args:
        kernel: the structure of the kernel.
        casts: names of the integer types.
        cuda: the name of ``numba.cuda`` in the text.
        fresh: makes names that are free in the text; the same one whenever the same is wanted.
    """

    def __init__(
        self, kernel: Structure, casts: Casts, cuda: str, fresh: Callable[[str], str]
    ) -> None:
        self.kernel, self.casts, self.cuda, self.fresh = kernel, casts, cuda, fresh
        self._is_used = False
        made = map(query.allocation, query.statements(kernel.root))
        #: The arrays that are not in slow memory.
        self._own = {each.array for each in made if each is not None}

    def reads(self) -> list[ast.stmt]:
        """``rank = uint32(cuda.threadIdx.x)``: the number of a thread in its block, if needed."""
        if not self._is_used:
            return []
        number: ast.expr | None = None
        for axis in reversed(self.kernel.wide):
            index = nodes.call(self.casts.uint32, [self._unit("threadIdx", axis)])
            if number is None:
                number = index
            else:
                rest = nodes.binary(number, ast.Mult, self._extent(axis))
                number = nodes.binary(rest, ast.Add, index)
        assert number is not None
        return [nodes.assign(self.fresh("rank"), number)]

    def _unit(self, unit: str, axis: str) -> ast.expr:
        return nodes.attribute(self.cuda, unit, axis)

    def _extent(self, axis: str) -> ast.expr:
        if axis in self.kernel.counted:
            return nodes.call(self.casts.uint32, [self._unit("blockDim", axis)])
        return self._number(self.kernel.threads[axis])

    def _number(self, value: int) -> ast.expr:
        return nodes.call(self.casts.uint32, [nodes.const(value)])

    def written(self, loop: ast.For, writer: IndexWriter) -> list[ast.stmt]:
        """The text of a cooperative loop.

        Args:
            loop: the outermost of the loops that are shared out together.
            writer: rewrites expressions where it stands.
        """
        self._is_used = True
        band = hardware.cooperative_band(loop)
        made = self._in_groups(band, writer)
        if made is None:
            inner, guards = _inside(band, writer)
            body = [part for each in band[-1].body for part in emit.written(each, inner)]
            made = self._shared(fastest_last(band, self._own), guards, body, inner)
        for comment in (*nodes.comments(loop), _COMMENT):
            nodes.add_comment(made[0], comment)
        return made

    # --- several cells at a time ----------------------------------------------------------------

    def _in_groups(self, band: Sequence[ast.For], writer: IndexWriter) -> list[ast.stmt] | None:
        """The loops with several neighbours moved at a time; None where that cannot be."""
        *outer, last = band
        header, count = query.header(last), hardware.trip_count(last)
        lanes = wide.lanes_for(last, writer)
        if header is None or count is None or lanes is None or count % lanes:
            return None
        if not query.is_constant(header.start, 0) or not query.is_constant(header.step, 1):
            return None
        group, lane = (self.fresh(f"{header.variable}_{each}") for each in ("group", "lane"))
        index = affine.variable(group) * lanes + affine.variable(lane)
        values = {header.variable: index.expression()}
        body = [nodes.substitute(each, values) for each in last.body]
        inside = nodes.for_loop(lane, nodes.call("vector", [nodes.const(lanes)]), body)
        groups = nodes.call("parallel", [nodes.const(count // lanes)])
        new = [*outer, nodes.for_loop(group, groups, [inside])]
        known = replace(writer.facts, integers=writer.facts.integers | {group, lane})
        unsigned, free = writer.unsigned | {group, lane}, writer.inner | {lane}
        inner, guards = _inside(new, replace(writer, facts=known, unsigned=unsigned, inner=free))
        if not wide.moves_whole(inside, inner):
            return None
        return self._shared(new, guards, emit.written(inside, inner), inner)

    # --- one after the other --------------------------------------------------------------------

    def _shared(
        self,
        band: Sequence[ast.For],
        guards: Sequence[ast.expr],
        body: Sequence[ast.stmt],
        writer: IndexWriter,
    ) -> list[ast.stmt]:
        """The iterations, thread after thread.

        Args:
            band: the loops, the one that changes fastest last.
            guards: conditions of the text under which the body runs.
            body: of the innermost loop, as text.
            writer: rewrites expressions in it.
        """
        axes = [
            _Axis(header, hardware.trip_count(each))
            for each in band
            if (header := query.header(each)) is not None
        ]
        if guards:
            body = emit.guarded(nodes.conjunction(list(guards)), body, [])
        cells, threads = prod(each.count or 0 for each in axes), self.kernel.size
        if threads is None or None in (each.count for each in axes):
            return self._strided(axes, body, writer)
        turns = -(-cells // threads)
        if turns * threads >= _UNSIGNED:
            return self._strided(axes, body, writer)
        turn, number = self.fresh("turn"), self._rank()
        if turns > 1:
            before = nodes.binary(nodes.name(turn), ast.Mult, self._number(threads))
            number = nodes.call(self.casts.uint32, [nodes.binary(before, ast.Add, self._rank())])
        cell, first = self._cell(axes, number, writer)
        inside = [*self._values(axes, cell, writer), *body]
        if cells % threads:
            test = nodes.compare(nodes.name(cell), ast.Lt, self._number(cells))
            inside = emit.guarded(test, inside, [])
        if turns <= 1:
            return [*first, *inside]
        counter = nodes.call("range", [self._number(turns)])
        return [nodes.for_loop(turn, counter, [*first, *inside])]

    def _strided(
        self, axes: Sequence[_Axis], body: Sequence[ast.stmt], writer: IndexWriter
    ) -> list[ast.stmt]:
        """The iterations, in steps of as many as there are threads."""
        own = self._stepped(axes[0].header, writer) if len(axes) == 1 else None
        if own is not None:
            return [nodes.for_loop(axes[0].header.variable, own, body)]
        outer = axes[0].header
        step = query.integer(outer.step)
        assert step is not None
        form = assemble.trip_count(outer.start, outer.stop, step)
        for each in axes[1:]:
            assert each.count is not None
            form = form * each.count
        count = form.expression()
        stop, cast = writer.as_unsigned(count), self.casts.uint64
        if stop is None:  # it may be negative
            stop, cast = writer.as_signed(count), self.casts.int64
        cell = self.fresh("cell")
        counter = nodes.call("range", [nodes.call(cast, [self._rank()]), stop, self._threads(cast)])
        return [nodes.for_loop(cell, counter, [*self._values(axes, cell, writer), *body])]

    def _stepped(self, header: query.Header, writer: IndexWriter) -> ast.expr | None:
        """The iterator of a single loop in steps of threads; None where it may be negative."""
        start, step = writer.as_unsigned(header.start), writer.as_unsigned(header.step)
        stop = writer.as_unsigned(header.stop)
        if header.variable not in writer.unsigned or None in (start, step, stop):
            return None
        assert start is not None
        assert stop is not None
        assert step is not None
        first = self._rank()
        threads = self._threads(self.casts.uint32)
        if not query.is_constant(header.step, 1):
            first = nodes.binary(first, ast.Mult, step)
            threads = nodes.binary(threads, ast.Mult, nodes.clone(step))
        if not query.is_constant(header.start, 0):
            first = nodes.binary(start, ast.Add, first)
        return nodes.call("range", [first, stop, threads])

    def _rank(self) -> ast.expr:
        """The number of the thread in its block."""
        return nodes.name(self.fresh("rank"))

    def _threads(self, cast: str) -> ast.expr:
        """How many threads the block has, as an integer of a type."""
        if self.kernel.size is not None:
            return nodes.call(cast, [nodes.const(self.kernel.size)])
        [*outer, last] = [self._extent(axis) for axis in self.kernel.wide]
        for each in reversed(outer):
            last = nodes.binary(last, ast.Mult, each)
        return last if cast == self.casts.uint32 and not outer else nodes.call(cast, [last])

    def _is_cell(self, axes: Sequence[_Axis], writer: IndexWriter) -> bool:
        """Whether the variable of the only loop is what counts the iterations."""
        header = axes[0].header
        from_0 = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
        return len(axes) == 1 and from_0 and header.variable in writer.unsigned

    def _cell(
        self, axes: Sequence[_Axis], number: ast.expr, writer: IndexWriter
    ) -> tuple[str, list[ast.stmt]]:
        """The name of the number of an iteration, and what sets it."""
        if self._is_cell(axes, writer):
            name = axes[0].header.variable
        elif isinstance(number, ast.Name):
            return number.id, []
        else:
            name = self.fresh("cell")
        return name, [nodes.assign(name, number)]

    def _values(self, axes: Sequence[_Axis], cell: str, writer: IndexWriter) -> list[ast.stmt]:
        """What sets the variables of the loops in the iteration of a number."""
        if len(axes) == 1 and axes[0].header.variable == cell:
            return []
        made: list[ast.stmt] = []
        for position, axis in enumerate(axes):
            inside = prod(each.count or 1 for each in axes[position + 1 :])
            value: ast.expr = nodes.name(cell)
            if inside > 1:
                value = nodes.binary(value, ast.FloorDiv, self._number(inside))
            if position > 0:
                assert axis.count is not None
                value = nodes.binary(value, ast.Mod, self._number(axis.count))
            made.append(nodes.assign(axis.header.variable, self._scaled(axis, value, writer)))
        return made

    def _scaled(self, axis: _Axis, value: ast.expr, writer: IndexWriter) -> ast.expr:
        """The value of a loop's variable in the iteration of a number."""
        header = axis.header
        if header.variable in writer.unsigned:
            start, step = writer.as_unsigned(header.start), writer.as_unsigned(header.step)
        else:
            start, step = writer.as_signed(header.start), writer.as_signed(header.step)
            value = nodes.call(self.casts.int64, [value])
        assert start is not None
        assert step is not None
        if not query.is_constant(header.step, 1):
            value = nodes.binary(value, ast.Mult, step)
        if not query.is_constant(header.start, 0):
            value = nodes.binary(start, ast.Add, value)
        return value


def _inside(band: Sequence[ast.For], writer: IndexWriter) -> tuple[IndexWriter, list[ast.expr]]:
    """The writer for the body of the innermost loop, and the conditions between the loops."""
    guards: list[ast.expr] = []
    for position, loop in enumerate(band):
        writer, body = writer.inside(loop), loop.body
        while position + 1 < len(band) and isinstance(guard := body[0], ast.If):
            guards.append(writer.condition(guard.test))
            writer, body = writer.under(guard.test, guard.body), guard.body
    return writer, guards


def fastest_last(band: Sequence[ast.For], own: Collection[str]) -> list[ast.For]:
    """The loops, the one along whose axis cells of slow memory are neighbours last.

    Args:
        band: as the loops stand.
        own: the arrays that are not in slow memory.
    """
    last = along_memory(band, own)
    if last is None or any(hardware.trip_count(each) is None for each in band):
        return list(band)
    return [*(each for each in band if each is not last), last]


def along_memory(band: Sequence[ast.For], own: Collection[str]) -> ast.For | None:
    """The loop along whose axis cells of slow memory are neighbours; None where none is.

    Args:
        band: loops one inside the other.
        own: the arrays that are not in slow memory.
    """
    found = [each for each in query.accesses(band[-1]) if query.base_name(each) not in own]
    found.sort(key=lambda each: isinstance(each.ctx, ast.Store))
    for access in found[:1]:
        last = affine.of(query.indices(access)[-1])
        for loop in reversed(band):
            header = query.header(loop)
            if header is not None and abs(last.coefficient(header.variable)) == 1:
                return loop
    return None
