"""Calls that are like one before: what was found out about that one holds for them too.

The checks of a call look at nothing of an array but its class, type, shape, strides and flags, at
nothing of other arguments but their class and value, and at addresses. All but the addresses are
the key under which a call that passed is kept, strides only where rows do not follow each other;
whether arrays meet in memory is looked at each time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy import may_share_memory, ndarray

from astile.runtime.arguments import Checked
from astile.runtime.launch import Launcher

#: Calls of so many kinds are kept; beyond, all are forgotten.
_MOST = 128
#: Bits of `flags.num`: cells follow each other in C order; the array allocated its own memory.
_CONTIGUOUS, _OWNS_DATA = 0x1, 0x4
#: Classes of values that are kept; equal ones of one class pass the same checks.
_VALUES = frozenset({bool, int, float, complex, str, type(None), np.float32, np.float64})


@dataclass(frozen=True)
class Repeat:
    """A call that passed all checks.

    Args:
        launcher: runs it.
        owners: positions of two arrays that own their memory, at least one of them written: they
            are apart unless they are the same array.
        pairs: positions of two other arrays, of which at least one may be written.
    """

    launcher: Launcher
    owners: tuple[tuple[int, int], ...]
    pairs: tuple[tuple[int, int], ...]


class Repeats:
    """The calls of one kernel that passed.

    Args:
        written: parameters whose arrays may be written.
    """

    def __init__(self, written: Collection[str]) -> None:
        self._written = frozenset(written)
        self._known: dict[tuple[object, ...], Repeat] = {}
        #: The key found last, to which most calls are equal, and what was found: in one object,
        #: since threads may call at the same time.
        self._last: tuple[list[object] | None, Repeat | None] = (None, None)

    def find(self, arguments: Sequence[Any]) -> Launcher | None:
        """What runs a call, if one like it passed before and its arrays are apart in memory.

        Args:
            arguments: of the call, all by position.
        """
        key = _key(arguments)
        last, found = self._last
        if key is None or key != last:  # comparing takes less than hashing
            found = None if key is None else self._known.get(tuple(key))
            if found is None:
                return None
            self._last = (key, found)
        assert found is not None
        for first, second in found.owners:
            if arguments[first] is arguments[second]:
                return None
        for first, second in found.pairs:
            if may_share_memory(arguments[first], arguments[second]):  # by their bounds
                return None
        return found.launcher

    def keep(self, arguments: Sequence[Any], checked: Checked, launcher: Launcher) -> None:
        """Keep a call that passed.

        Args:
            arguments: of the call, all by position.
            checked: the same after the checks; arrays that are apart.
            launcher: what ran it, for all its arguments by position.
        """
        key = _key(arguments)
        names = list(checked.values)
        handed_over = [checked.values[each] for each in launcher.positional]
        is_same = len(handed_over) == len(arguments) and all(map(_is, arguments, handed_over))
        if key is None or not is_same or checked.overlaps or launcher.keywords:
            return
        if len(self._known) >= _MOST:
            self._known.clear()
        owners: list[tuple[int, int]] = []
        pairs: list[tuple[int, int]] = []
        for first, second in combinations((n for n in names if n in checked.arrays), 2):
            if first in self._written or second in self._written:
                both = (names.index(first), names.index(second))
                own = all(arguments[each].flags.num & _OWNS_DATA for each in both)
                (owners if own else pairs).append(both)
        self._known[tuple(key)] = Repeat(launcher, tuple(owners), tuple(pairs))


def _is(first: object, second: object) -> bool:
    return first is second


def _key(arguments: Sequence[Any]) -> list[object] | None:
    """All that the checks of a call look at, addresses apart; None for arguments of other classes.

    An array is told from a number by what stands first, a dtype or a class.
    """
    found: list[object] = []
    for each in arguments:
        kind = type(each)
        if kind is ndarray:
            flags = each.flags.num
            found += (each.dtype, each.shape, flags)
            if not flags & _CONTIGUOUS:
                found.append(each.strides)
        elif kind in _VALUES:
            found += (kind, each)
        else:
            return None
    return found
