"""Planted faults are found and good kernels run, in every order of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from astile.runtime import emulate
from astile.runtime.emulate import BarrierError, EmulationError, EmulationReport, Order, RaceError
from tests.support.emulated_faults import FAULTS, arguments
from tests.support.emulated_kernels import CONV_ADD, HISTOGRAM, MATMUL, REDUCTION
from tests.support.pace import is_within

ORDERS: list[Order] = ["forward", "reverse", 0, 1, 2, 12345]

Runner = Callable[[Callable[..., Any]], tuple[Any, Any]]


def run_matmul(function: Callable[..., Any]) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    a = rng.random((5, 40), np.float32)
    b = rng.random((40, 20), np.float32)
    c = np.zeros((5, 20), np.float32)
    function(a, b, c)
    return c, a @ b


def convolved(image: NDArray[Any], weights: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3))
    return np.einsum("ijpq,pq->ij", windows, weights) + bias


def run_conv_add(function: Callable[..., Any]) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    image = rng.random((13, 25), np.float32)
    weights = rng.random((3, 3), np.float32)
    bias = rng.random((11, 23), np.float32)
    return function(image, weights, bias), convolved(image, weights, bias)


def run_reduction(function: Callable[..., Any]) -> tuple[Any, Any]:
    a = np.arange(1000, dtype=np.float32)
    return function(a), a.sum()


def run_histogram(function: Callable[..., Any]) -> tuple[Any, Any]:
    image = np.random.default_rng(2).integers(0, 256, 300, np.uint8)
    counts = np.zeros(256, np.int32)
    function(image, counts)
    return counts, np.bincount(image, minlength=256)


GOOD: dict[str, tuple[str, Runner]] = {
    "matmul": (MATMUL, run_matmul),
    "conv_add": (CONV_ADD, run_conv_add),
    "reduction": (REDUCTION, run_reduction),
    "histogram": (HISTOGRAM, run_histogram),
}


def line_of(text: str, error: EmulationError) -> str:
    span = error.diagnostic.span
    assert span is not None
    return text.splitlines()[span.line - 1]


# --- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_is_found(name: str, order: Order) -> None:
    fault = FAULTS[name]
    function = emulate.load(fault.text, "run", order=order, file_name="fault.py")
    with pytest.raises(fault.error) as caught:
        function(*arguments())
    message = str(caught.value)
    for word in fault.words:
        assert word in message
    assert "fault.py:" in message
    assert message.startswith("kernel[(1, 1, 1), ") or "kernel[(2, 1, 1), " in message
    assert fault.line in line_of(fault.text, caught.value)
    if fault.earlier:
        assert isinstance(caught.value, RaceError)
        assert caught.value.earlier is not None
        first, second = caught.value.earlier, caught.value.access
        assert fault.earlier in fault.text.splitlines()[first.line - 1]
        assert (first.thread, first.block) != (second.thread, second.block)


@pytest.mark.parametrize("order", ORDERS)
def test_a_report_is_the_same_every_time(order: Order) -> None:
    for fault in FAULTS.values():
        messages = set()
        for _ in range(2):
            with pytest.raises(EmulationError) as caught:
                emulate.load(fault.text, "run", order=order)(*arguments())
            messages.add(str(caught.value))
        assert len(messages) == 1


def test_a_race_names_everything() -> None:
    fault = FAULTS["missing second barrier"]
    with pytest.raises(RaceError) as caught:
        emulate.load(fault.text, "run", file_name="fault.py")(*arguments())
    error = caught.value
    assert error.array == "tile"
    assert error.cell == (0, 0)
    assert (error.access.kind, error.access.thread) == ("read", (1, 0, 0))
    assert error.earlier is not None
    assert (error.earlier.kind, error.earlier.thread) == ("write", (0, 0, 0))
    assert error.access.block == error.earlier.block == (0, 0, 0)
    assert str(error) == (
        "kernel[(1, 1, 1), (8, 4, 1)]: race on shared tile[0, 0]: write and read by threads "
        "(0, 0, 0) and (1, 0, 0) of block (0, 0, 0) [emulation.race]\n"
        "  --> fault.py:14:22\n"
        "  14 |             total += tile[y, k]\n"
        "     |                      ^^^^^^^^^^ read by thread (1, 0, 0) of block (0, 0, 0)\n"
        "  --> fault.py:11:9\n"
        "  11 |         tile[y, x] = a[y, start + x]\n"
        "     |         ^^^^^^^^^^ write by thread (0, 0, 0) of block (0, 0, 0)\n"
        "  note: no barrier lies between the two accesses\n"
        "  help: give each thread cells of its own, or order the threads of a block by a barrier"
    )


# --- good kernels -------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", GOOD)
def test_good_kernel_is_right(name: str, order: Order) -> None:
    text, run = GOOD[name]
    result, expected = run(emulate.load(text, name, order=order))
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", GOOD)
def test_removing_any_barrier_is_reported(name: str, order: Order) -> None:
    text, run = GOOD[name]
    lines = text.splitlines()
    barriers = [n for n, line in enumerate(lines) if line.strip() == "cuda.syncthreads()"]
    assert barriers
    for barrier in barriers:
        changed = [*lines]
        changed[barrier] = changed[barrier].replace("cuda.syncthreads()", "pass")
        function = emulate.load("\n".join(changed), name, order=order)
        with pytest.raises(RaceError):
            run(function)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["matmul", "conv_add", "histogram"])
def test_a_thread_that_misses_a_barrier_is_reported(name: str, order: Order) -> None:
    text, run = GOOD[name]
    lines = text.splitlines()
    barriers = [n for n, line in enumerate(lines) if line.strip() == "cuda.syncthreads()"]
    for barrier in barriers:
        changed = [*lines]
        changed[barrier] = changed[barrier].replace(
            "cuda.syncthreads()", "if cuda.threadIdx.x != 3: cuda.syncthreads()"
        )
        function = emulate.load("\n".join(changed), name, order=order)
        with pytest.raises((BarrierError, RaceError)):
            run(function)


@pytest.mark.parametrize("shape", [(5, 7, 10), (1, 1, 1), (16, 16, 16), (17, 3, 33), (0, 4, 4)])
def test_matmul_of_ragged_sizes(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    rng = np.random.default_rng(3)
    a, b = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    c = np.full((m, n), np.nan, np.float32)
    function = emulate.load(MATMUL, "matmul")
    if m == 0:
        with pytest.raises(emulate.LimitError, match="0 along y of the grid"):
            function(a, b, c)
        return
    function(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_arguments_of_the_host_are_written_only_where_the_device_wrote() -> None:
    text = """
