"""Kernels of an emulated module and their launches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from types import FunctionType
from typing import Any

import numpy as np

from astile.errors import AstileError
from astile.runtime.emulator.arguments import to_device, type_of
from astile.runtime.emulator.block import run_block
from astile.runtime.emulator.clock import ATOMIC, Clock, Interval
from astile.runtime.emulator.errors import EmulationError, Index3, LimitError, Places
from astile.runtime.emulator.execution import Execution, Limits, Order
from astile.runtime.emulator.fresh import FreshMemory
from astile.runtime.emulator.report import (
    EmulationReport,
    LaunchReport,
    count,
    shared_traffic,
)
from astile.runtime.emulator.translate import Translator
from astile.runtime.emulator.warps import Warps


@dataclass
class Program:
    """One loaded module.

    Args:
        places: of its text.
        translator: of its kernels.
        limits: of the device.
        order: of threads and blocks.
        report: counts, where wanted.
        fresh: allocations of its host code.
    """

    places: Places
    translator: Translator
    limits: Limits
    order: Order
    report: EmulationReport | None
    fresh: list[FreshMemory] = field(default_factory=list)

    def remember(self, memory: FreshMemory) -> None:
        """Keep track of an allocation while it exists."""
        self.fresh = [each for each in self.fresh if each.alive]
        self.fresh.append(memory)


@dataclass(frozen=True)
class Kernel:
    """A kernel.

    Args:
        program: its module.
        function: as written.
        bound: the most threads of a block that it is compiled for.
        asked: bytes of shared memory that it asks for.
    """

    program: Program
    function: FunctionType
    bound: int | None
    asked: int = 0

    def __getitem__(self, configuration: Any) -> Callable[..., None]:
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise EmulationError(
                f"{self.function.__name__}[...] takes grid, block, stream and shared bytes"
            )
        grid, block = _three(parts[0]), _three(parts[1])
        shared = int(parts[3]) if len(parts) == 4 else 0
        return lambda *arguments: self.launch(grid, block, shared, arguments)

    def __call__(self, *arguments: object) -> None:
        """Refuse: a kernel needs its grid.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"{self.function.__name__} is a kernel: kernel[grid, block](...)")

    def launch(self, grid: Index3, block: Index3, shared: int, arguments: tuple[Any, ...]) -> None:
        """Run the kernel.

        Args:
            grid: blocks along x, y, z.
            block: threads along x, y, z.
            shared: bytes of dynamic shared memory.
            arguments: of the kernel.

        Raises:
            EmulationError: the launch, or what a thread does, is wrong.
        """
        program, name = self.program, self.function.__name__
        operation = f"{name}[{grid}, {block}]"
        _check_limits(program.limits, grid, block, self.bound, operation)
        _check_shared(program.limits, shared, self.asked, operation)
        code = self.function.__code__
        names = code.co_varnames[: code.co_argcount]
        required = len(names) - len(self.function.__defaults__ or ())
        if not required <= len(arguments) <= len(names):
            raise EmulationError(
                f"{name} takes {len(names)} arguments, not {len(arguments)}", operation=operation
            )
        kernel = program.translator.translate(self.function, tuple(map(type_of, arguments)))
        clock = Clock(ATOMIC, Interval(grid), program.places, operation, kernel.warp)
        if program.report is not None:
            clock.warps = Warps(prod(block))
        values, memories = to_device(names[: len(arguments)], arguments, clock, program.fresh)
        execution = Execution(grid, block, shared, program.limits, program.order, clock)
        # A device computes infinities and NaNs without a word.
        with np.errstate(all="ignore"):
            for index in execution.blocks():
                try:
                    run_block(execution, kernel, values, index)
                except AstileError:
                    raise
                except Exception as error:
                    raise self._failure(error, clock) from error
        if program.report is not None and clock.warps is not None:
            blocks = grid[0] * grid[1] * grid[2]
            program.report.launches.append(
                LaunchReport(
                    name,
                    grid,
                    block,
                    execution.intervals - blocks,
                    execution.shared_bytes,
                    count(memories, clock.warps),
                    shared_traffic(clock.warps),
                )
            )

    def _failure(self, error: Exception, clock: Clock) -> EmulationError:
        strand = clock.strand
        return EmulationError(
            f"{type(error).__name__} in thread {strand.thread} of block {strand.block}: {error}",
            span=clock.places.span(clock.places.failed_line(error)),
            operation=clock.operation,
        )


def _three(extent: Any) -> Index3:
    parts = tuple(extent) if isinstance(extent, (tuple, list)) else (extent,)
    if not 1 <= len(parts) <= 3 or not all(isinstance(n, (int, np.integer)) for n in parts):
        raise EmulationError(f"a grid or block is up to three integers, not {extent!r}")
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def _check_limits(
    limits: Limits, grid: Index3, block: Index3, bound: int | None, operation: str
) -> None:
    for what, extents, most in (("block", block, limits.block), ("grid", grid, limits.grid)):
        for axis, extent, limit in zip("xyz", extents, most, strict=True):
            if not 1 <= extent <= limit:
                hint = "split the loop by a smaller factor"
                if what == "grid":
                    hint = "split the loop by a larger factor, or bind it to blockIdx.x"
                raise LimitError(
                    f"{extent} along {axis} of the {what}: from 1 to {limit} are possible",
                    operation=operation,
                    hints=[hint],
                )
    threads = prod(block)
    allowed = limits.threads if bound is None else min(bound, limits.threads)
    if threads > allowed:
        raise LimitError(
            f"{threads} threads in a block of at most {allowed}",
            operation=operation,
            hints=["split the loops over threads by smaller factors"],
        )


def _check_shared(limits: Limits, shared: int, asked: int, operation: str) -> None:
    if not 0 <= shared <= limits.shared:
        raise LimitError(
            f"{shared} bytes of dynamic shared memory of at most {limits.shared}",
            operation=operation,
            hints=["use smaller tiles, or leave one of the arrays in global memory"],
        )
    if shared > max(asked, limits.static_shared):
        raise LimitError(
            f"{shared} bytes of dynamic shared memory, and the kernel asked for {asked}",
            operation=operation,
            hints=[f"decorate it with @with_shared_memory({shared})"],
        )
