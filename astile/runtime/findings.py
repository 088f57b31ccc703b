"""What is found out about a function before its first call, and kept for the next process.

All of it is decided by the program and by astile's own code, which the name of a program covers.
Places in the user's file are kept as distances from the function's first line, so that they are
right where it has moved.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from astile import lower
from astile.analysis import extents, proof
from astile.analysis.extents.conditions import Condition, Division
from astile.analysis.forms.size_functions import Function
from astile.cache.files import default_cache_dir
from astile.cache.sealed import Sealed
from astile.diagnostics import Related
from astile.errors import SourceError
from astile.ir.program import Program
from astile.source import SourceFile, Span

T = TypeVar("T")

#: Findings of so many programs are kept at most.
_MOST = 1000
_FUNCTIONS = ("fails", "lowest", "highest", "extent")


@dataclass(frozen=True)
class Findings:
    """What the sizes and values of a call decide about a function as it was written.

    Args:
        conditions: what must hold for accesses to stay inside their arrays.
        unproved: arrays with accesses that the conditions do not cover; "" where none is read.
        may_leave: whether some access may leave its array in spite of the conditions.
        divisions: those that raise at some sizes.
    """

    conditions: tuple[Condition, ...]
    unproved: frozenset[str]
    may_leave: bool
    divisions: tuple[Division, ...]


def of(program: Program, name: str | None) -> Findings:
    """The findings about a function, found or kept.

    Args:
        program: the function as it was written.
        name: names it among all programs; None where nothing is kept of it.
    """
    kept = None if name is None else _files().read(["findings", name])
    if kept is not None:
        return _from_plain(json.loads(kept), program.source)
    conditions, unproved = extents.bounds.both(program)
    arrays = frozenset(each.array for each in unproved)
    may_leave = bool(arrays) or extents.bounds.helpers_index(program)
    found = Findings(conditions, arrays, may_leave, extents.divisors.find(program))
    if name is not None:
        _files().write(["findings", name], _encoded(_plain(found, program.source)))
    return found


def sure(
    program: Program, name: str | None, types: Mapping[str, str]
) -> tuple[Condition, ...] | None:
    """Conditions under which no call with arguments of some types leaves an array; found or kept.

    Args:
        program: the function as it was written.
        name: as for `of`.
        types: array argument -> name of its dtype.
    """
    purpose = None if name is None else ["sure", name, json.dumps(sorted(types.items()))]
    kept = None if purpose is None else _files().read(purpose)
    if kept is not None:
        held = json.loads(kept)
        return None if held is None else _values(Condition, held, program.source)
    values = lower.types.value_ranges.ValueRanges(program, types)
    found = extents.bounds.sure(program, values)
    if purpose is not None:
        plain = None if found is None else _plain_values(found, program.source)
        _files().write(purpose, _encoded(plain))
    return found


def require_written(program: Program, name: str | None) -> None:
    """Refuse a function that certainly reads what `np.empty` left in memory.

    Args:
        program: the function as it was written.
        name: as for `of`; that it is none of these is kept.

    Raises:
        SourceError: with the cell that is read.
    """
    if name is not None and _files().read(["written", name]) is not None:
        return
    found = proof.unwritten.find(program)
    if found is None:
        if name is not None:
            _files().write(["written", name], b"")
        return
    cell = f"{found.array}[{', '.join(map(str, found.cell))}]"
    where = ", ".join(f"{name}={value}" for name, value in found.iteration.items())
    raise SourceError(
        f"{cell} is read, and nothing is ever written to it",
        code="source.unwritten",
        span=found.span,
        label=f"read here, in iteration ({where})" if where else "read here",
        related=[Related(found.made, "allocated here")] if found.made else [],
        hints=(f"write np.zeros in place of np.empty, or fill {cell} first",),
    )


def _files() -> Sealed:
    return Sealed(default_cache_dir() / "findings", _MOST)


# --- as JSON ------------------------------------------------------------------------------------


def _encoded(held: Any) -> bytes:
    return json.dumps(held).encode("utf-8", "surrogatepass")


def _plain(found: Findings, source: SourceFile) -> dict[str, Any]:
    return {
        "conditions": _plain_values(found.conditions, source),
        "unproved": sorted(found.unproved),
        "may_leave": found.may_leave,
        "divisions": _plain_values(found.divisions, source),
    }


def _plain_values(
    values: Sequence[Condition] | Sequence[Division], source: SourceFile
) -> list[dict[str, Any]]:
    return [_plain_one(each, source) for each in values]


def _plain_one(value: Condition | Division, source: SourceFile) -> dict[str, Any]:
    held = dict(vars(value))
    for key, part in held.items():
        if isinstance(part, Function):
            held[key] = part.tree
        elif isinstance(part, Span):
            lines = part.line - source.first_line, part.end_line - source.first_line
            held[key] = [lines[0], part.column, lines[1], part.end_column]
        elif isinstance(part, frozenset):
            held[key] = sorted(part)
    return held


def _from_plain(held: dict[str, Any], source: SourceFile) -> Findings:
    return Findings(
        _values(Condition, held["conditions"], source),
        frozenset(held["unproved"]),
        held["may_leave"],
        _values(Division, held["divisions"], source),
    )


def _values(
    made: Callable[..., T], values: Sequence[dict[str, Any]], source: SourceFile
) -> tuple[T, ...]:
    return tuple(made(**_parts(each, source)) for each in values)


def _parts(held: dict[str, Any], source: SourceFile) -> dict[str, Any]:
    found = dict(held)
    for key in _FUNCTIONS:
        if key in found:
            found[key] = Function(found[key])
    if found["span"] is not None:
        line, column, end_line, end_column = found["span"]
        first = source.first_line
        found["span"] = Span(source, line + first, column, end_line + first, end_column)
    found["lookups"] = tuple((name, axis) for name, axis in found["lookups"])
    if "names" in found:
        found["names"] = tuple(found["names"])
    if "numbers" in found:
        found["numbers"] = frozenset(found["numbers"])
    return found
