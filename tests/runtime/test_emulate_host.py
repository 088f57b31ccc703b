"""Warps, barriers with answers, host code and the limits of a device."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

from astile.runtime import emulate
from astile.runtime.emulate import (
    BarrierError,
    EmulationError,
    EmulationReport,
    LimitError,
    Limits,
    Order,
    RaceError,
    UninitialisedError,
)

ORDERS: list[Order] = ["forward", "reverse", 3]
HEAD = """
import numpy as np
from numba import cuda, float32, int32, uint8, uint32
"""


def run(body: str, *arrays: Any, launch: str = "1, 64", order: Order = "forward") -> None:
    """Run a kernel of parameters a, b, ... for the given arrays."""
    names = ", ".join("abcdefg"[: len(arrays)])
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    text = f"{HEAD}@cuda.jit\ndef kernel({names}):\n    i = cuda.threadIdx.x\n{lines}\n"
    text += f"def run({names}):\n    kernel[{launch}]({names})\n"
    emulate.load(text, "run", order=order)(*arrays)


# --- warps --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("call", "source"),
    [
        ("shfl_sync(-1, i, 5)", lambda lane: 5),
        ("shfl_sync(-1, i, i + 1)", lambda lane: (lane + 1) % 32),
        ("shfl_up_sync(0xffffffff, i, 3)", lambda lane: lane - 3 if lane >= 3 else lane),
        ("shfl_down_sync(0xffffffff, i, 3)", lambda lane: lane + 3 if lane < 29 else lane),
        ("shfl_xor_sync(0xffffffff, i, 16)", lambda lane: lane ^ 16),
    ],
)
def test_shuffles(call: str, source: Any, order: Order) -> None:
    a = np.zeros(64, np.int64)
    run(f"a[i] = cuda.{call}", a, order=order)
    assert a.tolist() == [32 * warp + source(lane) for warp in range(2) for lane in range(32)]


def test_votes_and_barriers_with_answers() -> None:
    a = np.zeros((64, 7), np.int64)
    body = """
a[i, 0] = cuda.all_sync(-1, i < 32)
a[i, 1] = cuda.any_sync(-1, i == 40)
a[i, 2] = cuda.ballot_sync(-1, i % 32 < 2)
a[i, 3] = cuda.eq_sync(-1, i < 40)
a[i, 4] = cuda.syncthreads_count(i < 5)
a[i, 5] = cuda.syncthreads_and(i < 64)
a[i, 6] = cuda.syncthreads_or(i == 99)
"""
    run(body, a)
    assert (a[:32] == [1, 0, 3, 1, 5, 1, 0]).all()
    assert (a[32:] == [0, 1, 3, 0, 5, 1, 0]).all()


def test_a_lane_without_a_value_gives_an_undefined_one() -> None:
    a, b = np.zeros(48, np.float32), np.zeros(48, np.int64)
    body = "a[i] = cuda.shfl_down_sync(-1, float32(i), 8)\nb[i] = cuda.shfl_down_sync(-1, i, 8)"
    run(body, a, b, launch="1, 48")
    assert np.isnan(a[40:]).all()
    assert (b[40:] < -(2**31)).all()
    assert a[:40].tolist() == [*range(8, 32), *range(24, 32), *range(40, 48)]


@pytest.mark.parametrize("order", ORDERS)
def test_a_warp_that_meets_orders_its_accesses(order: Order) -> None:
    body = """
t = cuda.shared.array(64, float32)
t[i] = i
cuda.syncwarp()
a[i] = t[i ^ 1]
cuda.syncwarp(0xffffffff)
t[i ^ 3] = a[i]
"""
    a = np.zeros(64, np.float32)
    run(body, a, order=order)
    assert a.tolist() == [i ^ 1 for i in range(64)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "body",
    [
        "t[i] = i\ncuda.syncwarp()\na[i] = t[i ^ 32]",
        "t[i] = i\na[i] = cuda.shfl_sync(-1, t[i], 0)\na[i] = t[i ^ 1]",
        "t[i] = i\ncuda.syncwarp()\na[i] = t[i ^ 1]\nt[i] = 2",
        "t[i] = i\ncuda.syncthreads()\na[i] = t[i ^ 32] + t[i ^ 1]\ncuda.syncwarp()\nt[i] = 1",
        "t[i] = i\nif i % 2 == 0: cuda.syncwarp(0x55555555)\nelse: cuda.syncwarp(0xaaaaaaaa)\n"
        "a[i] = t[i ^ 1]",
        "cuda.syncwarp()\ncuda.atomic.add(a, 0, 1)\ncuda.syncwarp()\na[1] = a[0]",
    ],
)
def test_a_warp_that_meets_orders_no_more_than_that(body: str, order: Order) -> None:
    with pytest.raises(RaceError):
        run("t = cuda.shared.array(64, float32)\n" + body, np.zeros(64, np.float32), order=order)


def test_parts_of_a_warp_meet_by_their_masks() -> None:
    body = """
t = cuda.shared.array(64, float32)
t[i] = i
if i % 2 == 0:
    cuda.syncwarp(0x55555555)
    a[i] = t[i ^ 2]
