"""Runs a program in plain Python and counts what it touches and computes, without analysis."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program

#: How many operations one run of a statement takes.
Operations = Callable[[ast.stmt], int]


class Counts:
    """Counts nest by nest, and iteration by iteration of each loop."""

    def __init__(self) -> None:
        self.read: dict[int, dict[str, set[Any]]] = {}
        self.written: dict[int, dict[str, set[Any]]] = {}
        self.operations: dict[int, int] = {}
        self.nest = -1
        #: (nest, loops from the outside in) -> array -> numbers of cells of its iterations
        self.footprints: dict[tuple[int, int], list[dict[str, int]]] = {}
        self._open: list[tuple[int, dict[str, set[Any]]]] = []

    def enter_nest(self, number: int) -> None:
        self.nest = number
        self.read[number], self.written[number], self.operations[number] = {}, {}, 0

    def computes(self, number: int) -> None:
        self.operations[self.nest] += number

    def begins(self, loop: int) -> None:
        self._open.append((loop, {}))

    def ends(self, loop: int) -> None:
        number, cells = self._open.pop()
        assert number == loop
        found = {name: len(each) for name, each in cells.items()}
        self.footprints.setdefault((self.nest, loop), []).append(found)

    def touches(self, array: str, cell: tuple[int, ...], is_write: bool) -> None:
        for _, cells in self._open:
            cells.setdefault(array, set()).add(cell)
        written = self.written[self.nest].setdefault(array, set())
        if is_write:
            written.add(cell)
        elif cell not in written:  # its value was there before the nest
            self.read[self.nest].setdefault(array, set()).add(cell)


class Watched:
    """An array that tells which of its cells are read and written."""

    def __init__(self, name: str, array: np.ndarray, counts: Counts) -> None:
        self.name, self.array, self.counts = name, array, counts
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __len__(self) -> int:
        return len(self.array)

    def _cell(self, index: Any) -> tuple[int, ...]:
        cell = index if isinstance(index, tuple) else (index,)
        assert len(cell) == self.ndim, "rows are not counted"
        return tuple(int(i) + (e if i < 0 else 0) for i, e in zip(cell, self.shape, strict=True))

    def __getitem__(self, index: Any) -> Any:
        self.counts.touches(self.name, self._cell(index), False)
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.counts.touches(self.name, self._cell(index), True)
        self.array[index] = value


def counted(program: Program, arguments: Mapping[str, Any], operations: Operations) -> Counts:
    """Run a program on copies of arguments.

    Args:
        program: any step of a schedule.
        arguments: parameter -> argument.
        operations: statement -> how many operations one run of it takes.
    """
    counts = Counts()
    new = program.cloned()
    loops = {id(each): number for number, each in enumerate(query.loops(new.function))}
    body = list(new.function.body)
    new.function.body = [
        made
        for number, each in enumerate(body)
        for made in (_call("enter_nest", number), *_watched(each, loops, operations))
    ]
    scope: dict[str, Any] = {}
    exec(compile(module_text(program), "<program>", "exec"), scope)
    scope["counts_"] = counts

    def watched(name: str, array: np.ndarray, is_filled: bool) -> Watched:
        for cell in np.ndindex(array.shape) if is_filled else ():
            counts.touches(name, cell, True)
        return Watched(name, array, counts)

    scope["watched_"] = watched
    module = ast.fix_missing_locations(ast.Module([new.function], []))
    exec(compile(module, "<counted>", "exec"), scope)
    given = {
        name: Watched(name, value.copy(), counts) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    scope[program.name](**given)
    return counts


def _call(method: str, number: int) -> ast.stmt:
    called = nodes.attribute("counts_", method)
    return ast.Expr(ast.Call(called, [nodes.const(number)], []))


def _watched(
    statement: ast.stmt, loops: Mapping[int, int], operations: Operations
) -> list[ast.stmt]:
    if isinstance(statement, ast.For):
        number = loops[id(statement)]
        statement.body = [
            _call("begins", number),
            *(made for each in statement.body for made in _watched(each, loops, operations)),
            _call("ends", number),
        ]
        return [statement]
    if isinstance(statement, ast.If):
        for name in ("body", "orelse"):
            block = getattr(statement, name)
            made = [m for each in block for m in _watched(each, loops, operations)]
            setattr(statement, name, made)
        return [statement]
    made = query.allocation(statement)
    counted_ = _call("computes", operations(statement))
    if made is None:
        return [statement, counted_]
    is_filled = nodes.const(not made.word.startswith("empty"))
    given = [nodes.const(made.array), nodes.name(made.array), is_filled]
    watched = nodes.call("watched_", given)
    return [statement, nodes.assign(made.array, watched), counted_]
