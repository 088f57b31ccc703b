"""Functions of the sizes of arrays: what isl finds out about them, as closures of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from astile.analysis.forms.params import Names, readable

if TYPE_CHECKING:
    from astile.analysis import isl

Shapes = Mapping[str, tuple[int, ...]]
Integers = Mapping[str, int]
#: A value or condition over the values of parameters, in the order of a condition's `lookups`.
Function = Callable[[Sequence[int]], int]

_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.floordiv,
    "fdiv_q": operator.floordiv,
    "pdiv_q": operator.floordiv,
    "pdiv_r": operator.mod,
    "zdiv_r": operator.mod,
    "min": min,
    "max": max,
    "eq": operator.eq,
    "le": operator.le,
    "lt": operator.lt,
    "ge": operator.ge,
    "gt": operator.gt,
}


def lookup(parameter: str, names: Names) -> tuple[str, int | None]:
    """``("n", None)`` for the parameter of an integer, ``("A", 0)`` for that of an extent."""
    shown = readable(parameter, names)
    array, _, axis = shown.partition(".shape[")
    return (array, int(axis[:-1])) if axis else (shown, None)


def mentioned(tree: isl.Tree) -> Iterator[str]:
    """The parameters that a tree mentions."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, tuple):
        for each in tree[1]:
            yield from mentioned(each)


def compiled(tree: isl.Tree, position: Mapping[str, int]) -> Function:
    """A tree as a Python function of the values of parameters; no text is evaluated."""
    if isinstance(tree, int):
        return lambda values: tree
    if isinstance(tree, str):
        return operator.itemgetter(position[tree])
    word, operands = tree
    parts = [compiled(each, position) for each in operands]
    if word == "minus":
        only = parts[0]
        return lambda values: -only(values)
    if word in ("and_", "and_then"):
        return lambda values: all(part(values) for part in parts)
    if word in ("or_", "or_else"):
        return lambda values: any(part(values) for part in parts)
    if word in ("cond", "select"):
        test, then, other = parts
        return lambda values: then(values) if test(values) else other(values)
    function, first = _ARITHMETIC[word], parts[0]
    if len(parts) == 2:
        second = parts[1]
        return lambda values: function(first(values), second(values))
    return lambda values: reduce(function, [part(values) for part in parts])
