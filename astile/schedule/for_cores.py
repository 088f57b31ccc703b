"""What bare `@tile` makes of a program for a CPU: rows inside, cores outside, rims apart.

Everything here is an attempt: a step that is not legal leaves the program as it was.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.lower.vectors.values import NEARLY
from astile.schedule import rims, rows_inside
from astile.schedule.select import Loop
from astile.schedule.steps import Steps

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: How many orders of the loops of one nest are tried.
_ORDERS = 2
#: Rows of a strip, of which each core takes its own.
_STRIP = 32


def for_cores(s: Schedule) -> None:
    """Choose the steps for a program that runs on a CPU.

    The innermost loops go along rows, first and last iterations whose indices are clamped or
    wrapped stand apart, and the outermost loops that can run on several cores do. Innermost
    loops become vectors where they call exp, log or tanh.

    Args:
        s: the schedule; steps are added to it.
    """
    _rows_inside(s)
    _near_their_use(s)
    _rims_apart(s)
    _on_cores(s)
    if not s.exact:
        _functions_in_vectors(s)


def attempt(step: Callable[..., object], *arguments: object) -> bool:
    """Whether a step was legal; an illegal one leaves the schedule as it was.

    Args:
        step: a primitive of a schedule.
        *arguments: what it takes.
    """
    owner = getattr(step, "__self__", None)
    silent = owner.without_reasons() if isinstance(owner, Steps) else contextlib.nullcontext()
    try:
        with silent:
            step(*arguments)
    except ScheduleError:
        return False
    return True


def _handle(s: Schedule, loop: ast.For) -> Loop:
    identity = nodes.loop_id(loop)
    assert identity is not None
    return Loop(s, identity)


def _rows_inside(s: Schedule) -> None:
    done: set[int | None] = set()
    while True:
        waiting = [n for n in rows_inside.innermost(s.program) if nodes.loop_id(n[-1]) not in done]
        if not waiting:
            return
        nest = waiting[0]
        done.add(nodes.loop_id(nest[-1]))
        for best in rows_inside.better_order(nest)[:_ORDERS]:
            place = next(k for k, each in enumerate(nest) if each is best)
            order = [*nest[place + 1 :], best]
            if attempt(s.reorder, *[_handle(s, each) for each in order]):
                done.add(nodes.loop_id(best))
                break


def _near_their_use(s: Schedule) -> None:
    """Compute the rows of arrays that the function makes right before they are used."""
    rows: dict[int, Loop] = {}
    for array in reversed([each.array for each in s.stages()]):
        nests = _nests_of(s, array)
        if nests is None:
            continue
        producer, consumer = nests
        trial = s.copy()
        if _takes_rows(trial, array, Loop(trial, producer), Loop(trial, consumer), rows):
            s.adopt(trial)


def _nests_of(s: Schedule, array: str) -> tuple[int, int] | None:
    """The only outermost loop that writes an array made here, and the only one that reads it."""
    made = [e for each in s.program.function.body if (e := query.allocation(each)) is not None]
    if not any(each.array == array for each in made):
        return None
    writers: list[int] = []
    readers: list[int] = []
    for statement in s.program.function.body:
        if query.allocation(statement) is not None or array not in query.names(statement):
            continue
        identity = nodes.loop_id(statement) if isinstance(statement, ast.For) else None
        if identity is None:
            return None
        (writers if array in query.written_arrays(statement) else readers).append(identity)
    return (writers[0], readers[0]) if len(writers) == len(readers) == 1 else None


def _takes_rows(
    s: Schedule, array: str, producer: Loop, consumer: Loop, rows: dict[int, Loop]
) -> bool:
    """Compute the rows that an iteration of the consumer needs inside of it, each of them once.

    Where the next iteration needs some of them again, strips of rows are left for the cores, and
    inside a strip rows are kept in turns.
    """
    row = rows.get(consumer.identity, consumer)
    row = Loop(s, row.identity)
    if not attempt(s.compute_at, producer, row) or not _depends_on(s, array, row):
        return False
    if consumer.identity in rows:
        if attempt(s.store_at, array, consumer) and attempt(s.rolling_buffer, array, row):
            return True
        s.undo()
    elif _moves_along(s, array, row):
        s.undo()
        strip, row = s.split(consumer, [None, _STRIP])
        wanted = ((s.compute_at, producer, row), (s.store_at, array, strip))
        if not all(attempt(*each) for each in wanted) or not attempt(s.rolling_buffer, array, row):
            return False
        rows[strip.identity] = row
        return True
    return attempt(s.set_scope, array, "local")


def _moves_along(s: Schedule, array: str, row: Loop) -> bool:
    """Whether an iteration needs rows of an array that the next one needs again."""
    trial = s.copy()
    return attempt(trial.rolling_buffer, array, Loop(trial, row.identity))


def _depends_on(s: Schedule, array: str, row: Loop) -> bool:
    """Whether each iteration of a loop writes other cells of an array."""
    node = s.program.loop(row.identity)
    assert node is not None
    return any(
        row.var in query.names(index)
        for access in query.accesses(node, array)
        if isinstance(access.ctx, ast.Store)
        for index in query.indices(access)
    )


def _rims_apart(s: Schedule) -> None:
    identities = [nodes.loop_id(nest[-1]) for nest in rows_inside.innermost(s.program)]
    for identity in identities:
        loop = None if identity is None else s.program.loop(identity)
        if loop is None:
            continue
        found = rims.of(s.program, loop)
        if found is not None:
            attempt(s.peel, _handle(s, loop), *found)


def _on_cores(s: Schedule) -> None:
    for statement in list(s.program.function.body):
        _spread(s, statement, depth=0)


def _spread(s: Schedule, statement: ast.stmt, depth: int) -> None:
    """Run the outermost loops below a statement on several cores that can."""
    if isinstance(statement, ast.For) and query.header(statement) is not None:
        identity = nodes.loop_id(statement)
        if identity is None or s.program.loop(identity) is None:
            return
        has_inner = len(query.loops(statement)) > 1
        if (has_inner or depth == 0) and attempt(s.parallel, Loop(s, identity)):
            return
        depth += 1
    for body in query.bodies(statement):
        for each in body:
            _spread(s, each, depth)


def _functions_in_vectors(s: Schedule) -> None:
    """Compute functions that take a processor long for several cells at once."""
    for nest in rows_inside.innermost(s.program):
        words = [query.dotted(e.func) for e in ast.walk(nest[-1]) if isinstance(e, ast.Call)]
        if any(_path(s, each) in NEARLY for each in words if each):
            attempt(s.vectorize, _handle(s, nest[-1]))


def _path(s: Schedule, word: str) -> str:
    """``np.exp`` by the names of modules: ``numpy.exp``."""
    head, dot, rest = word.partition(".")
    return s.program.imports.get(head, head) + dot + rest
