"""A set in parts that are simpler to count than the whole."""

from __future__ import annotations

from collections.abc import Iterator

from astile.analysis import isl

#: Values of a dimension that are looked at one by one.
_FEW = 8
#: Names of dimensions while they stand among the parameters.
DIMENSION = "dim_"
#: Disjoint pieces of a set whose formulas are added.
MOST = 8
#: Divisions for each of these: isl does not end on sets with many, and its operations are not
#: counted there.
_DIVISIONS = 5

#: Why there is no formula.
SHAPE = "no short sum of products was found"
TANGLED = "it has many divisions with remainders"


class NoFormulaError(Exception):
    """A set has no formula of the kind that is looked for; the message says why."""

    def __init__(self, reason: str = SHAPE) -> None:
        super().__init__(reason)


def is_tangled(values: isl.Set, pieces: int) -> bool:
    """Whether a set has more divisions than so many pieces have.

    Args:
        values: the set.
        pieces: how many.
    """
    every = values.get_basic_sets()
    return sum(int(each.dim(isl.dim_type.div)) for each in every) > pieces * _DIVISIONS


def named(values: isl.Set) -> isl.Set:
    """A set whose dimensions have names, as those that become parameters need."""
    for axis in range(int(values.dim(isl.dim_type.set))):
        values = values.set_dim_name(isl.dim_type.set, axis, f"{DIMENSION}{axis}")
    return values


def alone(values: isl.Set, axis: int) -> isl.Set:
    """A set of one dimension, the others as parameters after those that it has."""
    count = int(values.dim(isl.dim_type.param))
    others = int(values.dim(isl.dim_type.set)) - axis - 1
    moved = values.move_dims(isl.dim_type.param, count, isl.dim_type.set, 0, axis)
    return moved.move_dims(isl.dim_type.param, count + axis, isl.dim_type.set, 1, others)


def chambers(values: isl.Set) -> Iterator[list[isl.Set]]:
    """A set cut where other constraints become the ends of a dimension: a cross, in its arms."""
    values = named(values.reset_tuple_id())
    count = int(values.dim(isl.dim_type.param))
    for axis in reversed(range(int(values.dim(isl.dim_type.set)))):
        moved = alone(values, axis)
        ends = (each.coalesce().get_pieces() for each in (moved.dim_min(0), moved.dim_max(0)))
        lows, highs = ([domain for domain, _ in pieces] for pieces in ends)
        parts = [moved.intersect_params(low.intersect(high)) for low in lows for high in highs]
        others = int(moved.dim(isl.dim_type.param)) - count - axis
        made = [
            each.move_dims(isl.dim_type.set, 1, isl.dim_type.param, count + axis, others).move_dims(
                isl.dim_type.set, 0, isl.dim_type.param, count, axis
            )
            for each in parts
            if not each.is_empty()
        ]
        if len(made) > 1:
            yield made


def slanted(values: isl.Set, size: int, first: int, factor: int, second: int) -> isl.Map:
    """``second`` becomes ``second + factor * first``; the other dimensions stay.

    Args:
        values: the set that is to be mapped.
        size: how many dimensions it has.
        first: a dimension.
        factor: what it is multiplied by.
        second: another dimension.
    """
    before = [f"x{k}" for k in range(size)]
    after = list(before)
    after[second] = f"x{second} + {factor} x{first}"
    text = f"{{ [{', '.join(before)}] -> [{', '.join(after)}] }}"
    return isl.Map.read_from_str(values.get_ctx(), text)


def combinations(values: isl.Set, size: int) -> Iterator[tuple[int, int, int]]:
    """Dimensions that constraints hold together, as in ``16 * first + second``."""
    seen = set()
    for piece in values.get_basic_sets():
        for constraint in piece.get_constraints():
            times = [
                isl.integer(constraint.get_coefficient_val(isl.dim_type.set, k))
                for k in range(size)
            ]
            for second in (k for k in range(size) if abs(times[k]) == 1):
                for first in (k for k in range(size) if abs(times[k]) > 1):
                    found = first, times[first] * times[second], second
                    if found not in seen:
                        seen.add(found)
                        yield found


def parts(values: isl.Set) -> Iterator[list[isl.Set]]:
    """A set in parts that are simpler: of ``16 * tile + cell``, cells below 16 and the rims."""
    size = int(values.dim(isl.dim_type.set))
    spans = [_span(values, axis) for axis in range(size)]
    for first, factor, second in combinations(values, size):
        span = spans[second]
        if span is None:
            changed = values.apply(slanted(values, size, first, factor, second))
            if _span(changed, second) is not None:
                yield [changed]
        if span is not None and span[1] - span[0] >= abs(factor):
            yield _cut(values, size, second, span[1] + 1 - abs(factor))
            yield _cut(values, size, second, span[0] + abs(factor))
    for axis, span in enumerate(spans):
        if span is not None and span[0] < span[1] < span[0] + _FEW:
            yield _cut(values, size, axis, span[0] + 1)


def _cut(values: isl.Set, size: int, axis: int, at: int) -> list[isl.Set]:
    every = ", ".join(f"x{k}" for k in range(size))
    texts = [f"{{ [{every}] : x{axis} {sign} {at} }}" for sign in ("<", ">=")]
    plain = values.reset_tuple_id()
    return [plain.intersect(isl.Set.read_from_str(values.get_ctx(), each)) for each in texts]


def _span(values: isl.Set, axis: int) -> tuple[int, int] | None:
    """The least and the greatest value of a dimension, for all sizes; None where there is none."""
    ends = values.dim_min_val(axis), values.dim_max_val(axis)
    if not all(each.is_int() for each in ends):
        return None
    return isl.integer(ends[0]), isl.integer(ends[1])
