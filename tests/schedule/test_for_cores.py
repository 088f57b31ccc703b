"""What bare `@tile` chooses for a CPU: order of loops, rows near their use, rims, cores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile import Schedule, tile
from astile.schedule.for_cores import for_cores


def products(A, B, C):
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def channels(x, w, y):
    n, c = y.shape
    for i in range(n):
        for ch in range(c):
            s = 0.0
            for p in range(w.shape[0]):
                s += x[i + p, ch] * w[p, ch]
            y[i, ch] = s


def doubled(x, y):
    n, m = y.shape
    twice = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            twice[i, j] = 2 * x[i, j]
    for i in range(n):
        for j in range(m):
            y[i, j] = twice[i, j] + 1


def smoothed(x, y):
    n, m = y.shape
    across = np.empty((n + 2, m))
    for i in range(n + 2):
        for j in range(m):
            across[i, j] = x[i, j] + x[i, j + 1]
    for i in range(n):
        for j in range(m):
            y[i, j] = across[i, j] + across[i + 2, j]


def clamped(x, y):
    n, m = y.shape
    for i in range(n):
        for j in range(m):
            y[i, j] = x[i, max(j - 1, 0)] + x[i, min(j + 2, m - 1)]


def scanned(x):
    n, m = x.shape
    for i in range(1, n):
        for j in range(1, m):
            x[i, j] += x[i - 1, j] + x[i, j - 1]


def whole(x, total):
    rows = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        rows[i] = x[i, 0]
    for i in range(x.shape[0]):
        total[i] = rows[0] + rows[x.shape[0] - 1 - i]


def shaped(x, y):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            y[i, j] = np.tanh(x[i, j])


def body(function: Callable[..., None]) -> str:
    s = Schedule(function)
    for_cores(s)
    return s.source()


def test_the_loop_along_rows_goes_inside() -> None:
    text = body(products)
    assert "for i in parallel(n):" in text
    assert text.index("for k in") < text.index("for j in range(m):\n                C[i, j] +=")


def test_a_sum_gets_cells_where_its_loop_goes_outside() -> None:
    text = body(channels)
    assert text.index("for p in") < text.rindex("for ch in")
    assert "for i in parallel(n):" in text


def test_rows_are_made_where_they_are_used() -> None:
    text = body(doubled)
    assert text.count("parallel") == 2  # its import, and one loop
    assert "local.empty((1, m), np.float64)" in text


def test_rows_that_are_needed_again_are_kept_in_strips() -> None:
    text = body(smoothed)
    assert "for i_0 in parallel((n + 31) // 32):" in text
    assert "across = np.empty((3, m), np.float64)" in text
    assert "across[(i_1 + 2) % 3, " in text


def test_rims_stand_apart() -> None:
    assert "y[i, j] = x[i, j - 1] + x[i, j + 2]" in body(clamped)


def test_functions_are_computed_in_vectors_unless_exact() -> None:
    assert "for j in vector(x.shape[1]):" in body(shaped)
    exact = Schedule(shaped, exact=True)
    for_cores(exact)
    assert "vector" not in exact.source()


def test_what_follows_each_other_stays() -> None:
    s = Schedule(scanned)
    for_cores(s)
    assert s.steps == ()


def test_rows_of_which_each_iteration_needs_all_stay() -> None:
    text = body(whole)
    assert "rows = np.empty(x.shape[0])" in text
    assert text.count("parallel(") == 2


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (products, ((5, 3), (3, 4), (5, 4))),
        (products, ((2, 0), (0, 3), (2, 3))),
        (channels, ((6, 5), (2, 5), (5, 5))),
        (doubled, ((3, 4), (3, 4))),
        (smoothed, ((36, 6), (34, 5))),
        (smoothed, ((3, 2), (1, 1))),
        (clamped, ((3, 7), (3, 7))),
        (clamped, ((2, 2), (2, 2))),
        (clamped, ((2, 1), (2, 1))),
        (whole, ((5, 1), (5,))),
    ],
)
def test_the_result_is_that_of_the_plain_function(
    function: Callable[..., None], shapes: tuple[tuple[int, ...], ...]
) -> None:
    arrays = [np.random.default_rng(k).random(shape) for k, shape in enumerate(shapes)]
    expected = [each.copy() for each in arrays]
    function(*expected)
    tile(target="python")(function)(*arrays)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
