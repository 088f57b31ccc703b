"""Runs the plain function, every step and every target on copies, and compares the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from astile.errors import ArgumentError, AstileError, InternalError, LoweringError
from astile.tables import table_text

#: Relative difference that is accepted where bits need not agree, by size of one real number.
_RELATIVE = {2: 4e-3, 4: 2e-5, 8: 1e-11}
#: Columns of the printed table.
_HEADINGS = ("what ran", "compared", "largest difference", "first call, ms")

Call = Callable[[Mapping[str, object]], object]
#: Takes what runs next, how many have run, and how many there are.
Show = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Candidate:
    """One form of the kernel that is to agree with the plain function.

    Args:
        label: ``"step 2: s.split('i', ...)"`` or ``"target cpu"``.
        run: takes parameter -> argument, changes arrays in place, returns what the kernel returns.
        exact: whether every bit has to agree.
        optional: whether it may be unable to run this program, which is then noted.
    """

    label: str
    run: Call
    exact: bool
    optional: bool = False


@dataclass(frozen=True)
class Row:
    """The outcome for one candidate.

    Args:
        label: what ran.
        compared: ``"bit-equal"`` where each bit had to agree, else ``"equal"`` or ``"within
            rounding"``; why it did not run.
        difference: the largest absolute difference of any cell; None where nothing ran.
        milliseconds: how long it ran, compilation included; None where nothing ran.
    """

    label: str
    compared: str
    difference: float | None
    milliseconds: float | None


@dataclass(frozen=True)
class CheckReport:
    """What `kernel.check` found: every form that ran agreed with the plain function.

    Args:
        rows: one per form; `str(report)` is a table of them.
    """

    rows: tuple[Row, ...]

    def cells(self) -> list[tuple[str, ...]]:
        """The table as text, headings first."""
        return [_HEADINGS, *(_printed(each) for each in self.rows)]

    def __str__(self) -> str:
        headings, *rows = self.cells()
        return table_text(headings, rows)


def compare(
    plain: Call,
    candidates: Sequence[Candidate],
    skipped: Mapping[str, str],
    arguments: Mapping[str, object],
    ignored: frozenset[str] = frozenset(),
    show: Show | None = None,
) -> CheckReport:
    """Run everything on copies of the same arguments and compare.

    Args:
        plain: the function as the user wrote it.
        candidates: what has to agree with it, in order.
        skipped: what could not run here -> why.
        arguments: parameter -> argument; not changed.
        ignored: array arguments whose contents after the call nobody reads.
        show: is told what runs next.

    What the plain function raises passes unchanged.

    Raises:
        InternalError: at the first divergence, naming the candidate and the cell.
        ArgumentError: when an argument cannot be copied.
        LoweringError: when a target that has to run this program cannot.
    """
    tell = show or _say_nothing
    tell("plain function", 0, len(candidates) + 1)
    expected, took = _run(plain, arguments, ignored)
    rows = [Row("plain function", "reference", 0.0, took)]
    for number, candidate in enumerate(candidates, 1):
        tell(candidate.label, number, len(candidates) + 1)
        try:
            found, took = _run_candidate(candidate, arguments, ignored)
        except LoweringError as error:
            if not candidate.optional:
                raise
            rows.append(Row(candidate.label, f"skipped: {error.diagnostic.message}", None, None))
            continue
        largest = _require_agreement(candidate, expected, found)
        rounded = "within rounding" if largest else "equal"
        compared = "bit-equal" if candidate.exact else rounded
        rows.append(Row(candidate.label, compared, largest, took))
    rows += [Row(label, f"skipped: {why}", None, None) for label, why in skipped.items()]
    return CheckReport(tuple(rows))


def _say_nothing(label: str, done: int, of: int) -> None:
    """Keep progress to itself."""


def _printed(row: Row) -> tuple[str, str, str, str]:
    difference = "" if row.difference is None else f"{row.difference:.3g}"
    took = "" if row.milliseconds is None else f"{row.milliseconds:.2f}"
    return row.label, row.compared, difference, took


# --- running ------------------------------------------------------------------------------------


def _run(
    call: Call, arguments: Mapping[str, object], ignored: frozenset[str]
) -> tuple[dict[str, object], float]:
    """Results by name (array arguments after the call, and what was returned), milliseconds."""
    copies = _copied(arguments)
    start = time.perf_counter()
    with np.errstate(all="ignore"):
        returned = call(copies)
    took = (time.perf_counter() - start) * 1e3
    results: dict[str, object] = {
        name: value
        for name, value in copies.items()
        if isinstance(value, np.ndarray) and name not in ignored
    }
    if isinstance(returned, tuple):
        results |= {f"returned value {number}": each for number, each in enumerate(returned)}
    else:
        results["the returned value"] = returned
    return results, took


def _run_candidate(
    candidate: Candidate, arguments: Mapping[str, object], ignored: frozenset[str]
) -> tuple[dict[str, object], float]:
    """As `_run`; what the plain function did not raise is a divergence."""
    try:
        return _run(candidate.run, arguments, ignored)
    except AstileError:
        raise
    except Exception as error:
        raise InternalError(
            f"{candidate.label} raises {type(error).__name__}, which the plain function does not",
            code="internal.divergence",
            notes=(str(error) or "without a message",),
            hints=("please report it, with the function and the arguments",),
        ) from error


def _copied(arguments: Mapping[str, object]) -> dict[str, object]:
    """Copies of the arguments in which arrays overlap exactly where the arguments do."""
    bases: dict[int, np.ndarray] = {}
    copies: dict[str, object] = {}
    for name, value in arguments.items():
        if getattr(value, "__cuda_array_interface__", None) is not None:
            raise ArgumentError(
                f"argument {name!r} is in the memory of a GPU",
                code="argument.device",
                hints=("pass NumPy arrays to check; it copies them to every target itself",),
            )
        copies[name] = _copy_of(value, bases) if isinstance(value, np.ndarray) else value
    return copies


def _copy_of(array: np.ndarray, bases: dict[int, np.ndarray]) -> np.ndarray:
    if array.size == 0:
        return array.copy()
    owner = array
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    if id(owner) not in bases:
        bases[id(owner)] = np.copy(owner, order="K")
    copied = bases[id(owner)]
    offset = _address(array) - _address(owner)
    same = copied.strides == owner.strides and offset >= 0
    if same:
        made = np.ndarray(array.shape, array.dtype, copied, offset, array.strides)
    else:  # an owner with gaps or turned axes: its views are copied one by one
        made = np.copy(array, order="K")
    made.flags.writeable = array.flags.writeable
    return made


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


# --- comparing ----------------------------------------------------------------------------------


def _require_agreement(
    candidate: Candidate, expected: Mapping[str, object], found: Mapping[str, object]
) -> float:
    """The largest difference; raises at the first cell that differs too much."""
    if expected.keys() != found.keys():
        wanted = ", ".join(each for each in expected if each not in found)
        got = ", ".join(each for each in found if each not in expected)
        raise _divergence(candidate, "what is returned", wanted, got)
    largest = 0.0
    for name, value in expected.items():
        other = found[name]
        if _is_numeric(value) and _is_numeric(other):
            apart = _compare_cells(candidate, name, np.asarray(value), np.asarray(other))
            largest = max(largest, apart)
        elif type(value) is not type(other) or value != other:
            raise _divergence(candidate, name, value, other)
    return largest


def _is_numeric(value: object) -> bool:
    return isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))


def _compare_cells(candidate: Candidate, name: str, wanted: np.ndarray, got: np.ndarray) -> float:
    if wanted.shape != got.shape:
        raise _divergence(candidate, f"the shape of {name}", wanted.shape, got.shape)
    if candidate.exact and wanted.dtype != got.dtype:
        raise _divergence(candidate, f"the dtype of {name}", wanted.dtype, got.dtype)
    if wanted.size == 0:
        return 0.0
    inexact = wanted.dtype.kind in "fc" or got.dtype.kind in "fc"
    same = wanted == got
    if inexact:
        same |= np.isnan(wanted) & np.isnan(got)
    if candidate.exact and inexact:  # -0.0 is not 0.0
        same &= _signs(wanted) == _signs(got)
    wide = np.result_type(wanted, got, np.float64)
    with np.errstate(all="ignore"):
        apart = np.abs(wanted.astype(wide) - got.astype(wide))
    apart = np.where(same | np.isnan(apart), 0.0, apart)
    wrong = ~same
    if inexact and not candidate.exact:
        wrong &= ~_close(wanted, got, apart)
    if wrong.any():
        cell = tuple(int(each) for each in np.argwhere(wrong)[0])
        at = f"{name}[{', '.join(map(str, cell))}]" if cell else name
        raise _divergence(candidate, at, wanted[cell], got[cell])
    return float(np.max(apart))


def _signs(values: np.ndarray) -> np.ndarray:
    """Sign bits of the real parts; those of NaN do not count."""
    real = np.real(values)
    signs: np.ndarray = np.signbit(real) & ~np.isnan(real)
    return signs


def _close(wanted: np.ndarray, got: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Cells that agree up to rounding, measured against the largest magnitude around."""
    sizes = [each.real.dtype.itemsize for each in (wanted, got) if each.dtype.kind in "fc"]
    finite = np.isfinite(wanted)
    scale = np.max(np.abs(wanted), initial=0.0, where=finite)
    near: np.ndarray = finite & np.isfinite(got) & (apart <= _RELATIVE[min(min(sizes), 8)] * scale)
    return near


def _divergence(candidate: Candidate, what: str, wanted: object, got: object) -> InternalError:
    return InternalError(
        f"{candidate.label} diverges from the plain function at {what}: "
        f"it gives {got}, expected {wanted}",
        code="internal.divergence",
        notes=("a step that was accepted must not change the result",),
        hints=("please report it, with the function and the arguments",),
    )
