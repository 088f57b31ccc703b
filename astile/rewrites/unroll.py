"""`unroll`: write out the iterations of a loop, all of them or a few at a time."""

from __future__ import annotations

from astile.errors import ScheduleError
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.rewrites.parts.marks import mark
from astile.rewrites.parts.result import Editor, Rewritten, named, whole_number
from astile.rewrites.parts.trips import trip_count
from astile.rewrites.split import split


def unroll(program: Program, loop: int, factor: int | None = None) -> Rewritten:
    """Ask for a loop to be unrolled where the target compiles it.

    Args:
        program: the program before.
        loop: identity of the loop.
        factor: how many iterations at a time; None for all, which needs a literal trip count.

    Raises:
        ScheduleError: for a bad factor, a loop that is bound, or a trip count that is no literal
            when there is no factor.

    Before:
        for k in range(4):
            s += x[k]

    After ``unroll(k)``:
        for k in unroll(4):
            s += x[k]
    """
    if factor is not None:
        if whole_number("factor", factor) < 1:
            raise ScheduleError(
                f"the factor {factor} is no positive integer",
                code="schedule.bad-factor",
                hints=["give a factor: `unroll(loop, 4)`"],
            )
        cut = split(program, loop, [None, factor], tail="cut")
        inner = unroll(cut.program, cut.loops[-1])
        return Rewritten(inner.program, cut.loops)
    edit = Editor(program)
    node = edit.loop(loop)
    count = trip_count(edit.counted(node))
    if count.value is None:
        raise ScheduleError(
            f"{named(node)} runs {print_expression(count.expression())} times, which is no literal",
            code="schedule.not-literal",
            span=edit.span(node),
            hints=["give a factor: `unroll(loop, 4)`"],
        )
    return mark(edit, node, "unroll")
