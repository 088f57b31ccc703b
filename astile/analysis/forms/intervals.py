"""Bounds of linear forms over loop ranges, by replacing variables with their extreme values.

Cheap and sound, not complete: where it gives no answer the isl context decides.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query

#: How many bounds of one form are kept: each min and max doubles them.
_MOST = 16


@dataclass(frozen=True)
class Range:
    """The values of a loop variable: ``first <= variable <= last`` (both inclusive)."""

    variable: str
    first: Affine
    last: Affine

    @property
    def names(self) -> set[str]:
        """The variable, and the names that its bounds depend on."""
        return {self.variable} | self.first.names() | self.last.names()


def range_of(loop: ast.For) -> Range | None:
    """The range of a counted loop with a literal step, else None.

    For a step other than 1 and bounds that are no literals the last value may be one that the
    loop does not take.
    """
    header = query.header(loop)
    if header is None:
        return None
    step = query.integer(header.step)
    if not step:
        return None
    start, stop = affine.of(header.start), affine.of(header.stop)
    distance = (stop - start).value
    if distance is not None and distance * step > 0:
        trips = (abs(distance) + abs(step) - 1) // abs(step)
        ends = (start, start + (trips - 1) * step)
        return Range(header.variable, *(ends if step > 0 else reversed(ends)))
    if step > 0:
        return Range(header.variable, start, stop - 1)
    return Range(header.variable, stop + 1, start)


def ranges_of(loops: Iterable[ast.For]) -> list[Range]:
    """What holds of loop variables inside nested loops, outermost first.

    Args:
        loops: nested loops, outermost first. Loops whose range is not read, whose variable is
            assigned in the body or is that of an inner loop, or whose bounds name something that
            the body changes, are left out.
    """
    found: list[Range] = []
    for loop in loops:
        found = inside(found, loop)
    return found


def inside(
    ranges: Sequence[Range], loop: ast.For, changed: set[str] | frozenset[str] | None = None
) -> list[Range]:
    """What holds inside a loop, from what holds around it.

    Args:
        ranges: what holds around it.
        loop: the loop.
        changed: the names that its body assigns, where that is known already.
    """
    if changed is None:
        changed = {name for each in loop.body for name in query.names_written(each)}
    written = changed | query.names_written(loop.target)
    kept = [each for each in ranges if not each.names & written]
    own = range_of(loop)
    if own is None:
        return kept
    bounds = own.first.names() | own.last.names()
    if own.variable in changed or bounds & (changed | {own.variable}):
        return kept
    return [*kept, own]


def lowest(form: Affine, ranges: Sequence[Range]) -> Affine:
    """A lower bound of a form that no longer names the variables of `ranges`, where it can.

    Args:
        form: what to bound.
        ranges: the variables to eliminate, outermost first.
    """
    return -highest(-form, ranges)


def highest(form: Affine, ranges: Sequence[Range]) -> Affine:
    """An upper bound of a form that no longer names the variables of `ranges`, where it can.

    Of several bounds it is the first that names none of them, or one that is less by a number.
    """
    variables = {each.variable for each in ranges}
    found = upper_bounds(form, ranges)
    free = [each for each in found if not each.names() & variables]
    best = free[0] if free else found[0]
    for each in free:
        gap = (each - best).value
        if gap is not None and gap < 0:
            best = each
    return best


def lower_bounds(form: Affine, ranges: Sequence[Range]) -> list[Affine]:
    """Lower bounds of a form, as `upper_bounds`."""
    return [-each for each in upper_bounds(-form, ranges)]


def upper_bounds(form: Affine, ranges: Sequence[Range]) -> list[Affine]:
    """Upper bounds of a form that do not name the variables of `ranges`, where they can.

    ``min(y + 2, h - 1)`` has two: each of its arguments; none is always the smaller one.
    """
    found = [form]
    for each in reversed(ranges):
        found = [bound for one in found for bound in _eliminated(one, each)][:_MOST]
    different: dict[Affine, None] = dict.fromkeys(found)
    return list(different)


def _eliminated(form: Affine, each: Range) -> list[Affine]:
    """Upper bounds of a form without one variable."""
    results = []
    for relaxed in _relaxed(form, each.variable):
        coefficient = relaxed.coefficient(each.variable)
        if coefficient:
            extreme = each.last if coefficient > 0 else each.first
            relaxed = relaxed.without(each.variable) + extreme * coefficient
        if relaxed.mentions(each.variable):  # inside an atom that only grows or only falls
            relaxed = _grown(relaxed, each)
        results.append(relaxed)
    return results


def _relaxed(form: Affine, variable: str) -> list[Affine]:
    """Upper bounds in which `variable` is not hidden in a division, remainder, min or max."""
    choices: list[list[Affine]] = []
    for key, (coefficient, atom) in form.terms.items():
        part = Affine({key: (coefficient, atom)})
        hidden = key != variable and variable in query.names(atom)
        choices.append([*_bounded_atom(coefficient, atom), part] if hidden else [part])
    results = []
    for chosen in product(*choices):
        total = Affine({}, form.constant)
        for each in chosen:
            total = total + each
        results.append(total)
    return results[:_MOST]


def _bounded_atom(coefficient: int, atom: ast.expr) -> list[Affine]:
    """Upper bounds of ``coefficient * atom`` without its outermost operation."""
    if isinstance(atom, ast.BinOp):
        divisor = query.integer(atom.right)
        if divisor is None or divisor <= 0:
            return []
        if isinstance(atom.op, ast.Mod):
            return [affine.constant((divisor - 1) * coefficient if coefficient > 0 else 0)]
        if isinstance(atom.op, ast.FloorDiv) and coefficient % divisor == 0:
            # x // d <= x / d and x // d >= (x - (d - 1)) / d
            inner = affine.of(atom.left)
            slack = 0 if coefficient > 0 else divisor - 1
            return [(inner - slack) * (coefficient // divisor)]
    word = extreme_word(atom)
    # min(a, b) <= a; for -max(a, b) <= -a
    if isinstance(atom, ast.Call) and word == ("min" if coefficient > 0 else "max"):
        return [affine.of(each) * coefficient for each in atom.args]
    return []


def extreme_word(atom: ast.expr) -> str | None:
    """``min`` or ``max`` for a call of one of them with several plain arguments."""
    if not isinstance(atom, ast.Call) or len(atom.args) < 2 or atom.keywords:
        return None
    if any(isinstance(each, ast.Starred) for each in atom.args):
        return None
    word = query.dotted(atom.func)
    return word if word in ("min", "max") else None


def _grown(form: Affine, each: Range) -> Affine:
    """An upper bound that replaces a variable inside min, max and ``//``: they are monotone."""
    result = Affine({}, form.constant)
    for key, (coefficient, atom) in form.terms.items():
        part = Affine({key: (coefficient, atom)})
        if each.variable in query.names(atom):
            part = _largest_atom(atom, each, upwards=coefficient > 0) * coefficient
        result = result + part
    return result