from numba import cuda
@cuda.jit
def kernel(a):
    a[cuda.threadIdx.x, 1] = 7
def run(a):
    kernel[1, 3](a)
"""
    a = np.zeros((4, 3), np.int32)
    emulate.load(text, "run")(a)
    assert a.tolist() == [[0, 7, 0], [0, 7, 0], [0, 7, 0], [0, 0, 0]]


# --- counts and speed ---------------------------------------------------------------------------


def test_accesses_are_counted() -> None:
    report = EmulationReport()
    function = emulate.load(CONV_ADD, "conv_add", report=report)
    rng = np.random.default_rng(4)
    image, weights = rng.random((18, 34), np.float32), rng.random((3, 3), np.float32)
    function(image, weights, np.zeros((16, 32), np.float32))
    [launch] = report.launches
    assert (launch.kernel, launch.grid, launch.block) == ("conv_add_kernel", (2, 2, 1), (16, 8, 1))
    assert launch.barriers == 2 * 4
    assert launch.shared_bytes == 4 * (180 + 128)
    image_traffic = report.traffic("image")
    assert image_traffic.reads == 4 * 10 * 18
    assert image_traffic.cells_read == 18 * 34
    assert image_traffic.most_reads == 4
    assert image_traffic.writes == image_traffic.most_writes == 0
    assert report.traffic("weights").reads == 9 * 16 * 32
    out = report.traffic("out")
    assert (out.writes, out.most_writes, out.cells_written) == (16 * 32, 1, 16 * 32)
    assert (out.reads, out.cells_read) == (0, 0)
    function(image, weights, np.zeros((16, 32), np.float32))
    assert report.traffic("image").reads == 2 * 4 * 10 * 18
    assert report.traffic("image").most_reads == 4
    with pytest.raises(KeyError):
        report.traffic("nothing")


def test_a_tiled_matmul_of_128_takes_less_than_five_seconds() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.random((128, 128), np.float32), rng.random((128, 128), np.float32)
    c = np.zeros((128, 128), np.float32)
    function = emulate.load(MATMUL, "matmul")
    assert is_within(5, lambda: function(a, b, c), tries=1)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
