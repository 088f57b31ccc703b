"""What bare `@tile` chooses for a CPU: order of loops, rows near their use, rims, cores."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile import Schedule, tile
from astile.schedule.for_cores import for_cores, sums


def products(A, B, C):
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            C[i, j] = 0.0
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def added(A, B, C):
    for k in range(A.shape[1]):
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def turned(A, B, C):
    b, n, m = C.shape
    for h in range(b):
        for i in range(n):
            for j in range(m):
                total = np.float32(0)
                for k in range(A.shape[2]):
                    total += A[h, i, k] * B[h, j, k]
                C[h, i, j] = total


def below_diagonal(A, B, C):
    n, m = C.shape
    for i in range(n):
        for j in range(i, m):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]


def elementwise(A, B, C):
    n, m = C.shape
    for i in range(n):
        for j in range(m):
            for k in range(3):
                C[i, j] += A[i, j] * B[k, j]


def closed(A, B, C):
    n = C.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                C[i, j] = min(C[i, j], C[i, k] + C[k, j])


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
    text = body(products).partition("else:")[2]
    assert "for i in parallel(n):" in text
    assert text.index("for k in") < text.index("for j in range(m):\n                    C[i, j] +=")


def test_sums_of_products_are_kept_in_registers_where_there_are_many() -> None:
    text = body(products).partition("else:")[0]
    assert "if n >= 4 and m >= 384 and A.shape[1] >= 16:" in text
    assert "for j_0 in parallel((m + 47) // 48):" in text
    assert "C_local[i_1, j_1] += A[i_0 * 4 + i_1, k] * B_local[k, j_1]" in text


def test_an_operand_across_rows_is_turned_where_it_is_packed() -> None:
    text = body(turned).partition("else:")[0]
    assert "for h in parallel(b):" in text
    assert "m >= 48" in text  # the loop around runs on the cores
    assert "B_local[0, B_2, B_1] = B[h, j_0 * 48 + B_1, B_2]" in text


@pytest.mark.parametrize("function", [below_diagonal, elementwise, closed, channels])
def test_what_is_no_sum_of_products_over_a_rectangle(function: Callable[..., None]) -> None:
    assert not sums(Schedule(function).program)


@pytest.fixture(scope="module")
def multiply() -> Callable[..., None]:
    return tile(target="cpu")(added)


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 11])
@pytest.mark.parametrize("columns", [383, 384, 385, 431, 432, 433])
@pytest.mark.parametrize("depth", [15, 16, 17])
def test_products_at_sizes_around_those_of_tiles(
    multiply: Callable[..., None], rows: int, columns: int, depth: int
) -> None:
    random = np.random.default_rng(rows * columns + depth)
    A, B = (random.normal(size=e).astype(np.float32) for e in ((rows, depth), (depth, columns)))
    C = random.normal(size=(rows, columns)).astype(np.float32)
    expected = C.astype(np.float64) + A.astype(np.float64) @ B
    multiply(A, B, C)
    np.testing.assert_allclose(C, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.complex64, np.uint8, np.int64])
def test_types_without_vectors_take_the_plain_loops(
    multiply: Callable[..., None], dtype: type[np.generic]
) -> None:
    random = np.random.default_rng(7)
    A, B, C = (random.integers(0, 9, e).astype(dtype) for e in ((5, 16), (16, 385), (5, 385)))
    expected = C + A @ B
    multiply(A, B, C)
    np.testing.assert_array_equal(C, expected)


def test_products_in_batches() -> None:
    random = np.random.default_rng(7)
    A, B = (random.normal(size=e).astype(np.float32) for e in ((3, 9, 16), (3, 50, 16)))
    C = np.zeros((3, 9, 50), np.float32)
    tile(target="cpu")(turned)(A, B, C)
    expected = A.astype(np.float64) @ B.astype(np.float64).transpose(0, 2, 1)
    np.testing.assert_allclose(C, expected, atol=1e-5)


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


def two_of_one_nest(x):
    H, W = x.shape
    a, b = np.empty((H, W)), np.empty((H, W))
    out = np.empty((H, W))
    for i in range(H):
        for j in range(W):
            a[i, j] = x[i, j] * 2
            b[i, j] = x[i, j] + 1
    for i in range(H):
        for j in range(W):
            out[i, j] = a[i, j] * b[i, j]
    return out


@pytest.mark.parametrize("options", [{}, {"i": 8, "j": 8}, {"i": 8, "j": 8, "target": "emulate"}])
def test_all_arrays_of_a_nest_leave_slow_memory(options):
    kernel, x = tile(**options)(two_of_one_nest), np.arange(63.0).reshape(9, 7)
    scoped = [step.call[:14] for step in kernel.steps if step.call.startswith("set_scope")]
    assert sorted(scoped) == ["set_scope('a',", "set_scope('b',"]
    assert np.array_equal(kernel(x), two_of_one_nest(x))


def counted_values(image, out):
    counts = np.zeros(9)
    for value in image.ravel():
        counts[value] += 1
    for k in range(9):
        out[k] = counts[k] * 2


def products_by_value(image, A, B, C):
    for value in image.ravel():
        for i in range(A.shape[0]):
            for j in range(B.shape[1]):
                for k in range(A.shape[1]):
                    C[i, j] += A[i, k] * B[k, j]


@pytest.mark.parametrize(
    ("function", "shapes"),
    [(counted_values, [9]), (products_by_value, [(3, 2), (2, 4), (3, 4)])],
)
def test_loops_that_count_nothing_are_left_alone(function, shapes):
    arrays = [np.arange(9).reshape(3, 3), *(np.ones(each) for each in shapes)]
    wanted, got = [each.copy() for each in arrays], [each.copy() for each in arrays]
    function(*wanted)
    tile(function, target="python")(*got)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(one, other)
