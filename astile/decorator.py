"""`@tile` and `from_source`: how functions become kernels."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, Protocol, TypeVar, overload

from astile import frames
from astile.diagnostics import did_you_mean
from astile.errors import ScheduleError
from astile.forms import Scheduling
from astile.frontend import text as given_text
from astile.kernel import Kernel
from astile.targets import Target

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS = ("tiles", "schedule", "target", "exact", "scratch")


class Decorator(Protocol):
    """What `@tile(...)` makes of its options: it keeps parameters and return type."""

    def __call__(self, function: Callable[P, R], /) -> Kernel[P, R]:
        """Make a kernel of a function."""


@overload
def tile(function: Callable[P, R], /) -> Kernel[P, R]: ...


@overload
def tile(
    *,
    tiles: Mapping[str, int] | None = None,
    schedule: Scheduling | None = None,
    target: Target = "auto",
    exact: bool = False,
    scratch: Iterable[str] = (),
    **loops: int,
) -> Decorator: ...


@frames.entry
def tile(
    function: Callable[..., Any] | None = None,
    /,
    *more: object,
    tiles: Mapping[str, int] | None = None,
    schedule: Scheduling | None = None,
    target: Target = "auto",
    exact: bool = False,
    scratch: Iterable[str] = (),
    **loops: int,
) -> Kernel[Any, Any] | Decorator:
    """Make a kernel of a function of plain loops.

    Args:
        function: the function, when `@tile` is written without parentheses.
        *more: refused, since all others are given by name.
        tiles: loop name -> size of its tiles, for loops named like an option.
        schedule: applies primitives to the schedule it is given, in place of tiles.
        target: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"python"`` or ``"emulate"``.
        exact: bit-identical to the plain function.
        scratch: array arguments whose contents after the call nobody reads.
        **loops: loop name -> size of its tiles.

    Raises:
        SourceError: for Python that astile does not read.
        ScheduleError: for options and steps that do not fit.
    """
    sizes = _tile_sizes(tiles, loops)
    if sizes is not None and schedule is not None:
        raise ScheduleError(
            "@tile takes sizes of tiles or a schedule, not both",
            code="schedule.bad-options",
            hints=("call s.tile(...) inside the schedule",),
        )
    if schedule is not None and not callable(schedule):
        raise ScheduleError(
            f"schedule is a {type(schedule).__name__}, not a function",
            code="schedule.bad-options",
            hints=("write `def my_schedule(s): s.split(...)` and pass schedule=my_schedule",),
        )

    @frames.entry
    def decorate(plain: Callable[P, R], /) -> Kernel[P, R]:
        return Kernel(
            plain, tiles=sizes, schedule=schedule, target=target, exact=exact, scratch=scratch
        )

    if more or isinstance(function, (int, Mapping)):
        given = ", ".join(getattr(each, "__name__", repr(each)) for each in (function, *more))
        raise ScheduleError(
            f"@tile takes sizes by the name of their loop, not {given}",
            code="schedule.bad-options",
            hints=("write @tile(i=16, j=16)",),
        )
    return decorate if function is None else decorate(function)


def _tile_sizes(tiles: Mapping[str, int] | None, loops: Mapping[str, int]) -> dict[str, int] | None:
    if not tiles and not loops:
        return None
    if not isinstance(tiles or {}, Mapping):
        raise ScheduleError(
            f"tiles={tiles!r} does not say which loops these are",
            code="schedule.bad-options",
            hints=['write tiles={"i": 16, "j": 16}'],
        )
    twice = sorted(set(tiles or ()) & set(loops))
    if twice:
        raise ScheduleError(
            f"loop {twice[0]!r} has two sizes: {loops[twice[0]]} and {(tiles or {})[twice[0]]}",
            code="schedule.bad-options",
            hints=["give it one: in `tiles`, or as an option"],
        )
    sizes = {**(tiles or {}), **loops}
    for name, size in sizes.items():
        is_number = hasattr(size, "__index__") and not isinstance(size, bool)
        if is_number and operator.index(size) >= 1:  # an integer of Python or NumPy
            sizes[name] = operator.index(size)
            continue
        is_size = isinstance(size, int) and not isinstance(size, bool)
        near = None if is_size else did_you_mean(name, _OPTIONS)
        raise ScheduleError(
            f"the tile size of loop {name!r} is {size!r}, not a positive integer",
            code="schedule.bad-options",
            hints=(near or f"write @tile({name}=16)",),
        )
    return sizes


@frames.entry
def from_source(text: str, name: str | None = None, **options: Any) -> Kernel[..., Any]:
    """A kernel from the text of a module, for functions whose source Python cannot find.

    The text is read, and its functions are compiled; nothing else of it is run.

    Args:
        text: holds the function; imports and constants may stand above it.
        name: of the function; may be left out when the text defines one only.
        **options: as for `tile`.

    Raises:
        SourceError: when the text is no Python, or the function is not in it.
        ScheduleError: as for `tile`.
    """
    decorate: Decorator = tile(**options)
    return decorate(given_text.function_of(text, name))
