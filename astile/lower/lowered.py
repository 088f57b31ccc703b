"""What a lowering hands on: text, its entry, and what is known about its kernels."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from astile.ir import printer


@dataclass(frozen=True)
class KernelInfo:
    """One kernel of a CUDA text, for reports and occupancy.

    Args:
        name: the kernel's function name in the text.
        grid: blocks along x, y, z, as expressions over the host function's names.
        block: threads along x, y, z.
        shared_bytes: static shared memory of one block in bytes; None where a dtype that the
            text only knows at run time decides.
    """

    name: str
    grid: tuple[str, str, str]
    block: tuple[int, int, int]
    shared_bytes: int | None


@dataclass(frozen=True)
class Lowered:
    """A complete module that runs by itself.

    Args:
        text: the module.
        entry: name of its function that has the kernel's name and parameters.
        target: ``"python"``, ``"cpu"`` or ``"cuda"``.
        kernels: the CUDA kernels in order of launch, empty for other targets.
        body: the statements that were printed; those made of the user's keep their place.
        in_registers: whether its ``vector`` loops and small local arrays are vector registers.
    """

    text: str
    entry: str
    target: str
    kernels: tuple[KernelInfo, ...] = ()
    body: tuple[ast.stmt, ...] = field(default=(), repr=False, compare=False)
    in_registers: bool = True

    @cached_property
    def statements(self) -> Mapping[int, ast.stmt]:
        """Line of the text -> the statement of `body` that stands there."""
        return printer.owners(self.text, self.body)
