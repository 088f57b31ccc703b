"""`distribute`: one loop over several statements into one loop for each group of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.expand import expand_scalars, is_typed
from astile.rewrites.parts.result import Editor, Rewritten, is_guard, named

Spine = list[ast.For | ast.If]


def distribute(program: Program, loop: int, at: int | Stage) -> Rewritten:
    """Cut a loop in two: the statements before a position or stage, then those from it on.

    Loops between it and the stage are cut as well.

    Scalars that pass from the first part to the second are expanded to arrays.

    Args:
        program: the program before.
        loop: identity of the loop.
        at: the first stage of the second part, or the position in the loop's body of its first
            statement.

    Raises:
        ScheduleError: when a part would be empty, or the stage is not in the loop.

    Before:
        for i in range(n):
            a[i] = x[i]
            b[i] = a[i] + 1

    After ``distribute(i, at="b")``:
        for i in range(n):
            a[i] = x[i]
        for i in range(n):
            b[i] = a[i] + 1
    """
    edit = Editor(program)
    node = edit.loop(loop)
    edit.header(node)
    spine: Spine = [node]
    if isinstance(at, Stage):
        spine, at = _way_to(edit, node, at)
    first = _taken_out(edit, spine, at)
    if not first or not spine[-1].body:
        raise ScheduleError(
            f"{named(node)} has no statement before this stage, or none from it on",
            code="schedule.nothing-to-do",
            hints=["name a stage that stands behind another one in the loop"],
            span=edit.span(node),
        )
    used = query.names(node)
    passing = [
        each
        for part in first
        for each in query.statements(part)
        if query.names_written(each) & used
    ]
    _check_allocations(edit, node, passing)
    parts = [_copied_nest(edit, [node], first), node]
    _install(edit, node, parts, spine)
    return edit.finish([each for each in parts if isinstance(each, ast.For)])


def _way_to(edit: Editor, node: ast.For, stage: Stage) -> tuple[Spine, int]:
    """The loops and guards from a loop to a stage, and its position in the innermost of them."""
    statement = list(query.statements(edit.function))[stage.positions[0]]
    path = [*edit.place(statement).parents, statement]
    start = next((k for k, each in enumerate(path) if each is node), None)
    if start is None:
        raise ScheduleError(
            f"{stage.name} is not computed inside {named(node)}",
            code="schedule.not-nested",
            hints=["name a loop around it"],
            span=edit.span(statement),
        )
    spine: Spine = [node]
    for each in path[start + 1 : -1]:
        if not isinstance(each, (ast.For, ast.If)) or each.orelse:
            break
        if isinstance(each, ast.For):
            edit.header(each)
        spine.append(each)
    child = path[start + len(spine)]
    return spine, next(k for k, each in enumerate(spine[-1].body) if each is child)


def _taken_out(edit: Editor, spine: Spine, at: int) -> list[ast.stmt]:
    """What stands before a position of a nest, in copies of its inner loops; it is removed."""
    outer, inner = spine[0], spine[1:]
    if not inner:
        taken, outer.body = outer.body[: max(0, at)], outer.body[max(0, at) :]
        return taken
    position = next(k for k, each in enumerate(outer.body) if each is inner[0])
    taken, outer.body = outer.body[:position], outer.body[position:]
    deeper = _taken_out(edit, inner, at)
    return [*taken, _copied_nest(edit, [inner[0]], deeper)] if deeper else taken


def perfect_nest(edit: Editor, spine: Spine) -> Spine:
    """Distribute a nest until nothing stands beside its inner loops, expanding scalars.

    Scalars of unknown type are computed inside the inner loops instead.

    Args:
        edit: the program that is edited.
        spine: loops and guards from the outermost to the innermost loop of the nest.

    Returns:
        The same loops and guards, now each the only statement of the one around it.
    """
    parts: list[ast.stmt] = []
    after: list[ast.stmt] = []
    for depth in range(len(spine) - 1):
        body = spine[depth].body
        position = next(k for k, each in enumerate(body) if each is spine[depth + 1])
        before_it, behind_it = body[:position], body[position + 1 :]
        before_it = _sunk(edit, before_it, spine[depth + 1], behind_it)
        _check_allocations(edit, spine[depth], [*before_it, *behind_it])
        around = spine[: depth + 1]
        if before_it:
            parts += [_copied_nest(edit, around, before_it)]
        if behind_it:
            after.insert(0, _copied_nest(edit, around, behind_it))
        spine[depth].body = [spine[depth + 1]]
    if not parts and not after:
        return spine
    outermost = spine[0]
    assert isinstance(outermost, ast.For)
    _install(edit, outermost, [*parts, outermost, *after], spine)
    return spine


def _sunk(
    edit: Editor, before: list[ast.stmt], inner: ast.For | ast.If, behind: Sequence[ast.stmt]
) -> list[ast.stmt]:
    """Move scalars that cannot become arrays into the loop that uses them; the other statements.

    A scalar of unknown type is computed anew in each iteration of the inner loop, from what that
    loop leaves as it is.
    """
    changed, arrays = query.names_written(inner), set(query.written_arrays(inner))
    used = {name for each in behind for name in query.names(each)}
    kept: list[ast.stmt] = []
    for statement in reversed(before):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name not in changed | used
                and not query.names(value) & (changed | {name})
                and not any(query.accesses(value, each) for each in arrays)
                and not query.is_allocation(statement)
                and not is_typed(edit, name)
            ):
                inner.body.insert(0, statement)
                continue
        kept.insert(0, statement)
        used |= query.names(statement)
        changed |= query.names_written(statement)
        arrays |= set(query.written_arrays(statement))
    return kept


def _check_allocations(edit: Editor, around: ast.For | ast.If, beside: Sequence[ast.stmt]) -> None:
    """Refuse to part an array of one iteration from the statements that use it."""
    for statement in beside:
        made = query.allocation(statement)
        if made is not None:
            where = named(around) if isinstance(around, ast.For) else "this condition"
            raise ScheduleError(
                f"{made.array} is allocated inside {where}, for one iteration at a time",
                code="schedule.allocated-between",
                span=edit.span(statement) or edit.span(around),
                hints=["order the loops first, then use `set_scope`"],
            )


def _copied_nest(
    edit: Editor, around: Sequence[ast.For | ast.If], body: list[ast.stmt]
) -> ast.stmt:
    """New loops and guards like `around`, over `body`."""
    inner: list[ast.stmt] = body
    for each in reversed(around):
        if isinstance(each, ast.For):
            header = edit.header(each)
            loop = edit.new_loop(header.variable, nodes.clone(each.iter), inner, each)
            inner = [loop]
        else:
            guard = nodes.if_then(nodes.clone(each.test), inner)
            inner = [guard if is_guard(each) else nodes.copy_place(each, guard)]
    return inner[0]


def _install(
    edit: Editor, node: ast.For, parts: Sequence[ast.stmt], around: Sequence[ast.stmt]
) -> None:
    """Put the parts in the loop's place, with the scalars that they share expanded."""
    place = edit.place(node)
    loops = [each for each in around if isinstance(each, ast.For)]
    shared = shared_scalars(parts)
    allocations = expand_scalars(edit, shared, parts, loops, at_top=not place.loops)
    place.block[place.index : place.index + 1] = [*allocations, *parts]


