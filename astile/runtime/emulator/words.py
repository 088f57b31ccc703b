"""The words of device code: what `cuda` offers inside kernels, and what the words do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.scalars import caster

AXES = ("x", "y", "z")

WARP_WORDS = frozenset(
    {
        "syncwarp",
        "shfl_sync",
        "shfl_up_sync",
        "shfl_down_sync",
        "shfl_xor_sync",
        "all_sync",
        "any_sync",
        "eq_sync",
        "ballot_sync",
    }
)
BLOCK_WORDS = frozenset(
    {
        "syncthreads",
        "syncthreads_count",
        "syncthreads_and",
        "syncthreads_or",
    }
)
FENCES = frozenset({"threadfence", "threadfence_block", "threadfence_system"})


@dataclass(frozen=True)
class DeviceWord:
    """A word that has a meaning inside kernels only, such as ``cuda.threadIdx.x``.

    Args:
        name: the word, without ``cuda.``.
    """

    name: str

    def __getattr__(self, attribute: str) -> DeviceWord:
        return device_word(f"{self.name}.{attribute}")

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        """Refuse: kernels are translated, so that only host code comes here.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"cuda.{self.name} is for device code only")


@dataclass(frozen=True)
class DeviceFunction:
    """A function that kernels call, made by ``@cuda.jit(device=True)``.

    Args:
        function: the function as written.
    """

    function: FunctionType

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        """Refuse: kernels are translated, so that only host code comes here.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"{self.function.__name__} is a device function; only kernels call it")


def device_word(name: str) -> DeviceWord:
    """A word by its name.

    Raises:
        AttributeError: there is none of that name.
    """
    if name in _WORDS:
        return DeviceWord(name)
    raise AttributeError(f"cuda.{name} is not emulated")


# --- atomic operations --------------------------------------------------------------------------


def _atomic(operate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def update(array: EmulatedArray, index: Any, value: Any, place: int) -> Any:
        return array.update(index, lambda old: operate(old, value), place)

    return update


def _swap_if_equal(array: EmulatedArray, index: Any, old: Any, value: Any, place: int) -> Any:
    return array.update(index, lambda now: value if now == old else now, place)


ATOMICS: Mapping[str, Callable[..., Any]] = {
    "atomic.add": _atomic(lambda old, value: old + value),
    "atomic.sub": _atomic(lambda old, value: old - value),
    "atomic.max": _atomic(lambda old, value: max(old, value)),
    "atomic.min": _atomic(lambda old, value: min(old, value)),
    "atomic.and_": _atomic(lambda old, value: old & value),
    "atomic.or_": _atomic(lambda old, value: old | value),
    "atomic.xor": _atomic(lambda old, value: old ^ value),
    "atomic.exch": _atomic(lambda old, value: value),
    "atomic.cas": _swap_if_equal,
}


# --- functions ----------------------------------------------------------------------------------


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    # One rounding, as the device does; float32 products are exact in float64.
    if all(isinstance(each, np.float32) for each in (a, b, c)):
        return np.float32(np.float64(a) * np.float64(b) + np.float64(c))
    return a * b + c


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "popc": lambda value: int(value).bit_count(),
    "selp": lambda condition, yes, no: yes if condition else no,
    "fma": _multiply_add,
}


def numpy_function(
    function: Callable[..., Any], dtypes: Sequence[np.dtype[Any] | None]
) -> Callable[..., Any]:
    """A function of NumPy for values of a kernel, whose integers are Python's.

    Args:
        function: of numbers.
        dtypes: what its arguments are on the device, where that is known.
    """
    casts = [None if each is None else caster(each) for each in dtypes]

    def call(*arguments: Any) -> Any:
        given = [
            dtype.type(cast(value)) if dtype and cast and type(value) is int else value
            for value, dtype, cast in zip(arguments, dtypes, casts, strict=True)
        ]
        with np.errstate(all="ignore"):
            made = function(*given)
        return int(made) if isinstance(made, np.integer) else made

    return call


#: What a module gets for the names of `astile.intrinsics.cuda_functions`.
CUDA_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    name: numpy_function(getattr(np, name), [None])
    for name in ("absolute", "cbrt", "ceil", "floor", "rint", "sign", "square", "trunc")
}

_WORDS = frozenset({
    *(f"{head}.{axis}" for head in ("threadIdx", "blockIdx", "blockDim", "gridDim")
      for axis in AXES),
    "threadIdx", "blockIdx", "blockDim", "gridDim", "shared", "local", "atomic",
    "shared.array", "local.array", "grid", "gridsize", "laneid", "warpsize",
    *WARP_WORDS, *BLOCK_WORDS, *FENCES, *ATOMICS, *FUNCTIONS,
})  # fmt: skip

_RENAMED = {
    "pow": "power",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
    "atan2": "arctan2",
    "acosh": "arccosh",
    "asinh": "arcsinh",
    "atanh": "arctanh",
    "remainder": "",  # not that of NumPy
}


def math_function(name: str) -> Callable[..., Any]:
    """A function of `math` with the device's results.

    It keeps float32, and gives NaN or an infinity where `math` raises.

    Args:
        name: name in `math`.
    """
    ufunc = getattr(np, _RENAMED.get(name, name), None)
    plain = getattr(math, name)

    def call(*arguments: Any) -> Any:
        if any(isinstance(each, (int, np.bool_)) for each in arguments):
            arguments = tuple(np.float64(each) for each in arguments)
        if isinstance(ufunc, np.ufunc):
            return ufunc(*arguments)
        result = plain(*arguments)
        kind = type(arguments[0])
        return kind(result) if issubclass(kind, np.floating) else result

    return call
