"""What the arguments of a printed text have to be: it computes right for the types it names.

A kernel makes a text for the types of each call. A text that runs by itself is made for some, and
raises a TypeError for others, since it would compute in other types than NumPy.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from astile.analysis.extents import bounds
from astile.analysis.extents.conditions import Condition
from astile.ir import needs, nodes, query
from astile.ir.program import Program
from astile.lower.parameters import inside
from astile.lower.parameters.uses import Use
from astile.lower.types.kinds import SCALAR, Kinds
from astile.lower.types.promotion import PYTHON

_NUMBERS: Mapping[str, object] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
#: Needs that types alone decide; lengths are compared by the text itself.
_OF_TYPES = (needs.Fits, needs.Arithmetic, needs.JoinedType)


def is_number(kind: str) -> bool:
    """Whether a type is that of a number, and of no array."""
    return kind in PYTHON or kind.endswith(SCALAR)


def stand_ins(types: Mapping[str, str]) -> dict[str, object]:
    """Parameter -> an argument of its type; arrays have no cells.

    Args:
        types: parameter -> its type, see `Kinds`.
    """
    found: dict[str, object] = {}
    for name, kind in types.items():
        dtype = np.dtype(kind.removesuffix(SCALAR))
        numpys = dtype.type(0) if is_number(kind) else np.empty(0, dtype)
        found[name] = _NUMBERS[kind] if kind in PYTHON else numpys
    return found


def fits(program: Program, types: Mapping[str, str]) -> bool:
    """Whether a program may run for some types, whatever the sizes are.

    Args:
        program: what it needs is looked at.
        types: parameter -> its type, see `Kinds`.
    """
    values = stand_ins(types)
    for each in program.needs:
        if isinstance(each, _OF_TYPES) and not each.holds(values):
            return False
        if isinstance(each, needs.Rank) and is_number(types[each.name]):
            return False
        if isinstance(each, needs.Number) and not is_number(types[each.name]):
            return False
    return True


@dataclass(frozen=True)
class Expected:
    """The arguments that a text is for.

    Args:
        types: parameter -> its type, see `Kinds`; each of them.
        unread: parameters that the function never uses, which may be anything.
        axes: array parameter -> how many axes it has, where the function needs so many.
        conditions: what must hold of the sizes for accesses to stay inside their arrays.
        may_leave: whether others may leave theirs all the same, so that indices are checked.
        apart: pairs of arrays that must not meet in memory: one is written, and steps changed the
            order of accesses.
    """

    types: Mapping[str, str]
    unread: Set[str]
    axes: Mapping[str, int]
    conditions: Sequence[Condition]
    may_leave: bool
    apart: Sequence[tuple[str, str]]

    @classmethod
    def of(
        cls, program: Program, uses: Sequence[Use], types: Mapping[str, str], *, is_rewritten: bool
    ) -> Expected:
        """What a text of a program is for.

        Args:
            program: the function as the user wrote it.
            uses: of its parameters.
            types: parameter -> its type.
            is_rewritten: whether the text differs from what the user wrote.
        """
        axes = {each.name: each.rank for each in uses if each.rank is not None}
        axes |= {each.name: each.axes for each in program.needs if isinstance(each, needs.Rank)}
        conditions, unproved = bounds.both(program)
        may_leave = bool(unproved) or bounds.helpers_index(program)
        read = set().union(*map(query.names, program.function.body))
        unread = {each.name for each in uses} - read
        arrays = [e for e in uses if e.name not in unread and not is_number(types[e.name])]
        pairs = itertools.combinations(arrays if is_rewritten else (), 2)
        apart = [(a.name, b.name) for a, b in pairs if a.may_be_written or b.may_be_written]
        return cls(types, unread, axes, conditions, may_leave, apart)

    def test(
        self,
        function: ast.FunctionDef,
        word: Callable[[str], str],
        fresh: Callable[[str], str],
        *,
        on_device: bool = False,
    ) -> list[ast.stmt]:
        """The statements that raise an error for other arguments.

        Args:
            function: the one that gets them.
            word: gives the name of an import.
            fresh: gives a name that is free.
            on_device: arrays are those of any package for a GPU; their types are told by name.

        After::

            types = x.dtype, x.ndim, type(factor)
            if types != (float32, 2, float):
                raise TypeError("made for x: float32 of 2 axes, ...; given " + str(types))
        """
        found: list[ast.expr] = []
        wanted: list[ast.expr] = []
        for name in query.parameters(function):
            given = self.types[name]
            if name in self.unread:
                continue
            if is_number(given):
                found.append(nodes.call("type", [nodes.name(name)]))
                wanted.append(nodes.name(_class(given, word)))
                continue
            dtype = nodes.attribute(name, "dtype")
            found.append(_name_of(dtype) if on_device else dtype)
            own = nodes.const(_shown(given)) if on_device else nodes.name(_class(given, word))
            wanted.append(own)
            if name in self.axes:
                found.append(nodes.attribute(name, "ndim"))
                wanted.append(nodes.const(self.axes[name]))
        made = inside.test(self.conditions)
        if self.apart and not on_device:
            made.insert(0, self._test_of_memory(word))
        if not found:
            return made
        types = fresh("types")
        made_for = f"made for {self._described()}; emit it with dtypes= for others; given "
        told = nodes.binary(nodes.const(made_for), ast.Add, nodes.call("str", [nodes.name(types)]))
        error = nodes.call("TypeError", [told])
        differs = nodes.compare(nodes.name(types), ast.NotEq, nodes.tuple_of(wanted))
        return [
            nodes.assign(types, nodes.tuple_of(found)),
            nodes.if_then(differs, [ast.Raise(error, None)]),
            *made,
        ]

    def _test_of_memory(self, word: Callable[[str], str]) -> ast.stmt:
        """What raises a ValueError where arrays meet; a kernel runs the original loops there."""
        function = word("numpy.shares_memory")
        meet = [nodes.call(function, [nodes.name(a), nodes.name(b)]) for a, b in self.apart]
        test = meet[0] if len(meet) == 1 else ast.BoolOp(ast.Or(), list(meet))
        told = "arrays meet in memory, and one of them is written: pass copies"
        return nodes.if_then(test, [nodes.raise_error("ValueError", told)])

    def _described(self) -> str:
        told = []
        for name, given in self.types.items():
            if name in self.unread:
                continue
            axes = self.axes.get(name)
            more = "" if axes is None else f" of {axes} {'axis' if axes == 1 else 'axes'}"
            told.append(f"{name}: {_shown(given)}{more}")
        return ", ".join(told)


def retyped(
    kinds: Kinds, value: ast.expr, word: Callable[[str], str], *, given_by_numba: bool = False
) -> ast.expr:
    """What a text returns, with the types that numbers have in the plain program.

    Args:
        kinds: of the program.
        value: what is returned; a tuple where each value of the program is one.
        word: gives the name of an import.
        given_by_numba: its numbers are Python's; those that a GPU gives are NumPy's.
    """
    rows = [[each] for each in kinds.returned_values()]
    if not rows:
        return value
    is_tuple = isinstance(value, ast.Tuple) and kinds.returned_parts() is not None
    parts = [value]
    if is_tuple and isinstance(value, ast.Tuple):
        parts = value.elts
        rows = [each.elts for [each] in rows if isinstance(each, ast.Tuple)]
    made = []
    columns = zip(*rows, strict=True)
    for each, column, kind in zip(parts, columns, kinds.returned_kinds(), strict=True):
        if kind is None or any(map(kinds.is_array, column)) or (given_by_numba and kind in PYTHON):
            made.append(each)
        else:
            made.append(nodes.call(_class(kind, word), [each]))
    return nodes.tuple_of(made) if is_tuple else made[0]


def _class(kind: str, word: Callable[[str], str]) -> str:
    """The name in the text of the class of a kind."""
    return kind if kind in PYTHON else word(f"numpy.{kind.removesuffix(SCALAR)}")


def _shown(kind: str) -> str:
    """A type as NumPy names it: ``"bool"`` for its own truth values."""
    return "bool" if kind == "bool_" else kind.replace(SCALAR, "")


def _name_of(dtype: ast.expr) -> ast.expr:
    """``str(x.dtype).removeprefix("torch.")``: PyTorch has types of its own."""
    text = nodes.call("str", [dtype])
    return nodes.call(nodes.attribute(text, "removeprefix"), [nodes.const("torch.")])
