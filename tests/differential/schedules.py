"""Schedules of the kernels, for the host and for thread blocks."""

from __future__ import annotations

from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

Tile = tuple[int, int]


def _threads(s: Schedule, array: str, around: tuple[Loop, ...]) -> None:
    """Bind the loops of a stage inside the tile loops to threads."""
    outside = {each.identity for each in around}
    inner = [each for each in s.loops(array) if each.identity not in outside]
    s.bind(inner[0], "threadIdx.y")
    s.bind(inner[1], "threadIdx.x")


def _tiled(s: Schedule, producers: tuple[str, ...], tile: Tile, scope: str) -> tuple[Loop, ...]:
    i_0, j_0, _, _ = s.tile(["out.i", "out.j"], list(tile))
    for each in producers:
        s.compute_at(each, j_0)
        s.set_scope(each, scope)
    return i_0, j_0


def on_host(s: Schedule, producers: tuple[str, ...], tile: Tile) -> None:
    """Tiles run in parallel; intermediates live as long as a tile."""
    i_0, _ = _tiled(s, producers, tile, "local")
    s.parallel(i_0)


def on_blocks(s: Schedule, producers: tuple[str, ...], tile: Tile) -> None:
    """One tile per thread block; intermediates in shared memory."""
    around = _tiled(s, producers, tile, "shared")
    s.bind(around[0], "blockIdx.y")
    s.bind(around[1], "blockIdx.x")
    for array in ("out", *(f"{each}_shared" for each in producers)):
        _threads(s, array, around)


def staged_on_blocks(s: Schedule) -> None:
    """The hand-staged matrix product: tiles of both operands shared, sums in registers."""
    s.set_scope("a", "shared")
    s.set_scope("b", "shared")
    s.set_scope("acc", "local")
    s.bind("i_0", "blockIdx.y")
    s.bind("j_0", "blockIdx.x")
    rows = ("p", "r", "i_1", "i_2", "a_0", "b_0", "acc_0")
    columns = ("q", "s", "j_1", "j_2", "a_1", "b_1", "acc_1")
    for row, column in zip(rows, columns, strict=True):
        s.bind(row, "threadIdx.y")
        s.bind(column, "threadIdx.x")
