"""Copies of pipelines that run beside the computation: which they are, and their text.

A pipeline fills tiles for a later iteration while it computes this one. On a GPU its copies from
global to shared memory need no thread to wait for them: each iteration's are one group, and
before the barrier at the start of an iteration each thread waits for the groups of that iteration
and of those before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from astile.analysis.forms import affine
from astile.analysis.reading.context import Contexts
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.kernels.plan import BarrierPlan
from astile.lower.kernels.structure import Structure, level

#: Bytes that one asynchronous copy moves.
_SIZES = (4, 8, 16)
#: The most groups that a thread can leave under way when it waits.
_MOST_UNDER_WAY = 2


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A loop that fills tiles for later iterations.

    Args:
        copies: the statements that fill tiles, those before the loop included.
        last: those of them after which the copies of an iteration are complete.
        under_way: statement behind a barrier, or loop with one at its end -> how many iterations'
            copies need not have arrived there.
        behind: the statement behind the loop, before which all must have arrived; None where they
            have at the end of each iteration.
    """

    copies: Collection[ast.stmt]
    last: Collection[ast.stmt]
    under_way: Mapping[ast.stmt, int]
    behind: ast.stmt | None


@dataclass(frozen=True)
class _Slot:
    """The first index of a tile, ``(variable + offset) % slots``."""

    offset: int
    slots: int


class Ahead:
    """The copies of one kernel that run beside the computation.

    Args:
        found: the pipeline that they belong to; None for a kernel without one.
        sizes: tile -> bytes of a cell.
        word: the name in the text for a function of `astile.intrinsics.async_copies`.
    """

    def __init__(
        self,
        found: Pipeline | None = None,
        sizes: Mapping[str, int] | None = None,
        word: Callable[[str], str] = str,
    ) -> None:
        self.found, self.sizes, self.word = found, sizes or {}, word
        #: Whether a copy has a form that no instruction has; threads must then wait for all.
        self.is_mixed = False

    def barrier(self, statement: ast.stmt, comment: str | None) -> str | None:
        """The comment of the barrier that stands before a statement, one for copies included."""
        is_behind = self.found is not None and statement is self.found.behind
        return comment or ("copies to tiles have arrived for all threads" if is_behind else None)

    def waits(self, statement: ast.stmt) -> Iterator[ast.stmt]:
        """What stands before the barrier before a statement, or at the end of a loop's body."""
        if self.found is not None:
            count = min(self.found.under_way.get(statement, 0), _MOST_UNDER_WAY)
            yield self._call(f"wait_all_but_{count}" if count else "wait_all", [])

    def written(self, statement: ast.stmt, made: Iterator[ast.stmt]) -> Iterator[ast.stmt]:
        """A statement as it is, or as copies that are started.

        Args:
            statement: of the program.
            made: its text.
        """
        if self.found is None or statement not in self.found.copies:
            yield from made
            return
        for each in made:
            yield self._started(each)
        if statement in self.found.last:
            yield self._call("close_group", [])

    def _call(self, word: str, arguments: Sequence[ast.expr]) -> ast.stmt:
        return ast.Expr(nodes.call(self.word(word), arguments))

    def _started(self, made: ast.stmt) -> ast.stmt:
        """A text with its stores of what was loaded replaced by copies that are started."""
        if query.bodies(made):
            for body in query.bodies(made):
                body[:] = [self._started(each) for each in body]
            return made
        match made:
            case ast.Assign(targets=[ast.Name()]):  # the index of what a thread copies
                return made
            case ast.Assign(targets=[ast.Subscript() as tile], value=ast.Subscript() as source):
                parts = (_cell(tile), _cell(source))
                return self._copy(made, 1, [*parts[0], *parts[1]])
            case ast.Expr(value=ast.Call(args=[tile, index, ast.Call() as load]) as store):
                count = _lanes(query.dotted(store.func) or "", "store")
                if count and count == _lanes(query.dotted(load.func) or "", "load"):
                    return self._copy(made, count, [tile, index, *load.args])
        self.is_mixed = True
        return made

    def _copy(self, made: ast.stmt, count: int, arguments: Sequence[ast.expr]) -> ast.stmt:
        tile = arguments[0]
        size = self.sizes.get(tile.id, 0) if isinstance(tile, ast.Name) else 0
        if size * count not in _SIZES:
            self.is_mixed = True
            return made
        return self._call(f"start_copy{count}", [nodes.clone(each) for each in arguments])


