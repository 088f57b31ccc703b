"""What the emulator allows and what it reports: memory, meetings of warps, host code, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from astile.runtime import emulate
from astile.runtime.emulate import (
    BoundsError,
    EmulationError,
    Order,
    RaceError,
    UninitialisedError,
)

ORDERS: list[Order] = ["forward", "reverse", 3]


def run(
    body: str, *arrays: Any, launch: str = "1, 32", order: Order = "forward", host: str = ""
) -> None:
    """Run a kernel of parameters a, b, ... for the given arrays."""
    names = ", ".join("abcdefg"[: len(arrays)])
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    text = f"""
import numpy as np
from numba import cuda, float32, int32, uint32
@cuda.jit
def kernel({names}):
    i = cuda.threadIdx.x
{lines}
def run({names}):
    {host or "pass"}
    kernel[{launch}]({names})
"""
    emulate.load(text, "run", order=order)(*arrays)


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    return np.zeros(shape, dtype)


# --- races --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("body", "first", "second"),
    [
        ("a[0] = i", "write", "write"),
        ("a[i] = a[(i + 1) % 32]", "read", "write"),
        ("if i == 0: a[3] = 1\nif i == 9: cuda.atomic.add(a, 3, 1)", "write", "atomic update"),
        ("if i == 0: a[4] = a[3]\nif i == 9: cuda.atomic.add(a, 3, 1)", "read", "atomic update"),
        ("cuda.atomic.add(a, 3, 1)\nif i == 9: a[4] = a[3]", "atomic update", "read"),
        ("cuda.atomic.add(a, 3, 1)\nif i == 9: a[3] = 0", "atomic update", "write"),
        ("a[0] += 1", "read", "write"),
        ("a[0:1][0] = i", "write", "write"),
    ],
)
def test_races_of_one_block(body: str, first: str, second: str, order: Order) -> None:
    with pytest.raises(RaceError) as caught:
        run(body, zeros(32), order=order)
    error = caught.value
    assert error.earlier is not None
    assert {error.earlier.kind, error.access.kind} <= {first, second, "write"}
    assert error.earlier.thread != error.access.thread
    assert error.earlier.block == error.access.block


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "body",
    [
        "a[0] = cuda.blockIdx.x",
        "if cuda.blockIdx.x == 0: a[0] = 1\ncuda.syncthreads()\na[1 + cuda.blockIdx.x] = a[0]",
        "if cuda.blockIdx.x == 1: a[0] = 1\nelse: a[1] = a[0]",
        "cuda.atomic.add(a, 0, 1)\nif cuda.blockIdx.x == 2: a[1] = a[0]",
        "cuda.atomic.add(a, 0, 1)\nif cuda.blockIdx.x == 0: a[0] = 1",
        "if cuda.blockIdx.x == 0: a[0] = 1\nelse: cuda.atomic.add(a, 0, 1)",
        "if cuda.blockIdx.x == 0: a[1] = a[0]\nelse: cuda.atomic.add(a, 0, 1)",
        "x = a[0]\ncuda.syncthreads()\nx = a[0]\nif cuda.blockIdx.x == 1: a[0] = 1",
        "x = a[0]\ncuda.syncthreads()\nif cuda.blockIdx.x == 0: a[0] = x",
    ],
)
def test_races_of_two_blocks(body: str, order: Order) -> None:
    with pytest.raises(RaceError, match="blocks run in any order") as caught:
        run(body, zeros(32), launch="3, 1", order=order)
    assert caught.value.earlier is not None
    assert caught.value.earlier.block != caught.value.access.block
    assert caught.value.array == "a"
    assert caught.value.cell == (0,)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "body",
    [
        "a[i] = 1\ncuda.syncthreads()\nb[i] = a[31 - i]",
        "cuda.atomic.add(a, 0, 1)\ncuda.syncthreads()\nb[i] = a[0]",
        "if i == 0: a[3] = 1\ncuda.syncthreads()\nif i == 1: a[3] = 2",
        "b[i] = a[0]\ncuda.syncthreads()\nif i == 1: a[0] = 2",
        "a[i] = 1\na[i] += a[i]\nif i == 3: cuda.atomic.max(a, i, 9)",
        "cuda.atomic.add(a, i, 1)\nb[i] = a[i]\na[i] = 2\ncuda.atomic.min(a, i, 1)",
        "for k in range(4):\n    a[(i + k) % 32] = k\n    cuda.syncthreads()",
    ],
)
def test_ordered_accesses_are_no_races(body: str, order: Order) -> None:
    run(body, zeros(32), zeros(32), order=order)


@pytest.mark.parametrize("order", ORDERS)
def test_blocks_may_share_what_they_only_read_or_update_atomically(order: Order) -> None:
    a, b, c = np.ones(4, np.float32), zeros(1, dtype=np.int32), zeros(3)
    body = "x = a[0] + a[1]\ncuda.atomic.add(b, 0, 2)\nif i == 0: c[cuda.blockIdx.x] = x"
    run(body, a, b, c, launch="3, 4", order=order)
    assert b[0] == 24
    assert c.tolist() == [2, 2, 2]


@pytest.mark.parametrize("order", ORDERS)
def test_one_launch_comes_after_the_other(order: Order) -> None:
    text = """
