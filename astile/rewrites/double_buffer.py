"""`double_buffer`: two copies of a tile that the iterations of a loop use in turns."""

from __future__ import annotations

from astile.errors import ScheduleError
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten, named
from astile.rewrites.parts.storage import intermediate
from astile.rewrites.parts.turns import take_turns


def double_buffer(program: Program, array: str) -> Rewritten:
    """Give a tile two halves, of which every other iteration of its loop uses one.

    One iteration may then fill its half while threads still read the half of the one before: a
    staged loop needs one barrier in each iteration, not two.

    Args:
        program: the program before.
        array: an array allocated in the body of a loop that runs in order.

    Raises:
        ScheduleError: when the array is no such tile, its shape depends on the loop, or it is
            used other than cell by cell.

    Before:
        for k in range(n):
            tile = shared.empty(16, np.float32)
            for i in range(16):
                tile[i] = x[k, i]
            for i in range(16):
                y[i] += tile[15 - i]

    After ``double_buffer("tile")``:
        tile = shared.empty((2, 16), np.float32)
        for k in range(n):
            for i in range(16):
                tile[k % 2, i] = x[k, i]
            for i in range(16):
                y[i] += tile[k % 2, 15 - i]
    """
    edit = Editor(program)
    held = intermediate(edit, array)
    place = edit.place(held.statement)
    if not place.loops:
        raise ScheduleError(
            f"{array} is not allocated inside a loop whose iterations could use it in turns",
            code="schedule.no-loop",
            span=edit.span(held.statement),
            hints=["`cache_read(..., at=loop)` and `set_scope` make tiles inside a loop"],
        )
    home = place.loops[-1]
    header = edit.counted(home)
    if header.kind not in ("range", "unroll"):
        raise ScheduleError(
            f"{named(home)} is {header.kind}: its iterations do not follow each other",
            code="schedule.already-bound",
            span=edit.span(home),
            hints=["stage the tile inside a loop that runs in order, such as the one summed up"],
        )
    take_turns(edit, held, home, 2)
    return edit.finish([home])
