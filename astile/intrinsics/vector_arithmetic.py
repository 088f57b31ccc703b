"""Arithmetic of vectors, lane by lane: operators, choices, conversions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils  # noqa: TID251
from numba.core.errors import TypingError  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic, lower_builtin, type_callable  # noqa: TID251

from astile.intrinsics.vector_types import Vector, lane_type, llvm_type, suffix

#: Operator of Python -> LLVM's instruction for floats, for integers, for masks.
_ARITHMETIC: dict[Callable[..., Any], tuple[str | None, str | None, str | None]] = {
    operator.add: ("fadd", "add", None),
    operator.sub: ("fsub", "sub", None),
    operator.mul: ("fmul", "mul", None),
    operator.truediv: ("fdiv", None, None),
    operator.and_: (None, "and_", "and_"),
    operator.or_: (None, "or_", "or_"),
    operator.xor: (None, "xor", "xor"),
    operator.lshift: (None, "shl", None),
}
_COMPARISONS: dict[Callable[..., Any], str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}


def _instruction(vector: Vector, forms: tuple[str | None, str | None, str | None]) -> str | None:
    if vector.is_float:
        return forms[0]
    return forms[2] if vector.is_mask else forms[1]


def _define_arithmetic(
    function: Callable[..., Any], forms: tuple[str | None, str | None, str | None]
) -> None:
    def typed(context: Any) -> Callable[[Any, Any], Any]:
        def of(left: Any, right: Any) -> Any:
            if isinstance(left, Vector) and left == right and _instruction(left, forms):
                return left
            return None

        return of

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        name = _instruction(call.return_type, forms)
        assert name is not None
        return getattr(builder, name)(*values)

    type_callable(function)(typed)
    lower_builtin(function, Vector, Vector)(generate)


def compared(builder: Any, sign: str, vector: Vector, left: Any, right: Any) -> Any:
    """The mask of a comparison of two vectors of one type, as Python compares numbers."""
    if vector.is_float:
        if sign == "!=":
            return builder.fcmp_unordered("!=", left, right)
        return builder.fcmp_ordered(sign, left, right)
    if vector.is_signed:
        return builder.icmp_signed(sign, left, right)
    return builder.icmp_unsigned(sign, left, right)


def _define_comparison(function: Callable[..., Any], sign: str) -> None:
    def typed(context: Any) -> Callable[[Any, Any], Any]:
        def of(left: Any, right: Any) -> Any:
            return left.mask if isinstance(left, Vector) and left == right else None

        return of

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return compared(builder, sign, call.args[0], *values)

    type_callable(function)(typed)
    lower_builtin(function, Vector, Vector)(generate)


def _define_unary(function: Callable[..., Any], is_for: Callable[[Vector], bool]) -> None:
    def typed(context: Any) -> Callable[[Any], Any]:
        def of(value: Any) -> Any:
            return value if isinstance(value, Vector) and is_for(value) else None

        return of

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        if function is operator.invert:
            return builder.not_(values[0])
        if call.return_type.is_float:
            return builder.fneg(values[0])
        return builder.neg(values[0])

    type_callable(function)(typed)
    lower_builtin(function, Vector)(generate)


for _function, _forms in _ARITHMETIC.items():
    _define_arithmetic(_function, _forms)
for _function, _sign in _COMPARISONS.items():
    _define_comparison(_function, _sign)
_define_unary(operator.neg, lambda vector: not vector.is_mask)
_define_unary(operator.invert, lambda vector: not vector.is_float)


# --- functions of LLVM --------------------------------------------------------------------------


def _require(condition: bool, *values: Any) -> None:
    if not condition:
        raise TypingError(f"vectors that do not fit: {', '.join(map(str, values))}")


def called(builder: Any, name: str, vector: Vector, values: Any) -> Any:
    """The result of a function of LLVM whose arguments and result have one type.

    Args:
        builder: LLVM's.
        name: such as ``fma``.
        vector: the type.
        values: the arguments.
    """
    kind = llvm_type(vector)
    form = ir.FunctionType(kind, [kind] * len(values))
    name = f"llvm.{name}.{suffix(vector)}"
    return builder.call(cgutils.get_or_insert_function(builder.module, form, name), values)


def _float_function(name: str, arity: int) -> Any:
    def typed(*values: Any) -> Any:
        first = values[0]
        _require(isinstance(first, Vector) and first.is_float, *values)
        _require(all(each == first for each in values), *values)

        def generate(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
            return called(builder, name, first, list(arguments))

        return signature(first, *values), generate

    def unary(typing: Any, a: Any) -> Any:
        return typed(a)

    def binary(typing: Any, a: Any, b: Any) -> Any:
        return typed(a, b)

    def ternary(typing: Any, a: Any, b: Any, c: Any) -> Any:
        return typed(a, b, c)

    return intrinsic((unary, binary, ternary)[arity - 1])


def _chosen(sign: str, name: str | None) -> Any:
    """An intrinsic that takes `b` where ``b sign a``, else `a`.

    Args:
        sign: of the comparison.
        name: LLVM's function for floats instead, which gives NaN where an operand is NaN.
    """

    def typed(typing: Any, a: Any, b: Any) -> Any:
        _require(isinstance(a, Vector) and a == b, a, b)

        def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
            if name is not None and a.is_float:
                return called(builder, name, a, list(values))
            mask = compared(builder, sign, a, values[1], values[0])
            return builder.select(mask, values[1], values[0])

        return signature(a, a, b), generate

    return intrinsic(typed)


def _select(typing: Any, mask: Any, a: Any, b: Any) -> Any:
    _require(isinstance(a, Vector) and a == b and mask == a.mask, mask, a, b)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return builder.select(*values)

    return signature(a, mask, a, b), generate


def _magnitude(typing: Any, a: Any) -> Any:
    _require(isinstance(a, Vector) and not a.is_mask, a)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        if a.is_float:
            return called(builder, "fabs", a, list(values))
        if not a.is_signed:
            return values[0]
        below = builder.icmp_signed("<", values[0], values[0].type(None))
        return builder.select(below, builder.neg(values[0]), values[0])

    return signature(a, a), generate


# --- conversions --------------------------------------------------------------------------------


def _number(dtype: Any) -> Any:
    found = getattr(dtype, "dtype", None)
    if found is None:
        raise TypingError(f"{dtype} is no type of numbers")
    return found


def _convert(typing: Any, value: Any, dtype: Any) -> Any:
    _require(isinstance(value, Vector), value)
    made = Vector(_number(dtype), value.lanes)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return _converted(builder, values[0], value, made)

    return signature(made, value, dtype), generate


def _converted(builder: Any, value: Any, old: Vector, new: Vector) -> Any:
    kind = llvm_type(new)
    if old == new:
        return value
    if new.is_mask:
        return compared(builder, "!=", old, value, value.type(None))
    if old.is_float and new.is_float:
        narrows = new.dtype.bitwidth < old.dtype.bitwidth
        return (builder.fptrunc if narrows else builder.fpext)(value, kind)
    if old.is_float:
        return (builder.fptosi if new.is_signed else builder.fptoui)(value, kind)
    if new.is_float:
        return (builder.sitofp if old.is_signed else builder.uitofp)(value, kind)
    before, after = (lane_type(each.dtype).width for each in (old, new))
    if after < before:
        return builder.trunc(value, kind)
    if after == before:
        return value
    return (builder.sext if old.is_signed else builder.zext)(value, kind)


def _bitcast(typing: Any, value: Any, dtype: Any) -> Any:
    number = _number(dtype)
    _require(isinstance(value, Vector) and not value.is_mask, value)
    _require(getattr(number, "bitwidth", 0) == value.dtype.bitwidth, value, number)
    made = Vector(number, value.lanes)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return builder.bitcast(values[0], llvm_type(made))

    return signature(made, value, dtype), generate


fma = _float_function("fma", 3)
square_root = _float_function("sqrt", 1)
round_down = _float_function("floor", 1)
minimum = _chosen("<", "minimum")
maximum = _chosen(">", "maximum")
smaller = _chosen("<", None)
larger = _chosen(">", None)
select = intrinsic(_select)
magnitude = intrinsic(_magnitude)
convert = intrinsic(_convert)
bitcast = intrinsic(_bitcast)
