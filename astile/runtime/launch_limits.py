"""Limits of a GPU that only show when a kernel is compiled or launched."""

from __future__ import annotations

import functools
from typing import Any

from astile.analysis.counts.gpu_limits import (
    MOST_BLOCKS,
    MOST_LOCAL,
    MOST_REGISTERS,
    with_most_shared,
)
from astile.errors import LoweringError

#: Registers are given to warps in units of so many for each of their 32 threads.
_UNIT = 8


def check_grid(name: str, grid: tuple[int, ...]) -> None:
    """Refuse a grid that no GPU takes.

    Args:
        name: of the kernel.
        grid: blocks along x, y, z.

    Raises:
        LoweringError: naming the axis.
    """
    for axis, blocks in zip("xyz", grid, strict=False):
        if blocks > MOST_BLOCKS[axis]:
            raise LoweringError(
                f"{name} has {blocks} blocks along {axis}; a grid has at most {MOST_BLOCKS[axis]}",
                code="lowering.limit",
                hints=["bind the longest loop to blockIdx.x, or split by a larger factor"],
            )


def check_compiled(name: str, registers: int, local: int, threads: int) -> None:
    """Refuse a kernel whose threads find no room for what each of them keeps.

    Args:
        name: of the kernel.
        registers: of one thread.
        local: bytes of one thread in memory.
        threads: of one block.

    Raises:
        LoweringError: with the numbers.
    """
    each = -(-registers // _UNIT) * _UNIT
    if each * threads > MOST_REGISTERS:
        raise LoweringError(
            f"{name} has {each} registers for each of the {threads} threads of a block; a block "
            f"has at most {MOST_REGISTERS}",
            code="lowering.limit",
            hints=["bind fewer threads, or let each of them compute fewer cells"],
        )
    if local > MOST_LOCAL:
        raise LoweringError(
            f"{name} keeps {local} bytes of each thread in memory; there are {MOST_LOCAL}",
            code="lowering.local-memory",
            hints=["use smaller tiles, or arrays in shared or global memory"],
        )


def check_shared(name: str, size: int, most: int, gpu: str) -> None:
    """Refuse a kernel that takes more shared memory than a GPU gives a block.

    Args:
        name: of the kernel.
        size: bytes of one block.
        most: bytes that the GPU gives.
        gpu: which, as text.

    Raises:
        LoweringError: with both numbers, and the GPUs that have as much.
    """
    if size > most:
        raise LoweringError(
            f"{name} takes {size} bytes of shared memory in one block; {gpu} gives {most}",
            code="lowering.shared-memory",
            notes=[f"GPUs of compute capability {with_most_shared(size)} give as much"],
            hints=["use smaller tiles, or leave one of the arrays in global memory"],
        )


def checked(kernel: Any, name: str, threads: int) -> None:
    """Let a kernel refuse launches over a limit, before they are made.

    Args:
        kernel: decorated with `cuda.jit` and not launched so far.
        name: of the kernel.
        threads: of a block.
    """
    configure, compile_kernel = kernel.configure, kernel.compile

    @functools.lru_cache(maxsize=128)
    def configured(grid: Any, block: Any, *stream_and_shared: Any) -> Any:
        check_grid(name, grid if isinstance(grid, tuple) else (grid,))
        return configure(grid, block, *stream_and_shared)

    def compiled(signature: Any) -> Any:
        made = compile_kernel(signature)
        check_compiled(name, made.regs_per_thread, made.local_mem_per_thread, threads)
        return made

    kernel.configure, kernel.compile = configured, compiled
