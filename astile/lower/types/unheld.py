"""Numbers of the text that a type beside them does not hold: the plain program raises for them.

NumPy makes ``300`` an uint8 in ``a[i] + 300`` where a is of uint8, and raises an OverflowError;
machines wrap around. NumPy is asked itself.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from astile.ir.operators import BINARY
from astile.lower.types.choices import Choices
from astile.lower.types.possible import Possible, Several
from astile.lower.types.promotion import PYTHON, Kind, family


def in_arithmetic(choices: Choices, value: ast.BinOp) -> str | None:
    """What is wrong with the numbers in ``left op right``; None where nothing is.

    Args:
        choices: what its operands may be.
        value: as the program has it.
    """
    function = BINARY.get(type(value.op))
    return None if function is None else in_call(choices, function, [value.left, value.right])


def in_call(
    choices: Choices, function: Callable[..., Any], arguments: Sequence[ast.expr]
) -> str | None:
    """The same for a function of NumPy."""
    found = [choices.all_of(each) for each in arguments]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return None
    return next(filter(None, (_asked(function, each) for each in itertools.product(*known))), None)


def in_cast(found: Several, kind: Kind) -> str | None:
    """The same for numbers that become one of a type: ``np.uint8(300)``, ``a[i] = 300``.

    Args:
        found: what the number may be.
        kind: what it becomes.
    """
    if kind is None or kind in PYTHON or family(kind) not in "iu":
        return None
    for each in found or ():
        if each.kind in ("int", "float") and each.number is not None and _overflows(kind, each):
            return _message(each, kind)
    return None


def _asked(function: Callable[..., Any], given: Sequence[Possible]) -> str | None:
    typed = [each.kind for each in given if each.kind not in PYTHON]
    numbers = [each for each in given if each.kind == "int" and each.number is not None]
    if not numbers or len(typed) + len(numbers) < len(given):
        return None
    if not any(family(each) in "biu" for each in typed):
        return None
    return _message(numbers[0], typed[0]) if _raises(function, *given) else None


@functools.lru_cache(maxsize=4096)
def _raises(function: Callable[..., Any], *given: Possible) -> bool:
    values = [
        each.number if each.kind in PYTHON else np.dtype(each.kind.removesuffix("_")).type(1)
        for each in given
    ]
    with np.errstate(all="ignore"):
        try:
            function(*values)
        except OverflowError:
            return True
        except (ArithmeticError, TypeError, ValueError):
            return False
    return False


def _overflows(kind: str, value: Possible) -> bool:
    try:
        np.dtype(kind).type(value.number)
    except OverflowError:
        return True
    except ValueError:  # NaN
        return False
    return False


def _message(value: Possible, kind: str) -> str:
    return (
        f"{kind.removesuffix('_')} does not hold {value.number}: "
        "NumPy raises an OverflowError, or wraps around"
    )
