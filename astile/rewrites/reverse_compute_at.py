"""`reverse_compute_at`: run a consumer right after the tile that it reads was produced."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents import footprint
from astile.analysis.extents.footprint import AtMost
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.places import checked_position, outside_nests, reads_cells
from astile.rewrites.parts.region import Box, at_most_in, restricted_nest
from astile.rewrites.parts.result import Editor, Rewritten, named


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
    read = [each for each in produced if any(reads_cells(c, each) for c in consumers)]
    if not read:
        raise ScheduleError(
            f"{stage.name} reads nothing that {named(node)} writes",
            code="schedule.not-a-producer",
            span=edit.span(node),
            hints=[f"it writes {', '.join(produced) or 'no array'}"],
        )
    at_most = at_most_in(edit, node)
    boxes = {each: _written_box(node, each, at_most) for each in read}
    position = _position(edit, node, read, index)
    holder = edit.place(consumers[0]).block
    _prepare(edit, node, holder, consumers)
    made: list[ast.stmt] = []
    for consumer in consumers:
        moved = restricted_nest(edit, consumer, boxes, node, at_most, writes=False)
        del holder[next(k for k, other in enumerate(holder) if other is consumer)]
        node.body[position + len(made) : position + len(made)] = moved
        made += moved
    return edit.finish([each for nest in made for each in query.loops(nest)])


def _prepare(
    edit: Editor, node: ast.For, holder: list[ast.stmt], consumers: Sequence[ast.stmt]
) -> None:
    """Give the names that consumers use their values before the loops that they move into.

    These are arrays that are allocated, and sizes that are named, between a producer and them.
    """
    around = [*edit.place(node).parents, node]
    start = next(k for k, each in enumerate(holder) if any(each is e for e in around))
    needed = set().union(*(query.names(each) for each in consumers))
    stop = max(k for k, each in enumerate(holder) if any(each is e for e in consumers))
    moved: list[ast.stmt] = []
    for each in reversed(holder[start + 1 : stop]):
        is_name = isinstance(each, ast.Assign) and not query.written_arrays(each)
        if is_name and query.names_written(each) & needed and not any(each is e for e in consumers):
            needed |= query.names(each)
            moved.insert(0, each)
    rest = [each for each in holder if not any(each is e for e in moved)]
    holder[:] = [*rest[:start], *moved, *rest[start:]]


def _written_box(node: ast.For, array: str, at_most: AtMost) -> Box:
    hidden = {name for each in node.body for name in query.names_written(each)}
    accesses = footprint.accesses_inside(node.body, array)
    return footprint.box([each for each in accesses if each.is_written], at_most, hidden)


def _position(edit: Editor, node: ast.For, read: Sequence[str], index: int) -> int:
    if index == -1:
        return len(node.body)
    if index == -2:
        writers = [
            k for k, each in enumerate(node.body) if set(read) & set(query.written_arrays(each))
        ]
        return max(writers) + 1
    return checked_position(edit, node, index)
