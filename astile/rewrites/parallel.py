"""`parallel`: run a loop on several CPU threads."""

from __future__ import annotations

from astile.ir.program import Program
from astile.rewrites.parts.marks import check_nesting, mark
from astile.rewrites.parts.result import Editor, Rewritten


def parallel(program: Program, loop: int) -> Rewritten:
    """Run the iterations of a loop on several CPU threads.

    The proof shows that the iterations are independent.

    Args:
        program: the program before.
        loop: identity of the loop.

    Raises:
        ScheduleError: when the loop has a kind already, or one in its nest is bound.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``parallel(i)``:
        for i in parallel(n):
            y[i] = x[i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    check_nesting(edit, node, "parallel")
    return mark(edit, node, "parallel")
