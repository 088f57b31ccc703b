"""Arrays in the memory of a GPU that only DLPack tells of, seen as numba sees others.

The structures are those of DLPack 1.0 and of the versions before, as the array API standard hands
them over: https://dmlc.github.io/dlpack/latest/c_api.html
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

#: What `__dlpack_device__` says of memory that a kernel can reach: CUDA's, and managed memory.
_ON_GPU = (2, 13)
#: Codes of types of elements -> letters of NumPy.
_LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
_READ_ONLY = 1
#: The default stream, on which kernels run.
_STREAM = 1


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


class View:
    """An array of another library, as `__cuda_array_interface__` describes it; nothing is copied.

    Args:
        array: has `__dlpack__`, and lies in the memory of a GPU; it is kept alive.

    Raises:
        TypeError: for elements of a type that NumPy does not have.
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        try:
            self._capsule = array.__dlpack__(stream=_STREAM, max_version=(1, 0))
        except TypeError:  # written before there were versions
            self._capsule = array.__dlpack__(stream=_STREAM)
        self.__cuda_array_interface__ = _described(self._capsule)


def viewed(values: Mapping[str, object]) -> dict[str, object]:
    """Arguments, with views of those arrays on a GPU that only DLPack tells of.

    Args:
        values: parameter -> argument.
    """
    return {name: View(each) if _needs_view(each) else each for name, each in values.items()}


def _needs_view(value: object) -> bool:
    if isinstance(value, (np.ndarray, int, float)) or not hasattr(value, "__dlpack__"):
        return False
    if getattr(value, "__cuda_array_interface__", None) is not None:
        return False
    spoken = getattr(value, "__dlpack_device__", None)
    return spoken is not None and spoken()[0] in _ON_GPU


def _described(capsule: object) -> dict[str, object]:
    """A tensor in the words of ``__cuda_array_interface__``."""
    tensor, is_read_only = _opened(capsule)
    if tensor.code not in _LETTERS or tensor.lanes != 1 or tensor.bits % 8:
        raise TypeError(f"elements of DLPack's type ({tensor.code}, {tensor.bits}) are not read")
    size = tensor.bits // 8
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    if tensor.strides:
        strides = tuple(size * tensor.strides[axis] for axis in range(tensor.ndim))
    else:
        strides = tuple(size * math.prod(shape[axis + 1 :]) for axis in range(tensor.ndim))
    order = "|" if size == 1 else "<"
    return {
        "shape": shape,
        "strides": strides,
        "typestr": f"{order}{_LETTERS[tensor.code]}{size}",
        "data": ((tensor.data or 0) + tensor.byte_offset, is_read_only),
        "version": 3,
    }


def _opened(capsule: object) -> tuple[_Tensor, bool]:
    """The tensor in a capsule, and whether it may only be read."""
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    holds = ctypes.pythonapi.PyCapsule_IsValid
    holds.restype, holds.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
    if holds(capsule, b"dltensor_versioned"):
        made = _Versioned.from_address(find(capsule, b"dltensor_versioned"))
        return made.tensor, bool(made.flags & _READ_ONLY)
    return _Tensor.from_address(find(capsule, b"dltensor")), False
