"""`reverse_compute_inline`: compute a consumer where the value that it reads is made."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.inlining import (
    Replaced,
    drop_unused,
    inlined,
    is_named,
    only_writer,
    reads_of,
    remove,
    solved,
    typed,
)
from astile.rewrites.parts.places import statement_at
from astile.rewrites.parts.result import Editor, Rewritten, conditions, is_guard


def reverse_compute_inline(program: Program, stage: Stage) -> Rewritten:
    """Put a consumer in the place of its producer, with the producer's expression in it.

    The value in between is not stored any more. Where storing it changed its type, the type is
    called: results stay the same to the last bit.

    Args:
        program: the program before.
        stage: the consumer: one statement, whose iteration the cell that it reads tells.

    Raises:
        ScheduleError: for a consumer of several statements or several producers, a value that
            is read elsewhere too, reads whose iteration is not known, and types without a name.

    Before:
        c = np.empty(n, np.float32)
        for i in range(n):
            s = np.float32(0)
            for k in range(m):
                s += x[i, k]
            c[i] = s
        for i in range(n):
            y[i] = max(c[i], 0)

    After ``reverse_compute_inline("y")``:
        for i in range(n):
            s = np.float32(0)
            for k in range(m):
                s += x[i, k]
            y[i] = max(np.float32(s), 0)
    """
    edit = Editor(program)
    consumer = _consumer(edit, stage)
    array, producer = _producer(edit, stage, consumer)
    [target] = producer.targets
    reads = reads_of(consumer, target)
    _check_reads(edit, array, consumer, reads)
    held = nodes.origin(producer)
    values = _values(edit, consumer, producer, reads[0])
    if values is None or held is None:
        raise ScheduleError(
            f"it is not known from the cell of {array} which iteration of {stage.name} reads it",
            code="schedule.not-inlined",
            span=edit.span(reads[0]),
            hints=["inline before splitting: each index has to name one loop of the consumer"],
        )
    moved = nodes.substitute(consumer, values)
    by: dict[int, ast.expr] = {}
    for read in reads_of(moved, target):
        put = inlined(producer.value, held, {})
        if isinstance(target, ast.Subscript):
            put = typed(edit, array, put, producer)
        by[id(read)] = nodes.copy_place(read, put)
    Replaced(by).visit(moved)
    guards = _guards(edit, consumer, producer, values)
    made: ast.stmt = nodes.if_then(nodes.conjunction(guards), [moved]) if guards else moved
    edit.replace(producer, [made])
    remove(edit, consumer, f"`reverse_compute_inline` put {stage.name} where {array} was made")
    drop_unused(edit, array)
    return edit.finish(edit.place(moved).loops)


def _consumer(edit: Editor, stage: Stage) -> ast.stmt:
    statements = [statement_at(edit, each) for each in stage.positions]
    if len(statements) != 1:
        raise ScheduleError(
            f"{stage.name} is computed by {len(statements)} statements; one can be inlined",
            code="schedule.not-inlined",
            span=edit.span(statements[1]),
            hints=[f'`reverse_compute_at("{stage.name}", ...)` moves all of them'],
        )
    return statements[0]


def _producer(edit: Editor, stage: Stage, consumer: ast.stmt) -> tuple[str, ast.Assign]:
    """The array or scalar that a consumer reads, made by one statement for it alone, and that."""
    named = [
        name
        for name in sorted(query.names_read(consumer))
        if (writer := only_writer(edit, name)) is not None and writer is not consumer
    ]
    found = [
        (name, writer)
        for name in named
        if (writer := only_writer(edit, name)) is not None
        and not any(is_named(each, name) for each in _others(edit, consumer))
    ]
    if len(found) == 1:
        return found[0]
    if found:
        raise ScheduleError(
            f"{stage.name} reads what several statements make: "
            + ", ".join(name for name, _ in found),
            code="schedule.not-inlined",
            span=edit.span(consumer),
            hints=["`compute_inline` the others into it first"],
        )
    shared = f"{', '.join(named)} {'is' if len(named) == 1 else 'are'} read elsewhere too"
    raise ScheduleError(
        f"{stage.name} reads nothing that one statement makes for it alone"
        + (f": {shared}" if named else ""),
        code="schedule.not-inlined",
        span=edit.span(consumer),
        hints=[f'`reverse_compute_at("{stage.name}", ...)` keeps what it reads'],
    )


def _others(edit: Editor, consumer: ast.stmt) -> list[ast.AST]:
    """What may read something besides a consumer: statements, and the heads of loops and ifs."""
    parts: list[ast.AST] = []
    for each in query.statements(edit.function):
        if each is consumer or query.is_allocation(each) or isinstance(each, ast.FunctionDef):
            continue
        parts += [e for e in ast.iter_child_nodes(each) if not isinstance(e, ast.stmt)]
    return parts


def _check_reads(edit: Editor, array: str, consumer: ast.stmt, reads: Sequence[ast.expr]) -> None:
    """Refuse a consumer that reads several cells, or the array in another way."""
    named = sum(isinstance(e, ast.Name) and e.id == array for e in ast.walk(consumer))
    cells = [query.indices(each) if isinstance(each, ast.Subscript) else [] for each in reads]
    same = all(
        len(each) == len(cells[0])
        and all(
            affine.of(one) == affine.of(other) for one, other in zip(each, cells[0], strict=True)
        )
        for each in cells
    )
    if named != len(reads) or query.bodies(consumer) or not same:
        raise ScheduleError(
            f"the statement reads more than one cell of {array}",
            code="schedule.not-inlined",
            span=edit.span(consumer),
            hints=["`compute_inline` computes each of them where it is read"],
        )


def _values(
    edit: Editor, consumer: ast.stmt, producer: ast.Assign, read: ast.expr
) -> dict[str, ast.expr] | None:
    """The consumer's loop variables in terms of the producer's."""
    variables = {
        name for each in _own(edit, consumer, producer) for name in query.names_written(each.target)
    }
    cells = [
        query.indices(each) if isinstance(each, ast.Subscript) else []
        for each in (read, producer.targets[0])
    ]
    if len(cells[0]) != len(cells[1]) or any(
        isinstance(e, (ast.Slice, ast.Starred)) for cell in cells for e in cell
    ):
        return None
    return solved(variables, *cells)


def _own(edit: Editor, consumer: ast.stmt, producer: ast.stmt) -> list[ast.For]:
    """The loops around the consumer that are not around the producer."""
    around = edit.place(producer).loops
    return [each for each in edit.place(consumer).loops if not any(each is a for a in around)]


def _guards(
    edit: Editor, consumer: ast.stmt, producer: ast.stmt, values: Mapping[str, ast.expr]
) -> list[ast.expr]:
    """The conditions under which the consumer runs, in terms of the producer's variables."""
    around = edit.place(producer).parents
    tests: list[ast.expr] = []
    for each in edit.place(consumer).parents:
        if any(each is a for a in around):
            continue
        if isinstance(each, ast.For):
            tests += _range(edit, each)
        elif isinstance(each, ast.If) and not each.orelse:
            tests += conditions(each) if is_guard(each) else [each.test]
        else:
            raise ScheduleError(
                "the statement stands in something that is no loop and no plain condition",
                code="schedule.not-inlined",
                hints=["write it in loops and plain conditions"],
                span=edit.span(each),
            )
    return [nodes.substitute(each, values) for each in tests]


def _range(edit: Editor, loop: ast.For) -> list[ast.expr]:
    """That a variable is one of the values of its loop."""
    header = edit.counted(loop)
    step = query.integer(header.step)
    assert step
    variable = nodes.name(header.variable)
    sides = [nodes.clone(header.start), variable, nodes.clone(header.stop)]
    operators: list[ast.cmpop] = [ast.LtE(), ast.Lt()] if step > 0 else [ast.GtE(), ast.Gt()]
    tests: list[ast.expr] = [nodes.comparison(sides, operators)]
    if abs(step) > 1:
        trip = affine.variable(header.variable) - affine.of(header.start)
        rest = affine.modulo(trip, abs(step)).expression()
        tests.append(nodes.compare(rest, ast.Eq, nodes.const(0)))
    return tests
