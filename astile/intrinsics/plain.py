"""Questions about arrays that host functions of generated text ask; no GPU is needed.

And what they raise.
"""

from __future__ import annotations

from typing import Any

#: The longest axis along which an int32 counts.
_LONGEST = 2**31 - 1


class SharedMemoryError(RuntimeError):
    """A launch wants more shared memory for a block than its GPU gives.

    Args:
        size: bytes that it wants.
        most: bytes that the GPU gives.
    """

    def __init__(self, size: int, most: int) -> None:
        super().__init__(f"{size} bytes of shared memory in one block; this GPU gives {most}")
        self.size, self.most = size, most


def is_aligned(size: int, *arrays: Any) -> bool:
    """Whether kernels can access several elements of arrays at once, and count in 32 bits.

    All rows start at multiples of a number of bytes, their elements are neighbours, and no axis is
    as long as 2**31.

    Args:
        size: bytes of one access.
        *arrays: in the memory of a GPU, or NumPy arrays, which numba copies there.
    """
    return all(_is_aligned(size, each) for each in arrays)


def _is_aligned(size: int, array: Any) -> bool:
    facts = getattr(array, "__cuda_array_interface__", None)
    if facts is None:
        facts = getattr(array, "__array_interface__", None)
    if facts is None or not facts["shape"]:
        return False  # an array that only DLPack describes is read element by element
    if max(facts["shape"]) > _LONGEST:
        return False
    element = int(facts["typestr"][2:])
    strides = facts.get("strides")
    if strides is None:  # dense, in C order
        row = facts["shape"][-1] * element
        outer = (row,) if len(facts["shape"]) > 1 else ()
    else:
        outer = tuple(strides[:-1])
        if strides[-1] != element:
            return False
    return facts["data"][0] % size == 0 and all(each % size == 0 for each in outer)
