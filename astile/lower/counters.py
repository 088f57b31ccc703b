"""Loops that may count in 32 bits: their bounds fit where no axis of an array is longer."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from astile.analysis.forms.affine import Affine, of
from astile.analysis.reading.hardware import is_cooperative
from astile.ir import query
from astile.lower.facts import Facts, is_size

#: The largest extent that `astile.intrinsics.cuda.is_aligned` lets pass, and the largest int32.
MOST = 2**31 - 1


@dataclass(frozen=True)
class Bound:
    """What an integer is at most, where no axis of some arrays is longer than `MOST`.

    Args:
        value: the bound; the integer is not negative.
        arrays: the arrays.
    """

    value: int
    arrays: frozenset[str] = frozenset()


def stop_of(loop: ast.For, facts: Facts) -> Bound | None:
    """The bound of what a loop from 0 counts to; None where that may need 64 bits.

    Args:
        loop: of any kind.
        facts: the program's integers.
    """
    header = query.header(loop)
    if header is None or header.is_bound or not query.is_constant(header.start, 0):
        return None
    if is_cooperative(loop):
        return None  # what threads share out is counted by the number of the thread
    step = query.integer(header.step)
    if step is None or step <= 0 or query.integer(header.stop) is not None:
        return None
    if not facts.is_integer(header.stop):
        return None
    form = facts.form(header.stop)
    lowered = max(-form.constant, 0)  # so that what is left is not negative
    bound = _of_form(form + lowered)
    if bound is None or lowered > MOST or bound.value + step > MOST:
        return None
    return bound if bound.arrays else None


def _of_form(form: Affine) -> Bound | None:
    total, arrays = form.constant, frozenset[str]()
    for coefficient, atom in form.terms.values():
        bound = _of_atom(atom)
        if bound is None or coefficient < 0:
            return None
        total += coefficient * bound.value
        arrays |= bound.arrays
    return Bound(total, arrays) if total >= 0 else None


def _of_atom(atom: ast.expr) -> Bound | None:
    if is_size(atom):
        assert isinstance(atom, ast.Subscript)
        assert isinstance(atom.value, ast.Attribute)
        array = query.dotted(atom.value.value)
        return None if array is None else Bound(MOST, frozenset([array]))
    if isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.FloorDiv):
        inner, divisor = _of_form(of(atom.left)), query.integer(atom.right)
        if inner is not None and divisor is not None and divisor > 0:
            return Bound(inner.value // divisor, inner.arrays)
    return None
