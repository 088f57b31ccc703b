"""What headers of loops, conditions and assignments tell of integers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from astile.frontend.sums import Linear, constant, symbol
from astile.ir import query

#: An expression as a sum, or None where it is none.
Reader = Callable[[ast.expr], Linear | None]
#: Sizes have no more bits than this.
_MOST_SHIFTED = 63


@dataclass(frozen=True)
class Extreme:
    """What a name of an integer holds: a sum, or the least or greatest of several.

    Args:
        word: ``"is"``, ``"min"`` or ``"max"``.
        sums: what it is that of.
        is_all: whether it is that of no others.
    """

    word: str
    sums: tuple[Linear, ...]
    is_all: bool = True


def extreme(value: ast.expr, linear: Reader, *, calls: bool) -> Extreme:
    """What a name holds after it got a value.

    Args:
        value: the value.
        linear: reads sums.
        calls: whether ``min`` and ``max`` are Python's.
    """
    word, parts = "is", [value]
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as called), args=given, keywords=[]) if (
            calls and len(given) > 1
        ):
            word, parts = called, given
    forms = [linear(each) for each in parts]
    sums = tuple(each for each in forms if each is not None)
    return Extreme(word, sums, len(sums) == len(forms))


def compared(test: ast.expr, linear: Reader) -> Iterator[Linear]:
    """The sums that are at least 0 where a condition holds.

    Args:
        test: the condition.
        linear: reads sums.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from compared(each, linear)
    if not isinstance(test, ast.Compare):
        return
    sides = [linear(each) for each in (test.left, *test.comparators)]
    for left, operator, right in zip(sides, test.ops, sides[1:], strict=False):
        if left is None or right is None:
            continue
        if isinstance(operator, (ast.Gt, ast.GtE)):
            left, right = right, left
        strict = isinstance(operator, (ast.Lt, ast.Gt))
        if strict or isinstance(operator, (ast.LtE, ast.GtE)):
            yield right.minus(left).plus(constant(-int(strict)))


def counted(header: query.Header, linear: Reader, *, calls: bool) -> Iterator[Linear]:
    """The sums that are at least 0 in the body of a loop that counts up.

    Args:
        header: of the loop.
        linear: reads sums.
        calls: whether ``min`` and ``max`` are Python's.
    """
    variable = symbol(header.variable)
    for part in _parts(header.start, "max", calls=calls):
        start = linear(part)
        if start is not None:
            yield variable.minus(start)
    for part in _parts(header.stop, "min", calls=calls):
        yield from _below(part, variable.plus(constant(1)), linear)
    start, stop = linear(header.start), linear(header.stop)
    if start is not None and stop is not None:
        yield stop.minus(start).plus(constant(-1))


def _parts(end: ast.expr, word: str, *, calls: bool) -> list[ast.expr]:
    match end:
        case ast.Call(func=ast.Name(id=called), args=parts, keywords=[]) if calls and (
            called == word and len(parts) > 1
        ):
            return parts
    return [end]


def _below(stop: ast.expr, reached: Linear, linear: Reader) -> Iterator[Linear]:
    """``n - 4 * reached`` for a sum that is at most ``n // 4``."""
    form = linear(stop)
    if form is not None:
        yield form.minus(reached)
        return
    match stop:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            more = query.integer(right)
            if more is not None:
                sign = 1 if isinstance(stop.op, ast.Add) else -1
                yield from _below(left, reached.plus(constant(-sign * more)), linear)
        case ast.BinOp(left=left, op=ast.FloorDiv() | ast.RShift(), right=right):
            by = query.integer(right)
            whole = linear(left)
            is_shift = isinstance(stop.op, ast.RShift)
            if (
                by is not None
                and by > 0
                and not (is_shift and by > _MOST_SHIFTED)
                and whole is not None
            ):
                factor = 2**by if is_shift else by
                yield whole.plus(reached, -factor)
