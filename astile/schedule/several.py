"""Functions that take several steps: what they did in an earlier process is found by one look-up.

What such a function does is decided by the state of the schedule, by its arguments and by astile's
own code, so it must be one of astile's own, and take its steps by primitives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from astile.errors import ScheduleError
from astile.ir.stored import NotStored
from astile.schedule.known import Asked, KeptSteps
from astile.schedule.select import Loop
from astile.schedule.steps import Steps

R = TypeVar("R")


def taken(
    s: Steps,
    name: str,
    arguments: Sequence[object],
    options: Mapping[str, object],
    take: Callable[[], R],
) -> R:
    """What a function returns; the steps that it takes are taken, or found.

    Args:
        s: the schedule.
        name: of the function.
        arguments: all that it is given but the schedule, by position.
        options: the same, by name.
        take: calls it.
    """
    known = s._known
    asked = Asked(name, tuple(arguments), options)
    state = s._state_after(asked)
    if known is None or state is None or not _are_own(s, asked):
        return take()
    found = known.find_several(state)
    if found is not None:
        return cast("R", _taken_again(s, found))
    before, undecided = s.steps, known.undecided
    result = take()
    new = s.steps[len(before) :]
    goes_on = all(one is other for one, other in zip(before, s.steps, strict=False))
    is_proved = all(each.proof is not None for each in new)
    if goes_on and is_proved and len(s.steps) >= len(before) and known.undecided == undecided:
        try:
            plain = _plain(result)
        except NotStored:
            return result
        known.keep_several(state, [each.state for each in new], s._free_loop(), plain)
    return result


def _are_own(s: Steps, asked: Asked) -> bool:
    try:
        for loop in asked.handles():
            s._check_own(loop)
    except ScheduleError:  # is told by the first primitive that takes it
        return False
    return True


def _taken_again(s: Steps, found: KeptSteps) -> object:
    for state, kept in found.steps:
        s._take_kept(state, kept)
    s._next_loop = max(s._next_loop, found.free_loop)
    return _from_plain(s, found.result)


def _plain(value: object) -> Any:
    """A result as JSON holds it.

    Raises:
        NotStored: for anything but handles, texts, numbers and None, and lists and tuples of them.
    """
    if isinstance(value, Loop):
        return {"loop": value.identity}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [_plain(each) for each in value]}
    if type(value) not in (str, int, bool, type(None)):
        raise NotStored(f"{value!r} is no result of kept steps")
    return value


def _from_plain(s: Steps, held: Any) -> object:
    if not isinstance(held, dict):
        return cast("object", held)
    [(kind, value)] = held.items()
    if kind == "loop":
        return Loop(s, value)
    parts = [_from_plain(s, each) for each in value]
    return tuple(parts) if kind == "tuple" else parts
