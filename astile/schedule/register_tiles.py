"""Tiles of sums in vector registers, and panels of an operand that are packed for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.schedule import select
from astile.schedule.select import Loop

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule


def tiled(
    s: Schedule,
    loops: Sequence[Loop],
    operand: str | None,
    result: str | None,
    tile: Sequence[int],
    *,
    layout: str | None = None,
    steps: int = 1,
) -> Loop:
    """Sum up a tile of a result in registers, while a packed panel of an operand is read once.

    Rows that fill no tile are computed one by one.

    Args:
        s: the schedule.
        loops: over rows and columns of the result, and over what is summed up.
        operand: the array to pack; None to read all of them where they lie.
        result: the array of the sums; None for sums in a scalar.
        tile: rows and columns of a tile.
        layout: how to turn the panel where the operand does not lie along columns.
        steps: summands that are added up in one iteration.

    Returns:
        The loop over panels.

    Raises:
        ScheduleError: when a step is not legal.
    """
    i, j, k = loops
    row, summed = i.var, k.var
    j_0, j_1 = s.split(j, [None, tile[1]])
    s.reorder(j_0, i, j_1, k)
    if operand is not None:
        s.cache_read(operand, "local", at=j_0)
        if layout is not None:
            s.transform_layout(f"{operand}_local", layout)
    i_0, i_1 = s.split(i, [None, tile[0]], tail="cut")
    last_rows = _first(s, j_0, row)
    for whole, *inner in ((i_0, i_1), (last_rows,)):
        s.reorder(whole, _first(s, whole, summed), *inner, _first(s, whole, j_1.var))
        if result is not None:
            s.cache_write(result, "local", at=whole)
    _in_registers(s, j_0, tile)
    if steps > 1:
        _, step = s.split(_first(s, i_0, summed), [None, steps], tail="cut")
        s.unroll(step)
    return j_0


def _in_registers(s: Schedule, panel: Loop, tile: Sequence[int]) -> None:
    """Write out the loops over rows of a tile; those along its columns become vectors."""
    for loop in _inside(s, panel):
        node = select.loop_node(s.program, loop.identity)
        header = query.header(node)
        assert header is not None
        is_innermost = len(query.loops(node)) == 1
        if is_innermost and query.is_constant(header.stop, tile[1]):
            s.vectorize(loop)
        elif query.is_constant(header.stop, tile[0]):
            s.unroll(loop)


def _inside(s: Schedule, loop: Loop) -> list[Loop]:
    found = query.loops(select.loop_node(s.program, loop.identity))[1:]
    return [Loop(s, i) for each in found if (i := nodes.loop_id(each)) is not None]


def _first(s: Schedule, loop: Loop, variable: str) -> Loop:
    """The first loop over a variable inside a loop.

    Raises:
        ScheduleError: when there is none.
    """
    for each in _inside(s, loop):
        if each.var == variable:
            return each
    raise ScheduleError(
        f"inside the loop over {loop.var} there is none over {variable}",
        code="schedule.not-nested",
        hints=["name the loops over rows, columns and summands, one inside the other"],
    )
