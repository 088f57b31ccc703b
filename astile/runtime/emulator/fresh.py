"""Arrays of the host side: device arrays, and memory that holds no value yet."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

_PATTERNS = {
    "f2": 0x7E5A, "f4": 0x7FC5_A5A5, "f8": 0x7FF8_5A5A_5A5A_5A5A,
    "i4": 0x8001_5A5A, "i8": 0x8000_0000_5A5A_5A5A,
    "u4": 0xFFFE_A5A5, "u8": 0xFFFF_FFFF_A5A5_A5A5,
}  # fmt: skip
"""Bits of a cell without a value: a NaN, or an extreme integer, that nothing computes."""


class FreshMemory:
    """An allocation and which of its cells hold a value.

    What the host writes is seen by its bits. Elements of one or two bytes have no bits to spare:
    for those only the writes of device code count, until the host touches the array.

    Args:
        array: owner of the whole allocation, contiguous; it is filled, and not kept alive.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._owner = weakref.ref(array)
        self.dtype = array.dtype
        self.address = _address(array)
        self.written = np.zeros(array.size, np.bool_)
        self._pattern = _PATTERNS.get(f"{array.dtype.kind}{array.dtype.itemsize}")
        if self._pattern is not None:
            self._bits(array)[...] = self._pattern
        elif array.dtype.kind in "iu":
            info = np.iinfo(array.dtype)
            array[...] = info.max if array.dtype.kind == "u" else info.min
        else:
            array[...] = np.nan if array.dtype.kind in "fc" else True

    @property
    def alive(self) -> bool:
        """Whether the allocation still exists."""
        return self._owner() is not None

    @property
    def distinct(self) -> bool:
        """Whether a cell without a value can be told by its bits."""
        return self._pattern is not None

    def _bits(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.ravel("K").view(f"u{self.dtype.itemsize}")

    def touched_by_host(self) -> None:
        """The host wrote, to cells that are not known."""
        if self._pattern is None:
            self.written[...] = True

    def mask(self, address: int, cells: int, dtype: np.dtype[Any]) -> NDArray[np.bool_] | None:
        """Which cells of a piece hold a value; a view that may be written.

        Args:
            address: of the first byte of the piece.
            cells: its length.
            dtype: type of its elements.

        Returns:
            None when the piece is not part of this allocation.
        """
        start, rest = divmod(address - self.address, self.dtype.itemsize)
        if rest or dtype != self.dtype or start < 0 or start + cells > len(self.written):
            return None
        owner = self._owner()
        if self._pattern is not None and owner is not None:
            self.written |= self._bits(owner) != self._pattern
        return self.written[start : start + cells]


def _address(array: NDArray[Any]) -> int:
    return int(array.__array_interface__["data"][0])


class DeviceArray(np.ndarray[Any, np.dtype[Any]]):
    """An array on the device, as host code handles it."""

    fresh: FreshMemory | None

    def __array_finalize__(self, whole: Any) -> None:
        self.fresh = getattr(whole, "fresh", None)

    def __setitem__(self, index: Any, value: Any) -> None:
        super().__setitem__(index, value)
        if self.fresh is not None:
            self.fresh.touched_by_host()

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: object = 0) -> NDArray[Any]:
        """A copy on the host.

        Args:
            ary: written, where given.
            stream: has no meaning here.
        """
        if ary is None:
            return np.array(self, subok=False)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: NDArray[Any], stream: object = 0) -> None:
        """Overwrite from an array of the host or the device.

        Args:
            ary: of the same shape.
            stream: has no meaning here.
        """
        self[...] = ary


def fresh_array(
    shape: Any, dtype: DTypeLike = np.float64, order: Any = "C"
) -> tuple[DeviceArray, FreshMemory]:
    """A device array that holds no value yet.

    Args:
        shape: extents.
        dtype: of the elements.
        order: ``"C"`` or ``"F"``.
    """
    owner = np.empty(shape, dtype, order)
    fresh = FreshMemory(owner)
    array = owner.view(DeviceArray)
    array.fresh = fresh
    return array, fresh
