"""Powers with negative exponents in the types of the plain program; see `numeric`."""

from __future__ import annotations

import ast
from collections.abc import Callable

from astile.ir import nodes


def inverted(
    base: ast.expr, exponent: int, kind: str, cast: Callable[[str, ast.expr], ast.expr]
) -> ast.expr:
    """``1.0 / x ** 2`` for ``x ** -2``: numba's own raises where x is 0, NumPy's is infinite.

    Args:
        base: of the power, a floating-point number of NumPy.
        exponent: what the base is raised to, without its sign.
        kind: type of the power.
        cast: gives a value that type.
    """
    power = nodes.binary(base, ast.Pow, nodes.const(exponent)) if exponent > 1 else base
    if kind == "float64":
        return nodes.binary(nodes.const(1.0), ast.Div, power)
    return cast(kind, nodes.binary(cast(kind, nodes.const(1)), ast.Div, cast(kind, power)))
