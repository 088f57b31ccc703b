"""The words of printed programs: loop kinds, memory scopes, scalar types and roundings.

All of them are plain Python.

A printed program runs as it stands: every loop word takes the arguments of `range` and is one,
every memory word gives a NumPy array. What the words say beyond that is for the code generators.
"""

from __future__ import annotations

import builtins
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import DTypeLike, NDArray

range = builtins.range
bool_ = np.bool_
float16 = np.float16
float32 = np.float32
float64 = np.float64
int8 = np.int8
int16 = np.int16
int32 = np.int32
int64 = np.int64
uint8 = np.uint8
uint16 = np.uint16
uint32 = np.uint32
uint64 = np.uint64

Shape = SupportsIndex | tuple[SupportsIndex, ...]

__all__ = [
    "bf16",
    "block",
    "bool_",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "local",
    "mma",
    "parallel",
    "range",
    "shared",
    "tf32",
    "thread",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unroll",
    "vector",
]


def parallel(*bounds: SupportsIndex) -> range:
    """A loop whose iterations may run at the same time.

    Args:
        *bounds: stop; or start, stop; or start, stop, step.

    Raises:
        TypeError: as `range` does.
        ValueError: step is zero.
    """
    return range(*bounds)


def unroll(*bounds: SupportsIndex) -> range:
    """A loop that the generated code repeats as straight-line text.

    Args:
        *bounds: stop; or start, stop; or start, stop, step.

    Raises:
        TypeError: as `range` does.
        ValueError: step is zero.
    """
    return range(*bounds)


def vector(*bounds: SupportsIndex) -> range:
    """A loop whose iterations are the lanes of one vector access or operation.

    Args:
        *bounds: stop; or start, stop; or start, stop, step.

    Raises:
        TypeError: as `range` does.
        ValueError: step is zero.
    """
    return range(*bounds)


def tf32(value: SupportsFloat) -> np.float32:
    """A number rounded to TF32: as float32, with 10 bits after the point.

    It goes to the nearest such number, from the middle between two away from zero.

    Args:
        value: rounded to float32 first.
    """
    number = np.float32(value)
    if number != number:
        return number
    bits = int(number.view(np.uint32)) + 0x1000
    return np.uint32(bits & 0xFFFFE000).view(np.float32)


def bf16(value: SupportsFloat) -> np.float32:
    """A number rounded to bfloat16: as float32, with 7 bits after the point.

    It goes to the nearest such number, from the middle between two to the even one.

    Args:
        value: rounded to float32 first.
    """
    number = np.float32(value)
    if number != number:
        return number
    bits = int(number.view(np.uint32))
    return np.uint32((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


class Axes:
    """Loops bound to the three axes of a launch: its blocks, or the threads of one block."""

    def x(self, *bounds: SupportsIndex) -> range:
        """A loop along the fastest axis.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)

    def y(self, *bounds: SupportsIndex) -> range:
        """A loop along the second axis.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)

    def z(self, *bounds: SupportsIndex) -> range:
        """A loop along the slowest axis.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)


class M16N8K8:
    """Matrix instructions of 16 rows, 8 columns, and 8 products for each sum."""

    def tf32(self, *bounds: SupportsIndex) -> range:
        """A loop of products of float32 that are rounded by `tf32`, summed up in float32.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)


class M16N8K16:
    """Matrix instructions of 16 rows, 8 columns, and 16 products for each sum."""

    def bf16(self, *bounds: SupportsIndex) -> range:
        """A loop of products of float32 that are rounded by `bf16`, summed up in float32.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)

    def f16(self, *bounds: SupportsIndex) -> range:
        """A loop of products of float16, summed up in float32.

        Args:
            *bounds: stop; or start, stop; or start, stop, step.

        Raises:
            TypeError: as `range` does.
            ValueError: step is zero.
        """
        return range(*bounds)


class MatrixInstructions:
    """Loops that the matrix units of a GPU compute, by the shape of their instruction."""

    m16n8k8 = M16N8K8()
    m16n8k16 = M16N8K16()


class Scope:
    """A memory that arrays are allocated in: shared by a block, or private to a thread."""

    def empty(self, shape: Shape, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array whose cells hold no value yet.

        They are NaN or the lowest (unsigned: highest) integer, so that the use of a cell that was
        never written shows in the result instead of passing by luck.

        Args:
            shape: extents.
            dtype: type of the elements.

        Raises:
            ValueError: an extent is negative.
            TypeError: the shape or dtype is none.
        """
        kind = np.dtype(dtype)
        if kind.kind in "fc":
            return np.full(shape, np.nan, kind)
        if kind.kind == "i":
            return np.full(shape, np.iinfo(kind).min, kind)
        if kind.kind == "u":
            return np.full(shape, np.iinfo(kind).max, kind)
        if kind.kind == "b":
            return np.full(shape, True, kind)
        return np.empty(shape, kind)

    def zeros(self, shape: Shape, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """An array of zeros.

        Args:
            shape: extents.
            dtype: type of the elements.

        Raises:
            ValueError: an extent is negative.
            TypeError: the shape or dtype is none.
        """
        return np.zeros(shape, dtype)


block = Axes()
thread = Axes()
mma = MatrixInstructions()
shared = Scope()
local = Scope()
