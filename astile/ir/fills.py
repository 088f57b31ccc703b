"""What the calls that make arrays fill their cells with, and of what dtype."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from astile.ir import nodes

_PYTHON = ("bool", "int", "float", "complex")
_FLOATS = ("nan", "inf", "pi", "e", "tau")
#: First letters of NumPy's names of the types of numbers.
_NUMPY = ("int", "uint", "float", "complex", "bool")
_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(frozen=True)
class Cells:
    """The cells of a new array: their dtype, None for the default, and what `full` fills in."""

    dtype: ast.expr | None
    fill: ast.expr | None


def cells_of(call: ast.Call, word: str, home: str, *, is_like: bool) -> Cells | None:
    """What a call puts into the array that it makes; None where it has other arguments.

    Args:
        call: of `word`.
        word: ``empty``, ``zeros``, ``ones`` or ``full``.
        home: what stands before the dot.
        is_like: whether the array is made like another one.
    """
    position = 2 if word == "full" else 1
    dtype = call.args[position] if len(call.args) > position else None
    fill = call.args[1] if word == "full" and len(call.args) > 1 else None
    for keyword in call.keywords:
        if keyword.arg == "dtype":
            dtype = keyword.value
        elif keyword.arg == "fill_value" and word == "full":
            fill = keyword.value
        else:
            return None
    if word == "full" and fill is None:
        return None
    if fill is not None and dtype is None and not is_like:
        dtype = _dtype_of_fill(home, fill)
    return Cells(dtype, fill)


def _dtype_of_fill(home: str, value: ast.expr) -> ast.expr:
    """The dtype of ``np.full(n, 3)``: ``int``; with a name `v`, ``np.asarray(v).dtype``."""
    found = _of_literal(value)
    if found is not None:
        return found
    return nodes.attribute(nodes.call(f"{home}.asarray", [nodes.clone(value)]), "dtype")


def _of_literal(value: ast.expr) -> ast.expr | None:
    match value:
        case ast.Constant(value=int() as number) if number not in _INT64:
            return None
        case ast.Constant(value=bool() | int() | float() | complex() as number):
            return nodes.name(type(number).__name__)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand) if not _is_truth(operand):
            return _of_literal(operand)
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"), attr=word) if (
            word in _FLOATS
        ):
            return nodes.name("float")
        case ast.Call(func=ast.Name(id=word) as function) if word in _PYTHON[2:]:
            return nodes.clone(function)
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=word) as function) if (
            word.startswith(_NUMPY) and word[-1].isdigit()
        ):
            return nodes.clone(function)
    return None


def _is_truth(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool)
