"""Functions of calculus for vectors of floats: polynomials where libraries call C, lane by lane.

Each gives what NumPy gives to about the last digit, infinities, NaN, zeros and subnormals
included; how near is in docs/semantics.md and tested. The methods are those of S. Moshier's Cephes
library and of Sun's fdlibm; the exponential has coefficients of its own, fitted for the least
largest relative error. Constants have as many digits as their type holds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import (  # noqa: TID251
    intrinsic,
    lower_builtin,
    overload,
    register_jitable,
    type_callable,
)

from astile.intrinsics.vector_arithmetic import bitcast, fma, larger, magnitude, select, smaller
from astile.intrinsics.vector_lanes import splat
from astile.intrinsics.vector_types import Vector


def exponential(x: Any) -> Any:
    """``e ** x``, as `np.exp`.

    Args:
        x: a vector of float32 or float64.
    """
    raise NotImplementedError


def logarithm(x: Any) -> Any:
    """The natural logarithm, as `np.log`.

    Args:
        x: a vector of float32 or float64.
    """
    raise NotImplementedError


def hyperbolic_tangent(x: Any) -> Any:
    """As `np.tanh`.

    Args:
        x: a vector of float32 or float64.
    """
    raise NotImplementedError


# --- shifts -------------------------------------------------------------------------------------


@type_callable(operator.rshift)  # type: ignore[untyped-decorator]
def _typed_shift(context: Any) -> Callable[[Any, Any], Any]:
    def of(left: Any, right: Any) -> Any:
        is_vector = isinstance(left, Vector) and left == right and left.is_signed
        return left if is_vector else None

    return of


@lower_builtin(operator.rshift, Vector, Vector)  # type: ignore[untyped-decorator]
def _shift(context: Any, builder: Any, call: Any, values: Any) -> Any:
    return builder.ashr(*values)


def _any(typing: Any, mask: Any) -> Any:
    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        bits = builder.bitcast(values[0], ir.IntType(mask.lanes))
        return builder.icmp_unsigned("!=", bits, bits.type(0))

    return signature(types.boolean, mask), generate


_any_of = intrinsic(_any)


# --- one set of functions for each type ---------------------------------------------------------


class _Format:
    """What tells the two types of floats apart.

    Args:
        real: type of the floats.
        integer: of as many bits.
        fraction: bits of the fraction.
        lowest: arguments below give e ** x = 0.
        highest: arguments above give infinity.
        plain: e ** x is neither subnormal nor infinite for arguments of this size.
        ln2: two numbers that add up to log(2); the first has few bits.
        powers: ``(e ** x - 1 - x) / x ** 2`` for small x, coefficients from the constant on.
    """

    def __init__(
        self,
        real: type[Any],
        integer: type[Any],
        fraction: int,
        lowest: float,
        highest: float,
        plain: float,
        ln2: tuple[float, float],
        powers: Sequence[float],
    ) -> None:
        self.real, self.integer, self.fraction = real, integer, fraction
        self.lowest, self.highest, self.plain = real(lowest), real(highest), real(plain)
        self.ln2 = tuple(map(real, ln2))
        self.powers = tuple(map(real, powers))
        #: Added to a small integer, it leaves that integer in the last bits.
        self.magic = real(1.5 * 2.0**fraction)
        self.bias = integer(np.finfo(real).maxexp - 1)


_SINGLE = _Format(
    np.float32,
    np.int32,
    23,
    -104.0,
    89.0,
    87.0,
    (0.693359375, -2.12194440e-4),
    (0.49999993447737784, 0.16666520634229556, 0.041668388068626265, 0.008368716326549239)
    + (0.0013814594492869653,),
)
_DOUBLE = _Format(
    np.float64,
    np.int64,
    52,
    -746.0,
    710.0,
    708.0,
    (6.93147180369123816490e-01, 1.90821492927058770002e-10),
    (0.5, 0.1666666666666667, 0.04166666666666715, 0.008333333333326368, 0.0013888888888434938)
    + (0.0001984126988615731, 2.4801589238912063e-05, 2.7557208859307444e-06)
    + (2.7553845794494356e-07, 2.5136137513121642e-08, 2.2679065967264977e-09),
)


def _format(vector: Any) -> _Format | None:
    if not isinstance(vector, Vector):
        return None
    return {types.float32: _SINGLE, types.float64: _DOUBLE}.get(vector.dtype)


def _polynomial(coefficients: Sequence[Any], lanes: int) -> Any:
    """``c[0] + x * (c[1] + x * ...)`` by Horner's rule."""
    count = len(coefficients)

    @register_jitable  # type: ignore[untyped-decorator]
    def value(x: Any) -> Any:
        made = splat(coefficients[count - 1], lanes)
        for k in range(count - 2, -1, -1):
            made = fma(made, x, splat(coefficients[k], lanes))
        return made

    return value


