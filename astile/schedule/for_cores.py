"""What bare `@tile` makes of a program for a CPU: rows inside, cores outside, rims apart.

Everything here is an attempt: a step that is not legal leaves the program as it was.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.lower.vectors.functions import NEARLY
from astile.schedule import (
    contractions,
    register_tiles,
    rims,
    rows_at_once,
    rows_inside,
    shared_rows,
    waiting_rows,
)
from astile.schedule.attempts import attempt
from astile.schedule.contractions import Contraction
from astile.schedule.select import Loop
from astile.schedule.wants import Wants

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Rows and columns of the result that are summed up in registers: vectors enough to hide what an
#: addition takes, for all types and widths of vectors that there are.
_TILE = (4, 48)
#: The fewest rows, columns and summands that are worth it.
_LEAST = (4, 48, 16)
#: Most sums of products for which it is done: each takes a second or so to prove and to compile.
_MOST = 2
#: The fewest panels that are shared out among cores.
_PANELS = 8
#: How many orders of the loops of one nest are tried.
_ORDERS = 2
#: Rows of a strip, of which each core takes its own.
_STRIP = 32


def sums(program: Program) -> list[Contraction]:
    """The sums of products that `for_cores` keeps in registers, where that is legal.

    Args:
        program: the program before.
    """
    return contractions.find(program, _LEAST)


def for_cores(s: Schedule, *, plain: bool = False) -> Wants:
    """Choose the steps for a program that runs on a CPU.

    Sums of products are kept in registers, a tile at a time, where there is enough of them. The
    innermost loops go along rows, first and last iterations whose indices are clamped or
    wrapped stand apart, and the outermost loops that can run on several cores do. Innermost
    loops become vectors where they call exp, log or tanh.

    Args:
        s: the schedule; steps are added to it.
        plain: leave out what is no use to all types.

    Returns:
        What types the steps are for.
    """
    wants, in_tiles = Wants(), False
    few: set[int] = set()
    for each in sums(s.program)[:_MOST] if not plain else ():
        trial = s.copy()
        if attempt(_tiled_sums, trial, each):
            s.adopt(trial)
            in_tiles = True
    _rows_inside(s)
    _near_their_use(s)
    _nests_together(s, few)
    _rims_apart(s)
    if not plain:
        wants = _rows_together(s, few)
    _on_cores(s, few)
    if not s.exact:
        _functions_in_vectors(s)
    return replace(wants, vectors=wants.vectors or in_tiles)


def _handle(s: Schedule, loop: ast.For) -> Loop:
    identity = nodes.loop_id(loop)
    assert identity is not None
    return Loop(s, identity)


def _tiled_sums(s: Schedule, sums: Contraction) -> None:
    """Keep tiles of sums in registers where the sizes of a call are worth it."""
    order = [Loop(s, each) for each in sums.order]
    around = _outermost(s, order[0])
    least = list(_LEAST)
    if around == order[0] or not attempt(s.copy().parallel, Loop(s.copy(), around.identity)):
        least[1] *= _PANELS
    wanted: dict[str, int] = {}
    for length, bound in zip(sums.lengths, least, strict=True):
        if length.value is None or length.value < bound:
            text = print_expression(length.expression())
            wanted[text] = max(bound, wanted.get(text, 0))
    if wanted:
        condition = " and ".join(f"{each} >= {bound}" for each, bound in wanted.items())
        s.specialize(condition, order[0])
    nest = [Loop(s, each) for each in (sums.rows, sums.columns, sums.summed)]
    if nest != order:
        s.reorder(*nest)
    register_tiles.tiled(s, nest, sums.operand, sums.result, _TILE, layout=sums.layout)


def _outermost(s: Schedule, loop: Loop) -> Loop:
    node = s.program.loop(loop.identity)
    assert node is not None
    place = query.find_place(s.program.function, node)
    around = () if place is None else place.loops
    counted = [each for each in around if query.header(each) is not None]
    return _handle(s, counted[0]) if counted else loop


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
        node = s.program.loop(producer)
        beside = [] if node is None else [e for e in query.written_arrays(node) if e != array]
        trial = s.copy()
        if _takes_rows(trial, array, Loop(trial, producer), Loop(trial, consumer), rows):
            s.adopt(trial)
            _kept_beside(s, beside)


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
        if not isinstance(statement, ast.For) or query.header(statement) is None:
            return None
        identity = nodes.loop_id(statement)
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


def _kept_beside(s: Schedule, arrays: Collection[str]) -> None:
    """Keep rows of what the nest of another array writes too, and has taken along."""
    for each in arrays:
        attempt(s.set_scope, each, "local")


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


def _nests_together(s: Schedule, few: set[int]) -> None:
    """Run nests that use the same rows in one loop, as long as several cores can share it."""
    tried: set[tuple[int, int]] = set()
    while waiting := [each for each in shared_rows.pairs(s.program) if each not in tried]:
        pair = waiting[0]
        tried.add(pair)
        trial, ends = s.copy(), set(few)
        loops = (Loop(trial, each) for each in pair)
        if attempt(shared_rows.together, trial, *loops, ends):
            s.adopt(trial)
            few |= ends


def _rims_apart(s: Schedule) -> None:
    identities = [nodes.loop_id(nest[-1]) for nest in rows_inside.innermost(s.program)]
    for identity in identities:
        loop = None if identity is None else s.program.loop(identity)
        if loop is None:
            continue
        found = rims.of(s.program, loop)
        if found is not None:
            attempt(s.peel, _handle(s, loop), *found)


def _rows_together(s: Schedule, few: set[int]) -> Wants:
    """Run several rows at once: those whose cells wait for each other, and those of stencils."""
    vectors, floats = False, set()
    for nest in rows_inside.innermost(s.program):
        trial, left = s.copy(), set(few)
        columns = waiting_rows.lag(nest)
        if columns is not None:
            if attempt(waiting_rows.side_by_side, trial, nest, columns, left):
                s.adopt(trial)
                floats.update(query.written_arrays(nest[-1]))
                few |= left
        elif rows_at_once.share_cells(nest) and attempt(rows_at_once.at_once, trial, nest, left):
            s.adopt(trial)
            vectors = True
            few |= left
    return Wants(vectors, frozenset(floats))


def _on_cores(s: Schedule, few: set[int]) -> None:
    for statement in list(s.program.function.body):
        _spread(s, statement, few, depth=0)


def _spread(s: Schedule, statement: ast.stmt, few: set[int], depth: int) -> None:
    """Run the outermost loops below a statement on several cores that can, but for short ones."""
    if isinstance(statement, ast.For) and query.header(statement) is not None:
        identity = nodes.loop_id(statement)
        if identity is None or identity in few or s.program.loop(identity) is None:
            return
        has_inner = len(query.loops(statement)) > 1
        if (has_inner or depth == 0) and attempt(s.parallel, Loop(s, identity)):
            return
        depth += 1
    for body in query.bodies(statement):
        for each in body:
            _spread(s, each, few, depth)


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
