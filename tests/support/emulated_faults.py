"""Ten kernels with one planted fault each, and what must be reported about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from astile.runtime.emulate import (
    BarrierError,
    BoundsError,
    EmulationError,
    RaceError,
    UninitialisedError,
)

HEAD = """\
from numba import cuda, float32, int32, uint32
import numpy as np

"""

TILED = """\
@cuda.jit(lineinfo=True)
def kernel(a, out):
    tile = cuda.shared.array((4, 8), float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    total = float32(0)
    for start in range(uint32(0), uint32(a.shape[1]), uint32(8)):
        tile[y, x] = a[y, start + x]
        {first}
        for k in range(uint32(8)):
            total += tile[y, k]
        {second}
    out[y, x] = total

def run(a, out):
    kernel[1, (8, 4)](a, out)
"""


@dataclass(frozen=True)
class Fault:
    """A kernel that is wrong.

    Args:
        text: the module; its entry is ``run(a, out)``.
        error: class of the report.
        words: what the message must say.
        line: a piece of the line where the fault shows.
        earlier: a piece of the line of the access that it meets, for races.
    """

    text: str
    error: type[EmulationError]
    words: tuple[str, ...]
    line: str
    earlier: str = ""


FAULTS = {
    "missing first barrier": Fault(
        HEAD + TILED.format(first="pass", second="cuda.syncthreads()"),
        RaceError,
        ("shared tile[",),
        "tile[y, ",
        "tile[y, ",
    ),
    "missing second barrier": Fault(
        HEAD + TILED.format(first="cuda.syncthreads()", second="pass"),
        RaceError,
        ("shared tile[",),
        "tile[y, ",
        "tile[y, ",
    ),
    "barrier in a divergent branch": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(32, float32)
    i = uint32(cuda.threadIdx.x)
    tile[i] = a[0, i]
    if i < uint32(8):
        cuda.syncthreads()
        tile[i] += a[1, i]
    else:
        tile[i] -= a[1, i]
    cuda.syncthreads()
    out[0, i] = tile[i]

def run(a, out):
    kernel[1, 32](a, out)
""",
        BarrierError,
        ("threads of block (0, 0, 0) wait at different barriers",),
        "cuda.syncthreads()",
    ),
    "early return before a barrier": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(32, float32)
    i = uint32(cuda.threadIdx.x)
    if i >= uint32(20):
        return
    tile[i] = a[0, i]
    cuda.syncthreads()
    out[0, i] = tile[uint32(19) - i]

def run(a, out):
    kernel[1, 32](a, out)
""",
        BarrierError,
        ("20 of the 32 threads", "has left the kernel"),
        "cuda.syncthreads()",
    ),
    "out of bounds": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    i = uint32(cuda.blockIdx.x) * uint32(32) + uint32(cuda.threadIdx.x)
    out[0, i] = a[0, i]

def run(a, out):
    kernel[2, 32](a, out)
""",
        BoundsError,
        ("global a[0, ", "is outside axis 1 of shape (4, 40)"),
        "out[0, i] = a[0, i]",
    ),
    "uninitialised shared read": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(33, float32)
    i = uint32(cuda.threadIdx.x)
    tile[i] = a[0, i]
    cuda.syncthreads()
    out[0, i] = tile[i] + tile[i + uint32(1)]

def run(a, out):
    kernel[1, 32](a, out)
""",
        UninitialisedError,
        ("shared tile[32]", "read before anything is written"),
        "out[0, i] = tile[i]",
    ),
    "two writers of one shared cell": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    tile = cuda.shared.array(16, float32)
    i = uint32(cuda.threadIdx.x)
    tile[i // uint32(2)] = a[0, i]
    cuda.syncthreads()
    out[0, i] = tile[i // uint32(2)]

def run(a, out):
    kernel[1, 32](a, out)
""",
        RaceError,
        ("shared tile[", "write and write by threads"),
        "tile[i // uint32(2)] = a",
        "tile[i // uint32(2)] = a",
    ),
    "cross-block race on global memory": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    i = uint32(cuda.threadIdx.x)
    if cuda.blockIdx.x == 0:
        out[1, i] = a[0, i]
    else:
        out[0, i] = a[0, i] + out[1, i]

def run(a, out):
    kernel[2, 32](a, out)
""",
        RaceError,
        ("global out[1, ", "by blocks", "(0, 0, 0)", "(1, 0, 0)"),
        "out[",
        "out[",
    ),
    "read of an unwritten device array": Fault(
        HEAD
        + """\
@cuda.jit
def half(a, temporary):
    i = uint32(cuda.threadIdx.x)
    temporary[i] = a[0, i]

@cuda.jit
def kernel(temporary, out):
    i = uint32(cuda.threadIdx.x)
    out[0, i] = temporary[i]

def run(a, out):
    temporary = cuda.device_array(32, float32)
    half[1, 16](a, temporary)
    kernel[1, 32](temporary, out)
""",
        UninitialisedError,
        ("global temporary[",),
        "out[0, i] = temporary[i]",
    ),
    "negative index": Fault(
        HEAD
        + """\
@cuda.jit
def kernel(a, out):
    i = cuda.threadIdx.x
    out[0, i] = a[0, i] + a[0, i - 1]

def run(a, out):
    kernel[1, 32](a, out)
""",
        BoundsError,
        ("global a[0, -1]", "index -1 is outside axis 1"),
        "a[0, i - 1]",
    ),
}


def arguments() -> tuple[np.ndarray, np.ndarray]:
    """Input and output of the faulty kernels."""
    a = np.arange(160, dtype=np.float32).reshape(4, 40)
    return a, np.zeros((4, 40), np.float32)
