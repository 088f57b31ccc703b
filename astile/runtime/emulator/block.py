"""The threads of a block, run one after the other between barriers.

A kernel that waits is a generator function: a thread runs until it yields what it waits for, and
goes on when all that must arrive have. Nothing depends on time; the order of threads is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, NoReturn

from astile.diagnostics import Related
from astile.runtime.emulator.clock import Clock, Interval, Strand
from astile.runtime.emulator.copies import Copies
from astile.runtime.emulator.errors import BarrierError, Index3, UninitialisedError
from astile.runtime.emulator.execution import BlockMemory, Execution, Thread
from astile.runtime.emulator.matrix_words import MATRIX_WORDS
from astile.runtime.emulator.scalars import MASK32, undefined
from astile.runtime.emulator.translate import Translated
from astile.runtime.emulator.words import WARP_WORDS

#: Words at which lanes of a warp meet.
_MEETINGS = WARP_WORDS | MATRIX_WORDS.keys()


@dataclass(slots=True)
class Waiting:
    """A thread that waits.

    Args:
        thread: which.
        word: what it waits in, such as ``"syncthreads"``.
        place: where in the text.
        arguments: of the word.
    """

    thread: Thread
    word: str
    place: int
    arguments: tuple[Any, ...]

    @property
    def mask(self) -> int:
        """The lanes that a word of the warp names."""
        return int(self.arguments[0]) & MASK32 if self.arguments else MASK32

    def together_with(self, other: Waiting) -> bool:
        """Whether both wait for the same meeting of their warp."""
        return self.place == other.place and self.mask == other.mask


def run_block(
    execution: Execution, kernel: Translated, arguments: tuple[Any, ...], block: Index3
) -> None:
    """Run all threads of one block.

    Args:
        execution: the launch.
        kernel: what each thread runs.
        arguments: of the kernel, as device code sees them.
        block: which block.

    Raises:
        EmulationError: what a thread did wrong.
    """
    memory = BlockMemory(execution)
    bx, by, bz = execution.block
    indices = [(x, y, z) for z, y, x in product(range(bz), range(by), range(bx))]
    threads = [Thread(index, block, number, memory) for number, index in enumerate(indices)]
    clock = execution.clock
    clock.copies = Copies()
    if not kernel.collective:
        clock.interval = Interval(block)
        execution.intervals += 1
        function = kernel.function
        for thread in execution.ordered(threads):
            clock.strand = thread.strand
            try:
                function(thread, *arguments)
            except UninitialisedError as error:
                clock.missed = clock.missed or error
        clock.settle()
        _count_requests(clock)
        return
    for thread in threads:
        thread.steps = kernel.function(thread, *arguments)
    while threads:
        clock.interval = Interval(block)
        execution.intervals += 1
        threads = _run_to_barrier(execution, kernel, threads)


def _run_to_barrier(
    execution: Execution, kernel: Translated, threads: list[Thread]
) -> list[Thread]:
    """Run all threads up to the next barrier; those that go on from there are returned."""
    clock = execution.clock
    arrived: list[Waiting] = []
    for thread in execution.ordered(threads):
        waiting = _advance(clock, thread)
        if waiting is not None:
            arrived.append(waiting)
    clock.settle()
    if kernel.warp:
        arrived = _meet_in_warps(execution, threads, arrived)
    _count_requests(clock)
    if not arrived:
        return []
    _check_barrier(clock, threads, arrived)
    if arrived[0].word != "syncthreads":
        _count(arrived)
    return threads


def _count_requests(clock: Clock) -> None:
    if clock.warps is not None:
        clock.warps.close()


def _advance(clock: Clock, thread: Thread) -> Waiting | None:
    """Run a thread until it waits; None when it has left the kernel."""
    clock.strand = thread.strand
    if thread.steps is None:
        return None
    try:
        word, place, arguments = thread.steps.send(thread.answer)
    except StopIteration:
        thread.steps = None
        return None
    except UninitialisedError as error:
        clock.missed = clock.missed or error
        return None
    thread.answer = None
    return Waiting(thread, word, place, arguments)


# --- barriers of the block ----------------------------------------------------------------------


def _check_barrier(clock: Clock, threads: list[Thread], arrived: list[Waiting]) -> None:
    first = arrived[0]
    for each in arrived:
        if each.place != first.place:
            _report(
                clock,
                first,
                f"threads of block {first.thread.strand.block} wait at different barriers",
                [Related(clock.places.span(each.place), f"thread {each.thread.strand.thread}")],
            )
    if len(arrived) < len(threads):
        gone = next(thread for thread in threads if thread.steps is None)
        _report(
            clock,
            first,
            f"{len(arrived)} of the {len(threads)} threads of block {first.thread.strand.block} "
            f"wait at a barrier, but thread {gone.strand.thread} has left the kernel",
        )


def _report(
    clock: Clock, waiting: Waiting, message: str, related: list[Related] | None = None
) -> NoReturn:
    raise BarrierError(
        message,
        span=clock.places.span(waiting.place),
        label=f"thread {waiting.thread.strand.thread} waits here",
        related=related or (),
        hints=["let every thread of the block come to this barrier, whatever its conditions"],
        operation=clock.operation,
    )


def _count(arrived: list[Waiting]) -> None:
    flags = [bool(each.arguments[0]) for each in arrived]
    answers = {
        "syncthreads_count": sum(flags),
        "syncthreads_and": int(all(flags)),
        "syncthreads_or": int(any(flags)),
    }
    for each in arrived:
        each.thread.answer = answers[each.word]


# --- meetings of a warp -------------------------------------------------------------------------


def _meet_in_warps(
    execution: Execution, threads: list[Thread], arrived: list[Waiting]
) -> list[Waiting]:
    """Let lanes meet until every thread waits at a barrier of the block or has left."""
    clock = execution.clock
    by_number = {thread.number: thread for thread in threads}
    waiting = {each.thread.number: each for each in arrived}
    while any(each.word in _MEETINGS for each in waiting.values()):
        groups = _complete_groups(clock, by_number, waiting)
        for group in groups:
            _answer(clock, group)
        for each in execution.ordered([each for group in groups for each in group]):
            del waiting[each.thread.number]
            later = _advance(clock, each.thread)
            if later is not None:
                waiting[later.thread.number] = later
        clock.settle()
    return list(waiting.values())


def _complete_groups(
    clock: Clock, threads: dict[int, Thread], waiting: dict[int, Waiting]
) -> list[list[Waiting]]:
    """The groups of lanes that have all arrived where they meet.

    Raises:
        BarrierError: there is none, or a lane is not in its own mask.
    """
    groups: list[list[Waiting]] = []
    grouped: set[int] = set()
    missing: tuple[Waiting, Thread] | None = None
    for number, each in waiting.items():
        if number in grouped or each.word not in _MEETINGS:
            continue
        if not each.mask >> each.thread.lane & 1:
            _report(clock, each, f"lane {each.thread.lane} is not in its mask {each.mask:#x}")
        start = 32 * each.thread.warp
        named = [start + lane for lane in range(32) if each.mask >> lane & 1]
        # Lanes that a short block lacks, or that have left, need not come.
        lanes = [lane for lane in named if lane in threads and threads[lane].steps is not None]
        absent = [
            lane for lane in lanes if lane not in waiting or not waiting[lane].together_with(each)
        ]
        if absent:
            missing = each, threads[absent[0]]
        else:
            groups.append([waiting[lane] for lane in lanes])
            grouped.update(lanes)
    if not groups and missing is not None:
        each, thread = missing
        other = waiting[thread.number]
        _report(
            clock,
            each,
            f"cuda.{each.word} names lane {thread.lane} of warp {thread.warp}, "
            "which waits elsewhere",
            [Related(clock.places.span(other.place), f"thread {thread.strand.thread}")],
        )
    return groups


def _answer(clock: Clock, group: list[Waiting]) -> None:
    word = MATRIX_WORDS.get(group[0].word)
    if word is None:
        _ANSWERS[group[0].word.partition("_")[0]](group)
        return
    if len(group) < 32:
        _report(clock, group[0], f"{len(group)} lanes of a warp meet at {word.name}, not all 32")
    group.sort(key=lambda each: each.thread.lane)
    found = word.answers([each.arguments for each in group])
    for each, answer in zip(group, found, strict=True):
        each.thread.answer = answer


def _synchronise(group: list[Waiting]) -> None:
    """Each lane comes after everything that all lanes did up to here."""
    seen = [each.thread.strand.seen or () for each in group]
    merged = [max(counts) for counts in zip(*seen, strict=True)]
    for each in group:
        thread, old = each.thread, each.thread.strand
        mine = [*merged]
        mine[thread.lane] += 1
        thread.strand = Strand(old.thread, old.block, old.number, tuple(mine))


def _shuffle(group: list[Waiting]) -> None:
    """Each lane gets the value of another; a lane without a value gives an undefined one."""
    values = {each.thread.lane: each.arguments[1] for each in group}
    for each in group:
        lane, operand = each.thread.lane, int(each.arguments[2])
        match each.word:
            case "shfl_up_sync":
                source = lane - operand if lane >= operand else lane
            case "shfl_down_sync":
                source = lane + operand if lane + operand < 32 else lane
            case "shfl_xor_sync":
                source = lane ^ operand & 31
            case _:
                source = operand & 31
        own = values[lane]
        each.thread.answer = values[source] if source in values else undefined(own)


def _vote(group: list[Waiting]) -> None:
    """Each lane learns about the flags of all."""
    flags = {each.thread.lane: each.arguments[1] for each in group}
    for each in group:
        match each.word:
            case "all_sync":
                each.thread.answer = all(flags.values())
            case "any_sync":
                each.thread.answer = any(flags.values())
            case "eq_sync":
                each.thread.answer = len({bool(flag) for flag in flags.values()}) == 1
            case _:
                each.thread.answer = sum(1 << lane for lane, flag in flags.items() if flag)


_ANSWERS = {
    "syncwarp": _synchronise,
    "shfl": _shuffle,
    "all": _vote,
    "any": _vote,
    "eq": _vote,
    "ballot": _vote,
}
