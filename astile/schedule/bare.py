"""The steps of bare `@tile`: chosen, or found where they were chosen before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from astile import schedule
from astile.schedule import several
from astile.schedule.wants import Wants

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule


def choose(s: Schedule, tiles: Mapping[str, int] | None, family: str) -> Wants:
    """Take the steps that `compose.auto` chooses.

    Args:
        s: the schedule; steps are added to it.
        tiles: as for `compose.auto`.
        family: ``"cpu"`` or ``"cuda"``.

    Raises:
        ScheduleError: as `compose.auto`.
    """
    if family == "cuda":  # what is bound there is decided by proofs within some time
        return schedule.compose.auto(s, tiles, family)
    sizes = None if tiles is None else [[*each] for each in tiles.items()]
    vectors, floats = several.taken(
        s, "auto", [sizes], {}, lambda: _as_plain(schedule.compose.auto(s, tiles, family))
    )
    return Wants(vectors, frozenset(floats))


def choose_plain(s: Schedule) -> None:
    """Take the steps that `for_cores` chooses for all types.

    Args:
        s: the schedule; steps are added to it.
    """
    several.taken(
        s, "plain", [], {}, lambda: _as_plain(schedule.for_cores.for_cores(s, plain=True))
    )


def _as_plain(wants: Wants) -> tuple[bool, list[str]]:
    return wants.vectors, sorted(wants.floats)
