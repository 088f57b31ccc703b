"""What was tried on other schedulers and went wrong, or was refused without need, goes right."""

import numpy as np
import pytest

from astile.errors import AstileError, IllegalSchedule, ScheduleError
from astile.runtime import emulate
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.differential.kernels import matmul
from tests.reliability.running import assert_same, whole

# --- 1. a perfect nest with dependence (+1, -1); triangles; loops that do not start at 0 ----------


def diagonal(A):
    for i in range(7):
        for j in range(7):
            A[i + 1, j] = A[i, j + 1]


def triangle(A):
    n = len(A)
    for i in range(n):
        for j in range(i + 1):
            A[i, j] = A[i, j] + 1.0


def from_two(x):
    for i in range(2, len(x)):
        x[i] = x[i] * 2.0


def square(A):
    for i in range(64):
        for j in range(64):
            A[i, j] = A[i, j] * 2.0


def test_the_diagonal_dependence_is_refused_with_its_vector():
    with pytest.raises(IllegalSchedule) as caught:
        Schedule(diagonal).reorder("j", "i")
    assert caught.value.witness.distance == (1, -1)
    assert caught.value.array == "A"


def test_the_diagonal_dependence_leaves_j_independent():
    with pytest.raises(IllegalSchedule):
        Schedule(diagonal).parallel("i")
    Schedule(diagonal).vectorize("j")


def test_a_triangle_is_reordered_and_not_fused():
    s = Schedule(triangle)
    s.reorder("j", "i")
    assert_same(s, triangle, [(whole(n, n),) for n in (0, 1, 5)])
    with pytest.raises(ScheduleError, match="depends on i"):
        Schedule(triangle).fuse("i", "j")


def test_a_loop_from_two_is_split():
    s = Schedule(from_two)
    s.split("i", [None, 4])
    assert_same(s, from_two, [(whole(n),) for n in (0, 2, 3, 6, 9)])


def test_factors_that_do_not_divide_are_taken():
    s = Schedule(square)
    s.split("i", [None, 3])
    s.split("j", [None, 10])
    assert_same(s, square, [(whole(64, 64),)])


# --- 2. a tile written by one row of threads and read by all --------------------------------------


