"""`bind`: run a loop's iterations on a hardware index, blocks or threads."""

from __future__ import annotations

from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir.program import Program
from astile.rewrites.parts.marks import check_nesting, mark
from astile.rewrites.parts.result import Editor, Rewritten

#: TVM's names of hardware indices -> the words of printed programs.
AXES = {f"{unit}Idx.{axis}": f"{unit}.{axis}" for unit in ("block", "thread") for axis in "xyz"}


def bind(program: Program, loop: int, axis: str) -> Rewritten:
    """Bind a loop to a hardware index: its iterations run on different blocks or threads.

    The proof shows that the iterations are independent, or separated by barriers.

    Args:
        program: the program before.
        loop: identity of the loop.
        axis: ``"blockIdx.x"`` ... ``"threadIdx.z"``.

    Raises:
        ScheduleError: for an unknown axis, one that a loop around or inside is bound to, a
            block loop inside a thread loop, or a loop that is bound already.

    Before:
        for i_0 in range(14):
            y[i_0] = x[i_0]

    After ``bind(i_0, "blockIdx.x")``:
        for i_0 in block.x(14):
            y[i_0] = x[i_0]
    """
    edit = Editor(program)
    if axis not in AXES:
        raise ScheduleError(
            f"no hardware index {axis!r}",
            code="schedule.bad-axis",
            hints=suggestions(str(axis), AXES, "indices"),
        )
    node = edit.loop(loop)
    check_nesting(edit, node, AXES[axis])
    return mark(edit, node, AXES[axis], from_zero=True)
