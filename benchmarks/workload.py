"""One line of a benchmark: plain loops, a schedule for them, arguments, and what is right."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from astile import Schedule

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Workload:
    """A program to measure.

    Args:
        name: as it is printed.
        function: plain loops; it stores its result in one of its arguments.
        schedule: applies public primitives; None lets bare `@tile` choose.
        inputs: makes the arguments of a call, the result among them.
        reference: from the arguments in float64, before the call, to what the result has to be.
        plain: the loops as they are written for numba, where types of scalars matter to it.
        on_cores: variables of the loops that run on several cores under plain numba; of nested
            ones the outermost.
        flops: floating-point operations that the result needs; 0 where memory is the limit.
        bytes: what must be read from and written to memory, each array once; 0 where the arrays
            fit a cache.
        result: position of the argument that holds the result.
        tolerance: largest difference from the reference, relative to its largest cell.
    """

    name: str
    function: Callable[..., None]
    schedule: Callable[[Schedule], None] | None
    inputs: Callable[[], tuple[Any, ...]]
    reference: Callable[..., Array]
    plain: Callable[..., None] | None = None
    on_cores: tuple[str, ...] = ("i",)
    flops: float = 0.0
    bytes: float = 0.0
    result: int = -1
    tolerance: float = 1e-4


def normal(*shape: int, seed: int = 7) -> Array:
    """Normally distributed float32, the same in each process.

    Args:
        *shape: cells per axis.
        seed: of the generator.
    """
    made = blank(*shape)
    made[...] = np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return made


def blank(*shape: int) -> Array:
    """Float32 zeros whose pages are there already, from an address that is a multiple of 64.

    Args:
        *shape: cells per axis.
    """
    cells = math.prod(shape)
    raw = np.full(cells + 16, 0.0, np.float32)
    skipped = -raw.ctypes.data % 64 // 4
    return raw[skipped : skipped + cells].reshape(shape)
