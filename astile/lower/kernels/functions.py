"""Functions of NumPy that numba.cuda types but cannot compile, by the same ones elsewhere.

On a GPU those of `math` keep float32, and give NaN or an infinity where Python's raise. What `math`
has not, or in another way, is in `astile.intrinsics.cuda_functions`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from astile.ir import nodes, query

#: Names that are the same function of real numbers in both modules.
_SHARED = frozenset(
    f"numpy.{name}"
    for name in ("copysign", "exp", "exp2", "expm1", "fabs", "fmod", "isfinite", "isinf", "log1p")
    + ("sqrt",)
)
#: Names of NumPy -> those of the same functions of `astile.intrinsics.cuda_functions`.
_OWN = {
    "numpy.abs": "absolute",
    **{f"numpy.{name}": name for name in ("absolute", "ceil", "floor", "rint", "sign", "square")},
    "numpy.trunc": "trunc",
}
_HOME = "astile.intrinsics.cuda_functions"


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
    for call in [node for each in body for node in ast.walk(each) if isinstance(node, ast.Call)]:
        head, _, rest = (query.dotted(call.func) or "").partition(".")
        path = f"{imports.get(head, head)}.{rest}".rstrip(".")
        if path in _SHARED and not call.keywords:
            call.func = nodes.attribute(word("math"), path.rpartition(".")[2])
        elif path in _OWN and len(call.args) == 1 and not (call.keywords or plain):
            call.func = nodes.name(word(f"{_HOME}.{_OWN[path]}"))
