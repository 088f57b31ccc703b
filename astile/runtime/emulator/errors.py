"""What the emulator reports: faults of device code, each with the place of every access."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from astile.diagnostics import Related
from astile.errors import AstileError
from astile.source import SourceFile, Span

Kind = Literal["read", "write", "atomic update"]
Index3 = tuple[int, int, int]


class EmulationError(AstileError):
    """Device code, or its launch, that is wrong on a GPU or that the emulator does not know."""

    default_code = "emulation"


class LimitError(EmulationError):
    """A launch over a limit of the device: threads, grid, shared memory."""

    default_code = "emulation.limit"


class BarrierError(EmulationError):
    """A barrier or warp operation that not all of its threads reach."""

    default_code = "emulation.barrier"


@dataclass(frozen=True)
class Access:
    """One access to one cell.

    Args:
        kind: what was done.
        thread: x, y, z of the thread.
        block: x, y, z of its block.
        span: the place in the generated text.
    """

    kind: Kind
    thread: Index3
    block: Index3
    span: Span

    @property
    def line(self) -> int:
        """Line of the generated text."""
        return self.span.line

    def __str__(self) -> str:
        return f"{self.kind} by thread {self.thread} of block {self.block}"


class CellError(EmulationError):
    """A faulty access to one cell of an array.

    Args:
        message: what is wrong.
        array: name of the array.
        cell: index of the cell.
        access: the access that failed.
        earlier: the access it meets, for races.
        notes: why it is wrong.
        operation: the launch.
    """

    #: What to do about it.
    advice: ClassVar[str]

    def __init__(
        self,
        message: str,
        *,
        array: str,
        cell: tuple[int, ...],
        access: Access,
        earlier: Access | None = None,
        notes: Iterable[str] = (),
        operation: str | None = None,
    ) -> None:
        super().__init__(
            message,
            span=access.span,
            label=str(access),
            related=[Related(earlier.span, str(earlier))] if earlier else [],
            notes=notes,
            hints=[self.advice],
            operation=operation,
        )
        self.array = array
        self.cell = cell
        self.access = access
        self.earlier = earlier


class RaceError(CellError):
    """Two threads touch one cell, at least one writes, and nothing orders them."""

    default_code = "emulation.race"
    advice = "give each thread cells of its own, or order the threads of a block by a barrier"


class BoundsError(CellError):
    """An index outside its array, negative ones included."""

    default_code = "emulation.bounds"
    advice = "put the access under a condition that keeps the index inside"


class UninitialisedError(CellError):
    """A read of a cell that nothing was written to."""

    default_code = "emulation.uninitialised"
    advice = "write the cell before, with a barrier between where another thread writes it"


class Places:
    """Numbers for the places of one generated text, so that an access carries only an int.

    Args:
        source: the text.
    """

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self._spans: list[Span] = []

    def number(self, node: ast.AST) -> int:
        """A number for the place of a node of the text."""
        self._spans.append(self.source.span(node) or self._line(1))
        return len(self._spans) - 1

    def running_line(self) -> int:
        """A number for the innermost line of the text that is running now.

        For accesses made where the text was not instrumented; line n is -n.
        """
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename != self.source.name:
            frame = frame.f_back
        return -frame.f_lineno if frame.f_code.co_filename == self.source.name else -1

    def span(self, place: int) -> Span:
        """The span of a numbered place."""
        return self._spans[place] if place >= 0 else self._line(-place)

    def _line(self, line: int) -> Span:
        text = self.source.line(line) or ""
        start = len(text) - len(text.lstrip()) + 1
        return Span(self.source, line, start, line, max(len(text), start) + 1)

    def failed_line(self, error: BaseException) -> int:
        """A number for the line of the text in which an exception arose."""
        line, trace = 1, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.source.name:
                line = trace.tb_lineno
            trace = trace.tb_next
        return -line