else:
    cuda.syncwarp(0xaaaaaaaa)
    a[i] = t[i ^ 2] + cuda.shfl_xor_sync(0xaaaaaaaa, float32(100), 2)
"""
    a = np.zeros(64, np.float32)
    run(body, a)
    assert a.tolist() == [(i ^ 2) + 100 * (i % 2) for i in range(64)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("if i == 7: cuda.syncthreads()\nelse: cuda.syncwarp()", "names lane 7 of warp 0"),
        ("if i < 8: a[i] = cuda.shfl_sync(0xf, a[i], 0)", "lane . is not in its mask 0xf"),
        ("if i == 63: return\ncuda.syncthreads()", "63 of the 64 threads"),
        ("if i < 32:\n    cuda.syncthreads()\nelse:\n    cuda.syncthreads()", "different barriers"),
        ("for k in range(i // 32 + 1): cuda.syncthreads()", "has left the kernel"),
    ],
)
def test_meetings_that_fail(body: str, message: str, order: Order) -> None:
    with pytest.raises(BarrierError, match=message) as caught:
        run(body, np.zeros(64, np.float32), order=order)
    assert "waits here" in str(caught.value)


# --- memory of the host -------------------------------------------------------------------------


HOST = """
@cuda.jit
def fill(a, n):
    if cuda.threadIdx.x < n:
        a[cuda.threadIdx.x] = 7
@cuda.jit
def copy(a, b):
    b[cuda.threadIdx.x] = a[cuda.threadIdx.x]
"""


@pytest.mark.parametrize("dtype", ["np.float32", "np.float64", "np.int32", "uint8", "np.bool_"])
@pytest.mark.parametrize(
    ("between", "is_right"),
    [
        ("fill[1, 4](t, 4)", True),
        ("fill[1, 4](t, 3)", False),
        ("pass", False),
        ("t[:] = 7", True),
        ("t.copy_to_device(np.full(4, 7))", True),
        ("fill[1, 4](t.reshape(2, 2).ravel()[:4], 4)", True),
    ],
)
def test_reads_of_device_arrays(dtype: str, between: str, is_right: bool) -> None:
    text = f"""{HEAD}{HOST}
def run(out):
    t = cuda.device_array(4, {dtype})
    {between}
    copy[1, 4](t, out)
"""
    out = np.zeros(4, np.int64)
    function = emulate.load(text, "run")
    if is_right:
        function(out)
        assert out.tolist() == [1 if "bool" in dtype else 7] * 4
    else:
        with pytest.raises(UninitialisedError, match=r"global a\[\d\] is read"):
            function(out)


@pytest.mark.parametrize(
    ("make", "is_right"),
    [
        ("np.empty(4, np.float32)", False),
        ("np.empty_like(out)", False),
        ("np.empty(4)[::-1]", False),
        ("cuda.device_array_like(out)", False),
        ("np.zeros(4)", True),
        ("np.add(out, 1, out=np.empty(4, np.int64))", True),
        ("cuda.to_device(np.ones(4))", True),
        ("cuda.to_device(cuda.to_device(np.ones(4)))", True),
        ("cuda.to_device(np.ones(4), to=cuda.device_array(4))", False),
    ],
)
def test_memory_that_host_code_makes(make: str, is_right: bool) -> None:
    text = f"""{HEAD}{HOST}
def run(out):
    t = {make}
    if t is None: t = cuda.device_array(4)
    copy[1, 4](t, out)
    return t
"""
    function = emulate.load(text, "run")
    if is_right or "to=" in make:
        function(np.zeros(4, np.int64))
    else:
        with pytest.raises(UninitialisedError):
            function(np.zeros(4, np.int64))


def test_device_arrays_are_copies() -> None:
    text = f"""{HEAD}{HOST}
def run(a):
    stream = cuda.stream()
    on_device = cuda.to_device(a, stream=stream)
    fill[1, 4, stream](on_device, 4)
    cuda.synchronize()
    before = a.copy()
    again = on_device.copy_to_host()
    on_device.copy_to_host(a)
    return before, again, cuda.is_available(), cuda.is_cuda_array(on_device)
"""
    a = np.zeros(4, np.float32)
    before, again, is_available, is_device = emulate.load(text, "run")(a)
    assert before.tolist() == [0] * 4
    assert a.tolist() == again.tolist() == [7] * 4
    assert type(again) is np.ndarray
    assert is_available
    assert is_device


def test_host_allocations_are_forgotten_with_their_arrays() -> None:
    text = f"""{HEAD}{HOST}
def run(out):
    for _ in range(50):
        t = cuda.device_array(4, np.float32)
        fill[1, 4](t, 4)
        copy[1, 4](t, out)
        fresh = [each for each in cuda._program.fresh if each.alive]
    return len(fresh)
