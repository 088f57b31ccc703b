"""`reverse`: run the iterations of a loop in the opposite order."""

from __future__ import annotations

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_replaceable,
    check_unbound,
    range_call,
)
from astile.rewrites.parts.trips import trip_count


def reverse(program: Program, loop: int) -> Rewritten:
    """Count a loop from its last iteration to its first.

    Args:
        program: the program before.
        loop: identity of the loop.

    Raises:
        ScheduleError: for a loop of at most one iteration, one that is bound, or not counted.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``reverse(i)``:
        for i in range(n - 1, -1, -1):
            y[i] = x[i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.counted(node)
    count = trip_count(header)
    if count.value is not None and count.value < 2:
        raise ScheduleError(
            f"the loop over {header.variable} has no second iteration",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(node),
        )
    check_unbound(edit, node, header, "reverse the loop first, then bind it")
    check_replaceable(edit, node, header)
    step = query.integer(header.step)
    assert step
    start = affine.of(header.start)
    last = start + (count - 1) * step
    node.iter = range_call(last.expression(), (start - step).expression(), nodes.const(-step))
    return edit.finish([node])
