"""How many points a set has, exactly, for given values of its parameters.

isl counts the points of a set one by one in all dimensions but the innermost. The dimensions of a
tiled nest fall into groups that no constraint connects, such as ``{i_0, i_1}`` and ``{j_0, j_1}``;
the points of each group are counted for themselves and multiplied.
"""

from __future__ import annotations

from typing import Any

from astile.analysis import isl


def count(values: isl.Set) -> int:
    """The number of points of a set without parameters, or with fixed ones.

    Args:
        values: a set that is bounded.

    Raises:
        isl.Error: when the set is not bounded.
    """
    # isl knows the divisions of a set by no formula until it is asked for one
    pieces = values.coalesce().make_disjoint().compute_divs().make_disjoint().get_basic_sets()
    return sum(_count_piece(each) for each in pieces)


def _count_piece(piece: Any) -> int:
    total = 1
    size = int(piece.dim(isl.dim_type.set))
    for group in groups(piece, size):
        rest = piece.to_set()
        for axis in reversed(range(size)):
            if axis not in group:
                rest = rest.project_out(isl.dim_type.set, axis, 1)
        total *= _points(rest)
    return total


def _points(values: isl.Set) -> int:
    if not values.is_bounded():  # isl counts no points of such a set
        raise isl.Error("a set without bounds has no number of points")
    return isl.integer(values.count_val())


def groups(piece: Any, size: int) -> list[set[int]]:
    """The dimensions of a basic set that constraints and divisions connect.

    Args:
        piece: the basic set.
        size: how many dimensions it has.
    """
    divisions = int(piece.dim(isl.dim_type.div))
    linked: list[set[int]] = []
    for each in piece.get_constraints():
        linked.append(_involved(each, isl.dim_type.set, size, divisions))
    for number in range(divisions):
        division = piece.get_div(number)
        found = _involved(division, isl.dim_type.in_, size, divisions)
        linked.append(found | {size + number})
    groups: list[set[int]] = [{axis} for axis in range(size + divisions)]
    for links in linked:
        joined = [each for each in groups if each & links]
        if len(joined) > 1:
            groups = [each for each in groups if not each & links] + [set().union(*joined)]
    inside = [{axis for axis in each if axis < size} for each in groups]
    return [each for each in inside if each]


def _involved(form: Any, kind: Any, size: int, divisions: int) -> set[int]:
    """The dimensions that a constraint or an affine form depends on, divisions after the others."""
    found = {a for a in range(size) if not form.get_coefficient_val(kind, a).is_zero()}
    return found | {
        size + number
        for number in range(divisions)
        if not form.get_coefficient_val(isl.dim_type.div, number).is_zero()
    }
