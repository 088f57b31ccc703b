"""`compute_at`: run a producer for exactly the region that one iteration of a loop needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents import footprint
from astile.analysis.forms import affine
from astile.errors import IllegalSchedule, ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.places import checked_position, outside_nests, reads_cells
from astile.rewrites.parts.region import at_most_in, restricted_nest
from astile.rewrites.parts.result import Editor, Rewritten, named, spelled


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
    _check_consumers(edit, stage, node, producers)
    _check_recurrence(edit, stage, producers)
    at_most = at_most_in(edit, node)
    holder = edit.place(producers[0]).block
    made: list[ast.stmt] = []
    for producer in reversed(producers):  # what one of them reads is needed of those before it
        position = _position(edit, node, stage.array, producer, index)
        hidden = {name for each in node.body for name in query.names_written(each)}
        accesses = footprint.accesses_inside(node.body, stage.array)
        box = footprint.box([each for each in accesses if each.is_read], at_most, hidden)
        moved = restricted_nest(edit, producer, {stage.array: box}, node, at_most, writes=True)
        del holder[next(k for k, each in enumerate(holder) if each is producer)]
        node.body[position:position] = moved
        made = [*moved, *made]
    return edit.finish([each for nest in made for each in query.loops(nest)])


def _check_recurrence(edit: Editor, stage: Stage, producers: Sequence[ast.stmt]) -> None:
    """Refuse a producer whose cells need other cells of its own: a region is not enough then.

    Raises:
        IllegalSchedule: showing the read of another cell.
    """
    written = {
        tuple(affine.of(index) for index in query.indices(access))
        for producer in producers
        for access in query.accesses(producer, stage.array)
        if isinstance(access.ctx, ast.Store)
    }
    for producer in producers:
        for access in query.accesses(producer, stage.array):
            cell = tuple(affine.of(index) for index in query.indices(access))
            if isinstance(access.ctx, ast.Load) and cell not in written:
                raise IllegalSchedule(
                    f"{stage.array} is computed from other cells of {stage.array}, so a part of "
                    "it cannot be computed by itself",
                    code="illegal.recurrence",
                    array=stage.array,
                    kind="flow",
                    span=edit.span(access),
                    label="another cell is read here",
                    hints=["compute all of it before, or `merge` loops that run in the same order"],
                )


def _position(edit: Editor, node: ast.For, array: str, producer: ast.stmt, index: int) -> int:
    """Where in the loop's body the producer goes.

    Raises:
        ScheduleError: when there is no such position.
    """
    if index == -1:
        return next(k for k, each in enumerate(node.body) if reads_cells(each, array))
    if index == -2:  # behind what it reads itself, and behind the allocation of what it writes
        used = query.names(producer)
        before = [k for k, each in enumerate(node.body) if _makes(each) & used - {array}]
        before += [
            k
            for k, each in enumerate(node.body)
            if (found := query.allocation(each)) and found.array == array
        ]
        return max(before, default=-1) + 1
    return checked_position(edit, node, index)


def _makes(statement: ast.stmt) -> set[str]:
    """Arrays and scalars that a statement gives values to, its loop variables left out."""
    variables = {h.variable for each in query.loops(statement) if (h := query.header(each))}
    return set(query.written_arrays(statement)) | (query.names_written(statement) - variables)


def _check_consumers(
    edit: Editor, stage: Stage, node: ast.For, producers: Sequence[ast.stmt]
) -> None:
    """Refuse to move what nothing in the loop reads, or what is read elsewhere too."""
    if not any(reads_cells(each, stage.array) for each in node.body):
        raise _not_read(edit, stage, node)
    other = _other_reader(edit, stage.array, node, producers)
    if other is not None:
        raise ScheduleError(
            f"{stage.array} is read outside of {named(node)} too, where it would be missing",
            code="schedule.other-consumer",
            span=edit.span(other),
            label="read here",
            hints=[
                "choose a loop around all statements that read it, `merge` their loops first, "
                "or compute_at the other consumer as well"
            ],
        )
    for array in dict.fromkeys(a for each in producers for a in query.written_arrays(each)):
        other = None if array == stage.array else _other_reader(edit, array, node, producers)
        if other is not None:
            raise ScheduleError(
                f"the loops that compute {stage.name} compute {array} too, which is read outside "
                f"of {named(node)}",
                code="schedule.other-stage",
                span=edit.span(other),
                label="read here",
                hints=["`distribute` them first, so that each array has loops of its own"],
            )


def _other_reader(
    edit: Editor, array: str, node: ast.For, producers: Sequence[ast.stmt]
) -> ast.stmt | None:
    """The first statement outside of the loop and the producers that reads what these write."""
    inside = {id(each) for body in (node, *producers) for each in query.statements(body)}
    comes_again = bool(edit.place(producers[0]).loops)
    is_behind = False
    for statement in query.statements(edit.function):
        is_behind = is_behind or statement is producers[0]
        if id(statement) in inside or not (is_behind or comes_again):
            continue
        if not query.is_allocation(statement) and _reads_itself(statement, array):
            return statement
    return None


def _reads_itself(statement: ast.stmt, array: str) -> bool:
    """Whether a statement, without those inside it, reads cells of an array or all of it."""
    if query.bodies(statement):
        own = [each for each in ast.iter_child_nodes(statement) if isinstance(each, ast.expr)]
        return any(array in query.names_read(each) for each in own)
    if reads_cells(statement, array):
        return True
    named = [
        each for each in ast.walk(statement) if isinstance(each, ast.Name) and each.id == array
    ]
    return len(named) > len(query.accesses(statement, array))


def _not_read(edit: Editor, stage: Stage, node: ast.For) -> ScheduleError:
    readers = spelled(
        edit,
        (
            each
            for each in query.loops(edit.function)
            if any(reads_cells(s, stage.array) for s in each.body)
        ),
    )
    hints = [f"loops that read it: {', '.join(readers)}"] if readers else []
    if readers:
        hints.append(f"or bring what reads it into {named(node)} first, by `compute_at`")
    return ScheduleError(
        f"nothing in {named(node)} reads {stage.array}",
        code="schedule.not-a-consumer",
        span=edit.span(node),
        hints=hints,
    )