def _exponential(form: _Format, lanes: int) -> Any:
    real, integer, fraction = form.real, form.integer, form.integer(form.fraction)
    lowest, highest, plain = form.lowest, form.highest, form.plain
    magic, bias, half = form.magic, form.bias, real(0.5)
    per_two = real(1.4426950408889634)
    coarse, fine = form.ln2
    powers = _polynomial(form.powers, lanes)

    @register_jitable  # type: ignore[untyped-decorator]
    def reduced(x: Any) -> tuple[Any, Any]:
        # x = n * log(2) + r with a small r; n in the last bits of the first result, e ** r
        shifted = fma(x, splat(per_two, lanes), splat(magic, lanes))
        n = shifted - splat(magic, lanes)
        r = fma(n, splat(-fine, lanes), fma(n, splat(-coarse, lanes), x))
        return shifted, fma(r * r, powers(r), r) + splat(real(1), lanes)

    @register_jitable  # type: ignore[untyped-decorator]
    def value(x: Any) -> Any:
        by, zero = splat(fraction, lanes), bitcast(splat(magic, lanes), integer)
        if not _any_of(~(magnitude(x) < splat(plain, lanes))):
            shifted, made = reduced(x)
            return bitcast(
                bitcast(made, integer) + ((bitcast(shifted, integer) - zero) << by), real
            )
        # 2 ** n in two factors, since it may lie outside of the floats where the result does not
        near = larger(smaller(x, splat(highest, lanes)), splat(lowest, lanes))
        shifted, made = reduced(near)
        halved = fma(shifted - splat(magic, lanes), splat(half, lanes), splat(magic, lanes))
        low = bitcast(halved, integer) - zero
        high = bitcast(shifted, integer) - zero - low
        first = bitcast((low + splat(bias, lanes)) << by, real)
        second = bitcast((high + splat(bias, lanes)) << by, real)
        return select(x == x, made * first * second, x)

    return value


def _ordinary_logarithm(form: _Format, lanes: int) -> Any:
    """The logarithm of positive numbers that are not subnormal, as fdlibm has it."""
    real, integer, fraction = form.real, form.integer, form.integer(form.fraction)
    magic, coarse, fine = form.magic, *form.ln2
    # the bits of sqrt(1/2), below which a fraction is doubled
    start = real(0.5**0.5).view(integer)
    terms: tuple[float, ...] = (
        (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01)
        + (2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01)
        + (1.479819860511658591e-01,)
    )
    if form is _SINGLE:
        terms = (0.66666662693, 0.40000972152, 0.28498786688, 0.24279078841)
    series = _polynomial(tuple(map(real, terms)), lanes)

    @register_jitable  # type: ignore[untyped-decorator]
    def value(x: Any) -> Any:
        # x = 2 ** k * (1 + f) with 1 + f between sqrt(1/2) and sqrt(2)
        bits = bitcast(x, integer)
        k = (bits - splat(start, lanes)) >> splat(fraction, lanes)
        f = bitcast(bits - (k << splat(fraction, lanes)), real) - splat(real(1), lanes)
        exponent = bitcast(k + bitcast(splat(magic, lanes), integer), real) - splat(magic, lanes)
        s = f / (splat(real(2), lanes) + f)
        z = s * s
        half = splat(real(0.5), lanes) * f * f
        rest = fma(s, half + z * series(z), exponent * splat(fine, lanes))
        return fma(exponent, splat(coarse, lanes), f - (half - rest))

    return value


def _logarithm(form: _Format, lanes: int) -> Any:
    real = form.real
    least, infinity, nan = real(np.finfo(real).tiny), real(np.inf), real(np.nan)
    scale = real(2.0**form.fraction)
    moved = real(-form.fraction * 0.6931471805599453)
    ordinary = _ordinary_logarithm(form, lanes)

    @register_jitable  # type: ignore[untyped-decorator]
    def value(x: Any) -> Any:
        is_small = x < splat(least, lanes)
        zero = splat(real(0), lanes)
        found = ordinary(select(is_small, x * splat(scale, lanes), x))
        made = found + select(is_small, splat(moved, lanes), zero)
        made = select(x == splat(infinity, lanes), x, made)
        made = select(x == zero, splat(-infinity, lanes), made)
        return select(x >= zero, made, splat(nan, lanes))

    return value


def _hyperbolic_tangent(form: _Format, lanes: int) -> Any:
    real, integer = form.real, form.integer
    sign = real(-0.0).view(integer)
    power = _exponential(form, lanes)
    if form is _SINGLE:
        over: tuple[float, ...] = (
            -3.33332819422e-1,
            1.33314422036e-1,
            -5.37397155531e-2,
            2.06390887954e-2,
        )
        over += (-5.70498872745e-3,)
        under: tuple[float, ...] = (1.0,)
    else:
        over = (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1)
        under = (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0)
    above = _polynomial(tuple(map(real, over)), lanes)
    below = _polynomial(tuple(map(real, under)), lanes)
    is_rational = len(under) > 1

    @register_jitable  # type: ignore[untyped-decorator]
    def value(x: Any) -> Any:
        size = magnitude(x)
        square = x * x
        small = above(square)
        if is_rational:
            small = small / below(square)
        small = fma(size * square, small, size)
        one = splat(real(1), lanes)
        large = one - splat(real(2), lanes) / (power(size + size) + one)
        made = bitcast(select(size < splat(real(0.625), lanes), small, large), integer)
        return bitcast(made | (bitcast(x, integer) & splat(sign, lanes)), real)

    return value


def _offer(stub: Callable[[Any], Any], make: Callable[[_Format, int], Any]) -> None:
    @overload(stub)  # type: ignore[untyped-decorator]
    def of(x: Any) -> Callable[[Any], Any] | None:
        form = _format(x)
        if form is None:
            return None
        value = make(form, x.lanes)

        def call(x: Any) -> Any:
            return value(x)

        return call


_offer(exponential, _exponential)
_offer(logarithm, _logarithm)
_offer(hyperbolic_tangent, _hyperbolic_tangent)