from numba import cuda
@cuda.jit
def shift(a, b):
    i = cuda.grid(1)
    b[i] = a[(i + 1) % a.size]
def run(a, b):
    for _ in range(3):
        shift[4, 2](a, b)
        shift[4, 2](b, a)
"""
    a, b = np.arange(8), np.zeros(8, np.int64)
    emulate.load(text, "run", order=order)(a, b)
    assert a.tolist() == [6, 7, 0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("order", ORDERS)
def test_arrays_that_overlap_share_their_cells(order: Order) -> None:
    whole = zeros(33)
    with pytest.raises(RaceError):
        run("b[i] = a[i]", whole[:-1], whole[1:], order=order)
    run("b[i] = a[i]", whole, whole, order=order)
    run("b[i] = a[i]", zeros(64)[::2], zeros(64)[::-2], order=order)
    with pytest.raises(EmulationError, match="a and b lie in one piece of memory"):
        run("b[i] = a[i]", whole, whole.view(np.int32))


def test_bytes_under_elements_of_two_types_may_be_read() -> None:
    a, b = np.arange(64, dtype=np.float32), np.zeros(64)
    run("b[i] = a[i]\nb[i + 32] = c[i]", a, b, a.view(np.int32))
    assert np.array_equal(b, np.concatenate((a[:32], a[:32].view(np.int32))))


def test_atomic_operations() -> None:
    a = np.array([10, 10, 10, 10, 6, 6, 6, 0, 5], np.int64)
    body = """
if i == 0:
    b[0] = cuda.atomic.add(a, 0, 5)
    b[1] = cuda.atomic.sub(a, 1, 5)
    b[2] = cuda.atomic.max(a, 2, 50)
    b[3] = cuda.atomic.min(a, (3,), 5)
    cuda.atomic.and_(a, 4, 3)
    cuda.atomic.or_(a, 5, 3)
    cuda.atomic.xor(a, 6, 3)
    cuda.atomic.exch(a, 7, 9)
    cuda.atomic.cas(a, 8, 5, 1)
    cuda.atomic.cas(a, 0, 5, 1)