def _cell(access: ast.Subscript) -> tuple[ast.expr, ast.expr]:
    base = query.base_name(access)
    assert base is not None
    return nodes.name(base), nodes.tuple_of(query.indices(access))


def _lanes(called: str, word: str) -> int:
    """The number at the end of ``store4``; 0 for other words."""
    number = called.removeprefix(word)
    return int(number) if called.startswith(word) and number.isdigit() else 0


# --- which copies -------------------------------------------------------------------------------


def find(
    program: Program,
    kernel: Structure,
    plan: BarrierPlan,
    kinds: Mapping[str, str | None],
    word: Callable[[str], str],
) -> Ahead:
    """The copies of a kernel that may run beside the computation.

    They are those of a loop and of the loop before it, which fills the tiles of the first
    iterations, where all that is said of a pipeline can be read off the text: the slots that are
    written and read in an iteration, the counts of both loops, and a barrier in each iteration.

    Args:
        program: the whole program.
        kernel: the structure of the kernel.
        plan: where its barriers stand.
        kinds: array -> type of its elements.
        word: the name in the text for a function of `astile.intrinsics.async_copies`.
    """
    if not kernel.wide:
        return Ahead()
    search = _Search(program, kernel.root, plan, kinds)
    found = [each for each in map(search.pipeline, *_neighbours(kernel.root)) if each is not None]
    if len(found) != 1:  # groups of several pipelines would be counted together
        return Ahead()
    tiles = {array for each in found[0].copies for array in query.written_arrays(each)}
    return Ahead(found[0], {each: np.dtype(kinds[each]).itemsize for each in tiles}, word)


def _neighbours(root: ast.For) -> tuple[list[ast.stmt], list[ast.stmt], list[ast.stmt]]:
    """Three statements in a row, wherever all threads of a block come by together."""
    first: list[ast.stmt] = []
    second: list[ast.stmt] = []
    third: list[ast.stmt] = []

    def search(statement: ast.stmt) -> None:
        if level(statement) == "thread":
            return
        for body in query.bodies(statement):
            for (one, two), (_, three) in pairwise(pairwise(body)):
                first.append(one)
                second.append(two)
                third.append(three)
            for each in body:
                search(each)

    search(root)
    return first, second, third


