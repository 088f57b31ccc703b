"""Bounds of linear forms over loop ranges, by replacing variables with their extreme values.

Cheap and sound, not complete: where it gives no answer the isl context decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from astile.analysis import affine
from astile.analysis.affine import Affine
from astile.ir import query


@dataclass(frozen=True)
class Range:
    """The values of a loop variable: ``first <= variable <= last`` (both inclusive)."""

    variable: str
    first: Affine
    last: Affine


def range_of(loop: ast.For) -> Range | None:
    """The range of a counted loop with a literal step, else None.

    For a step other than 1 the last value may be one that the loop does not take.
    """
    header = query.header(loop)
    if header is None:
        return None
    step = query.integer(header.step)
    if not step:
        return None
    start, stop = affine.of(header.start), affine.of(header.stop)
    if step > 0:
        return Range(header.variable, start, stop - 1)
    return Range(header.variable, stop + 1, start)


def ranges_of(loops: Iterable[ast.For]) -> list[Range]:
    """The ranges of loops, outermost first; loops without one are left out."""
    return [found for found in map(range_of, loops) if found is not None]


def lowest(form: Affine, ranges: Sequence[Range]) -> Affine:
    """A lower bound of a form that no longer names the variables of `ranges`, where it can.

    Args:
        form: what to bound.
        ranges: the variables to eliminate, outermost first.
    """
    return -highest(-form, ranges)


def highest(form: Affine, ranges: Sequence[Range]) -> Affine:
    """An upper bound of a form that no longer names the variables of `ranges`, where it can."""
    for each in reversed(ranges):
        form = _relaxed(form, each.variable)
        coefficient = form.coefficient(each.variable)
        if coefficient:
            extreme = each.last if coefficient > 0 else each.first
            form = form.without(each.variable) + extreme * coefficient
    return form


def _relaxed(form: Affine, variable: str) -> Affine:
    """An upper bound in which `variable` is not hidden in a division, remainder, min or max."""
    result = Affine({}, form.constant)
    for key, (coefficient, atom) in form.terms.items():
        part = Affine({key: (coefficient, atom)})
        if key != variable and variable in query.names(atom):
            part = _bounded_atom(coefficient, atom) or part
        result = result + part
    return result


def _bounded_atom(coefficient: int, atom: ast.expr) -> Affine | None:
    """An upper bound of ``coefficient * atom`` without its outermost operation."""
    if isinstance(atom, ast.BinOp):
        divisor = query.integer(atom.right)
        if divisor is None or divisor <= 0:
            return None
        if isinstance(atom.op, ast.Mod):
            return affine.constant((divisor - 1) * coefficient if coefficient > 0 else 0)
        if isinstance(atom.op, ast.FloorDiv) and coefficient % divisor == 0:
            # x // d <= x / d and x // d >= (x - (d - 1)) / d
            inner = affine.of(atom.left)
            slack = 0 if coefficient > 0 else divisor - 1
            return (inner - slack) * (coefficient // divisor)
    if isinstance(atom, ast.Call) and len(atom.args) > 0:
        word = query.dotted(atom.func)
        # min(a, b) <= a; for -max(a, b) <= -a
        if (word == "min" and coefficient > 0) or (word == "max" and coefficient < 0):
            return affine.of(atom.args[0]) * coefficient
    return None


def is_nonnegative(form: Affine, ranges: Sequence[Range]) -> bool:
    """Whether ``form >= 0`` for all values of the loop variables; False also means unknown.

    Sizes (``A.shape[k]``, ``len(A)``) count as non-negative, other names as unknown.
    """
    bound = lowest(form, ranges)
    bound = _without_divisions(bound)
    if bound.constant < 0:
        return False
    return all(coefficient > 0 and _is_size(atom) for coefficient, atom in bound.terms.values())


def _without_divisions(form: Affine) -> Affine:
    """A lower bound in which divisions of parameters are replaced by what they are at least."""
    for _ in range(4):
        result = Affine({}, form.constant)
        for key, (coefficient, atom) in form.terms.items():
            bounded = _bounded_atom(-coefficient, atom)
            part = Affine({key: (coefficient, atom)}) if bounded is None else -bounded
            result = result + part
        if result == form:
            return form
        form = result
    return form


def _is_size(atom: ast.expr) -> bool:
    if isinstance(atom, ast.Call):
        return query.dotted(atom.func) == "len"
    if isinstance(atom, ast.Subscript):
        return isinstance(atom.value, ast.Attribute) and atom.value.attr == "shape"
    return False
