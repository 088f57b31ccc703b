"""What one launch of a kernel may take on NVIDIA's GPUs.

The numbers are those of the CUDA C++ programming guide, "Compute capabilities".
"""

from __future__ import annotations

from collections.abc import Mapping

#: Threads of a block, in all and along each axis.
MOST_THREADS = 1024
MOST_ALONG: Mapping[str, int] = {"x": 1024, "y": 1024, "z": 64}
#: Blocks of a grid along each axis.
MOST_BLOCKS: Mapping[str, int] = {"x": 2**31 - 1, "y": 65535, "z": 65535}
#: Bytes of shared memory of a block whose kernel asks for no more.
SHARED_UNASKED = 48 * 1024
#: Registers of 32 bits of a block, on all GPUs but those of capability 5.3 and 6.2.
MOST_REGISTERS = 65536
#: Bytes that a thread keeps in memory for itself.
MOST_LOCAL = 512 * 1024
#: Compute capability -> bytes of shared memory that a block may ask for.
_SHARED: Mapping[tuple[int, int], int] = {
    (7, 0): 96 * 1024,
    (7, 5): 64 * 1024,
    (8, 0): 163 * 1024,
    (8, 6): 99 * 1024,
    (8, 7): 163 * 1024,
    (8, 9): 99 * 1024,
    (9, 0): 227 * 1024,
    (10, 0): 227 * 1024,
    (12, 0): 99 * 1024,
}
#: The same on the GPU that has most.
MOST_SHARED = max(_SHARED.values())


def most_shared(cc: tuple[int, int]) -> int:
    """Bytes of shared memory that a block may ask for.

    Args:
        cc: compute capability; one that is not listed counts as the next older one.
    """
    older = [each for each in _SHARED if each <= cc]
    return _SHARED[max(older)] if older else SHARED_UNASKED


def with_most_shared(size: int) -> str:
    """The GPUs that give a block so many bytes, as text: ``"8.0, 8.7, 9.0"``."""
    fitting = [f"{major}.{minor}" for (major, minor), most in _SHARED.items() if most >= size]
    return ", ".join(fitting)
