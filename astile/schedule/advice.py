"""What is legal instead of a step that was refused, found by trying it on a copy.

Every hint was tried and proved. The search is short: what is not found in time is not said.
"""

from __future__ import annotations

import ast
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from astile.analysis.proof.verdicts import Witness
from astile.errors import IllegalSchedule, ScheduleError
from astile.ir import nodes, query
from astile.schedule import navigate, select
from astile.schedule.trace import Call

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule


class Start(Protocol):
    """Makes a copy of a schedule before a step, whose steps are not proved one by one."""

    def __call__(self, *, exact: bool) -> Schedule:
        """A copy that keeps the order of sums, or not."""


#: Time of this process allowed for one search, in seconds.
LIMIT = 0.5
#: A sum that is to run in parallel is split into so many parts, by loops of these names.
_PARTS, _OF_PARTS = 8, ("part", "inside")
#: How many factors or distances are tried.
_MOST = 4
#: Conflicts that another order of iterations may avoid.
_ORDER = ("flow", "anti", "output")


class Attempts:
    """Tries calls on copies of a schedule as it was before the step that was refused.

    Args:
        start: makes a copy whose steps are not proved one by one.
        call: the call that was refused.
        exact: whether that keeps the order of sums.
    """

    def __init__(self, start: Start, call: Call, *, exact: bool) -> None:
        self._start = start
        self.call = call
        self.exact = exact
        self.program = start(exact=exact).program
        self._end = time.process_time() + LIMIT

    def works(self, *calls: Call, exact: bool | None = None) -> bool:
        """Whether calls can be made in a row, and end in a program that is proved."""
        trial = self._start(exact=self.exact if exact is None else exact)
        try:
            for each in calls:
                if time.process_time() > self._end:
                    return False
                getattr(trial, each.primitive)(*each.arguments, **each.options)
            trial.settle(LIMIT)
        except ScheduleError:
            return False
        return True

    def problem(self, call: Call) -> ScheduleError | None:
        """Why a call cannot be applied as written, None where it can."""
        trial = self._start(exact=self.exact)
        try:
            getattr(trial, call.primitive)(*call.arguments, **call.options)
        except ScheduleError as error:
            return error
        return None

    def loop(self, name: object) -> ast.For:
        """The loop that an argument of the call names."""
        assert isinstance(name, str)
        return select.loop_node(self.program, select.find_loop(self.program, name))

    def name(self, loop: ast.For) -> str:
        """A name that finds a loop."""
        identity = nodes.loop_id(loop)
        assert identity is not None
        return select.loop_name(self.program, identity)

    def around(self, loop: ast.For) -> tuple[ast.For, ...]:
        """The counted loops around a loop, the nearest first."""
        place = query.find_place(self.program.function, loop)
        assert place is not None
        return tuple(each for each in reversed(place.loops) if query.header(each) is not None)


def advise(start: Start, call: Call, error: IllegalSchedule, *, exact: bool) -> list[str]:
    """Hints at what is legal instead of a call.

    Args:
        start: makes a copy of the schedule before the call, whose steps are not proved one by one.
        call: the call, with loops and stages as names.
        error: how it was refused.
        exact: whether the schedule keeps the order of sums.
    """
    search = _SEARCHES.get(call.primitive)
    attempts = Attempts(start, call, exact=exact)
    if exact and attempts.works(call, exact=False):
        return ["it changes the order of a sum: without `exact=True` it is legal"]
    found: list[str] = []
    if search is not None:
        with contextlib.suppress(ScheduleError):  # a name that finds nothing
            found = search(attempts, error)
    if not found and not error.diagnostic.hints and error.kind in _OTHERWISE:
        return [_OTHERWISE[error.kind]]
    return found