"""
    b = np.zeros(4, np.int64)
    run(body, a, b)
    assert a.tolist() == [15, 5, 50, 5, 2, 7, 5, 9, 1]
    assert b.tolist() == [10, 10, 10, 10]


# --- arrays -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a[i, 0] = 1", r"global a\[8, 0\]: index 8 is outside axis 0 of shape \(8, 4\)"),
        ("a[0, i - 1] = 1", r"a\[0, -1\]: index -1 is outside axis 1"),
        ("t = cuda.shared.array(16, float32)\nt[i] = 1", r"shared t\[16\]"),
        ("t = cuda.local.array((2, 2), float32)\nt[1, i] = 1", r"local t\[1, 2\]"),
        ("t = cuda.local.array(2, float32)\nt[0] = 1\nx = t[0] + t[2]", r"local t\[2\]"),
        ("x = a[i]", r"global a\[8, 0\]"),
        ("x = a[1:3][2, 0]", r"a\[1:3, :\]\[2, 0\]: index 2 is outside axis 0 of shape \(2, 4\)"),
        ("x = a.T[i, 0]", r"a.T\[4, 0\]"),
        ("x = b[0, 0, i]", r"global b\[0, 0, 5\]"),
        ("b[0, i, 0] += 1", r"global b\[0, 4, 0\]"),
        ("cuda.atomic.add(a, (0, i), 1)", r"global a\[0, 4\]"),
        ("x = a[uint32(0), uint32(2) - uint32(3)]", r"a\[0, 18446744073709551615\]"),
    ],
)
def test_indices_outside_are_reported(body: str, message: str) -> None:
    with pytest.raises(BoundsError, match=message) as caught:
        run(body, zeros(8, 4), zeros(3, 4, 5))
    assert caught.value.diagnostic.span is not None
    assert "thread (" in caught.value.diagnostic.label


def test_views_and_plain_subscripts_reach_the_same_cells() -> None:
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    b = np.zeros(12)
    body = """
if i == 0:
    row = a[1, 2]
    b[0] = row[3] + len(row)
    b[1] = a[1][2][0]
    b[2] = a[..., 1][1, 2]
    b[3] = a[0, :, ::2][2, 1]
    b[4], b[5] = a[0, 0, 1], a[0, 0, 2]
    x, b[6] = 5, 7
    b[7] = b[8] = 2
    b[9:11] = 4
    b[10:12] = b[9:11]
    a[1, 2, 3] -= x
    t = a
    t[0, 0, 0] = a.T[3, 2, 1] * 2
    a[0][0][1] += 1
"""
    run(body, a, b)
    assert b.tolist() == [27, 20, 21, 10, 1, 2, 7, 2, 2, 4, 4, 4]
    assert a[1, 2, 3] == 18
    assert a[0, 0, :2].tolist() == [36, 2]


def test_tuples_of_arrays_and_read_only_arrays() -> None:
    pair = zeros(32), np.arange(32, dtype=np.float32)
    run("a[0][i] = a[1][i] * b[1]", pair, (1, 2))
    assert pair[0].tolist() == [2 * i for i in range(32)]
    pair[1].flags.writeable = False
    with pytest.raises(EmulationError, match="b is a read-only array"):
        run("b[i] = a[i]", *pair)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("t = cuda.local.array(4, float32)\na[i] = t[0]", UninitialisedError),
        ("t = cuda.shared.array(40, float32)\nt[i] = 1\na[i] = t[i + 8]", RaceError),
        ("t = cuda.shared.array(40, float32)\nt[i] = 1\na[i] = t[32]", UninitialisedError),
        ("t = cuda.shared.array(4, int32)\ncuda.atomic.add(t, 0, 1)", UninitialisedError),
        ("t = cuda.shared.array(4, float32)\nt[0] += 1", UninitialisedError),
    ],
)
def test_fresh_cells(body: str, error: type[EmulationError], order: Order) -> None:
    with pytest.raises(error):
        run(body, zeros(32), order=order)


def test_shared_arrays_are_fresh_in_every_block_and_differ_on_one_line() -> None:
    body = "s = cuda.shared.array(1, float32); t = cuda.shared.array(1, float32)\n"
    a = zeros(2)
    run(body + "s[0] = 1; t[0] = 2\na[cuda.blockIdx.x] = s[0] + t[0]", a, launch="2, 1")
    assert a.tolist() == [3, 3]
    with pytest.raises(UninitialisedError):
        run(body + "if cuda.blockIdx.x == 0: s[0] = 1\na[0] = s[0]", a, launch="2, 1")
