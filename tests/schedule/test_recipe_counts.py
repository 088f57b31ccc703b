"""What kernels of recipes ask of memory, counted by the emulator."""

from __future__ import annotations

import math

import numpy as np

from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.counted_launches import counted
from tests.support.recipes import transpose, turned
from tests.support.staged import assert_emulates, cuda_text


def test_a_transposition_is_coalesced_both_ways_and_has_no_bank_conflicts() -> None:
    s = Schedule(transpose)
    recipes.transposed(s)
    report = counted(s, turned(64, 96))
    assert report.bank_conflicts == 0
    for array in ("A", "B"):
        traffic = report.traffic(array)
        assert traffic.is_coalesced
        assert traffic.reads + traffic.writes == 64 * 96


# --- stencils -----------------------------------------------------------------------------------


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            s = np.float32(0.0)
            for p in range(3):
                for q in range(3):
                    s += x[i + p, j + q] * w[p, q]
            conv[i, j] = s
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def images(height: int, width: int) -> tuple[object, ...]:
    rng = np.random.default_rng(0)
    x = rng.random((height + 2, width + 2), np.float32)
    w, bias = rng.random((3, 3), np.float32), rng.random((height, width), np.float32)
    return x, w, bias, np.zeros((height, width), np.float32)


def test_a_chain_reads_its_input_once_for_each_tile() -> None:
    s = Schedule(conv_add)
    recipes.stencil_chain(s, "out", inputs=("x", "w"))
    report = counted(s, images(32, 32))
    [launch] = report.launches
    assert set(launch.arrays) == {"x", "w", "bias", "out"}  # the intermediate is not among them
    assert set(launch.shared) == {"x_shared", "w_shared", "conv_shared"}
    assert report.traffic("x").reads / (32 * 32) == (18 * 18) / (16 * 16)
    assert report.traffic("x").most_reads == 4  # of a cell in the halos of four tiles
    assert report.traffic("w").reads == 9 * 4
    assert report.traffic("bias").most_reads == report.traffic("out").most_writes == 1
    assert report.traffic("out").is_coalesced
    # what a thread computes from the tile: none; what is left are two rows in one copy
    assert launch.shared["x_shared"].conflicts == 40
    assert_emulates(s, images, [(17, 5)])


def test_inputs_of_a_chain_along_one_axis() -> None:
    def line(x, out):
        a = np.empty(len(x))
        for i in range(len(x)):
            a[i] = x[i] * 2
        for i in range(1, len(x) - 1):
            out[i] = a[i - 1] + a[i + 1]

    s = Schedule(line)
    recipes.stencil_chain(s, "out", (8,), inputs=("x",))
    report = counted(s, (np.arange(34.0), np.zeros(34)))
    assert report.traffic("x").reads == 4 * 10


# --- rows ---------------------------------------------------------------------------------------


def softmax(x, out):
    for i in range(len(x)):
        top = -np.inf
        for j in range(60):
            top = max(top, x[i, j])
        total = np.float32(0.0)
        for j in range(60):
            e = np.float32(math.exp(x[i, j] - top))
            out[i, j] = e
            total += e
        for j in range(60):
            out[i, j] /= total


def layernorm(x, gain, bias, out):
    for i in range(len(x)):
        total = 0.0
        for j in range(60):
            total += x[i, j]
        mean = total / 60
        spread = 0.0
        for j in range(60):
            spread += (x[i, j] - mean) * (x[i, j] - mean)
        scale = 1.0 / math.sqrt(spread / 60 + 1e-5)
        for j in range(60):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


def normed(x, out):
    n, m = x.shape
    for i in range(n):
        total = 0.0
        for j in range(m):
            total += x[i, j]
        for j in range(m):
            out[i, j] = x[i, j] / total


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).random(shape, np.float32)


def test_softmax_reads_and_writes_each_cell_once() -> None:
    s = Schedule(softmax)
    recipes.row_reduction(s, "i", 32, cells=2)
    report = counted(s, (numbers(3, 60), np.zeros((3, 60), np.float32)))
    x, out = report.traffic("x"), report.traffic("out")
    assert (x.reads, x.most_reads) == (out.writes, out.most_writes) == (180, 1)
    assert out.reads == report.bank_conflicts == 0


def test_layernorm_reads_each_cell_once() -> None:
    s = Schedule(layernorm)
    recipes.row_reduction(s, "i", 32, cells=2)
    given = (numbers(3, 60), numbers(60), numbers(60), np.zeros((3, 60), np.float32))
    report = counted(s, given)
    assert (report.traffic("x").reads, report.traffic("x").most_reads) == (180, 1)
    assert report.traffic("gain").most_reads == 3
    assert report.bank_conflicts == 0


def test_rows_of_any_length_have_a_version_for_the_short_ones() -> None:
    s = Schedule(normed)
    rows = recipes.row_reduction(s, "i", 32, cells=2)
    assert rows.var == "i"

    def arguments(n: int, m: int) -> tuple[object, ...]:
        return numbers(n, m), np.zeros((n, m), np.float32)

    text = cuda_text(s, arguments(1, 1))
    assert "if m <= 64:" in text
    assert text.count("cuda.shfl_xor_sync") == 2
    assert counted(s, arguments(2, 64)).traffic("x").most_reads == 1
    assert counted(s, arguments(2, 65)).traffic("x").most_reads == 2
    assert_emulates(s, arguments, [(2, 0), (2, 33), (2, 63), (1, 130)])


def test_rows_that_are_longer_than_registers_have_one_version() -> None:
    def sums(x, y):
        for i in range(len(x)):
            y[i] = 0.0
            for j in range(60):
                y[i] += x[i, j]

    s = Schedule(sums)
    recipes.row_reduction(s, "i", 8, cells=4)
    assert "if 60" not in s.source()
    assert counted(s, (numbers(2, 60), np.zeros(2, np.float32))).traffic("x").most_reads == 1