def shared_scalars(parts: Sequence[ast.stmt]) -> list[str]:
    """Scalars that pass from one part to another, in order of appearance."""
    variables = {h.variable for p in parts for lp in query.loops(p) if (h := query.header(lp))}
    written: dict[str, set[int]] = {}
    for index, part in enumerate(parts):
        for child in query.preorder(part):
            if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                written.setdefault(child.id, set()).add(index)
    shared = []
    for name, where in written.items():
        reading = {k for k, part in enumerate(parts) if _reads_first([part], name, set())}
        if name not in variables and reading and len(reading | where) > 1:
            shared.append(name)
    return shared


def _reads_first(body: Sequence[ast.stmt], name: str, assigned: set[str]) -> bool:
    """Whether statements may read a name before they assign it; adds it to `assigned` after."""
    for statement in body:
        if name in assigned:
            return False
        if isinstance(statement, ast.Assign) and name not in query.names_read(statement):
            assigned |= query.names_written(statement)
            continue
        if isinstance(statement, (ast.For, ast.If)):
            head = statement.iter if isinstance(statement, ast.For) else statement.test
            found = [set(assigned), set(assigned)]
            blocks = (statement.body, statement.orelse)
            if name in query.names_read(head) or any(
                _reads_first(block, name, own) for block, own in zip(blocks, found, strict=True)
            ):
                return True
            if isinstance(statement, ast.If):  # a loop may have no iteration
                assigned |= found[0] & found[1]
            continue
        if name in query.names(statement):
            return True
    return False
