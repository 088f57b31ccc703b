"""Runs programs in plain Python on small whole numbers, and notes where they look.

Arrays know when an index is negative, fresh memory has a content that the caller chooses, and
loops whose iterations may run in any order run in an order that the caller chooses.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from tests.fuzz.programs import Source

#: Sizes ``(n, m)`` at which programs run, in the order in which a failure is looked for.
SIZES = ((0, 2), (1, 0), (1, 1), (2, 3), (3, 2), (5, 3), (3, 7), (7, 5))
#: Beyond this, sums of float64 are not exact any more, and differences say nothing.
EXACT = 2.0**45
_EXACT32 = 2.0**22

#: Stands between the cells of an array and what lies around it.
Order = Callable[[builtins.range], Iterable[int]]


class Guarded(np.ndarray):
    """An array that notes negative indices under its name."""

    log: ClassVar[set[tuple[str, tuple[int, ...]]]] = set()
    name = "local"

    def __getitem__(self, key: Any) -> Any:
        _note(self, key)
        return np.ndarray.__getitem__(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _note(self, key)
        np.ndarray.__setitem__(self, key, value)


def _note(array: Guarded, key: Any) -> None:
    if type(key) is tuple:
        for each in key:
            if type(each) is not slice and each < 0:
                Guarded.log.add((array.name, tuple(map(int, key))))
    elif type(key) is not slice and key < 0:
        Guarded.log.add((array.name, (int(key),)))


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Args:
        arrays: argument -> contents after the run.
        returned: what the function returned.
        negative: array and index of each access with a negative index.
    """

    arrays: Mapping[str, np.ndarray]
    returned: Any
    negative: frozenset[tuple[str, tuple[int, ...]]]

    def is_exact(self, dtype: str) -> bool:
        """Whether all values are so small that float sums of them are exact."""
        limit = _EXACT32 if dtype == "float32" else EXACT
        values = [*self.arrays.values()]
        if isinstance(self.returned, (int, float, np.number)):
            values.append(np.asarray(self.returned))
        return all(bool(np.all(np.abs(each.astype(np.float64)) < limit)) for each in values)


@dataclass
class Memory:
    """How memory and loops behave in a run.

    Args:
        fill: content of fresh memory.
        order: order of the iterations of concurrent loops.
        threads: whether loops over threads run in that order too; a barrier may be needed then.
    """

    fill: float = float("nan")
    order: Order = field(default=lambda given: given)
    threads: bool = False

    def empty(self, shape: Any, dtype: Any = np.float64) -> Any:
        kind = np.dtype(dtype)
        made = np.empty(shape, kind)
        if kind.kind == "f":
            made.fill(self.fill)
        elif kind.kind in "iu":
            made.fill(-(2**40) + 3 if np.isnan(self.fill) else int(self.fill))
        return made.view(Guarded)

    def empty_like(self, array: Any, dtype: Any = None) -> Any:
        return self.empty(array.shape, dtype or array.dtype)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> Any:
        return np.zeros(shape, dtype).view(Guarded)

    def ones(self, shape: Any, dtype: Any = np.float64) -> Any:
        return np.ones(shape, dtype).view(Guarded)

    def words(self) -> dict[str, Any]:
        """The names that a module may use."""

        def ordered(*bounds: int) -> Iterable[int]:
            return self.order(range(*bounds))

        thread = ordered if self.threads else range
        memory = SimpleNamespace(empty=self.empty, zeros=self.zeros)
        return {
            "np": _Numpy(self),
            "parallel": ordered,
            "vector": ordered,
            "unroll": range,
            "block": SimpleNamespace(x=ordered, y=ordered, z=ordered),
            "thread": SimpleNamespace(x=thread, y=thread, z=thread),
            "shared": memory,
            "local": memory,
        }


class _Numpy:
    """NumPy, with another content of fresh memory."""

    def __init__(self, memory: Memory) -> None:
        self.empty, self.empty_like = memory.empty, memory.empty_like
        self.zeros, self.ones = memory.zeros, memory.ones

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def code_of(text: str) -> Any:
    """The compiled functions of a module, without its imports."""
    tree = ast.parse(text)
    tree.body = [each for each in tree.body if not isinstance(each, (ast.Import, ast.ImportFrom))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(tree, "<program>", "exec")


def arguments(
    source: Source, n: int, m: int, *, wild: bool = False, extents: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Arguments of a function at a size.

    Args:
        source: the function.
        n: first size.
        m: second size.
        wild: any floats, with NaN, infinities and negative zeros, instead of whole numbers.
        extents: ``"A.shape[0]"`` -> extent, where it is not the usual one.
    """
    values = np.random.default_rng(n * 8 + m + 1)
    made: dict[str, Any] = {}
    for name, axes in source.extents.items():
        shape = [max(int(eval(axis, {"n": n, "m": m, "max": max})), 0) for axis in axes]
        for axis in range(len(shape)):
            shape[axis] = (extents or {}).get(f"{name}.shape[{axis}]", shape[axis])
        if name == "idx":
            below = min(n, m, *(extents or {}).values())  # a cell of every array
            array = values.integers(0, max(below, 1), shape)
        elif wild and source.dtype != "int64":
            array = values.normal(size=shape).astype(source.dtype)
            odd = values.random(shape) < 0.06
            array[odd] = values.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], int(odd.sum()))
        else:
            array = values.integers(-4, 5, shape).astype(source.dtype)
        made[name] = array.view(Guarded)
        made[name].name = name
    parameters = ast.parse(source.text).body[-1].args.args  # type: ignore[attr-defined]
    for each in parameters:
        if each.arg not in made:
            made[each.arg] = n if each.arg == "n" else m
    return made


def run(code: Any, given: Mapping[str, Any], memory: Memory) -> Outcome:
    """Run the function ``f`` of compiled text on copies of arguments.

    Raises:
        Exception: whatever the function raises.
    """
    space = memory.words()
    exec(code, space)
    copies: dict[str, Any] = {}
    for name, value in given.items():
        copies[name] = value
        if isinstance(value, np.ndarray):
            copies[name] = np.array(value).view(Guarded)
            copies[name].name = name
    Guarded.log = set()
    with np.errstate(all="ignore"):
        returned = space["f"](**copies)
    arrays = {k: np.asarray(v) for k, v in copies.items() if isinstance(v, np.ndarray)}
    return Outcome(arrays, returned, frozenset(Guarded.log))


def difference(
    wanted: Outcome, got: Outcome, scratch: Iterable[str] = (), *, bits: bool = False
) -> str | None:
    """Where two outcomes differ, or None."""
    for name, array in wanted.arrays.items():
        if name in scratch:
            continue
        other = got.arrays[name]
        unequal = (array != other) & ~((array != array) & (other != other))
        if bits and array.dtype.kind == "f":
            unequal |= np.signbit(array) != np.signbit(other)
            unequal &= ~((array != array) & (other != other))
        if unequal.any():
            cell = tuple(int(each[0]) for each in np.nonzero(unequal))
            return f"{name}{list(cell)} is {other[cell]}, not {array[cell]}"
    if not _equal(wanted.returned, got.returned):
        return f"{got.returned} is returned, not {wanted.returned}"
    return None


def _equal(first: Any, second: Any) -> bool:
    if first is None or second is None:
        return first is second
    return bool(first == second or (first != first and second != second))
