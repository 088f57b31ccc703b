"""Whether two statements compute the same: the same text, up to arrays and indices.

What they read is compared elsewhere, by dataflow; here operators, constants, names of functions
and the order of everything are compared, and integers that are used as values are collected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi, Scope, substituted
from astile.analysis.reading.access import Access
from astile.analysis.reading.instances import Statement, written_as
from astile.ir import nodes, query

_IGNORED = ("ctx", "type_comment", "kind", "simple")


class Different(Exception):  # noqa: N818 - says what is the case
    """Two statements compute different things.

    Args:
        reason: how they differ.
        node: the part of the new statement.
    """

    def __init__(self, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node


@dataclass
class Match:
    """What still has to hold for two statements to compute the same.

    Args:
        equal: pairs of integers, of the original and of the new statement, that must be equal.
    """

    equal: list[tuple[Quasi, Quasi]] = field(default_factory=list)


def match(original: Statement, new: Statement) -> Match:
    """Compare the text of two statements.

    Raises:
        Different: when they differ in more than arrays and indices.
    """
    walker = _Walker(original, new)
    walker.pair(original.leaf.node, new.leaf.node)
    # scalars that a compound statement keeps to itself may be so in one program only
    slots = [
        {each.slot for each in (*s.reads, *s.writes) if each.slot[1:2] != "V"}
        for s in (original, new)
    ]
    if slots[0] != slots[1]:
        raise Different("they take part in different things", new.leaf.node)
    return walker.found


def check_inside(original: Statement, new: Statement, values: Mapping[str, Quasi]) -> None:
    """Check that cells meet inside a compound statement as they do in the original.

    The flow sees what a compound statement reads at its begin only. Inside, two accesses are to
    one cell if and only if they are so in the original: that is certain when all accesses to an
    array that is written are to the same cell, or where they were.

    Args:
        original: the original statement.
        new: the statement that stands for it.
        values: what the original's loop variables are.

    Raises:
        Different: when cells may meet otherwise.
    """
    if original.leaf.is_simple:
        return
    now = {each.slot: each for each in (*new.reads, *new.writes)}
    pairs: list[tuple[Cell, Cell]] = []
    spelled: list[tuple[Spelled, Spelled]] = []
    written: tuple[set[str], set[str]] = set(), set()
    for before in (*original.reads, *original.writes):
        after = now.get(before.slot)
        if after is None or before.slot[1:2] == "E":
            continue
        indices = tuple(None if e is None else substituted(e, values) for e in before.indices)
        pairs.append(((before.array, indices), (after.array, after.indices)))
        spelled.append((_spelled(before, original), _spelled(after, new)))
        if before.slot[0] == "w":
            written[0].add(before.array)
            written[1].add(after.array)
    for side in (0, 1):
        for array in written[side]:
            some = [pair for pair in pairs if pair[side][0] == array]
            cells = [pair for pair in spelled if pair[side][0] == array]
            one = all(
                len({pair[k] for pair in cells}) == 1 and None not in cells[0][k][1] for k in (0, 1)
            )
            if not one and any(first != second for first, second in some):
                raise Different(
                    f"only a part of the accesses to {array} is redirected", new.leaf.node
                )


def _spelled(access: Access, statement: Statement) -> Spelled:
    """A cell, with the text of each index that is not known but stays as it is inside."""
    writes = statement.accesses.writes
    node = written_as(statement, access)
    one = None if node is None else _decided_by_data(node, access)
    if one is None or any(query.names(e) & {w.array for w in writes} for e in one):
        return access.array, access.indices
    texts = iter(one)
    return access.array, tuple(
        ast.dump(next(texts)) if each is None else each for each in access.indices
    )


#: An array and the indices of one of its cells.
Cell = tuple[str, tuple[Quasi | None, ...]]
#: The same, with the text of an index that is not known.
Spelled = tuple[str, tuple[Quasi | str | None, ...]]


class _Walker:
    def __init__(self, original: Statement, new: Statement) -> None:
        self.slots = (original.accesses.slots, new.accesses.slots)
        self.scopes: tuple[Scope, Scope] = (original.accesses.scope, new.accesses.scope)
        self.cells = tuple(
            {each.slot: each for each in (*s.accesses.reads, *s.accesses.writes)}
            for s in (original, new)
        )
        self.found = Match()

    def pair(self, first: ast.AST, second: ast.AST) -> None:
        if isinstance(first, ast.expr) and isinstance(second, ast.expr):
            if self._integers(first, second):
                return
            slots = self.slots[0].get(id(first)), self.slots[1].get(id(second))
            if slots[0] != slots[1]:
                raise Different("one reads memory where the other does not", second)
            if slots[0] is not None:
                self._access(first, second, slots[0])
                return
        if type(first) is not type(second):
            raise Different("the expressions differ", second)
        for name, value in ast.iter_fields(first):
            if name not in _IGNORED:
                self._field(value, getattr(second, name), second)

    def _integers(self, first: ast.expr, second: ast.expr) -> bool:
        """Whether both are known integers, which then have to be equal."""
        if isinstance(getattr(first, "ctx", None), ast.Store):
            return False
        values = [
            affine_sets.quasi(each, scope)
            for each, scope in zip((first, second), self.scopes, strict=True)
        ]
        if values[0] is None and values[1] is None:
            return False
        if values[0] is None or values[1] is None:
            raise Different("one is an integer known from the loops, the other is not", second)
        self.found.equal.append((values[0], values[1]))
        return True

    def _field(self, first: object, second: object, node: ast.AST) -> None:
        if isinstance(first, list) and isinstance(second, list):
            if len(first) != len(second):
                raise Different("the statements differ in length", node)
            for one, other in zip(first, second, strict=True):
                self._field(one, other, node)
        elif isinstance(first, ast.AST) and isinstance(second, ast.AST):
            self.pair(first, second)
        elif type(first) is not type(second) or first != second or str(first) != str(second):
            raise Different("the names or constants differ", node)

    def _access(self, first: ast.expr, second: ast.expr, slots: tuple[str, ...]) -> None:
        """Cells that are known are left to the flow; of others the text must be the same.

        ``A[x[i]]`` may have become ``A_rf[i_0, x[i]]``: where a value that the loops do not tell
        decides an index, the same value has to decide it, whatever array the cell lies in now.
        That it stays inside, and counts from the same end, is for `reach` to say.
        """
        outer = [slot for slot in slots if slot[0] != "i"]  # others are inside the statement
        known = [all(cells[slot].is_exact for slot in outer) for cells in self.cells]
        if all(known):
            return
        if any(known):
            raise Different("a cell that is not known is another one", second)
        found = [
            _decided_by_data(node, cells[outer[0]])
            for node, cells in zip((first, second), self.cells, strict=True)
        ]
        if found[0] is not None and found[1] is not None and len(found[0]) == len(found[1]):
            for one, other in zip(*found, strict=True):
                self._index(one, other)
        elif query.base_name(first) != query.base_name(second):
            raise Different("a cell that is not known is another one", second)
        elif isinstance(first, ast.Subscript) and isinstance(second, ast.Subscript):
            self._field(query.indices(first), query.indices(second), second)
        elif type(first) is not type(second):
            raise Different("a part of an array is another one", second)

    def _index(self, first: ast.expr, second: ast.expr) -> None:
        """An index that is not known: a sum whose known parts may stand elsewhere in it.

        ``i * s + p`` becomes ``i * s + p_0 * 3 + p_1`` where p is split. All are integers of Python
        then: loops and sizes make them, and no cell of an array, which may have fewer bits.
        """
        known, open_ = zip(*map(self._terms, (first, second), self.scopes), strict=True)
        is_alike = [sign for sign, _ in open_[0]] == [sign for sign, _ in open_[1]]
        of_numbers = all(
            _is_of_numbers(each, scope)
            for side, scope in zip(open_, self.scopes, strict=True)
            for _, each in side
        )
        if not (is_alike and of_numbers and all(open_) and all(known)):
            self._field(first, second, second)
            return
        for (_, one), (_, other) in zip(*open_, strict=True):
            self.pair(one, other)
        self.pair(*(_sum(each) for each in known))

    def _terms(
        self, index: ast.expr, scope: Scope
    ) -> tuple[list[tuple[bool, ast.expr]], list[tuple[bool, ast.expr]]]:
        """The terms of a sum that are known integers, and the others; whether each is added."""
        known: list[tuple[bool, ast.expr]] = []
        others: list[tuple[bool, ast.expr]] = []
        for is_added, term in _summands(index, True):
            place = others if affine_sets.quasi(term, scope) is None else known
            place.append((is_added, term))
        return known, others


def _summands(node: ast.expr, is_added: bool) -> Iterator[tuple[bool, ast.expr]]:
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as operator, right=right):
            yield from _summands(left, is_added)
            yield from _summands(right, is_added == isinstance(operator, ast.Add))
        case _:
            yield is_added, node


def _sum(terms: Sequence[tuple[bool, ast.expr]]) -> ast.expr:
    result: ast.expr = nodes.const(0)
    for is_added, term in terms:
        result = nodes.binary(result, ast.Add if is_added else ast.Sub, term)
    return result


def _is_of_numbers(term: ast.expr, scope: Scope) -> bool:
    """Whether a term is made of literals and of names that are known integers."""
    kinds = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Load)
    parts = list(ast.walk(term))
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    return names <= scope.values.keys() and all(isinstance(each, kinds) for each in parts)


def _decided_by_data(node: ast.expr, access: Access) -> list[ast.expr] | None:
    """The indices of one cell that are not known from the loops; None for more than one cell."""
    if not isinstance(node, ast.Subscript):
        return None
    indices = query.indices(node)
    one_cell = len(indices) == len(access.indices) and not any(
        isinstance(each, (ast.Slice, ast.Starred, ast.Constant, ast.Tuple, ast.List))
        for each, known in zip(indices, access.indices, strict=True)
        if known is None
    )
    if not one_cell:
        return None
    return [each for each, known in zip(indices, access.indices, strict=True) if known is None]
