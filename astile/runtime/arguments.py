"""What a call hands over is checked against what the program does with it, before anything runs.

Two tables: `_ARRAY_CHECKS` for arrays and `_NUMBER_CHECKS` for everything else. Costs do not depend
on the sizes of the arrays; no element is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from astile.errors import ArgumentError
from astile.lower.parameters.uses import Use
from astile.lower.types import promotion
from astile.runtime.arrays import ArrayFacts, Overlap, array_facts, overlaps, overlaps_itself
from astile.source import Span

#: Kinds of dtype -> sizes of one element in bytes.
_DTYPE_SIZES = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8), "c": (8, 16)}
Subject = TypeVar("Subject")
_NUMPY_NUMBERS = (np.number, np.bool_)
#: What `__dlpack_device__` says of the host's memory.
_DLPACK_HOST = 1
_INT64 = (-(1 << 63), (1 << 63) - 1)


class BoundsCondition(Protocol):
    """What must hold of the sizes so that one access stays inside its array."""

    def holds(self, shapes: Mapping[str, tuple[int, ...]], ints: Mapping[str, int]) -> bool:
        """Whether the access stays inside, in time that does not depend on the sizes.

        Args:
            shapes: array argument -> its shape.
            ints: integer argument -> its value.
        """

    def message(self, shapes: Mapping[str, tuple[int, ...]], ints: Mapping[str, int]) -> str:
        """The access, its array and axis, the index it reaches and the sizes, in one sentence."""

    @property
    def span(self) -> Span | None:
        """The place of the access in the user's file."""

    @property
    def lookups(self) -> Sequence[tuple[str, int | None]]:
        """What it asks for: an integer argument and None, or an array argument and an axis."""


@dataclass(frozen=True)
class Checked:
    """Arguments that passed.

    Args:
        values: parameter -> what to hand to the generated function.
        arrays: the array arguments among them.
        overlaps: pairs of arrays that meet in memory.
    """

    values: Mapping[str, object]
    arrays: Mapping[str, ArrayFacts]
    overlaps: tuple[Overlap, ...]

    @property
    def types(self) -> dict[str, str]:
        """Parameter -> its type, as `astile.lower.types.kinds` spells types."""
        found = {}
        for name, value in self.values.items():
            facts = self.arrays.get(name)
            kind = promotion.kind_of(facts.dtype) if facts is not None else _number_type(value)
            if kind is not None:
                found[name] = kind
        return found

    @property
    def sizes(self) -> dict[str, tuple[int, ...] | int]:
        """Parameter -> extents of its array, or its value where that is an integer."""
        found: dict[str, tuple[int, ...] | int] = {}
        for name, value in self.values.items():
            facts = self.arrays.get(name)
            if facts is not None:
                found[name] = facts.shape
            elif isinstance(value, (int, np.integer)):
                found[name] = int(value)
        return found


def check(
    uses: Sequence[Use],
    conditions: Iterable[BoundsCondition],
    values: Mapping[str, object],
    target: str,
) -> Checked:
    """Check one call.

    Args:
        uses: how the program uses each parameter.
        conditions: what must hold of the sizes for every access to stay inside.
        values: parameter -> argument, defaults filled in.
        target: where it is going to run.

    Raises:
        ArgumentError: naming the argument, what was found and what is expected.
    """
    arrays: dict[str, ArrayFacts] = {}
    passed: dict[str, object] = dict(values)
    ints: dict[str, int] = {}
    for use in uses:
        value = values[use.name]
        facts = array_facts(use.name, value)
        if facts is not None and (facts.shape or use.role == "array"):
            _require(use, _ARRAY_CHECKS, facts, target)
            arrays[use.name] = facts
            continue
        _require(use, _NUMBER_CHECKS, value, target)
        if isinstance(value, (int, np.integer)):
            ints[use.name] = int(value)
            if use.role == "integer" and not use.valued:
                passed[use.name] = ints[use.name]
    _require_one_place(arrays)
    written = {use.name for use in uses if use.may_be_written}
    require_inside(conditions, {name: facts.shape for name, facts in arrays.items()}, ints)
    return Checked(passed, arrays, overlaps(arrays.values(), written))


