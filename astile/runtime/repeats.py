"""Calls that are like one before: what was found out about that one holds for them too.

The checks of a call look at nothing of an array but its class, type, shape, strides and flags, at
nothing of a number but its class and value, and at addresses. All but the addresses are the key
under which a call that passed is kept; whether arrays meet in memory is looked at each time.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from astile.runtime.arguments import Checked
from astile.runtime.launch import Launcher

#: Calls of so many kinds are kept; beyond, all are forgotten.
_MOST = 128
#: Classes of numbers whose values are kept; equal ones of one class pass the same checks.
_NUMBERS = frozenset({bool, int, float, complex, np.float32, np.float64})


@dataclass(frozen=True)
class Repeat:
    """A call that passed all checks.

    Args:
        launcher: runs it.
        pairs: positions of two arrays, of which at least one may be written.
    """

    launcher: Launcher
    pairs: tuple[tuple[int, int], ...]


class Repeats:
    """The calls of one kernel that passed.

    Args:
        written: parameters whose arrays may be written.
    """

    def __init__(self, written: Collection[str]) -> None:
        self._written = frozenset(written)
        self._known: dict[tuple[object, ...], Repeat] = {}

    def find(self, arguments: Sequence[Any]) -> Launcher | None:
        """What runs a call, if one like it passed before and its arrays are apart in memory.

        Args:
            arguments: of the call, all by position.
        """
        key = _key(arguments)
        found = None if key is None else self._known.get(key)
        if found is None:
            return None
        for first, second in found.pairs:
            if np.may_share_memory(arguments[first], arguments[second]):  # by their bounds
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
        pairs = combinations((n for n in names if n in checked.arrays), 2)
        self._known[key] = Repeat(
            launcher,
            tuple(
                (names.index(first), names.index(second))
                for first, second in pairs
                if first in self._written or second in self._written
            ),
        )


def _is(first: object, second: object) -> bool:
    return first is second


def _key(arguments: Sequence[Any]) -> tuple[object, ...] | None:
    """All that the checks of a call look at, addresses apart; None for arguments of other classes.

    An array is told from a number by what stands first, a dtype or a class.
    """
    found: list[object] = []
    for each in arguments:
        kind = type(each)
        if kind is np.ndarray:
            found += (each.dtype, each.shape, each.strides, each.flags.num)
        elif kind in _NUMBERS:
            found += (kind, each)
        else:
            return None
    return tuple(found)
