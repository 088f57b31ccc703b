"""Arrays for vectors: a vector that lies across two lines of the cache takes two accesses."""

from __future__ import annotations

from typing import Any

from numba import types  # noqa: TID251
from numba.core.errors import TypingError  # noqa: TID251
from numba.core.typing import npydecl, signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251
from numba.np import arrayobj  # noqa: TID251

#: Bytes of a line of the cache, and of the widest vectors.
_LINE_BYTES = 64


class _Aligned:
    """numba's context, but for how arrays are aligned: by 32 bytes otherwise."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def get_preferred_array_alignment(self, dtype: Any) -> int:
        """Bytes of which the address of the first cell is a multiple."""
        return _LINE_BYTES


def _empty_aligned(typing: Any, shape: Any, dtype: Any) -> Any:
    element, axes = npydecl.parse_dtype(dtype), npydecl.parse_shape(shape)
    if element is None or axes is None:
        raise TypingError(f"{shape} of {dtype} is no array")

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        shapes = arrayobj._parse_shape(context, builder, call.args[0], values[0])
        made = arrayobj._empty_nd_impl(_Aligned(context), builder, call.return_type, shapes)
        return made._getvalue()

    return signature(types.Array(element, axes, "C"), shape, dtype), generate


empty_aligned = intrinsic(_empty_aligned)
