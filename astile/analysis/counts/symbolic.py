"""How many points a set has, as a formula over its parameters: every step is an equality of sets.

isl without barvinok counts sets without parameters only. Most sets of loops and cells are products
of intervals once the dimensions are gone that others determine: of a tiled loop, ``(i_0, i_1)``
becomes ``16 i_0 + i_1``, from which both follow. What is left of other shapes is summed dimension
by dimension where the ends of an interval are sums without divisions, by Faulhaber's formula. For
everything else there is no formula, and none is guessed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb, lcm
from typing import Any

from astile.analysis import isl
from astile.analysis.counts.counting import groups
from astile.analysis.counts.formulas import Formula, product, quotient, total
from astile.analysis.counts.parts import (
    DIMENSION,
    MOST,
    SHAPE,
    TANGLED,
    NoFormulaError,
    alone,
    chambers,
    combinations,
    is_tangled,
    named,
    parts,
    slanted,
)

#: Cuts inside of cuts.
_DEEPEST = 2
#: A linear form: name or quotient as text -> coefficient, and a constant.
Linear = tuple[dict[str, Fraction], Fraction]


class Symbolic:
    """Counts sets for all values of their parameters in a context.

    Args:
        context: values of the parameters for which the formulas hold.
        names: parameter in isl -> what it is called in formulas.
        depth: how often what it counts has been cut.
    """

    def __init__(self, context: isl.Set, names: Mapping[str, str], depth: int = 0) -> None:
        self._context, self._depth = context, depth
        self.names = names

    def count(self, values: isl.Set) -> Formula:
        """The number of points of a set.

        Raises:
            NoFormulaError: when no formula was found.
        """
        inside = values.intersect_params(self._context)
        if inside.is_singleton() and self._context.is_subset(inside.params()):
            return Formula.number(1)
        joined = inside.coalesce()
        try:
            return self._pieces(joined)
        except NoFormulaError:  # a cross is an octagon for isl, and five rectangles to count
            if joined.n_basic_set() == inside.n_basic_set():
                raise
            return self._pieces(inside)

    def _pieces(self, inside: isl.Set) -> Formula:
        if is_tangled(inside, MOST):
            raise NoFormulaError(TANGLED)
        pieces = inside.make_disjoint().compute_divs().make_disjoint().coalesce().get_basic_sets()
        if len(pieces) > MOST:
            raise NoFormulaError
        return total(self._piece(each.remove_redundancies()) for each in pieces)

    def _piece(self, piece: Any) -> Formula:
        size = int(piece.dim(isl.dim_type.set))
        found = []
        there = piece.to_set().params()
        rest_of_sizes = self._context.subtract(there)
        for group in groups(piece, size):
            rest = piece.to_set()
            for axis in reversed(range(size)):
                if axis not in group:
                    rest = rest.project_out(isl.dim_type.set, axis, 1)
            formula, zero = self._group(rest)
            found.append(formula)
            rest_of_sizes = rest_of_sizes if zero is None else rest_of_sizes.subtract(zero)
        if not rest_of_sizes.is_empty():  # there for some sizes only
            raise NoFormulaError(self._compared([there]))
        return product(found)

    def _group(self, values: isl.Set) -> tuple[Formula, isl.Set | None]:
        """A formula, and the values of parameters for which it is 0 though the set is not there."""
        values = self._without_determined(values)
        if int(values.dim(isl.dim_type.set)) == 1:
            return self._interval(values)
        try:
            return _Sums(self).sum(values), None
        except NoFormulaError:
            if self._depth >= _DEEPEST:
                raise
            inner = Symbolic(self._context, self.names, self._depth + 1)
            for each in (*parts(values), *chambers(values)):
                with contextlib.suppress(NoFormulaError):
                    return total(map(inner.count, each)), None
            raise

    def _compared(self, values: Sequence[isl.Set]) -> str:
        """Why there is no formula for all sizes: what some values of parameters depend on."""
        names: dict[str, None] = {}
        for each in values:
            for piece in each.gist(self._context).get_basic_sets():
                for position in range(int(piece.dim(isl.dim_type.param))):
                    if piece.involves_dims(isl.dim_type.param, position, 1):
                        name = str(piece.get_dim_name(isl.dim_type.param, position))
                        names[self.names.get(name, name)] = None
        if not names or any(each.startswith(DIMENSION) for each in names):
            return SHAPE
        if len(names) == 1:
            return f"it depends on which value {next(iter(names))} has"
        *first, last = sorted(names)
        return f"it depends on how {', '.join(first)} and {last} compare"

    # --- dimensions that follow from others -------------------------------------------------------

    def _without_determined(self, values: isl.Set) -> isl.Set:
        """A set with as many points, of as few dimensions as are found."""
        while int(values.dim(isl.dim_type.set)) > 1:
            smaller = next(self._smaller(values), None)
            if smaller is None:
                return values
            values = smaller
        return values

    def _smaller(self, values: isl.Set) -> Iterator[isl.Set]:
        size = int(values.dim(isl.dim_type.set))
        for axis in range(size):
            if _is_determined(values, axis):
                yield values.project_out(isl.dim_type.set, axis, 1)
        for first, factor, second in combinations(values, size):
            changed = values.apply(slanted(values, size, first, factor, second))
            if _is_determined(changed, first):
                yield changed.project_out(isl.dim_type.set, first, 1)

    # --- intervals --------------------------------------------------------------------------------

    def _interval(self, values: isl.Set) -> tuple[Formula, isl.Set]:
        """The number of points of a set of one dimension: all of an interval, or each n-th."""
        ends = low, high = [self._single(each) for each in (values.dim_min(0), values.dim_max(0))]
        stride = isl.integer(values.get_stride(0))
        self.require(values, values.dim_min(0), values.dim_max(0), stride)
        first, last = map(self._form, ends)
        terms, constant = _plus(last, first, Fraction(-1))
        per = Fraction(1, stride)
        formula = Formula.linear(
            *_floored({name: each * per for name, each in terms.items()}, constant * per + 1)
        )
        length = high.sub(low)
        longer = length.add_constant_val(isl.Val(stride, values.get_ctx()))
        short, some = (isl.PwAff.from_aff(e).nonneg_set() for e in (longer, length))
        return formula, short.subtract(some)

    def require(self, values: isl.Set, low: isl.PwAff, high: isl.PwAff, stride: int) -> None:
        """Refuse a set of one dimension that has not every `stride`-th point between its ends.

        Raises:
            NoFormulaError: when it has holes.
        """
        ends = isl.Set.from_pw_aff(low), isl.Set.from_pw_aff(high)
        text = (
            f"{{ [a] -> [x] : exists (k : x = a + {stride} k) and x >= a }}",
            "{ [b] -> [x] : x <= b }",
        )
        context = values.get_ctx()
        up, down = (isl.Map.read_from_str(context, each) for each in text)
        full = ends[0].apply(up).intersect(ends[1].apply(down))
        own = values.reset_tuple_id()
        if not full.intersect_params(self._context).is_subset(own):
            raise NoFormulaError

    def linear(self, value: isl.PwAff) -> Linear:
        """A function of parameters that is one linear form in the context.

        Raises:
            NoFormulaError: when it is several.
        """
        return self._form(self._single(value))

    def _single(self, value: isl.PwAff) -> Any:
        pieces = value.intersect_params(self._context).coalesce().get_pieces()
        if len(pieces) != 1:
            raise NoFormulaError(self._compared([domain for domain, _ in pieces]))
        return pieces[0][1]

    def _name(self, form: Any, position: int) -> str:
        parameter = str(form.get_dim_name(isl.dim_type.param, position))
        return self.names.get(parameter, parameter)

    def _form(self, form: Any) -> Linear:
        terms: dict[str, Fraction] = {}
        for position in range(int(form.dim(isl.dim_type.param))):
            times = _fraction(form.get_coefficient_val(isl.dim_type.param, position))
            if times:
                terms[self._name(form, position)] = times
        constant = _fraction(form.get_constant_val())
        for number in range(int(form.dim(isl.dim_type.div))):
            times = _fraction(form.get_coefficient_val(isl.dim_type.div, number))
            if times:
                div = form.get_div(number)
                terms, constant = _plus((terms, constant), _floored(*self._form(div)), times)
        return terms, constant


class _Sums:
    """Sums over dimensions whose ends depend on each other, one dimension at a time."""

    def __init__(self, symbolic: Symbolic) -> None:
        self._symbolic = symbolic

    def sum(self, values: isl.Set) -> Formula:
        """The number of points of a set.

        Raises:
            NoFormulaError: where an end of a dimension is no sum without divisions.
        """
        size = int(values.dim(isl.dim_type.set))
        values = named(values)
        summed: Polynomial = {(): Fraction(1)}
        while size:
            axis, (low, high) = self._axis(values, size)
            name = str(values.get_dim_name(isl.dim_type.set, axis))
            summed = _summed(summed, name, low, high)
            values = values.project_out(isl.dim_type.set, axis, 1)
            size -= 1
        return Formula(summed)

    def _axis(self, values: isl.Set, size: int) -> tuple[int, tuple[Linear, Linear]]:
        for axis in reversed(range(size)):
            try:
                return axis, self._ends(values, axis)
            except NoFormulaError:
                continue
        raise NoFormulaError

    def _ends(self, values: isl.Set, axis: int) -> tuple[Linear, Linear]:
        moved = alone(values, axis)
        inner = Symbolic(moved.params(), self._symbolic.names)
        low, high = moved.dim_min(0), moved.dim_max(0)
        ends = inner.linear(low), inner.linear(high)
        for terms, constant in ends:
            has_division = any("//" in each and DIMENSION in each for each in terms)
            if has_division or any(e.denominator != 1 for e in (*terms.values(), constant)):
                raise NoFormulaError
        inner.require(moved, low, high, 1)
        return ends


#: Product of names, in order -> coefficient.
Polynomial = dict[tuple[str, ...], Fraction]


def _summed(summed: Polynomial, name: str, low: Linear, high: Linear) -> Polynomial:
    """``sum(polynomial for name in range(low, high + 1))``."""
    result: Polynomial = {}
    below = low[0], low[1] - 1
    for factors, times in summed.items():
        power = factors.count(name)
        others = {tuple(each for each in factors if each != name): times}
        upto = _add(_powers(high, power), _powers(below, power), Fraction(-1))
        result = _add(result, _multiply(others, upto))
    return result


def _powers(end: Linear, power: int) -> Polynomial:
    """``1**power + 2**power + ... + end**power``, by Faulhaber's formula."""
    terms, constant = end
    base: Polynomial = {(name,): value for name, value in terms.items()}
    base = _add(base, {(): constant})
    result: Polynomial = {}
    for k in range(power + 1):
        product: Polynomial = {(): Fraction(comb(power + 1, k), power + 1) * _bernoulli(k)}
        for _ in range(power + 1 - k):
            product = _multiply(product, base)
        result = _add(result, product)
    return result


