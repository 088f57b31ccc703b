"""What a proof may find: proved, refuted with a witness, or unknown with the reason."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from astile.source import Span

#: What one comparison may cost, in seconds of a slow machine; see `isl.Budget`.
BUDGET = 20.0

ConflictKind = Literal["flow", "anti", "output", "missing", "extra", "statement", "race"]


@dataclass(frozen=True)
class Instance:
    """One iteration of one statement.

    Args:
        statement: the statement of the original function; None for the end of the function.
        number: its number among the leaves of the original function, -1 for the end.
        iteration: loop variable -> value, outermost first.
        span: where it stands in the user's file.
    """

    statement: ast.stmt | None
    number: int
    iteration: tuple[tuple[str, int], ...]
    span: Span | None

    def __str__(self) -> str:
        if self.statement is None:
            return "the caller"
        if not self.iteration:
            return "the statement"
        return f"iteration ({', '.join(f'{name}={value}' for name, value in self.iteration)})"


@dataclass(frozen=True)
class Witness:
    """Two iterations that meet in one cell, in an order that the new program does not keep.

    Args:
        kind: ``flow`` (a value is read before it is written), ``anti`` (a write comes before a
            read that should not see it), ``output`` (two writes change places), ``missing`` (an
            iteration does not run), ``extra`` (an iteration runs that did not), ``statement``
            (a statement computes something else).
        array: the array or scalar.
        cell: indices of the cell, empty for a scalar.
        first: the iteration that runs first in the original.
        second: the iteration that runs second in the original.
        sizes: parameter -> value, for which this happens.
        distance: trips from the first to the second in each loop around both, or None.
        message: one sentence.
        telling: the sizes on which it depends whether the two iterations run and meet; all of them
            when not given.
        start: what a value is that no iteration wrote.
    """

    kind: ConflictKind
    array: str
    cell: tuple[int, ...]
    first: Instance | None
    second: Instance | None
    sizes: Mapping[str, int]
    distance: tuple[int, ...] | None
    message: str
    telling: frozenset[str] | None = field(default=None, kw_only=True)
    start: str = field(default="as it was at the call", kw_only=True)

    @property
    def direction(self) -> tuple[str, ...] | None:
        """The signs of the distance: ``<``, ``=`` or ``>`` for each loop."""
        if self.distance is None:
            return None
        return tuple("<" if d > 0 else ">" if d < 0 else "=" for d in self.distance)


@dataclass(frozen=True)
class Proved:
    """The new program computes what the original computes, for all sizes.

    Args:
        kind: ``equal``, or ``equal up to reassociation`` of recognised reductions.
        parameters: the sizes it holds for all values of, as the user writes them.
        seconds: how long the proof took.
        is_kept: whether that was at an earlier time, from which it is known.
    """

    kind: Literal["equal", "equal up to reassociation"]
    parameters: tuple[str, ...]
    seconds: float = field(compare=False)
    is_kept: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        sizes = ", ".join(self.parameters)
        told = f"proved {self.kind}{f', for all {sizes}' if sizes else ''}"
        return f"{told} (proved before, in {self.seconds * 1e3:.0f} ms)" if self.is_kept else told


@dataclass(frozen=True)
class Refuted:
    """The new program may compute something else."""

    witness: Witness


@dataclass(frozen=True)
class Unknown:
    """It is not known whether the new program computes the same.

    Args:
        reason: what could not be shown, or why.
        span: the place in the user's file, when there is one.
        array: the array or scalar concerned, when it is one.
        hint: what to write instead, where that is known.
    """

    reason: str
    span: Span | None = None
    array: str | None = None
    hint: str | None = None


Verdict = Proved | Refuted | Unknown
