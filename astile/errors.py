"""The exceptions of astile: structured fields, a stable code, text made by `diagnostics`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, ClassVar

from astile.diagnostics import SCHEMA, Diagnostic, Related, as_dict, render
from astile.source import Span


class AstileError(Exception):
    """Base of all errors of astile; `str(error)` is the rendered diagnostic.

    Args:
        message: what is wrong, in one sentence.
        code: stable slug; the class's own when not given.
        span: the user's line that it is about.
        label: printed after the caret.
        related: other places with their labels.
        notes: why it is wrong.
        hints: what to write instead.
        operation: the schedule call with its arguments.
    """

    default_code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        span: Span | None = None,
        label: str = "",
        related: Iterable[Related] = (),
        notes: Iterable[str] = (),
        hints: Iterable[str] = (),
        operation: str | None = None,
    ) -> None:
        self._diagnostic = Diagnostic(
            code=code or self.default_code,
            message=message,
            span=span,
            label=label,
            related=tuple(related),
            notes=tuple(notes),
            hints=tuple(hints),
            operation=operation,
        )
        super().__init__(message)

    def __str__(self) -> str:
        return render(self.diagnostic)

    @property
    def diagnostic(self) -> Diagnostic:
        """All that the message says."""
        return self._diagnostic

    @property
    def code(self) -> str:
        """The stable slug of this kind of error."""
        return self._diagnostic.code

    def to_dict(self) -> dict[str, Any]:
        """All that the message says, as types that JSON knows, with the version of their form."""
        error = {"type": type(self).__name__, **as_dict(self.diagnostic)}
        return {"schema": SCHEMA, "error": error}

    def named(self, operation: str) -> None:
        """Say which call failed."""
        self._diagnostic = replace(self._diagnostic, operation=operation)

    def placed(self, find: Callable[[], Span | None]) -> None:
        """Say which line it is about, unless that is known.

        Args:
            find: gives the place; it is called where there is none yet.
        """
        if self._diagnostic.span is None:
            self._diagnostic = replace(self._diagnostic, span=find())

    def noted(self, note: str) -> None:
        """Say one more thing about why."""
        self._diagnostic = replace(self._diagnostic, notes=(*self._diagnostic.notes, note))


class SourceError(AstileError):
    """Python that astile does not read."""

    default_code = "source"


class ScheduleError(AstileError):
    """A schedule call that cannot be applied as written."""

    default_code = "schedule"


class IllegalSchedule(ScheduleError):  # noqa: N818 - the name is fixed by the public API
    """A schedule call that would change the result, or could not be proved not to.

    Args:
        message: what would change.
        witness: two iterations and the cell on which they meet, or None when not proved.
        array: name of the array or scalar concerned.
        kind: ``"flow"``, ``"anti"``, ``"output"``, ``"race"``, ``"unknown"``, ...
        **fields: as for `AstileError`.
    """

    default_code = "illegal"

    def __init__(
        self,
        message: str,
        *,
        witness: object | None = None,
        array: str | None = None,
        kind: str = "unknown",
        code: str | None = None,
        span: Span | None = None,
        label: str = "",
        related: Iterable[Related] = (),
        notes: Iterable[str] = (),
        hints: Iterable[str] = (),
        operation: str | None = None,
    ) -> None:
        super().__init__(
            message,
            code=code,
            span=span,
            label=label,
            related=related,
            notes=notes,
            hints=hints,
            operation=operation,
        )
        self.witness = witness
        self.array = array
        self.kind = kind
        self._advise: Callable[[], Iterable[str]] | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        """All that the message says, with what is legal instead."""
        if self._advise is not None:
            advise, self._advise = self._advise, None
            hints = (*self._diagnostic.hints, *advise())
            self._diagnostic = replace(self._diagnostic, hints=hints)
        return self._diagnostic

    def to_dict(self) -> dict[str, Any]:
        """As of every error, with the array and the kind of conflict."""
        told = super().to_dict()
        told["error"] |= {"array": self.array, "kind": self.kind}
        return told

    def advised(self, advise: Callable[[], Iterable[str]]) -> None:
        """Let hints be looked for when the message is read: that may take a while.

        Args:
            advise: gives the hints; it is called once at most.
        """
        self._advise = advise


class LoweringError(AstileError):
    """A target that cannot run this program, with the limit it hits."""

    default_code = "lowering"


class ArgumentError(AstileError, ValueError):
    """Arguments of a call that do not fit: shape, dtype, overlap, index out of bounds."""

    default_code = "argument"


class InternalError(AstileError):
    """A fault of astile itself; please report it."""

    default_code = "internal"