class _Search:
    """Looks for a pipeline in one kernel."""

    def __init__(
        self,
        program: Program,
        root: ast.For,
        plan: BarrierPlan,
        kinds: Mapping[str, str | None],
    ) -> None:
        self.root, self.plan, self.kinds = root, plan, kinds
        self._contexts = Contexts(program)
        made = [query.allocation(each) for each in query.statements(root)]
        self.shared = {e.array for e in made if e is not None and e.scope == "shared"}
        self.own = {e.array for e in made if e is not None}
        self.written = set(query.written_arrays(root))

    def pipeline(self, first: ast.stmt, second: ast.stmt, behind: ast.stmt) -> Pipeline | None:
        """The pipeline of a loop, or of its versions, and the loop before; None for others.

        Args:
            first: fills the tiles of the first iterations.
            second: the loop, or a condition with a loop for each case.
            behind: what stands behind it.
        """
        loops = _versions(second)
        if not isinstance(first, ast.For) or not loops or query.header(first) is None:
            return None
        filling = [each for each in first.body if self._is_copy(each)]
        tiles = {array for each in filling for array in query.written_arrays(each)}
        if not filling or len(filling) != len(first.body) or first.body[0] in self.plan.before:
            return None
        if not all(self._stays_inside(tile, [first, *loops]) for tile in tiles):
            return None
        copies, last, drains = [*filling], [filling[-1]], True
        under_way: dict[ast.stmt, int] = {}
        for loop in loops:
            own = [each for each in loop.body if self._is_copy(each)]
            if {array for each in own for array in query.written_arrays(each)} != tiles:
                return None
            [distance, *others] = {self._distance(tile, first, loop) for tile in tiles}
            if others or not distance or not self._counts(first, loop, distance):
                return None
            if loop.body[0] not in self.plan.before and not (
                loop in self.plan.at_end and second in self.plan.before
            ):
                return None
            copies += own
            last.append(own[-1])
            drains &= distance == 1 and loop in self.plan.at_end
            under_way.update(dict.fromkeys((loop.body[0], loop, second), distance - 1))
        return Pipeline(copies, last, under_way, None if drains else behind)

    def _is_copy(self, statement: ast.stmt) -> bool:
        """Whether all that a statement does is to copy cells of global memory to a tile."""
        leaves = [each for each in query.statements(statement) if not query.bodies(each)]
        if len(leaves) != 1 or not isinstance(leaves[0], ast.Assign):
            return False
        [target], value = leaves[0].targets, leaves[0].value
        if not isinstance(target, ast.Subscript) or not isinstance(value, ast.Subscript):
            return False
        tile, source = query.base_name(target), query.base_name(value)
        if tile not in self.shared or source is None or source in self.own | self.written:
            return False
        assert tile is not None
        kind = self.kinds.get(tile)
        return kind is not None and kind == self.kinds.get(source)

    def _distance(self, tile: str, first: ast.For, loop: ast.For) -> int | None:
        """How many iterations before its use a tile is filled."""
        slots = [self._slots(tile, each, store) for each, store in ((first, True), (loop, True))]
        reads = self._slots(tile, loop, store=False)
        if any(len(each) != 1 for each in (*slots, reads)):
            return None
        [[start], [write], [read]] = [list(each) for each in (*slots, reads)]
        if start is None or write is None or read is None or start != read:
            return None
        distance = write.offset - read.offset
        fits = write.slots == read.slots and 0 < distance < write.slots
        return distance if fits else None

    def _counts(self, first: ast.For, loop: ast.For, distance: int) -> bool:
        """Whether the first loop has `distance` iterations wherever the second has one."""
        one, two = query.header(first), query.header(loop)
        if one is None or two is None or not one.kind == two.kind == "range":
            return False
        steps = all(query.is_constant(each.step, 1) for each in (one, two))
        until = affine.of(two.start) + distance
        if not steps or affine.of(one.start) != affine.of(two.start):
            return False
        ends: Sequence[ast.expr] = [one.stop]
        match one.stop:
            case ast.Call(func=ast.Name(id="min"), args=[_, _, *_] as several, keywords=[]):
                ends = several
        rest = [form for each in ends if (form := affine.of(each)) != until]
        context = self._contexts.at(loop.body[0])
        needed = affine.of(two.stop) + distance
        return len(rest) < len(ends) and all(
            context.nonnegative((each - needed).expression()) is True for each in rest
        )

    def _slots(self, tile: str, loop: ast.For, store: bool) -> set[_Slot | None]:
        """The first indices of the cells of a tile that a loop writes or reads."""
        header = query.header(loop)
        assert header is not None
        found: set[_Slot | None] = set()
        for each in query.accesses(loop, tile):
            if isinstance(each.ctx, ast.Store) == store:
                found.add(_slot(query.indices(each)[0], header.variable))
        return found

    def _stays_inside(self, tile: str, loops: Sequence[ast.For]) -> bool:
        """Whether a tile is written by some loops alone, and never updated."""
        stores = [e for e in query.accesses(self.root, tile) if isinstance(e.ctx, ast.Store)]
        inside = [
            each
            for part in loops
            for each in query.accesses(part, tile)
            if isinstance(each.ctx, ast.Store)
        ]
        updates = {
            query.base_name(each.target)
            for each in ast.walk(self.root)
            if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Subscript)
        }
        return len(stores) == len(inside) and tile not in updates


def _slot(index: ast.expr, variable: str) -> _Slot | None:
    match index:
        case ast.BinOp(left=left, op=ast.Mod(), right=right):
            slots, form = query.integer(right), affine.of(left)
            rest = form.without(variable)
            if slots and form.coefficient(variable) == 1 and rest.value is not None:
                return _Slot(rest.value, slots)
    return None


def _versions(statement: ast.stmt) -> list[ast.For]:
    """A loop, or the loops of a condition that has one loop for each case; else none."""
    if isinstance(statement, ast.For):
        return [statement] if query.header(statement) is not None else []
    if not isinstance(statement, ast.If):
        return []
    found = [query.only_statement(body) for body in (statement.body, statement.orelse)]
    loops = [loop for each in found if each is not None for loop in _versions(each)]
    return loops if len(loops) == len(found) else []
