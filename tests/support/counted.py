"""Runs a program in plain Python and counts what it touches and computes, without analysis."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from astile.analysis.counts.traffic import Nest, measure
from astile.analysis.counts.traffic import operations as count_operations
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
        #: nest -> array -> how many cells its blocks read and write, each for itself
        self.block_read: dict[int, Counter[str]] = {}
        self.block_written: dict[int, Counter[str]] = {}
        self._block: tuple[set[Any], set[Any]] | None = None  # read before written, written
        #: (nest, loops from the outside in) -> array -> numbers of cells of its iterations
        self.footprints: dict[tuple[int, int], list[dict[str, int]]] = {}
        self._open: list[tuple[int, dict[str, set[Any]]]] = []

    def enter_nest(self, number: int) -> None:
        self.nest = number
        self.read[number], self.written[number], self.operations[number] = {}, {}, 0
        self.block_read[number], self.block_written[number] = Counter(), Counter()

    def computes(self, number: int) -> None:
        self.operations[self.nest] += number

    def begins(self, loop: int) -> None:
        self._open.append((loop, {}))

    def ends(self, loop: int) -> None:
        number, cells = self._open.pop()
        assert number == loop
        found = {name: len(each) for name, each in cells.items()}
        self.footprints.setdefault((self.nest, loop), []).append(found)

    def begins_block(self, _: int) -> None:
        self._block = set(), set()

    def ends_block(self, _: int) -> None:
        assert self._block is not None
        read, written = self._block
        self.block_read[self.nest].update(array for array, _ in read)
        self.block_written[self.nest].update(array for array, _ in written)
        self._block = None

    def touches(self, array: str, cell: tuple[int, ...], is_write: bool) -> None:
        for _, cells in self._open:
            cells.setdefault(array, set()).add(cell)
        if self._block is not None:
            read_here, written_here = self._block
            if is_write:
                written_here.add((array, cell))
            elif (array, cell) not in written_here:
                read_here.add((array, cell))
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


def _is_block(loop: ast.For) -> bool:
    header = query.header(loop)
    return header is not None and header.kind.startswith("block.")


def _watched(
    statement: ast.stmt, loops: Mapping[int, int], operations: Operations
) -> list[ast.stmt]:
    if isinstance(statement, ast.For):
        number = loops[id(statement)]
        is_block = _is_block(statement) and not any(
            _is_block(each) for each in query.loops(statement) if each is not statement
        )
        statement.body = [
            _call("begins", number),
            *([_call("begins_block", number)] if is_block else []),
            *(made for each in statement.body for made in _watched(each, loops, operations)),
            *([_call("ends_block", number)] if is_block else []),
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


def agree(program: Program, arguments: Mapping[str, Any]) -> set[str]:
    """Compare what `measure` counts with a run; the arrays for which the counts are exact."""
    shapes = {name: v.shape for name, v in arguments.items() if isinstance(v, np.ndarray)}
    integers = {name: int(v) for name, v in arguments.items() if isinstance(v, (int, np.integer))}
    found = measure(program, shapes, integers)
    counts = counted(program, arguments, count_operations)
    ran = [
        number
        for number in counts.operations
        if any((counts.read[number], counts.written[number], counts.operations[number]))
    ]
    assert len(ran) == len(found.nests)
    for number, nest in zip(ran, found.nests, strict=True):
        if not nest.is_exact:
            continue
        assert nest.operations == counts.operations[number]
        for measured, seen in (
            (nest.read, counts.read[number]),
            (nest.written, counts.written[number]),
        ):
            exact = {name: len(cells) for name, cells in seen.items() if cells}
            assert {k: v for k, v in measured.items() if k not in found.estimated} == {
                k: v for k, v in exact.items() if k not in found.estimated
            }
            assert all(exact[name] <= measured[name] for name in exact)  # an upper limit
        if any(each.kind.startswith("block.") for each in nest.footprints):
            for measured, seen in (
                (nest.block_read, counts.block_read[number]),
                (nest.block_written, counts.block_written[number]),
            ):
                assert {k: v for k, v in measured.items() if k not in found.estimated} == {
                    k: v for k, v in seen.items() if k not in found.estimated
                }
        _agree_on_footprints(nest, number, counts, found.estimated)
    return {name for nest in found.nests for name in nest.cells} - found.estimated


def _agree_on_footprints(
    nest: Nest, number: int, counts: Counts, estimated: frozenset[str]
) -> None:
    loops = [iterations for (n, _), iterations in sorted(counts.footprints.items()) if n == number]
    assert len(loops) == len(nest.footprints) - 1
    for footprint, iterations in zip(nest.footprints[1:], loops, strict=True):
        exact = {k: v for k, v in footprint.cells.items() if k not in estimated}
        assert exact in [{k: v for k, v in e.items() if k not in estimated} for e in iterations]
