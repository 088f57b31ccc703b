"""Functions of NumPy that numba.cuda types but cannot compile, by the same ones of `math`.

On a GPU those of `math` keep float32, and give NaN or an infinity where Python's raise.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from astile.ir import nodes, query

#: Names that are the same function of real numbers in both modules.
_SHARED = frozenset(f"numpy.{name}" for name in ("exp", "expm1", "fabs", "log1p", "sqrt"))


def compilable(
    body: Iterable[ast.stmt], imports: Mapping[str, str], word: Callable[[str], str]
) -> None:
    """Rewrite calls in the statements of a kernel, in place.

    Args:
        body: the statements.
        imports: name in the text -> what it stands for.
        word: the name in the text for a dotted path.

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
