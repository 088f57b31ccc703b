"""What is printed of a schedule for a target: the text that a call of such types would run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import astile
from astile import lower, schedule
from astile.frontend.reductions import reductions
from astile.lower.parameters import assumed
from astile.lower.parameters.assumed import Dtypes
from astile.lower.parameters.expected import Expected, fits
from astile.lower.parameters.uses import uses

if TYPE_CHECKING:
    from astile.lower.lowered import Lowered
    from astile.schedule.blame import Blame
    from astile.schedule.schedule import Schedule


@dataclass(frozen=True)
class Printed:
    """A text and the schedule that it is of.

    Args:
        schedule: the one that runs for the types, which may take no step.
        lowered: the text.
        expected: the arguments that the text is for; None for plain Python, which takes all.
    """

    schedule: Schedule
    lowered: Lowered
    expected: Expected | None = None


def of(given: Schedule, target: str, dtypes: Dtypes | None) -> Printed:
    """What is printed for a target.

    Args:
        given: the schedule.
        target: ``"cpu"`` or ``"cuda"``.
        dtypes: parameter -> its dtype, where it is named.

    Raises:
        ArgumentError: for names that are no parameters, and types that they cannot have.
        LoweringError: when the target cannot run this program for these types.
    """
    original = given.original
    types = assumed.types(original, uses(original), dtypes or {})
    chosen, summed = given, None
    is_reordered = any(e.proof is not None and e.proof.kind != "equal" for e in given.steps)
    if original.written is not None and not fits(original, types):
        chosen = astile.Schedule(original.written, exact=given.exact)
    elif is_reordered and lower.types.truncated.must_keep_order(original, types, target):
        chosen = given.without_steps()
    lower.types.numeric.check(chosen.original, types, target)
    if not chosen.exact:  # steps are proved with the calls of NumPy that add in an order of its own
        summed = reductions(chosen.program)
    if summed is not None and summed is not chosen.program and fits(summed, types):
        chosen = chosen.ending_with(summed)
    is_rewritten = chosen.original.written is not None or bool(chosen.steps)
    expected = Expected.of(chosen.original, uses(chosen.original), types, is_rewritten=is_rewritten)
    return Printed(chosen, chosen.lowered(target, types, expected), expected)


def line_table(printed: Printed) -> tuple[Blame, ...]:
    """Where all lines of a text come from, in order.

    Args:
        printed: the text.
    """
    chosen, lowered, expected = printed.schedule, printed.lowered, printed.expected
    stamped = chosen.ending_with(schedule.blame.with_printed_lines(chosen.program))
    types = None if expected is None else expected.types
    twin = stamped.lowered(lowered.target, types, expected)
    calls = [each.call for each in chosen.steps]
    return schedule.blame.table(chosen.programs, calls, lowered, twin)
