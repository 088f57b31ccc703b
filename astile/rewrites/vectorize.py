"""`vectorize`: run a loop's iterations in the lanes of vector registers."""

from __future__ import annotations

from astile.ir.program import Program
from astile.rewrites.parts.marks import mark
from astile.rewrites.parts.result import Editor, Rewritten


def vectorize(program: Program, loop: int) -> Rewritten:
    """Run the iterations of a loop in the lanes of vector registers.

    The proof shows that the iterations are independent.

    Args:
        program: the program before.
        loop: identity of the loop.

    Raises:
        ScheduleError: when the loop has a kind already.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``vectorize(i)``:
        for i in vector(n):
            y[i] = x[i]
    """
    edit = Editor(program)
    return mark(edit, edit.loop(loop), "vector")