def broadcast(x, out):
    for b in range(out.shape[0] // 8):
        row = np.empty(32, np.float64)
        for t in range(32):
            row[t] = x[b, t]
        for r in range(8):
            for c in range(32):
                out[b * 8 + r, c] = row[c] * 2.0


def test_a_tile_written_by_the_first_row_needs_a_barrier():
    s = Schedule(broadcast)
    s.set_scope("row", "shared")
    s.bind("b", "blockIdx.x")
    s.bind("t", "threadIdx.x")
    s.bind("r", "threadIdx.y")
    s.bind("c", "threadIdx.x")
    text = s.source("cuda", dtypes={"x": "float64", "out": "float64"})
    assert text.count("cuda.syncthreads()") == 1
    x, out = whole(3, 32), np.full((24, 32), np.nan)
    emulate.load(text, "broadcast")(x, out)
    np.testing.assert_array_equal(out, np.repeat(x * 2.0, 8, axis=0))
    with pytest.raises(AstileError, match="race"):
        emulate.load(text.replace("    cuda.syncthreads()\n", ""), "broadcast")(x, out)


# --- 3. compute_at with a factor that does not divide and offsets 0 and 2 -------------------------


def offsets(x, out):
    n = len(out)
    a = np.empty(n + 2, np.float64)
    for i in range(n + 2):
        a[i] = x[i] * 2.0
    for k in range(n):
        out[k] = a[k] + a[k + 2]


def test_the_region_is_as_wide_as_the_offsets_need():
    s = Schedule(offsets)
    outer, _ = s.split("k", [None, 10])
    s.compute_at("a", outer)
    s.set_scope("a", "local")
    assert "local.empty(12, np.float64)" in s.source()
    assert_same(s, offsets, [(whole(n + 2), np.zeros(n)) for n in (0, 1, 9, 10, 11, 64)])


def pointwise(x, mid, out):
    n = len(x)
    for i in range(n):
        mid[i] = x[i] * 2.0
    for k in range(n):
        out[k] = mid[k] + 1.0


@pytest.mark.parametrize("n", [7, 1000, 1024])
def test_reverse_compute_at_with_a_symbolic_length(n):
    s = Schedule(pointwise)
    outer, _ = s.split("i", [None, 32])
    s.reverse_compute_at("out", outer)
    assert_same(s, pointwise, [(whole(n), np.zeros(n), np.zeros(n))])


# --- 4. a producer that reads what the consumer overwrites ----------------------------------------


def overwritten(x, a):
    n = len(a)
    for i in range(1, n):
        a[i] = x[i - 1] + x[i]
    for k in range(1, n):
        x[k] = a[k] * 2.0


def test_recomputing_what_was_overwritten_is_refused():
    with pytest.raises(IllegalSchedule):
        Schedule(overwritten).compute_at("a", "k")


def test_perfect_is_proved_or_refused():
    with pytest.raises(ScheduleError, match="not known to be a multiple"):
        Schedule(from_two).split("i", [None, 4], tail="perfect")
    Schedule(square).split("i", [None, 16], tail="perfect")


# --- 5. a time step across blocks -----------------------------------------------------------------


def heat(x, y):
    n = len(x)
    for t in range(4):
        for i in range(1, n - 1):
            y[i] = x[i - 1] + x[i + 1]
        for k in range(1, n - 1):
            x[k] = y[k]


def test_a_time_step_is_not_bound_to_blocks():
    with pytest.raises(IllegalSchedule) as caught:
        Schedule(heat).bind("t", "blockIdx.x")
    assert caught.value.kind == "race"


def test_space_is_bound_with_one_launch_for_each_time_step():
    s = Schedule(heat)
    for name, variable in (("p", "i"), ("q", "k")):
        outer, inner = s.split(variable, [None, 8], names=[name, name * 2])
        s.bind(outer, "blockIdx.x")
        s.bind(inner, "threadIdx.x")
    x, y = whole(21), np.zeros(21)
    wanted, spare = x.copy(), y.copy()
    heat(wanted, spare)
    emulate.load(s.source("cuda", dtypes={"x": "float64", "y": "float64"}), "heat")(x, y)
    np.testing.assert_array_equal(x, wanted)


# --- 6. a consumer computed at its producer; one of two consumers ---------------------------------


def two_consumers(x, a, out, other):
    n = len(x)
    for i in range(n):
        a[i] = x[i] * 2.0
    for j in range(n):
        out[j] = a[j] + 1.0
    for k in range(n):
        other[k] = a[k] - 1.0


def test_a_consumer_is_not_computed_at_its_producer():
    with pytest.raises(ScheduleError, match="reverse_compute_at"):
        Schedule(pointwise).compute_at("out", "i")


def test_a_producer_inside_one_of_two_consumers_names_the_other():
    with pytest.raises(ScheduleError, match="read") as caught:
        Schedule(two_consumers).compute_at("a", "j")
    assert "other[k] = a[k] - 1.0" in str(caught.value)


def test_a_recurrence_is_not_parallel():
    def running(x):
        for i in range(1, len(x)):
            x[i] = x[i - 1] + x[i]

    with pytest.raises(IllegalSchedule, match="x"):
        Schedule(running).parallel("i")


# --- 7. numba's documented tiled product, with K larger than N ------------------------------------


@pytest.mark.parametrize("size", [(8, 8, 8), (8, 8, 24), (9, 5, 11), (5, 7, 10)])
def test_a_tiled_product_whose_steps_come_from_the_shared_dimension(size):
    m, n, k = size
    s = Schedule(matmul)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [8, 8])
    s.split("k", [None, 8])
    for loop, axis in (
        (i_0, "blockIdx.y"),
        (j_0, "blockIdx.x"),
        (i_1, "threadIdx.y"),
        (j_1, "threadIdx.x"),
    ):
        s.bind(loop, axis)
    a, b = whole(m, k).astype(np.float32), whole(k, n).astype(np.float32)
    out = np.full((m, n), np.nan, np.float32)
    emulate.load(s.source("cuda"), "matmul")(a, b, out)
    np.testing.assert_array_equal(out, a @ b)


@pytest.mark.parametrize("size", [(8, 8, 24), (5, 7, 10)])
def test_the_same_product_with_tiles_of_both_factors_in_shared_memory(size):
    m, n, k = size
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(4, 4), depth=4)
    text = s.source("cuda")
    assert text.count("cuda.shared.array") == 2
    assert text.count("cuda.syncthreads()") == 2
    a, b = whole(m, k).astype(np.float32), whole(k, n).astype(np.float32)
    out = np.full((m, n), np.nan, np.float32)
    emulate.load(text, "matmul")(a, b, out)
    np.testing.assert_array_equal(out, a @ b)
    second = text.rindex("cuda.syncthreads()")
    without = text[:second] + "pass" + text[second + len("cuda.syncthreads()") :]
    with pytest.raises(AstileError, match="race"):
        emulate.load(without, "matmul")(a, b, out)
