"""Functions of NumPy that numba.cuda types but has no code for, for kernels.

They keep the type of their argument, as NumPy's do. Those that round take real numbers only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import cgutils, types  # noqa: TID251
from numba.cuda.extending import intrinsic  # noqa: TID251
from numba.cuda.typing.templates import signature  # noqa: TID251

__all__ = ["absolute", "cbrt", "ceil", "floor", "rint", "sign", "square", "trunc"]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]
#: What writes the instructions of a function: of a builder, for a value of a type.
Code = Callable[[Any, Any, Any], Any]
_REAL = (types.float32, types.float64)


def _function(code: Code, *, real: bool = False) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        return code(builder, made.args[0], values[0])

    def function(typing_context: Any, value: Any) -> Made | None:
        fits = value in _REAL or (not real and isinstance(value, types.Integer))
        return (signature(value, value), generate) if fits else None

    return intrinsic(function)


def _of_library(name: str) -> Code:
    """A function of CUDA's library for devices, which NVVM links."""

    def code(builder: Any, kind: Any, value: Any) -> Any:
        ending = "f" if kind == types.float32 else ""
        made = ir.FunctionType(value.type, [value.type])
        function = cgutils.get_or_insert_function(builder.module, made, f"__nv_{name}{ending}")
        return builder.call(function, [value])

    return code


def _absolute(builder: Any, kind: Any, value: Any) -> Any:
    if kind in _REAL:
        return _of_library("fabs")(builder, kind, value)
    if not kind.signed:
        return value
    is_negative = builder.icmp_signed("<", value, ir.Constant(value.type, 0))
    return builder.select(is_negative, builder.neg(value), value)


def _sign(builder: Any, kind: Any, value: Any) -> Any:
    zero, one = ir.Constant(value.type, 0), ir.Constant(value.type, 1)
    minus = ir.Constant(value.type, -1)
    if kind in _REAL:
        above = builder.fcmp_ordered(">", value, zero)
        below = builder.fcmp_ordered("<", value, zero)
        is_nan = builder.fcmp_unordered("uno", value, value)
        zero = builder.select(is_nan, value, zero)
    elif kind.signed:
        above = builder.icmp_signed(">", value, zero)
        below = builder.icmp_signed("<", value, zero)
    else:
        return builder.select(builder.icmp_unsigned(">", value, zero), one, zero)
    return builder.select(above, one, builder.select(below, minus, zero))


def _square(builder: Any, kind: Any, value: Any) -> Any:
    return builder.fmul(value, value) if kind in _REAL else builder.mul(value, value)


absolute, sign, square = _function(_absolute), _function(_sign), _function(_square)
ceil, floor = _function(_of_library("ceil"), real=True), _function(_of_library("floor"), real=True)
cbrt = _function(_of_library("cbrt"), real=True)
rint, trunc = _function(_of_library("rint"), real=True), _function(_of_library("trunc"), real=True)
