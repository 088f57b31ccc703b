"""Runs a program in plain Python and writes down which cells each statement touches, in order."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program

#: One touched cell: number of the array, number of the cell in C order, whether it is written.
Touch = tuple[int, int, bool]


@dataclass
class Watch:
    """What one run touched.

    Args:
        arrays: array -> its shape, in the order in which they were first seen.
        events: one for each statement that ran and touched a cell.
    """

    arrays: dict[str, tuple[int, ...]] = field(default_factory=dict)
    events: list[list[Touch]] = field(default_factory=list)
    _open: list[Touch] = field(default_factory=list)

    def touch(self, array: str, index: object, *, is_write: bool) -> None:
        """Note one access; an index of fewer axes than the array has is a row.

        Args:
            array: its name.
            index: as it stands in the brackets.
            is_write: whether cells are written.
        """
        shape = self.arrays[array]
        number = list(self.arrays).index(array)
        cells = np.arange(int(np.prod(shape))).reshape(shape)[index]  # type: ignore[call-overload]
        self._open += [(number, int(each), is_write) for each in np.ravel(cells)]

    def touched(self) -> dict[str, tuple[int, ...]]:
        """Array -> the smallest shape that has all its cells that were touched."""
        last = {name: (0,) * len(shape) for name, shape in self.arrays.items()}
        shapes = list(self.arrays.items())
        for number, cell, _ in {touch for event in self.events for touch in event}:
            name, shape = shapes[number]
            place = np.unravel_index(cell, shape)
            last[name] = tuple(max(a, int(b) + 1) for a, b in zip(last[name], place, strict=True))
        return last

    def close(self) -> None:
        """End one statement."""
        if self._open:
            self.events.append(self._open)
            self._open = []


class _Watched(np.ndarray):
    """An array that tells its watch of every access."""

    watch: Watch | None = None
    name: str = ""

    def __getitem__(self, index: Any) -> Any:
        if self.watch is not None:
            self.watch.touch(self.name, index, is_write=False)
        return np.asarray(self)[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.watch is not None:
            self.watch.touch(self.name, index, is_write=True)
        np.asarray(self)[index] = value


def watch(program: Program, arguments: Mapping[str, object], most: int) -> Watch | None:
    """Run a program on copies of its arguments.

    Args:
        program: any step of a schedule.
        arguments: parameter -> argument.
        most: events after which the run is given up; then there is no result.
    """
    found = Watch()

    def named(name: str, array: np.ndarray) -> _Watched:
        found.arrays.setdefault(name, array.shape)
        view = array.view(_Watched)
        view.watch, view.name = found, name
        return view

    def close() -> None:
        found.close()
        if len(found.events) > most:
            raise _TooLongError

    scope: dict[str, Any] = {"__name__": "astile_watched"}
    exec(compile(module_text(program), f"<{program.name}>", "exec"), scope)  # noqa: S102
    new = program.cloned().function
    new.body = list(_noted(new.body))
    module = ast.fix_missing_locations(nodes.module_of([new]))
    scope["_named"], scope["_close"] = named, close
    exec(compile(module, f"<{program.name}>", "exec"), scope)  # noqa: S102
    given = {
        name: named(name, value.copy()) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    try:
        scope[program.name](**given)
    except _TooLongError:
        return None
    return found


class _TooLongError(Exception):
    """A run has more events than anybody wants to look at."""


def _noted(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, each followed by a call that ends it."""
    close = nodes.call("_close")
    for statement in body:
        blocks = query.bodies(statement)
        for block in blocks:
            block[:] = _noted(list(block))
        made = query.allocation(statement)
        yield statement
        if made is not None:
            array = nodes.call("_named", [nodes.const(made.array), nodes.name(made.array)])
            yield nodes.assign(made.array, array)
        if not blocks and not isinstance(statement, (ast.Return, ast.Break, ast.Continue)):
            yield ast.Expr(nodes.clone(close))


def live(found: Watch, is_counted: Callable[[str], bool]) -> list[int]:
    """How many cells hold a value that is still to be read, after each event.

    Args:
        found: a run.
        is_counted: whether an array counts.
    """
    names = list(found.arrays)
    counted = {number for number, name in enumerate(names) if is_counted(name)}
    changes = [0] * (len(found.events) + 1)
    written: dict[tuple[int, int], int] = {}
    read: dict[tuple[int, int], int] = {}

    def end(cell: tuple[int, int]) -> None:
        if cell in read:  # a value that nobody reads is never alive
            changes[written[cell]] += 1
            changes[read.pop(cell) + 1] -= 1

    for time, event in enumerate(found.events):
        for array, number, is_write in event:
            cell = (array, number)
            if array not in counted:
                continue
            if is_write:
                if cell in written:
                    end(cell)
                written[cell] = time
            elif cell in written:
                read[cell] = time
    for cell in list(written):
        end(cell)
    return [int(each) for each in np.cumsum(changes)[:-1]]