"""
    gc.collect()
    assert emulate.load(text, "run")(np.zeros(4)) <= 2


# --- limits -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ("1, 1025", "1025 along x of the block"),
        ("1, (32, 33)", "1056 threads in a block of at most 1024"),
        ("1, (1, 1, 65)", "65 along z of the block"),
        ("(1, 65536), 1", "65536 along y of the grid"),
        ("0, 32", "0 along x of the grid"),
        ("1, (32, 0)", "0 along y of the block"),
        ("1, 32, 0, 300000", "300000 bytes of dynamic shared memory"),
    ],
)
def test_launches_over_a_limit(launch: str, message: str) -> None:
    with pytest.raises(LimitError, match=message):
        run("pass", np.zeros(4), launch=launch)


@pytest.mark.parametrize("launch", ["1", "1, 2, 3, 4, 5", "1, (1, 1, 1, 1)", "1, 0.5"])
def test_launches_of_the_wrong_form(launch: str) -> None:
    with pytest.raises(EmulationError, match=r"takes grid, block|up to three integers"):
        run("pass", np.zeros(4), launch=launch)


def test_static_shared_memory_is_limited() -> None:
    fits = "s = cuda.shared.array((64, 96), float32)\nt = cuda.shared.array(6144, float32)"
    run(fits, np.zeros(1), launch="1, 1")
    with pytest.raises(LimitError, match="arrays up to u take 49153 bytes of at most 49152"):
        run(fits + "\nu = cuda.shared.array(1, uint8)", np.zeros(1), launch="1, 1")


def test_launch_bounds_and_other_limits() -> None:
    text = f"""{HEAD}
@cuda.jit(launch_bounds=(128, 2), fastmath=False)
def kernel(a):
    pass
def run(n):
    kernel[1, n](np.zeros(1))
"""
    emulate.load(text, "run")(128)
    with pytest.raises(LimitError, match="129 threads in a block of at most 128"):
        emulate.load(text, "run")(129)
    with pytest.raises(LimitError, match="64 threads in a block of at most 32"):
        emulate.load(text, "run", limits=Limits(threads=32))(64)


@pytest.mark.parametrize("order", ORDERS)
def test_dynamic_shared_memory(order: Order) -> None:
    body = """
t = cuda.shared.array(shape=0, dtype=float32)
t[i] = a[i]
cuda.syncthreads()
part = t[32:]
a[i] = part[i - 32] if i > 31 else t[i] * t.size
"""
    a = np.ones(64, np.float32)
    run(body, a, launch="1, 64, 0, 256", order=order)
    assert a.tolist() == [64] * 32 + [1] * 32
    with pytest.raises(EmulationError, match="dynamic shared memory as int32 and as float32"):
        run(body + "\nu = cuda.shared.array(0, int32)", a, launch="1, 64, 0, 256")


# --- what is not known --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def run(:", "the text is not Python"),
        ("def walk(): pass", "defines no function 'run'"),
        ("from numba import njit\ndef run(): pass", "numba.njit is not emulated"),
        ("import numba.typed\ndef run(): pass", r"numba.typed is not emulated"),
        ("from numba import cuda\ndef run(): cuda.syncthreads()", "is for device code only"),
        ("from numba import cuda\n@cuda.jit\ndef run(): pass", "is a kernel"),
        ("from numba import cuda\n@cuda.jit(device=True)\ndef run(): pass", "device function"),
        (
            "from numba import cuda\n@cuda.jit\ndef k(a): pass\ndef run(): k[1, 1]()",
            "k takes 1 arguments, not 0",
        ),
        (
            "from numba import cuda\ndef f(): pass\n@cuda.jit\ndef k(): f()\ndef run(): k[1, 1]()",
            "f is not a device function",
        ),
        (
            "from numba import cuda\n@cuda.jit(device=True)\ndef f(n): return f(n)\n"
            "@cuda.jit\ndef k(): f(1)\ndef run(): k[1, 1]()",
            "device function f calls itself",
        ),
        (
            "from numba import cuda\n@cuda.jit\ndef k(): x = cuda.threadIdx\ndef run(): k[1, 1]()",
            "cuda.threadIdx is not a value",
        ),
        (
            "from numba import cuda\n@cuda.jit\ndef k(): [cuda.syncthreads() for i in (1, 2)]\n"
            "def run(): k[1, 1]()",
            "k cannot be emulated: 'yield' inside list comprehension",
        ),
        (
            "from numba import cuda\n@cuda.jit\ndef k(): x = cuda.const.array_like(1)\n"
            "def run(): k[1, 1]()",
            "cuda.const is not emulated",
        ),
        (
            "from numba import cuda\nimport numpy as np\n@cuda.jit\ndef k(a): pass\n"
            "def run(): k[1, 1](np.array(['a']))",
            "a has elements of type <U1",
        ),
    ],
)
def test_what_is_not_emulated_says_so(text: str, message: str) -> None:
    with pytest.raises(EmulationError, match=message):
        emulate.load(text, "run")()


def test_a_failed_launch_is_not_counted() -> None:
    report = EmulationReport()
    text = f"{HEAD}{HOST}\ndef run(a, n): fill[1, n](a, n)\n"
    function = emulate.load(text, "run", report=report)
    function(np.zeros(4), 4)
    with pytest.raises(EmulationError):
        function(np.zeros(4), 5)
    assert len(report.launches) == 1
