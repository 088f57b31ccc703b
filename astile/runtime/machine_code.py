"""`MachineCode`: what the compiler made of the kernels of a CUDA text, as data and as a table."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from astile.analysis.counts import gpu_limits, sass
from astile.analysis.counts.occupancy import A100, H100, Occupancy, occupancy
from astile.ir import query
from astile.lower.lowered import Lowered
from astile.runtime import cubin, launch_limits, recording
from astile.tables import table_text

#: Instructions that keep in memory what should be in registers.
_LOCAL = ("LDL", "STL")


@dataclass(frozen=True)
class KernelCode:
    """One kernel.

    Args:
        kernel: its name in the text.
        cc: ``"sm_90"``.
        registers: of one thread.
        stack: bytes of one thread.
        spill_bytes: bytes that its instructions store to memory of the thread.
        shared_bytes: of one block.
        main_loop: name of an instruction -> how many, in the innermost loop with most arithmetic.
        loop: the loop of the text that this is; None where there is none.
        occupancy: what fits on one multiprocessor.
    """

    kernel: str
    cc: str
    registers: int
    stack: int
    spill_bytes: int
    shared_bytes: int
    main_loop: Mapping[str, int]
    loop: str | None
    occupancy: Occupancy

    @property
    def total_main_loop(self) -> int:
        """How many instructions the main loop has."""
        return sum(self.main_loop.values())

    def to_dict(self) -> dict[str, Any]:
        """The figures as data that JSON takes."""
        return {
            "kernel": self.kernel,
            "cc": self.cc,
            "registers": self.registers,
            "stack": self.stack,
            "spill_bytes": self.spill_bytes,
            "shared_bytes": self.shared_bytes,
            "main_loop": dict(self.main_loop),
            "total_main_loop": self.total_main_loop,
        }

    def in_memory(self) -> bool:
        """Whether something that each thread keeps is not in registers."""
        return bool(self.stack or self.spill_bytes)


@dataclass(frozen=True)
class MachineCode:
    """All kernels that a call launches.

    Args:
        kernels: in order of launch.
    """

    kernels: tuple[KernelCode, ...]

    def to_dict(self) -> dict[str, Any]:
        """The figures as data that JSON takes."""
        return {"kernels": [each.to_dict() for each in self.kernels]}

    def __str__(self) -> str:
        head = ("kernel", "registers", "stack", "spilled", "shared", "blocks", "limited by")
        rows = [
            (
                each.kernel,
                *map(str, (each.registers, each.stack, each.spill_bytes, each.shared_bytes)),
                f"{each.occupancy.blocks} ({each.occupancy.share:.0%})",
                each.occupancy.limited_by,
            )
            for each in self.kernels
        ]
        mixes = [
            f"{each.kernel}: {each.total_main_loop} instructions in the main loop"
            f"{f', `{each.loop}`' if each.loop else ''}: "
            + ", ".join(f"{count} {name}" for name, count in each.main_loop.items())
            for each in self.kernels
            if each.main_loop
        ]
        return "\n".join([table_text(head, rows), *mixes])


def of(
    lowered: Lowered,
    positional: Sequence[object],
    keywords: Mapping[str, object],
    cc: tuple[int, int],
) -> MachineCode:
    """The machine code of the kernels that a call launches.

    Args:
        lowered: the CUDA text.
        positional: arguments in the host's memory.
        keywords: the same, by name.
        cc: compute capability.

    Raises:
        LoweringError: where something is missing, or numba cannot compile a kernel.
    """
    launches = recording.launches(lowered.text, lowered.entry, positional, keywords)
    found = tuple(_code(lowered.text, each, cc) for each in launches)
    for each in found:
        if each.in_memory():
            warnings.warn(_complaint(each), RuntimeWarning, stacklevel=3)
    return MachineCode(found)


def _complaint(code: KernelCode) -> str:
    where = f", in `{code.loop}`" if any(map(code.main_loop.get, _LOCAL)) and code.loop else ""
    return (
        f"{code.kernel}: {code.stack} bytes of each thread are in memory and not in registers"
        f"{where}; use fewer cells for each thread, or loops of literal length"
    )


def _code(text: str, launch: recording.Launch, cc: tuple[int, int]) -> KernelCode:
    threads, name = prod(launch.block), f"sm_{cc[0]}{cc[1]}"
    machine = cubin.cubin(launch.kernel, launch.signature, cc, threads)
    taken = cubin.resources(machine, cc)
    shared = taken.shared + launch.shared
    launch_limits.check_compiled(launch.name, taken.registers, taken.stack, threads)
    launch_limits.check_shared(launch.name, shared, gpu_limits.most_shared(cc), name)
    code = sass.parse(cubin.disassembly(machine))
    body = code.main_loop()
    gpu = H100 if cc >= (9, 0) else A100
    return KernelCode(
        launch.name,
        name,
        taken.registers,
        taken.stack,
        code.local_bytes(),
        shared,
        sass.mix_of(body),
        _loop_at(text, body),
        occupancy(threads, shared, taken.registers, gpu),
    )


def _loop_at(text: str, body: Sequence[sass.Instruction]) -> str | None:
    """The head of the innermost loop of the text around all instructions."""
    lines = text.splitlines()
    numbers = {each.line for each in body if each.line and each.line <= len(lines)}
    if not numbers:
        return None
    around = [
        loop
        for loop in query.loops(ast.parse(text))
        if loop.lineno <= min(numbers) and max(numbers) <= (loop.end_lineno or 0)
    ]
    return lines[around[-1].lineno - 1].strip().rstrip(":") if around else None
