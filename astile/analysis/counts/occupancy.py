"""How many thread blocks of a kernel run on one multiprocessor of a GPU at a time.

The rules are those of NVIDIA's CUDA occupancy calculator.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Threads that run together.
WARP = 32
#: Shared memory is given out in units of so many bytes, and the driver keeps some of each block.
_SHARED_UNIT, _SHARED_KEPT = 128, 1024
#: Registers are given out to warps in units of so many.
_REGISTER_UNIT = 256


@dataclass(frozen=True)
class Multiprocessor:
    """The limits of one multiprocessor.

    Args:
        name: of the GPU.
        threads: that it holds.
        blocks: that it holds.
        registers: of 32 bits.
        shared: bytes of shared memory.
    """

    name: str
    threads: int
    blocks: int
    registers: int
    shared: int


#: Compute capability 9.0; CUDA C++ programming guide, technical specifications.
H100 = Multiprocessor("H100", 2048, 32, 65536, 233472)
#: Compute capability 8.0.
A100 = Multiprocessor("A100", 2048, 32, 65536, 167936)


@dataclass(frozen=True)
class Occupancy:
    """What fits on one multiprocessor.

    Args:
        blocks: thread blocks.
        share: of the threads that it could hold, between 0 and 1.
        limited_by: ``"threads"``, ``"blocks"``, ``"registers"``, ``"shared memory"``.
    """

    blocks: int
    share: float
    limited_by: str

    def __str__(self) -> str:
        return (
            f"{self.blocks} blocks on a multiprocessor, {100 * self.share:.0f} % of its threads, "
            f"limited by {self.limited_by}"
        )


def occupancy(
    threads: int,
    shared_bytes: int,
    registers: int | None = None,
    gpu: Multiprocessor = H100,
) -> Occupancy:
    """How many blocks fit, and what keeps more from fitting.

    Args:
        threads: of one block.
        shared_bytes: of one block.
        registers: of one thread; None when they are not known, and then do not count.
        gpu: the limits.
    """
    warps = -(-threads // WARP)
    shared = -(-(shared_bytes + _SHARED_KEPT) // _SHARED_UNIT) * _SHARED_UNIT
    limits = {
        "threads": gpu.threads // (warps * WARP),
        "shared memory": gpu.shared // shared,
        "blocks": gpu.blocks,
    }
    if registers:
        each = -(-registers * WARP // _REGISTER_UNIT) * _REGISTER_UNIT
        limits["registers"] = gpu.registers // each // 4 * 4 // warps
    limiter = min(limits, key=lambda name: limits[name])
    blocks = limits[limiter]
    return Occupancy(blocks, blocks * warps * WARP / gpu.threads, limiter)