def _skewed(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """Skews after which loops can be reordered or tiled."""
    if error.kind not in _ORDER:
        return []
    arguments = attempts.call.arguments
    named = arguments[0] if attempts.call.primitive == "tile" else arguments
    loops = sorted((attempts.loop(each) for each in named), key=lambda e: len(attempts.around(e)))
    outer, *inner = [attempts.name(each) for each in loops]
    for factor in range(_least_factor(error.witness), _MOST + 1):
        skews = [Call("skew", (outer, each, factor), {}) for each in inner]
        if attempts.works(*skews, attempts.call):
            return [f"{_quoted(skews)} first {_make(skews)} this legal"]
    return []


def _least_factor(witness: object) -> int:
    """The skew that turns the distance of a witness around."""
    distance = witness.distance if isinstance(witness, Witness) else None
    ahead = next((each for each in distance or () if each > 0), 1)
    back = -min(distance or (0,))
    return max(1, -(-back // ahead))


def _shifted(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """A shift of the second loop after which two loops can be merged."""
    if error.kind not in _ORDER:
        return []
    first, second = attempts.call.arguments
    depth = len(attempts.around(attempts.loop(first)))
    least = _least_shift(error.witness, depth)
    for distance in range(least, least + _MOST):
        shift = Call("shift", (second, distance), {})
        if attempts.works(shift, attempts.call):
            return [f"{_quoted([shift])} first {_make([shift])} this legal"]
    return []


def _least_shift(witness: object, depth: int) -> int:
    """How far the second iteration of a witness runs ahead of the first."""
    if not isinstance(witness, Witness) or witness.first is None or witness.second is None:
        return 1
    ends = [each.iteration[depth : depth + 1] for each in (witness.first, witness.second)]
    if not all(ends):
        return 1
    return max(1, ends[0][0][1] - ends[1][0][1])


def _further_out(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """The nearest loop around the one given where a stage can be computed."""
    call = attempts.call
    stage, loop, *rest = call.arguments
    for each in attempts.around(attempts.loop(loop)):
        other = Call(call.primitive, (stage, attempts.name(each), *rest), call.options)
        if attempts.works(other):
            return [f"`{other}` is legal"]
    return []


def _computed_at(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """Where else a stage can be computed, or the loops to merge if it needs cells of its own."""
    if error.diagnostic.code != "illegal.recurrence":
        return _further_out(attempts, error)
    stage, loop, *_ = attempts.call.arguments
    program = attempts.program
    assert isinstance(stage, str)
    node = attempts.loop(loop)
    for first in select.loops_of(program, select.find_stage(program, stage)):
        for second in (node, *attempts.around(node)):
            merge = Call("merge", (attempts.name(first), attempts.name(second)), {})
            if attempts.works(merge):
                return [f"`{merge}` is legal: each iteration then runs once, in order"]
    return []


def _rolled_before(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """The producers whose rows have to be kept first: the first rows of this one need them."""
    named, loop = attempts.call.arguments
    program, node = attempts.program, attempts.loop(loop)
    assert isinstance(named, str)
    needed = [select.find_stage(program, named)]
    for each in needed:
        found = [e for e in navigate.producers(program, each) if e not in needed]
        needed += [e for e in found if node in select.loops_of(program, e)]
    names = [each.name for each in sorted(needed[1:], key=lambda e: e.positions)]
    for count in range(1, min(len(names), _MOST) + 1):
        first = [Call("rolling_buffer", (each, loop), {}) for each in names[-count:]]
        if attempts.works(*first, attempts.call):
            return [f"{_quoted(first)} first {_make(first)} this legal"]
    return []


def _other_loop(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """Another loop of the nest that can run like this one was to."""
    if error.kind == "race":  # its message names the loops that are independent
        return _before_staging(attempts, error) or _in_parts(attempts, error)
    call = attempts.call
    loop, *rest = call.arguments
    node = attempts.loop(loop)
    inside = [each for each in query.loops(node)[1:] if query.header(each) is not None]
    for each in (*attempts.around(node), *inside):
        other = Call(call.primitive, (attempts.name(each), *rest), call.options)
        if attempts.works(other):
            return [f"`{other}` is legal: its iterations are independent"]
    return []


def _before_staging(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """What has to be done before an array can get the scope that a hint names."""
    for scope in ("shared", "local"):
        call = Call("set_scope", (error.array, scope), {})
        if any(each.startswith(f"`{call}` first") for each in error.diagnostic.hints):
            problem = attempts.problem(call)
            hints = () if problem is None else problem.diagnostic.hints
            return [f"before `set_scope`: {each}" for each in hints[:1]]
    return []


def _in_parts(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """A split and a sum for each part of it, after which parts can run like a loop was to."""
    call = attempts.call
    loop, *rest = call.arguments
    array = error.array
    if array is None or call.primitive == "vectorize":
        return []
    split = Call("split", (loop, [_PARTS, None], list(_OF_PARTS)), {})
    parts = Call("rfactor", (array, _OF_PARTS[0]), {})
    then = Call(call.primitive, (f"{array}_rf#1.{_OF_PARTS[0]}", *rest), call.options)
    if attempts.works(split, parts, then):
        return [f"or sum up in parts: {_quoted([split, parts])}, and then `{then}`"]
    return []


def _inlined_before(attempts: Attempts, error: IllegalSchedule) -> list[str]:
    """The scalars of a stage that can be inlined first, so that it can be inlined too."""
    [named] = attempts.call.arguments
    assert isinstance(named, str)
    program = attempts.program
    stage = select.find_stage(program, named)
    around = select.loops_of(program, stage)
    inside = query.names_written(around[0]) if around else set()
    producers = navigate.producers(program, stage)
    scalars = [each.name for each in producers if each.array in inside]
    first = [Call("compute_inline", (each,), {}) for each in scalars[:_MOST]]
    if first and attempts.works(*first, attempts.call):
        return [f"{_quoted(first)} first {_make(first)} this legal"]
    return []


def _quoted(calls: Sequence[Call]) -> str:
    return " and ".join(f"`{each}`" for each in calls)


def _make(calls: Sequence[Call]) -> str:
    return "makes" if len(calls) == 1 else "make"


#: Kind of conflict -> what to do where no call was found that is legal.
_OTHERWISE = {
    "flow": "keep the order of these two iterations: name other loops, or leave the call out",
    "anti": "keep the order of these two iterations: name other loops, or leave the call out",
    "output": "keep the order of these two iterations, or let each write a cell of its own",
    "missing": "name a loop that runs whenever these cells are needed, or leave the call out",
}

_SEARCHES: dict[str, Callable[[Attempts, IllegalSchedule], list[str]]] = {
    "reorder": _skewed,
    "tile": _skewed,
    "merge": _shifted,
    "compute_at": _computed_at,
    "reverse_compute_at": _further_out,
    "compute_inline": _inlined_before,
    "rolling_buffer": _rolled_before,
    "bind": _other_loop,
    "parallel": _other_loop,
    "vectorize": _other_loop,
}
