"""A number that LLVM does not know in advance, for functions that numba compiles for the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.vector_types import I64, hidden

__all__ = ["nothing"]


def _nothing(typing_context: Any) -> tuple[Any, Callable[..., Any]]:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        return hidden(builder, I64(0))

    return signature(types.int64), generate


#: ``nothing()`` is 0.
nothing = intrinsic(_nothing)
