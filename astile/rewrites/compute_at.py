"""`compute_at`: run a producer for exactly the region that one iteration of a loop needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis import footprint
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.region import at_most_in, restricted_nest
from astile.rewrites.result import Editor, Rewritten


def compute_at(program: Program, stage: Stage, loop: int, index: int = -1) -> Rewritten:
    """Move a producer into a loop of its consumer, cut to the region needed there.

    Halos, strides and clipping at the array's edge come from the consumer's accesses; the
    producer is computed again where regions overlap.

    Args:
        program: the program before.
        stage: the producer.
        loop: identity of a loop around the consumers.
        index: where in the loop's body: -1 as late as possible, -2 as early as possible, else
            the position of the statement before which it is put.

    Raises:
        ScheduleError: when the stage stands inside the loop already or after it, nothing in the
            loop reads what it writes, or it is read elsewhere too.

    Before:
        for i in range(n):
            a[i] = x[i] * 2
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]

    After ``compute_at("a", i_0)``:
        for i_0 in range((n + 15) // 16):
            for i in range(16):
                if i_0 * 16 + i < n:
                    a[i_0 * 16 + i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    edit.header(node)
    producers = outside_nests(edit, stage, node, before=True)
    readers = [k for k, each in enumerate(node.body) if _reads(each, stage.array)]
    if not readers:
        raise _not_read(edit, stage, node)
    _check_other_readers(edit, stage, node, producers)
    position = {-1: readers[0], -2: 0}.get(index, index)
    if not 0 <= position <= len(node.body):
        raise ScheduleError(
            f"index={index} is no position in the body of this loop", code="schedule.bad-index"
        )
    reads = [
        each
        for each in footprint.accesses_inside(node.body, stage.array)
        if not isinstance(each.node.ctx, ast.Store)
    ]
    hidden = {name for each in node.body for name in query.names_written(each)}
    sides = footprint.box(reads, at_most_in(edit, node), hidden)
    holder = edit.place(producers[0]).block
    made: list[ast.stmt] = []
    for producer in producers:
        made.append(
            restricted_nest(edit, producer, stage.array, sides, node, node.body, writes=True)
        )
        del holder[next(k for k, each in enumerate(holder) if each is producer)]
    node.body[position:position] = made
    return edit.finish([each for nest in made for each in query.loops(nest)])


def statement_at(edit: Editor, position: int) -> ast.stmt:
    """The statement at a position counted over all statements of the function."""
    return list(query.statements(edit.function))[position]


def outside_nests(edit: Editor, stage: Stage, node: ast.For, *, before: bool) -> list[ast.stmt]:
    """The statements beside the nest of a loop that hold a stage, in order.

    Raises:
        ScheduleError: when the stage is inside the loop, or on the wrong side of it.
    """
    chain: list[ast.stmt] = [*edit.place(node).parents, node]
    found: list[ast.stmt] = []
    for position in stage.positions:
        statement = statement_at(edit, position)
        place = edit.place(statement)
        path = [*place.parents, statement]
        if any(each is node for each in place.parents):
            raise ScheduleError(
                f"{stage.name} is computed inside this loop already",
                code="schedule.already-inside",
                span=edit.span(statement),
                hints=["name a loop of the other stage"],
            )
        depth = 0
        while depth < len(chain) and depth < len(path) and chain[depth] is path[depth]:
            depth += 1
        if not any(path[depth] is each for each in found):
            found.append(path[depth])
    other = chain[len(edit.place(found[0]).parents)]
    block = edit.place(found[0]).block
    first = next(each for each in block if each is found[0] or each is other)
    if (first is other) == before:
        side, primitive = ("after", "reverse_compute_at") if before else ("before", "compute_at")
        raise ScheduleError(
            f"{stage.name} is computed {side} this loop",
            code="schedule.wrong-direction",
            span=edit.span(found[0]),
            hints=[f'write `{primitive}("{stage.name}", ...)`'],
        )
    return found


def _reads(statement: ast.stmt, array: str) -> bool:
    accessed = query.accesses(statement, array)
    return any(isinstance(each.ctx, ast.Load) for each in accessed) or any(
        isinstance(each, ast.AugAssign) and query.base_name(each.target) == array
        for each in query.statements(statement)
    )


def _not_read(edit: Editor, stage: Stage, node: ast.For) -> ScheduleError:
    readers = [
        header.variable
        for each in query.loops(edit.function)
        if any(_reads(s, stage.array) for s in each.body) and (header := query.header(each))
    ]
    hints = [f"loops that read it: {', '.join(dict.fromkeys(readers))}"] if readers else []
    return ScheduleError(
        f"nothing in this loop reads {stage.array}",
        code="schedule.not-a-consumer",
        span=edit.span(node),
        hints=hints,
    )


def _check_other_readers(
    edit: Editor, stage: Stage, node: ast.For, producers: Sequence[ast.stmt]
) -> None:
    inside = {id(each) for body in (node, *producers) for each in query.statements(body)}
    for statement in query.statements(edit.function):
        leaf = not query.bodies(statement)
        if leaf and id(statement) not in inside and _reads(statement, stage.array):
            raise ScheduleError(
                f"{stage.array} is read outside of this loop too, where it would be missing",
                code="schedule.other-consumer",
                span=edit.span(statement),
                label="read here",
                hints=[
                    "choose a loop around all statements that read it, `merge` their loops "
                    "first, or compute_at the other consumer as well"
                ],
            )