def _bernoulli(number: int) -> Fraction:
    """Bernoulli's numbers, that of 1 being 1/2."""
    found: list[Fraction] = []
    for m in range(number + 1):
        rest = sum((comb(m, k) * found[k] / (m - k + 1) for k in range(m)), Fraction(0))
        found.append(1 - rest)
    return found[number]


def _add(one: Polynomial, other: Polynomial, times: Fraction = Fraction(1)) -> Polynomial:
    result = dict(one)
    for factors, value in other.items():
        result[factors] = result.get(factors, Fraction(0)) + times * value
    return {factors: value for factors, value in result.items() if value}


def _multiply(one: Polynomial, other: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for factors, value in one.items():
        for others, another in other.items():
            result = _add(result, {tuple(sorted((*factors, *others))): value * another})
    return result


def _plus(one: Linear, other: Linear, times: Fraction) -> Linear:
    terms = dict(one[0])
    for name, value in other[0].items():
        terms[name] = terms.get(name, Fraction(0)) + times * value
    return {name: value for name, value in terms.items() if value}, one[1] + times * other[1]


def _floored(terms: dict[str, Fraction], constant: Fraction) -> Linear:
    """The whole number below a linear form, what is whole of it outside of the division."""
    nearest = {name: Fraction(round(value)) for name, value in terms.items()}
    whole = {name: value for name, value in nearest.items() if value}
    parts = {n: v for name, value in terms.items() if (v := value - nearest[n := name])}
    if not parts:
        return whole, Fraction(constant.numerator // constant.denominator)
    divisor = lcm(constant.denominator, *(each.denominator for each in parts.values()))
    inside = {name: int(value * divisor) for name, value in parts.items()}
    outside, rest = divmod(int(constant * divisor), divisor)
    return {**whole, quotient(inside, rest, divisor): Fraction(1)}, Fraction(outside)


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.get_num_si()), isl.integer(value.get_den_val()))


def _is_determined(values: isl.Set, axis: int) -> bool:
    """Whether a dimension follows from the others."""
    size = int(values.dim(isl.dim_type.set))
    every = [f"x{k}" for k in range(size)]
    others = ", ".join(each for k, each in enumerate(every) if k != axis)
    text = f"{{ [{', '.join(every)}] -> [[{others}] -> [x{axis}]] }}"
    parted = values.reset_tuple_id().apply(isl.Map.read_from_str(values.get_ctx(), text))
    return bool(parted.unwrap().is_single_valued())
