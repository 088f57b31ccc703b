"""`compute_inline`: compute a value where it is read, instead of storing it."""

from __future__ import annotations

import ast

from astile.analysis.reading.statements import survey
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.inlining import (
    Replaced,
    drop_unused,
    inlined,
    only_assignment,
    only_writer,
    reads_of,
    remove,
    solved,
    typed,
)
from astile.rewrites.parts.result import Editor, Rewritten


def compute_inline(program: Program, stage: Stage) -> Rewritten:
    """Put the expression of a producer in the place of every read of what it computes.

    The array or scalar is not stored any more. Where storing it changed the type of the value,
    the type is called: results stay the same to the last bit.

    Args:
        program: the program before.
        stage: the producer: one assignment, inside loops that its cell tells.

    Raises:
        ScheduleError: for a producer of several statements, an output, one that reads itself,
            reads whose iteration is not known, and types without a name.

    Before:
        a = np.empty(n, np.float32)
        for i in range(n):
            a[i] = x[i] * 2
        for i in range(n - 1):
            y[i] = a[i] + a[i + 1]

    After ``compute_inline("a")``:
        for i in range(n - 1):
            y[i] = np.float32(x[i] * 2) + np.float32(x[i + 1] * 2)
    """
    edit = Editor(program)
    statement = only_assignment(edit, stage)
    name = stage.array
    target, value = statement.targets[0], statement.value
    if only_writer(edit, name) is not statement:
        raise _not_private(edit, name, statement)
    if name in query.names(value):
        raise ScheduleError(
            f"{name} is computed from itself",
            code="schedule.not-inlined",
            span=edit.span(statement),
            hints=[f'`compute_at("{stage.name}", ...)` keeps its cells'],
        )
    readers = _readers(edit, name, statement)
    for reader in readers:
        by: dict[int, ast.expr] = {}
        for read in reads_of(reader, target):
            by[id(read)] = _value(edit, statement, target, value, read, reader)
        Replaced(by).visit(reader)
    remove(edit, statement, f"`compute_inline` put {name} where it is read")
    drop_unused(edit, name)
    return edit.finish()


def _not_private(edit: Editor, name: str, statement: ast.stmt) -> ScheduleError:
    is_output = name in query.parameters(edit.function)
    what = "is an argument, which the caller reads" if is_output else "is written elsewhere too"
    hints = [f'say scratch=("{name}",) if nobody reads it after the call'] if is_output else []
    return ScheduleError(
        f"{name} {what}, so it has to be stored",
        code="schedule.not-inlined",
        span=edit.span(statement),
        hints=hints,
    )


def _readers(edit: Editor, name: str, statement: ast.Assign) -> list[ast.stmt]:
    """The statements that read cells of an array, or a scalar.

    Raises:
        ScheduleError: when there are none, or an expression cannot stand in one of them.
    """
    leaves = {id(each.node): each for each in survey(edit.program).leaves}
    readers: list[ast.stmt] = []
    for each in query.statements(edit.function):
        own = [c for c in ast.iter_child_nodes(each) if not isinstance(c, ast.stmt)]
        if each is statement or isinstance(each, ast.FunctionDef):
            continue
        if not any(name in query.names_read(part) for part in own) or query.is_allocation(each):
            continue
        named = sum(
            isinstance(n, ast.Name) and n.id == name for part in own for n in ast.walk(part)
        )
        asked = sum(
            query.dotted(n) == f"{name}.shape"
            for part in own
            for n in ast.walk(part)
            if isinstance(n, ast.Attribute)
        )
        if asked == named:
            continue
        leaf = leaves.get(id(each))
        count = len(reads_of(each, statement.targets[0])) if not query.bodies(each) else -1
        if leaf is None or not leaf.is_simple or count != named - asked:
            raise ScheduleError(
                f"{name} is read in a way that an expression cannot take the place of",
                code="schedule.not-inlined",
                span=edit.span(each),
                hints=[f'`compute_at("{name}", ...)` keeps its cells'],
            )
        readers.append(each)
    if not readers:
        raise ScheduleError(
            f"nothing reads {name}",
            code="schedule.not-inlined",
            hints=["leave it where it is"],
            span=edit.span(statement),
        )
    return readers


def _value(
    edit: Editor,
    statement: ast.Assign,
    target: ast.expr,
    value: ast.expr,
    read: ast.expr,
    reader: ast.stmt,
) -> ast.expr:
    """What a read is replaced by.

    Raises:
        ScheduleError: when it is not known which iteration computed the cell.
    """
    held = nodes.origin(statement)
    around = edit.place(reader).loops
    own = [each for each in edit.place(statement).loops if not any(each is a for a in around)]
    variables = {name for each in own for name in query.names_written(each.target)}
    cells = [query.indices(e) if isinstance(e, ast.Subscript) else [] for e in (target, read)]
    known = len(cells[0]) == len(cells[1]) and not any(
        isinstance(e, (ast.Slice, ast.Starred)) for cell in cells for e in cell
    )
    values = solved(variables, *cells) if known else None
    if values is None or held is None:
        raise ScheduleError(
            "it is not known from the cell which iteration computed it",
            code="schedule.not-inlined",
            span=edit.span(read),
            hints=["inline before splitting: each index has to name one loop of the producer"],
        )
    put = inlined(value, held, values)
    if isinstance(target, ast.Subscript):
        array = query.base_name(target)
        assert array is not None
        put = typed(edit, array, put, statement)
    return nodes.copy_place(read, put)
