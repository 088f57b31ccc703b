"""Instructions that round a float32 to fewer bits, for numba and for numba.cuda.

They give what `astile.loops.tf32` and `astile.loops.bf16` do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

_WORD, _SINGLE = ir.IntType(32), ir.FloatType()


def _constant(value: int) -> Any:
    return ir.Constant(_WORD, value)


def _rounded(builder: Any, number: Any, kept: int, half: Callable[[Any], Any]) -> Any:
    """A number without its last bits, after something was added to them; NaN as it is."""
    bits = builder.bitcast(number, _WORD)
    cut = builder.and_(builder.add(bits, half(bits)), _constant(kept))
    is_nan = builder.fcmp_unordered("uno", number, number)
    return builder.select(is_nan, number, builder.bitcast(cut, _SINGLE))


def tf32(builder: Any, number: Any) -> Any:
    """Round to 10 bits after the point, from the middle away from zero."""
    return _rounded(builder, number, 0xFFFFE000, lambda bits: _constant(0x1000))


def bf16(builder: Any, number: Any) -> Any:
    """Round to 7 bits after the point, from the middle to even."""

    def half(bits: Any) -> Any:
        last = builder.and_(builder.lshr(bits, _constant(16)), _constant(1))
        return builder.add(last, _constant(0x7FFF))

    return _rounded(builder, number, 0xFFFF0000, half)
