"""Transposition by way of a tile in shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from astile.schedule.recipes.cooperation import BLOCKS, spread
from astile.schedule.recipes.whole import recipe
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop


@recipe
def transposed(
    s: Schedule,
    loops: Sequence[Loop | str] = ("i", "j"),
    source: str = "A",
    tile: int = 32,
    rows: int = 8,
) -> None:
    """A copy that swaps two axes, with a tile of the source in the shared memory of each block.

    Threads next to each other read neighbouring cells of the source, and write neighbouring cells
    of the result. The rows of the tile are padded by one cell, so that the threads that read a
    column of it meet in no memory bank. The method is that of M. Harris, "An efficient matrix
    transpose in CUDA C/C++" (2013).

    Args:
        s: a schedule of ``B[j, i] = A[i, j]``.
        loops: the loops over rows and columns of the source.
        source: the array to stage.
        tile: rows and columns of a tile, and threads of a block along x.
        rows: threads of a block along y.

    Raises:
        ScheduleError: when the program is none of this form.
    """
    i_0, j_0, i_1, j_1 = s.tile(loops, [tile, tile])
    copy = s.cache_read(source, "shared", at=j_0)
    s.storage_align(f"{source}_shared", 0, 32, 1)
    s.reorder(j_1, i_1)
    for loop, axis in zip((i_0, j_0), BLOCKS, strict=True):
        s.bind(loop, axis)
    for nest in (copy, (j_1, i_1)):
        spread(s, nest, (rows, tile))
