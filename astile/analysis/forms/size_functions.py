"""Functions of the sizes of arrays: what isl finds out about them, as closures of Python."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

from astile.analysis.forms.params import Names, readable

if TYPE_CHECKING:
    from astile.analysis import isl

Shapes = Mapping[str, tuple[int, ...]]
Integers = Mapping[str, int]
_Closure = Callable[[Sequence[int]], int]
#: A tree in which ``("value", k)`` stands for the parameter in place k; JSON makes lists of tuples.
Placed: TypeAlias = "int | Sequence[Any]"
#: The word of a parameter's value.
VALUE = "value"

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


@dataclass(frozen=True)
class Function:
    """A value or condition over the values of parameters, in the order of a condition's `lookups`.

    Args:
        tree: what is computed; no text is evaluated.
    """

    tree: Placed

    def __call__(self, values: Sequence[int]) -> int:
        """What is computed for values of the parameters."""
        return self._computed(values)

    @cached_property
    def _computed(self) -> _Closure:
        return _closure(self.tree)


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
    """A tree as a function of the values of parameters.

    Args:
        tree: with the names of parameters.
        position: of each parameter among the values.
    """
    return Function(_placed(tree, position))


def _placed(tree: isl.Tree, position: Mapping[str, int]) -> Placed:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return (VALUE, position[tree])
    word, operands = tree
    return (word, *(_placed(each, position) for each in operands))


def _closure(tree: Placed) -> _Closure:
    if isinstance(tree, int):
        return lambda values: tree
    word, *operands = tree
    if word == VALUE:
        return operator.itemgetter(operands[0])
    parts = [_closure(each) for each in operands]
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
