"""Functions that a text is given: divisions of numbers of Python, choices between numbers."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable

from astile.ir import nodes
from astile.ir.program import Program
from astile.source import SourceFile

#: Operators that divide -> the name of the function that does it, and how it is written.
DIVISIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Div: ("quotient", "/"),
    ast.FloorDiv: ("floor_quotient", "//"),
    ast.Mod: ("remainder", "%"),
}


def checked_division(
    operator: type[ast.operator],
) -> tuple[str, Callable[..., object], Program]:
    """A function that divides as Python does: its name, a stand-in, and the program.

    Args:
        operator: the class of the operator.
    """
    return _checked_division(*DIVISIONS[operator])


@functools.cache
def _checked_division(word: str, sign: str) -> tuple[str, Callable[..., object], Program]:
    text = f"def {word}(a, b):\n    return a {sign} b\n"
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes.add_comment(function.body[0], "numbers of Python raise where the divisor is 0")
    program = Program(function, SourceFile(f"<{word}>", text))
    return word, functools.partial(_stand_in, word), program


@functools.cache
def near_remainder() -> tuple[str, Callable[..., object], Program]:
    """A function for the remainder of what is near: its name, a stand-in, and the program.

    A processor takes as long for a division as for ten or more comparisons.
    """
    text = """def wrapped(a, n):
    if a < 0:
        return a + n
    return a - n if a >= n else a
"""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes.add_comment(function.body[0], "a % n, where -n <= a < 2 * n")
    program = Program(function, SourceFile("<wrapped>", text))
    return "wrapped", functools.partial(_stand_in, "wrapped"), program


#: Functions of NumPy that numba has for arrays only, gives an array for, or has other values of
#: -> how they are written for numbers.
_OF_NUMBERS = {
    "where": """def chosen(test, then, other):
    return then if test else other
""",
    "clip": """def clipped(a, low, high):
    if a < low or low != low:
        a = low
    return high if a > high or high != high else a
""",
    "fmod": """def remainder_of_first(a, b):
    rest = a % b
    return rest - b if rest != 0 and (rest < 0) != (a < 0) else rest
""",
    "heaviside": """def step(a, at_zero):
    if a != a:
        return a
    if a == 0:
        return at_zero
    return 1.0 if a > 0 else 0.0
""",
}


@functools.cache
def of_numbers(word: str) -> tuple[str, Callable[..., object], Program]:
    """A function for one of `np.where`, `np.clip`, `np.fmod` and `np.heaviside`, for numbers.

    Gives its name, a stand-in, and the program.

    Args:
        word: ``"where"``, ``"clip"``, ``"fmod"`` or ``"heaviside"``.
    """
    text = _OF_NUMBERS[word]
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    nodes.add_comment(function.body[0], f"np.{word} of numbers")
    return (
        function.name,
        functools.partial(_stand_in, word),
        Program(function, SourceFile(f"<{word}>", text)),
    )


def _stand_in(word: str) -> str:
    """Stands for a function of the text as an object; it is never called."""
    return word


def is_checked_division(function: ast.FunctionDef) -> bool:
    """Whether a helper function of a text is one of `checked_division`."""
    value = getattr(function.body[0], "value", None)
    return isinstance(value, ast.BinOp) and any(
        nodes.same(function.body, checked_division(each)[2].function.body) for each in DIVISIONS
    )
