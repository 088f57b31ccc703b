"""Making vectors from numbers, and numbers from the lanes of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core.errors import TypingError  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.vector_arithmetic import compared
from astile.intrinsics.vector_types import I32, I64, Vector, shuffled, splatted


def _literal(value: Any) -> int:
    if not isinstance(value, types.IntegerLiteral):
        raise TypingError("the number of lanes, and a step, have to be literal")
    return int(value.literal_value)


def _splat(typing: Any, value: Any, lanes: Any) -> Any:
    scalar = types.unliteral(value)
    if not isinstance(scalar, (types.Number, types.Boolean)):
        raise TypingError(f"{scalar} is no number")
    made = Vector(scalar, _literal(lanes))

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return splatted(builder, values[0], made.lanes)

    return signature(made, scalar, lanes), generate


def _steps(lanes: int, kind: Any) -> Any:
    return ir.Constant(ir.VectorType(kind, lanes), list(range(lanes)))


def _count(typing: Any, start: Any, lanes: Any) -> Any:
    made = Vector(types.int64, _literal(lanes))

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        first = splatted(builder, values[0], made.lanes)
        return builder.add(first, _steps(made.lanes, I64))

    return signature(made, types.int64, lanes), generate


def _below(typing: Any, start: Any, stop: Any, lanes: Any) -> Any:
    made = Vector(types.boolean, _literal(lanes))

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        left = builder.sub(values[1], values[0])
        most = I64(made.lanes)
        left = builder.select(builder.icmp_signed("<", left, most), left, most)
        left = builder.select(builder.icmp_signed(">", left, I64(0)), left, I64(0))
        few = splatted(builder, builder.trunc(left, I32), made.lanes)
        return builder.icmp_signed("<", _steps(made.lanes, I32), few)

    return signature(made, types.int64, types.int64, lanes), generate


def _lane(typing: Any, vector: Any, number: Any) -> Any:
    if not isinstance(vector, Vector):
        raise TypingError(f"{vector} is no vector")
    lane = _literal(number)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        return builder.extract_element(values[0], I32(lane))

    return signature(vector.dtype, vector, number), generate


# --- reductions ---------------------------------------------------------------------------------


def _folded(combine: Callable[[Any, Vector, Any, Any], Any]) -> Any:
    """An intrinsic that combines the lower half of the lanes with the upper, until one is left."""

    def typed(typing: Any, vector: Any) -> Any:
        if not isinstance(vector, Vector) or vector.is_mask:
            raise TypingError(f"{vector} is no vector of numbers")

        def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
            value, lanes = values[0], vector.lanes
            while lanes > 1:
                lanes //= 2
                lower = shuffled(builder, value, value, list(range(lanes)))
                upper = shuffled(builder, value, value, list(range(lanes, 2 * lanes)))
                value = combine(builder, Vector(vector.dtype, lanes), lower, upper)
            return builder.extract_element(value, I32(0))

        return signature(vector.dtype, vector), generate

    return intrinsic(typed)


def _plus(builder: Any, vector: Vector, left: Any, right: Any) -> Any:
    return (builder.fadd if vector.is_float else builder.add)(left, right)


def _times(builder: Any, vector: Vector, left: Any, right: Any) -> Any:
    return (builder.fmul if vector.is_float else builder.mul)(left, right)


def _picked(sign: str) -> Callable[[Any, Vector, Any, Any], Any]:
    def combine(builder: Any, vector: Vector, left: Any, right: Any) -> Any:
        return builder.select(compared(builder, sign, vector, right, left), right, left)

    return combine


# --- transpositions -----------------------------------------------------------------------------


def _halves(is_high: bool) -> Any:
    """One step of a transposition of as many vectors as each has lanes.

    Where bit `step` of the number of a lane and of the number of a vector are swapped, the
    vectors ``r`` and ``r + step`` become their low and their high halves.
    """

    def typed(typing: Any, a: Any, b: Any, step: Any) -> Any:
        if not isinstance(a, Vector) or a != b:
            raise TypingError(f"{a} and {b} are not two vectors of one type")
        width, count = _literal(step), a.lanes
        if width < 1 or width & (width - 1) or count % (2 * width):
            raise TypingError(f"{width} is no step of a transposition of {count} lanes")
        if is_high:
            lanes = [count + k if k & width else k + width for k in range(count)]
        else:
            lanes = [count + k - width if k & width else k for k in range(count)]

        def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
            return shuffled(builder, values[0], values[1], lanes)

        return signature(a, a, b, step), generate

    return intrinsic(prefer_literal=True)(typed)


splat = intrinsic(prefer_literal=True)(_splat)
count = intrinsic(prefer_literal=True)(_count)
below = intrinsic(prefer_literal=True)(_below)
lane = intrinsic(prefer_literal=True)(_lane)
sum_of = _folded(_plus)
product_of = _folded(_times)
smallest_of = _folded(_picked("<"))
largest_of = _folded(_picked(">"))
low_halves = _halves(False)
high_halves = _halves(True)
