"""Columns of an array that are read side by side: turned in registers, not cell by cell."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field

from astile.analysis.forms import affine
from astile.ir import nodes, printer, query
from astile.lower.vectors.repeated import Calls, calls_in
from astile.lower.vectors.words import Words


def turned(body: Sequence[ast.stmt], words: Words) -> list[ast.stmt]:
    """The statements, with squares of cells loaded by rows where all their columns are used.

    Within straight-line text, and as long as nothing is stored to the array.

    Args:
        body: all statements of the function, edited in place.
        words: for the names.

    Before:
        store(y, (0, j), load_along(x, (j, 0), 0, 2))
        store(y, (1, j), load_along(x, (j, 1), 0, 2))

    After:
        x_columns = columns(x, (j, 0), 2)
        store(y, (0, j), x_columns[0])
        store(y, (1, j), x_columns[1])
    """
    calls = calls_in(body, words)
    return _turned(body, calls)


def _turned(body: Sequence[ast.stmt], calls: Calls) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    run: list[ast.stmt] = []
    for statement in body:
        if not query.bodies(statement):
            run.append(statement)
            continue
        result += _Run(calls).rewritten(run)
        run = []
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, name, _turned(inner, calls))
        result.append(statement)
    return result + _Run(calls).rewritten(run)


@dataclass
class _Square:
    """Columns of one array in the same rows, side by side as far as they are known.

    Args:
        array: the array.
        lanes: cells of a column.
        first: position of the statement that reads the first of them.
        found: constant part of the last index -> the loads of this column.
    """

    array: str
    lanes: int
    first: int
    found: dict[int, list[ast.Call]] = field(default_factory=dict)


class _Run:
    """Straight-line statements."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._open: dict[tuple[str, ...], _Square] = {}
        #: a load -> what takes its place
        self._instead: dict[int, ast.expr] = {}
        #: position of a statement -> what comes before it
        self._before: dict[int, list[ast.stmt]] = {}

    def rewritten(self, run: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of the run."""
        for position, statement in enumerate(run):
            for node in query.preorder(statement):
                if self._calls.function(node) == "load_along":
                    assert isinstance(node, ast.Call)
                    self._add(node, position)
            self._close(statement)
        for square in self._open.values():
            self._take(square)
        result: list[ast.stmt] = []
        for position, statement in enumerate(run):
            result += self._before.get(position, [])
            result.append(_Replaced(self._instead).visit(statement))
        return result

    def _add(self, load: ast.Call, position: int) -> None:
        array, place, axis, lanes = load.args
        count = query.integer(lanes)
        if not isinstance(array, ast.Name) or not isinstance(place, ast.Tuple) or not count:
            return
        if count & (count - 1) or query.integer(axis) != len(place.elts) - 2:
            return
        form = affine.of(place.elts[-1])
        rows = [printer.print_expression(each) for each in place.elts[:-1]]
        column = printer.print_expression((form - form.constant).expression())
        key = (array.id, str(count), column, *rows)
        square = self._open.setdefault(key, _Square(array.id, count, position))
        square.found.setdefault(form.constant, []).append(load)

    def _close(self, statement: ast.stmt) -> None:
        """End the squares that a statement changes, or whose place it changes."""
        stored, written = self._calls.stores(statement), query.names_written(statement)
        for key, square in list(self._open.items()):
            places = {name for loads in square.found.values() for name in query.names(loads[0])}
            is_stored = stored is not None and (
                stored in ("", square.array) or self._calls.may_be_any(square.array)
            )
            if is_stored or places & written:
                self._take(self._open.pop(key))

    def _take(self, square: _Square) -> None:
        """Turn the square, or several beside each other, whose columns are all read."""
        words = self._calls.words
        for start in sorted(square.found):
            numbers = range(start, start + square.lanes)
            if not all(square.found.get(number) for number in numbers):
                continue
            name = words.fresh(f"{square.array}_columns")
            load = square.found[start][0]
            arguments = [nodes.clone(load.args[0]), nodes.clone(load.args[1])]
            count = nodes.const(square.lanes)
            made = nodes.call(words.intrinsic("columns"), [*arguments, count])
            self._before.setdefault(square.first, []).append(nodes.assign(name, made))
            for column, number in enumerate(numbers):
                for each in square.found.pop(number):
                    self._instead[id(each)] = nodes.subscript(name, [nodes.const(column)])


class _Replaced(ast.NodeTransformer):
    """Puts expressions in the places of others."""

    def __init__(self, instead: dict[int, ast.expr]) -> None:
        self._instead = instead

    def visit_Call(self, node: ast.Call) -> ast.AST:
        return self._instead.get(id(node)) or self.generic_visit(node)