def _largest_atom(atom: ast.expr, each: Range, *, upwards: bool) -> Affine:
    bound = highest if upwards else lowest
    word = extreme_word(atom)
    if isinstance(atom, ast.Call) and word is not None:
        extremes = [bound(affine.of(one), [each]).expression() for one in atom.args]
        return affine.of(nodes.call(word, extremes))
    if isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.FloorDiv):
        divisor = query.integer(atom.right)
        if divisor is not None and divisor > 0:
            return affine.floor_div(bound(affine.of(atom.left), [each]), divisor)
    return affine.atom(atom)


def is_nonnegative(form: Affine, ranges: Sequence[Range]) -> bool:
    """Whether ``form >= 0`` for all values of the loop variables; False also means unknown.

    Sizes (``A.shape[k]``, ``len(A)``) count as non-negative, other names as unknown.
    """
    return any(_is_nonnegative(each) for each in lower_bounds(form, ranges))


def _is_nonnegative(form: Affine) -> bool:
    return any(
        each.constant >= 0
        and all(c > 0 and _is_never_negative(atom) for c, atom in each.terms.values())
        for each in (form, _without_divisions(form))
    )


def _is_never_negative(atom: ast.expr) -> bool:
    """Whether an atom is at least 0 whatever its names hold; sizes are."""
    if isinstance(atom, ast.BinOp):
        divisor = query.integer(atom.right)
        if divisor is None or divisor <= 0:
            return False
        if isinstance(atom.op, ast.FloorDiv):
            return _is_nonnegative(affine.of(atom.left))
        return isinstance(atom.op, ast.Mod)
    word = extreme_word(atom)
    if isinstance(atom, ast.Call) and word is not None:
        known = [_is_nonnegative(affine.of(each)) for each in atom.args]
        return any(known) if word == "max" else all(known)
    return _is_size(atom)


def _without_divisions(form: Affine) -> Affine:
    """A lower bound in which divisions of parameters are replaced by what they are at least."""
    for _ in range(4):
        result = Affine({}, form.constant)
        for key, (coefficient, atom) in form.terms.items():
            bounded = _bounded_atom(-coefficient, atom)
            part = -bounded[0] if bounded else Affine({key: (coefficient, atom)})
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
