"""Bare `@tile` runs rows side by side whose cells wait for each other, and those of stencils."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile import Schedule, tile
from astile.schedule.for_cores import for_cores
from astile.schedule.wants import Wants


def distances(d):
    H, W = d.shape
    for y in range(1, H):
        for x in range(1, W - 1):
            near = min(d[y - 1, x], d[y, x - 1]) + np.float32(3)
            far = min(d[y - 1, x - 1], d[y - 1, x + 1]) + np.float32(4)
            d[y, x] = min(d[y, x], min(near, far))


def relaxed(x):
    n, m = x.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            x[i, j] = (x[i - 1, j] + x[i, j - 1] + x[i, j] + x[i, j + 1] + x[i + 1, j]) * 0.2


def filtered(x, y):
    n, m = y.shape
    for i in range(n):
        for j in range(2, m):
            y[i, j] = x[i, j] + 0.5 * y[i, j - 1] - 0.2 * y[i, j - 2]


def aligned(a, b, table):
    n, m = table.shape
    for i in range(1, n):
        for j in range(1, m):
            same = table[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else 0)
            table[i, j] = max(same, max(table[i - 1, j] - 0, table[i, j - 1] - 0))


def smoothed(x, w, y):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            total = np.float32(0)
            for p in range(3):
                for q in range(3):
                    total += w[p, q] * x[i + p, j + q]
            y[i, j] = max(total, np.float32(0))


def summed(x):
    n, m = x.shape
    for i in range(n):
        for j in range(1, m):
            x[i, j] += x[i, j - 1]


def backward(x):
    n, m = x.shape
    for i in range(1, n):
        for j in range(1, m - 9):
            x[i, j] = (x[i - 1, j + 9] + x[i, j - 1] * 0.5) * 0.25 + 1.0


def doubled(x, y):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + x[i, j + 1]


def read_again(x, y, z):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, j] + x[i + 1, j]
    for i in range(n):
        z[i] = y[n - 1 - i, 0]


def swept(steps, e, h, out):
    n, m = h.shape
    for _ in range(steps):
        for i in range(1, n):
            for j in range(m):
                e[i, j] = e[i, j] - 0.5 * (h[i, j] - h[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                out[i, j] = out[i, j] - 0.5 * (h[i, j] - h[i, j - 1])


def halved_and_filtered(x, y, z):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 0.5 * x[i, j]
    for i in range(n):
        for j in range(m):
            x[i, j] = y[i, j] + 1.0
    for i in range(n):
        for j in range(1, m):
            z[i, j] = y[i, j] + 0.5 * z[i, j - 1]


def scaled_by_all(x, y, z):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = 2 * x[i, j]
    for i in range(n):
        for j in range(m):
            for k in range(n):
                z[i, j] += y[i, j] * x[k, j]


def chosen(function: Callable[..., None]) -> tuple[str, Wants]:
    s = Schedule(function)
    wants = for_cores(s)
    return s.source(), wants


def test_rows_stay_behind_the_one_above() -> None:
    text, wants = chosen(distances)
    assert "if H - 1 >= 16 and W - 2 >= 64:" in text
    assert "for y_1 in unroll(8):" in text
    assert "if y_0 * 16 + y_1 * 2 + 3 <= x <= W + y_0 * 16 + y_1 * 2:" in text
    assert wants == Wants(floats=frozenset("d"))


def test_rows_that_know_nothing_of_each_other_begin_together() -> None:
    text, _ = chosen(filtered)
    assert "for i_0 in parallel(n // 8):" in text
    assert "for i in range(n // 8 * 8, n):" in text  # too few for several cores


@pytest.mark.parametrize("function", [summed, backward, doubled])
def test_what_gains_nothing_stays(function: Callable[..., None]) -> None:
    text, wants = chosen(function)
    assert "unroll" not in text
    assert wants == Wants()


def test_rows_of_a_stencil_share_what_they_load() -> None:
    text, wants = chosen(smoothed)
    assert "# prefetch = 1\n    for i_0 in parallel(n // 4):\n        # store = 'large'" in text
    assert "for i in range(n // 4 * 4, n):" in text
    assert wants == Wants(vectors=True)


def test_only_what_nobody_reads_again_goes_around_the_caches() -> None:
    text, _ = chosen(read_again)
    assert "# store = 'ahead'" in text
    assert "'large'" not in text


def gradients(x, a, b):
    n, m = a.shape
    for i in range(n):
        for j in range(m):
            a[i, j] = x[i, j + 1] - x[i, j]
            b[i, j] = x[i + 1, j] - x[i, j]


def differences(x, y):
    n, m = x.shape[0] - 1, x.shape[1] - 1
    for i in range(n):
        for j in range(m):
            y[0, i, j] = x[i, j + 1] - x[i, j]
            y[1, i, j] = x[i + 1, j] - x[i, j]
            y[2, i, j] = x[i + 1, j + 1] - x[i, j]
            y[3, i, j] = x[i + 1, j] - x[i, j + 1]


def test_no_more_than_six_rows_are_stored_side_by_side() -> None:
    assert "for i_0 in parallel(n // 2):" in chosen(gradients)[0]
    assert "vector" not in chosen(differences)[0]


def test_nests_that_use_the_same_rows_run_in_one_loop() -> None:
    text, _ = chosen(swept)
    assert text.count("parallel(") == 1
    assert (
        "for i in parallel(1, n):\n            for j in range(m):\n                e[i, j]" in text
    )
    assert "if n > 0:\n            for j in range(1, m):\n                out[0, j]" in text
    assert "<=" not in text  # no iteration asks which of the nests runs


def test_rows_that_wait_run_side_by_side_and_not_with_the_nest_before() -> None:
    text, wants = chosen(halved_and_filtered)
    assert text.count("for i in parallel(n):") == 2  # the first two, and the last where few
    assert "for i_1 in unroll(8):" in text
    assert wants == Wants(floats=frozenset("z"))


def test_a_nest_that_needs_all_rows_stays_by_itself() -> None:
    text, _ = chosen(scaled_by_all)
    assert "# prefetch" not in text
    assert text.count("for i in parallel(n):") == 2


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (1, 5), (2, 4), (7, 6)])
def test_nests_in_one_loop_compute_the_same(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(7)
    arrays = [random.random(shape) for _ in range(3)]
    expected = [each.copy() for each in arrays]
    swept(3, *expected)
    tile(target="python")(swept)(3, *arrays)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def plainly(function: Callable[..., None], arrays: list[np.ndarray]) -> list[np.ndarray]:
    expected = [each.copy() for each in arrays]
    function(*expected)
    return expected


@pytest.fixture(scope="module", params=[distances, relaxed, filtered])
def waiting(request: pytest.FixtureRequest) -> tuple[Callable[..., None], Callable[..., None]]:
    return request.param, tile(target="cpu")(request.param)


@pytest.mark.parametrize("rows", [0, 1, 2, 16, 17, 18, 19, 23, 24, 25, 31])
@pytest.mark.parametrize("columns", [1, 65, 66, 67, 80])
def test_values_are_those_of_the_plain_loops(
    waiting: tuple[Callable[..., None], Callable[..., None]], rows: int, columns: int
) -> None:
    function, kernel = waiting
    count = function.__code__.co_argcount
    random = np.random.default_rng(rows * columns)
    arrays = [random.random((rows, columns)) for _ in range(count)]
    if rows and columns:
        arrays[-1][rows // 2, columns // 2] = np.nan
    expected = plainly(function, arrays)
    kernel(*arrays)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_integers_take_the_plain_loops() -> None:
    random = np.random.default_rng(7)
    a, b = random.integers(0, 4, 70), random.integers(0, 4, 90)
    kernel = tile(target="cpu")(aligned)
    for dtype in (np.int64, np.float64):
        table = np.zeros((71, 91), dtype)
        _, _, expected = plainly(aligned, [a, b, table])
        kernel(a, b, table)
        np.testing.assert_array_equal(table, expected)


@pytest.fixture(scope="module")
def smooth() -> Callable[..., None]:
    return tile(target="cpu")(smoothed)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("columns", [0, 1, 15, 16, 17, 35])
def test_rows_of_a_stencil_at_sizes_around_those_of_blocks(
    smooth: Callable[..., None], rows: int, columns: int
) -> None:
    random = np.random.default_rng(rows * columns)
    x, w = (random.random(each).astype(np.float32) for each in ((rows + 2, columns + 2), (3, 3)))
    y = np.zeros((rows, columns), np.float32)
    _, _, expected = plainly(smoothed, [x, w, y])
    smooth(x, w, y)
    np.testing.assert_allclose(y, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.complex64, np.uint8, np.int64])
def test_stencils_of_types_without_vectors_take_the_plain_loops(
    smooth: Callable[..., None], dtype: type[np.generic]
) -> None:
    random = np.random.default_rng(7)
    x, w = (random.integers(0, 9, each).astype(dtype) for each in ((9, 20), (3, 3)))
    y = np.zeros((7, 18), dtype)
    _, _, expected = plainly(smoothed, [x, w, y])
    if dtype is np.complex64:
        with pytest.raises(Exception, match="complex"):
            smooth(x, w, y)
        return
    smooth(x, w, y)
    np.testing.assert_array_equal(y, expected)
