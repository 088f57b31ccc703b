"""What the accesses of warps cost, as the emulator counts it."""

from __future__ import annotations

import numpy as np
import pytest

from astile.runtime import emulate
from astile.runtime.emulate import EmulationReport, SharedTraffic
from astile.runtime.emulator.warps import bank_passes


def passes(size: int, stride: int, lanes: int = 32) -> int:
    return bank_passes([(lane, lane * stride) for lane in range(lanes)], size)


@pytest.mark.parametrize(
    ("size", "stride", "expected"),
    [
        (4, 4, 1),
        (4, 0, 1),  # one word serves all lanes
        (4, 8, 2),
        (4, 12, 1),
        (4, 128, 32),
        (4, 132, 1),
        (1, 1, 1),
        (2, 128, 32),
        (8, 8, 2),  # half a warp at a time
        (8, 0, 2),
        (8, 16, 4),
        (8, 136, 2),
        (16, 16, 4),  # a quarter of a warp at a time
        (16, 32, 8),
        (16, 128, 32),
        (16, 144, 4),
    ],
)
def test_passes_through_the_banks(size: int, stride: int, expected: int) -> None:
    assert passes(size, stride) == expected


def test_lanes_that_make_no_access() -> None:
    assert passes(16, 16, lanes=5) == 1
    assert passes(4, 128, lanes=3) == 3


KERNEL = """
import numpy as np
from numba import cuda, float32, float64, uint32
from astile.intrinsics.cuda import load4, store4
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(({rows}, {columns}), {dtype}, alignment=16)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
{body}
def run(a, out):
    kernel[{blocks}, ({threads}, 1)](a, out)
"""


def run(
    body: str,
    *,
    columns: int = 32,
    rows: int = 32,
    dtype: str = "float32",
    blocks: int = 1,
    threads: int = 32,
) -> EmulationReport:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    text = KERNEL.format(
        rows=rows, columns=columns, dtype=dtype, blocks=blocks, threads=threads, body=lines
    )
    report = EmulationReport()
    a = np.arange(64 * 32, dtype=dtype).reshape(64, 32)
    emulate.load(text, "run", report=report)(a, np.zeros_like(a))
    return report


COLUMN = """
for k in range(uint32(32)):
    tile[k, x] = a[k, x]
cuda.syncthreads()
for k in range(uint32(32)):
    out[k, x] = tile[x, k]
"""


@pytest.mark.parametrize(("columns", "conflicts"), [(32, 32 * 31), (33, 0), (34, 32)])
def test_columns_of_a_tile(columns: int, conflicts: int) -> None:
    report = run(COLUMN, columns=columns)
    assert report.launches[0].shared == {"tile": SharedTraffic(64, conflicts)}
    assert report.bank_conflicts == conflicts


def test_columns_of_a_tile_of_doubles() -> None:
    assert run(COLUMN, columns=32, dtype="float64").bank_conflicts == 32 * 30
    assert run(COLUMN, columns=33, dtype="float64").bank_conflicts == 0


def test_four_cells_at_once_are_one_access() -> None:
    body = """
for k in range(uint32(4)):
    store4(tile, (x, k * uint32(4)), load4(a, (x, k * uint32(4))))
cuda.syncthreads()
load4(tile, (x, uint32(0)))
"""
    report = run(body, columns=20)
    assert report.launches[0].shared == {"tile": SharedTraffic(5, 0)}
    assert run(body, columns=32).bank_conflicts == 5 * 28
    traffic = report.traffic("a")
    assert (traffic.reads, traffic.sectors, traffic.least_sectors) == (32 * 16, 4 * 32, 4 * 16)


def test_a_warp_is_32_threads_wherever_they_are() -> None:
    """Two warps and 8 lanes more, each by itself."""
    report = run("out[x // uint32(32), x % uint32(32)] = 1", threads=72, blocks=1)
    traffic = report.traffic("out")
    assert (traffic.sectors, traffic.least_sectors) == (4 + 4 + 1, 9)
    assert traffic.is_coalesced
    report = run("tile[0, x] = 1", threads=72, columns=72)
    assert report.launches[0].shared["tile"] == SharedTraffic(3, 0)


def test_rows_that_lanes_read_alone_are_not_coalesced() -> None:
    report = run("for k in range(uint32(8)): out[x, k] = a[x, k]")
    traffic = report.traffic("a")
    assert (traffic.sectors, traffic.least_sectors) == (8 * 32, 8 * 4)
    assert not traffic.is_coalesced


def test_lanes_that_are_left_out_ask_for_nothing() -> None:
    report = run(
        "if x % uint32(4) == uint32(0):\n    tile[x, 0] = a[0, x]\n    out[0, x] = tile[x, 0]"
    )
    assert report.launches[0].shared["tile"] == SharedTraffic(2, 14)
