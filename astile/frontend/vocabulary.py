"""The words of NumPy and Python that the frontend knows, and what their names stand for."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import query
from astile.ir.program import Program


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Functions that compute every cell of their result from the same cell of their arguments.
CELLWISE = _words(
    "abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh around cbrt ceil "
    "clip copysign cos cosh deg2rad degrees divide equal exp exp2 expm1 fabs fix floor "
    "floor_divide fmax fmin fmod greater greater_equal heaviside hypot isfinite isinf isnan "
    "less less_equal log log10 log1p log2 logical_and logical_not logical_or logical_xor "
    "maximum minimum mod multiply negative not_equal rad2deg radians remainder rint round sign "
    "sin sinh sqrt square subtract tan tanh true_divide trunc where"
)
#: Those among them whose result has the type that their arguments join to, truth values too.
SAME_TYPE = _words(
    "abs absolute add around clip fmax fmin maximum minimum multiply negative round subtract"
)
#: Those whose results are truth values, whatever their arguments are.
TRUTHS = _words(
    "equal not_equal less less_equal greater greater_equal isfinite isinf isnan logical_and "
    "logical_not logical_or logical_xor"
)
#: Reductions of a whole array to a number, as functions of NumPy and methods of arrays.
REDUCTIONS = _words(
    "all any argmax argmin average count_nonzero dot inner max mean min norm prod ptp std sum vdot "
    "var"
)
#: Those that multiply two rows.
PRODUCTS = _words("dot vdot inner")
#: Those that may count fewer cells than there are.
SPREADS = _words("std var")
#: The one among them that is no direct member of NumPy.
NORM = "numpy.linalg.norm"
#: Functions of Python that compute a number from numbers.
NUMBER_CALLS = _words("abs bool float int len max min pow round")


def path_of(program: Program, function: ast.expr) -> str | None:
    """``numpy.sqrt`` for ``np.sqrt``, builtins by their own name; None for what the program binds.

    Args:
        program: its imports say what names stand for.
        function: what is called.
    """
    word = query.dotted(function)
    if word is None:
        return None
    head, _, rest = word.partition(".")
    if head in query.names_written(program.function) | set(query.parameters(program.function)):
        return None
    if head in program.helpers or head in program.constants:
        return None
    base = program.imports.get(head)
    if base is None:
        return word
    return f"{base}.{rest}" if rest else base


def numpy_word(program: Program, function: ast.expr) -> str | None:
    """``sqrt`` for ``np.sqrt``, ``norm`` for ``np.linalg.norm``; None for what is not NumPy's."""
    path = path_of(program, function) or ""
    head, _, last = path.rpartition(".")
    return last if head == "numpy" or path == NORM else None


def freedom(word: str, keywords: Sequence[ast.keyword]) -> int | None:
    """1 for ``np.var(x, ddof=1)``, 0 where nothing is given; None for what changes the result else.

    Args:
        word: the reduction.
        keywords: what it is given by name.
    """
    match keywords:
        case []:
            return 0
        case [ast.keyword(arg="ddof", value=ast.Constant(value=number))] if word in SPREADS:
            return number if type(number) is int else None
    return None
