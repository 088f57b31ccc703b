"""Runs generated CUDA text without a GPU and without numba, and finds what is wrong with it.

The very text is executed: its host function launches its kernels, block after block and thread
after thread, in a fixed order. Every access of an array is checked. What is reported:

- races on shared and global memory, between threads of a block and between blocks;
- barriers that not all threads of a block reach, and meetings that not all lanes of a warp reach;
- reads of cells that nothing was written to;
- indices outside their array, negative ones included;
- launches over a limit of the device.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from astile.runtime.emulator.errors import (
    Access,
    BarrierError,
    BoundsError,
    EmulationError,
    LimitError,
    Places,
    RaceError,
    UninitialisedError,
)
from astile.runtime.emulator.execution import Limits, Order
from astile.runtime.emulator.host import Cuda
from astile.runtime.emulator.host_text import HostRewrite
from astile.runtime.emulator.kernels import Program
from astile.runtime.emulator.report import (
    ArrayTraffic,
    EmulationReport,
    LaunchReport,
    SharedTraffic,
)
from astile.runtime.emulator.translate import Translator
from astile.source import SourceFile

__all__ = [
    "Access",
    "ArrayTraffic",
    "BarrierError",
    "BoundsError",
    "EmulationError",
    "EmulationReport",
    "LaunchReport",
    "LimitError",
    "Limits",
    "Order",
    "RaceError",
    "SharedTraffic",
    "UninitialisedError",
    "load",
]


def load(
    text: str,
    entry: str,
    *,
    file_name: str | None = None,
    order: Order = "forward",
    report: EmulationReport | None = None,
    limits: Limits | None = None,
) -> Callable[..., Any]:
    """The host function of a generated module, with its kernels emulated.

    Args:
        text: the module.
        entry: name of its host function.
        file_name: name of the text in messages and tracebacks.
        order: in which threads and blocks run: ``"forward"``, ``"reverse"``, or a number that
            seeds an order of its own for each interval.
        report: counts what the launches do.
        limits: of the device; a Hopper GPU's when not given.

    Raises:
        EmulationError: the text is not Python, uses what is not emulated, or lacks the entry.
    """
    source = SourceFile(file_name or f"<emulated {entry}>", text)
    try:
        written, host = ast.parse(text, source.name), ast.parse(text, source.name)
    except SyntaxError as error:
        raise EmulationError(f"the text is not Python: {error}") from error
    places = Places(source)
    program = Program(places, Translator(written, places), limits or Limits(), order, report)
    rewrite = HostRewrite(source, Cuda(program))
    module = ast.fix_missing_locations(rewrite.visit(host))
    namespace: dict[str, Any] = {"__name__": entry, "__file__": source.name, **rewrite.bound}
    exec(compile(module, source.name, "exec", dont_inherit=True), namespace)  # noqa: S102 - our text
    found = namespace.get(entry)
    if not callable(found):
        raise EmulationError(f"the text defines no function {entry!r}")
    return found  # type: ignore[no-any-return]
