"""`tf32` and `bf16` of `astile.loops`, for functions that numba compiles for the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import types  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics import rounding_code

__all__ = ["bf16", "tf32"]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]


def _rounding(code: Callable[[Any, Any], Any]) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        return code(builder, context.cast(builder, values[0], made.args[0], types.float32))

    def rounded(typing_context: Any, value: Any) -> Made | None:
        if not isinstance(value, (types.Float, types.Integer, types.Boolean)):
            return None
        return signature(types.float32, value), generate

    return intrinsic(rounded)


bf16, tf32 = _rounding(rounding_code.bf16), _rounding(rounding_code.tf32)
