"""Functions of NumPy that numba.cuda types but cannot compile, by the same ones elsewhere.

On a GPU those of `math` keep float32, and give NaN or an infinity where Python's raise. What `math`
has not, or in another way, is in `astile.intrinsics.cuda_functions`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from astile.ir import nodes, query


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Names that are the same function of real numbers in both modules.
_SHARED = frozenset(
    f"numpy.{name}"
    for name in ("copysign", "exp", "exp2", "expm1", "fabs", "fmod", "isfinite", "isinf", "log1p")
    + ("sqrt",)
)
#: Names of NumPy -> those of the same functions of `astile.intrinsics.cuda_functions`.
_OWN = {
    "numpy.abs": "absolute",
    **{
        f"numpy.{name}": name
        for name in ("absolute", "cbrt", "ceil", "floor", "rint", "sign", "square", "trunc")
    },
}
_HOME = "astile.intrinsics.cuda_functions"
#: Names of NumPy -> the operator that is the same function.
_OPERATORS: dict[str, type[ast.operator]] = {
    "numpy.add": ast.Add,
    "numpy.subtract": ast.Sub,
    "numpy.multiply": ast.Mult,
    "numpy.floor_divide": ast.FloorDiv,
    "numpy.remainder": ast.Mod,
    "numpy.mod": ast.Mod,
    "numpy.power": ast.Pow,
    "numpy.pow": ast.Pow,
}
_SIGNS: dict[str, type[ast.unaryop]] = {"numpy.negative": ast.USub, "numpy.positive": ast.UAdd}
#: Functions of NumPy, by their own names, that numba.cuda has code for.
OF_NUMPY = _words(
    "arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_or bitwise_xor "
    "conjugate cos cosh deg2rad degrees divide equal fmax fmin greater greater_equal hypot "
    "invert isnan left_shift less less_equal log log10 log2 logical_and logical_not logical_or "
    "logical_xor maximum minimum not_equal rad2deg radians right_shift sin sinh tan tanh"
)
#: Functions of `math` that it has.
OF_MATH = _words(
    "acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc exp exp2 "
    "expm1 fabs floor fmod frexp gamma hypot isfinite isinf isnan ldexp lgamma log log10 log1p "
    "log2 modf nextafter pow radians remainder sin sinh sqrt tan tanh trunc"
)


def is_missing(path: str) -> bool:
    """Whether numba.cuda has no code for a function of NumPy or `math`, nor has astile.

    Args:
        path: what the name that is called stands for, such as ``"numpy.gcd"``.
    """
    home, _, name = path.rpartition(".")
    if home == "math":
        return callable(getattr(math, name, None)) and name not in OF_MATH
    function = getattr(np, name, None) if home == "numpy" else None
    if not isinstance(function, np.ufunc):
        return False
    own = {*_SHARED, *_OWN, *_OPERATORS, *_SIGNS}
    return path not in own and function.__name__ not in OF_NUMPY


def compilable(
    body: Iterable[ast.stmt],
    imports: Mapping[str, str],
    word: Callable[[str], str],
    *,
    plain: bool,
) -> None:
    """Rewrite calls in the statements of a kernel, in place.

    Args:
        body: the statements.
        imports: name in the text -> what it stands for.
        word: the name in the text for a dotted path.
        plain: for numba's simulator, which has NumPy's functions, and none of astile's own.

    Before:
        y[i] = np.exp(x[i])

    After:
        y[i] = math.exp(x[i])
    """
    writer = _Writer(imports, word, plain)
    for each in body:
        writer.visit(each)


class _Writer(ast.NodeTransformer):
    def __init__(self, imports: Mapping[str, str], word: Callable[[str], str], plain: bool) -> None:
        self.imports, self.word, self.plain = imports, word, plain

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        head, _, rest = (query.dotted(node.func) or "").partition(".")
        path = f"{self.imports.get(head, head)}.{rest}".rstrip(".")
        if node.keywords:
            return node
        if path in _OPERATORS and len(node.args) == 2:
            made = nodes.binary(node.args[0], _OPERATORS[path], node.args[1])
            return nodes.copy_place(node, made)
        if path in _SIGNS and len(node.args) == 1:
            return nodes.copy_place(node, ast.UnaryOp(_SIGNS[path](), node.args[0]))
        if path in _SHARED:
            node.func = nodes.attribute(self.word("math"), path.rpartition(".")[2])
        elif path in _OWN and len(node.args) == 1 and not self.plain:
            node.func = nodes.name(self.word(f"{_HOME}.{_OWN[path]}"))
        return node