def _number_type(value: object) -> str | None:
    """``"float"`` for a number of Python, ``"float32()"`` for one of NumPy."""
    if type(value) in (bool, int, float, complex):
        return type(value).__name__
    return f"{promotion.kind_of(value.dtype)}()" if isinstance(value, _NUMPY_NUMBERS) else None


# --- one argument -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    found: str
    expected: str
    hint: str


def _require(
    use: Use,
    checks: Sequence[Callable[[Use, Subject, str], _Problem | None]],
    subject: Subject,
    target: str,
) -> None:
    for each in checks:
        problem = each(use, subject, target)
        if problem is not None:
            raise ArgumentError(
                f"argument {use.name!r} is {problem.found}; expected {problem.expected}",
                code="argument.mismatch",
                span=use.span,
                label=f"{use.name!r} is used here",
                hints=(problem.hint,),
            )


def _wrong_kind(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    if use.role in ("number", "integer") and facts.shape:
        wanted = "an integer" if use.role == "integer" else "a number"
        return _Problem(
            _described(facts), wanted, "write out the loops over its cells inside the function"
        )
    return None


def _wrong_class(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    if facts.on_device or type(facts.value) in (np.ndarray, np.memmap):
        return None
    name = type(facts.value).__name__
    hint = _written_there(use, f"pass np.asarray({use.name})")
    return _Problem(f"a {name}", "a plain numpy.ndarray", hint)


def _written_there(use: Use, hint: str) -> str:
    """A hint to pass another array, which holds the result then where one is written."""
    return f"{hint}, and read the result there" if use.may_be_written else hint


def _wrong_dtype(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    dtype = facts.dtype
    if not dtype.isnative:
        native = dtype.newbyteorder("=").str[1:]
        hint = _written_there(use, f"pass {use.name}.astype({native!r})")
        return _Problem(f"an array of {dtype.str!r} (foreign byte order)", "native order", hint)
    if dtype.itemsize in _DTYPE_SIZES.get(dtype.kind, ()):
        return None
    wanted = "an array of bool, integers, float16 to float64, complex64 or complex128"
    hint = _written_there(use, f"pass {use.name}.astype(np.float64)")
    return _Problem(f"an array of {dtype}", wanted, hint)


def _wrong_rank(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    if use.rank is None or use.rank == len(facts.shape):
        return None
    axes, indices = ("axis", "index") if use.rank == 1 else ("axes", "indices")
    hint = f"pass an array of {use.rank} {axes}, or a view of one, such as {use.name}.reshape(...)"
    more = len(facts.shape) - use.rank
    if more > 0:
        rows = f"{use.name}[{', '.join(['i'] * use.rank + [':'] * more)}]"
        hint += f"; where whole rows are meant, write {rows}"
    expected = f"{use.rank} {axes}: the function uses {use.rank} {indices}"
    return _Problem(_described(facts), expected, hint)


def _not_writable(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    if not (use.written and facts.readonly):
        return None
    hint = f"pass {use.name}.copy(), and read the result there"
    return _Problem("a read-only array", "one that the function can write to", hint)


def _meets_itself(use: Use, facts: ArrayFacts, target: str) -> _Problem | None:
    if not (use.written and overlaps_itself(facts)):
        return None
    return _Problem(
        f"a view in which several indices share one cell (strides {facts.strides})",
        "separate cells, since the function writes to it",
        _written_there(use, f"pass {use.name}.copy()"),
    )


def _no_array(use: Use, value: object, target: str) -> _Problem | None:
    if use.role != "array":
        return None
    found = f"a {type(value).__name__}" if value is not None else "None"
    spoken = getattr(value, "__dlpack_device__", None)
    if spoken is not None:  # memory that only DLPack tells of; views of it are other packages' work
        on_gpu = spoken()[0] != _DLPACK_HOST
        expected = "an array with __cuda_array_interface__" if on_gpu else "a numpy.ndarray"
        package = "cupy" if on_gpu else "np"
        return _Problem(found, expected, f"pass {package}.from_dlpack({use.name})")
    extents = ", ".join(["..."] * (use.rank or 1))
    if value is None:
        hint = f"pass an array, such as np.zeros(({extents}))"
    elif isinstance(value, (int, float, complex, np.generic)):
        hint = f"pass an array that holds it, np.full(({extents}), {use.name})"
    else:
        hint = f"pass np.asarray({use.name})"
    return _Problem(found, "a numpy.ndarray", _written_there(use, hint))


def _no_number(use: Use, value: object, target: str) -> _Problem | None:
    numbers = ("number", "integer", "either")
    if use.role not in numbers or isinstance(value, (int, float, complex)):
        return None
    if isinstance(value, (np.number, np.bool_)):
        return None
    wanted = "a number or an array" if use.role == "either" else "a number"
    facts = array_facts(use.name, value)
    if facts is not None:
        more = ", or an array with axes" if use.role == "either" else ""
        number = f"{use.name}.item()" if facts.on_device else f"{use.name}[()]"
        hint = f"pass {number}, which is the number in it"
        return _Problem("an array without axes", f"a number{more}", hint)
    return _Problem(f"a {type(value).__name__}", wanted, "pass a Python number or a NumPy scalar")


def _no_integer(use: Use, value: object, target: str) -> _Problem | None:
    if use.role != "integer" or isinstance(value, (int, np.integer)):
        return None
    return _Problem(
        f"{value!r}", "an integer: it sets a range or an index", f"pass int({use.name})"
    )


def _is_typed(use: Use, value: object, target: str) -> _Problem | None:
    """A size whose type would decide values, or in whose type sizes may not fit."""
    if use.role != "integer" or not isinstance(value, (np.integer, bool)):
        return None
    if isinstance(value, np.integer):
        if value.dtype == np.int64 or (value.dtype == np.int32 and not use.valued):
            return None
        if not (use.valued or use.computed):
            return None  # `range(n)` counts in Python's integers, whatever holds n
        found = f"a numpy.{value.dtype}"
    elif use.valued:
        found = "a bool"
    else:
        return None
    used = "sets a range or an index" + (", and values are computed from it" if use.valued else "")
    return _Problem(found, f"an int: it {used}", f"pass int({use.name})")


def _too_wide(use: Use, value: object, target: str) -> _Problem | None:
    if target == "python" or not isinstance(value, int):
        return None
    if _INT64[0] <= value <= _INT64[1]:
        return None
    return _Problem(
        f"{value}", f"an integer of 64 bits on target {target!r}", "use target='python'"
    )


_ARRAY_CHECKS = (
    _wrong_kind,
    _wrong_class,
    _wrong_dtype,
    _wrong_rank,
    _not_writable,
    _meets_itself,
)
_NUMBER_CHECKS = (_no_array, _no_number, _no_integer, _is_typed, _too_wide)


def _described(facts: ArrayFacts) -> str:
    if not facts.shape:
        return f"an array without axes, dtype {facts.dtype}"
    return f"an array of shape {facts.shape}, dtype {facts.dtype}"


# --- several arguments --------------------------------------------------------------------------


def require_inside(
    conditions: Iterable[BoundsCondition],
    shapes: Mapping[str, tuple[int, ...]],
    ints: Mapping[str, int],
) -> None:
    """Check that no access of a call leaves its array.

    Args:
        conditions: what must hold of the sizes.
        shapes: array argument -> its shape.
        ints: integer argument -> its value.

    Raises:
        ArgumentError: naming the access, its index and the length of the axis.
    """
    for condition in conditions:
        for name, axis in condition.lookups:
            known = name in ints if axis is None else len(shapes.get(name, ())) > axis
            if not known:
                wanted = "an integer" if axis is None else f"an array of at least {axis + 1} axes"
                raise ArgumentError(
                    f"argument {name!r} is not {wanted}, which the bounds of an access depend on",
                    code="argument.bounds",
                    hints=["pass it as the access needs it"],
                    span=condition.span,
                )
        if not condition.holds(shapes, ints):
            message = condition.message(shapes, ints)
            raise ArgumentError(
                message,
                code="argument.bounds",
                span=condition.span,
                hints=["pass an array that has these cells, or end the loop before them"],
            )


def _require_one_place(arrays: Mapping[str, ArrayFacts]) -> None:
    on_device = [each.name for each in arrays.values() if each.on_device]
    on_host = [each.name for each in arrays.values() if not each.on_device]
    if on_device and on_host:
        raise ArgumentError(
            f"argument {on_device[0]!r} is on a GPU and argument {on_host[0]!r} is not",
            code="argument.device",
            hints=(f"move {on_host[0]!r} to the GPU, or {on_device[0]!r} to the host",),
        )
