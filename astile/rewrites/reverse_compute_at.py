"""`reverse_compute_at`: run a consumer right after the tile that it reads was produced."""

from __future__ import annotations

import ast

from astile.analysis import footprint
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.compute_at import outside_nests
from astile.rewrites.region import at_most_in, restricted_nest
from astile.rewrites.result import Editor, Rewritten


def reverse_compute_at(program: Program, stage: Stage, loop: int, index: int = -1) -> Rewritten:
    """Move a consumer into a loop of its producer, cut to what one iteration produced.

    Args:
        program: the program before.
        stage: the consumer.
        loop: identity of a loop around the producer.
        index: where in the loop's body: -1 after its last statement, -2 right after the last
            statement that the consumer reads from, else a position.

    Raises:
        ScheduleError: when the stage stands inside the loop already or before it, or reads
            nothing that the loop writes.

    Before:
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    a[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] * 2
        for i in range(n):
            y[i] = a[i]

    After ``reverse_compute_at("y", i_0)``:
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    a[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] * 2
            for i in range(16):
                if i_0 * 16 + i < n:
                    y[i_0 * 16 + i] = a[i_0 * 16 + i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    edit.header(node)
    consumers = outside_nests(edit, stage, node, before=False)
    produced = query.written_arrays(node)
    read = [each for each in produced if any(_reads(c, each) for c in consumers)]
    if not read:
        raise ScheduleError(
            f"{stage.name} reads nothing that this loop writes",
            code="schedule.not-a-producer",
            span=edit.span(node),
            hints=[f"the loop writes {', '.join(produced) or 'no array'}"],
        )
    array = read[-1]
    hidden = {name for each in node.body for name in query.names_written(each)}
    writes = [
        each
        for each in footprint.accesses_inside(node.body, array)
        if isinstance(each.node.ctx, ast.Store)
    ]
    sides = footprint.box(writes, at_most_in(edit, node), hidden)
    last_writer = max(k for k, each in enumerate(node.body) if array in query.written_arrays(each))
    position = {-1: len(node.body), -2: last_writer + 1}.get(index, index)
    if not 0 <= position <= len(node.body):
        raise ScheduleError(
            f"index={index} is no position in the body of this loop", code="schedule.bad-index"
        )
    holder = edit.place(consumers[0]).block
    made: list[ast.stmt] = []
    for each in consumers:
        made.append(restricted_nest(edit, each, array, sides, node, node.body, writes=False))
        del holder[next(k for k, other in enumerate(holder) if other is each)]
    node.body[position:position] = made
    return edit.finish([each for nest in made for each in query.loops(nest)])


def _reads(statement: ast.stmt, array: str) -> bool:
    return any(isinstance(each.ctx, ast.Load) for each in query.accesses(statement, array))
