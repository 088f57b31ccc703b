"""`store_at`: where a buffer lives, apart from where its values are computed."""

from __future__ import annotations

import ast

from astile.analysis.extents.footprint import accesses_inside
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts import staging
from astile.rewrites.parts.result import Editor, Rewritten, named
from astile.rewrites.parts.storage import Intermediate, accesses_of, intermediate


def store_at(program: Program, stage: Stage, loop: int) -> Rewritten:
    """Allocate a stage's array in the body of a loop around everything that uses it.

    Moved inwards, the array becomes as large as one iteration of the loop needs; moved outwards,
    it keeps its size and its contents from one iteration of the inner loops to the next. Its
    memory scope stays.

    Args:
        program: the program before.
        stage: the stage that writes the array.
        loop: identity of the loop.

    Raises:
        ScheduleError: when the array is no intermediate, is used outside of the loop or other
            than cell by cell, or its size there is not known.

    Before:
        a = np.empty(n, np.float32)
        for i_0 in range(14):
            for i in range(16):
                a[i_0 * 16 + i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]

    After ``store_at("a", i_0)``:
        for i_0 in range(14):
            a = np.empty(16, np.float32)
            for i in range(16):
                a[i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                y[i_0 * 16 + i_1] = a[i_1]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    edit.header(node)
    held = intermediate(edit, stage.array)
    place = edit.place(held.statement)
    if any(each is held.statement for each in node.body):
        raise ScheduleError(
            f"{stage.array} lives in the body of {named(node)} already",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(held.statement),
        )
    if any(each is node for each in place.loops):
        _outwards(edit, held, node)
    else:
        _inwards(edit, held, node)
    return edit.finish([node])


def _outwards(edit: Editor, held: Intermediate, node: ast.For) -> None:
    inner = [each for each in edit.place(held.statement).parents if each is not node]
    inner = inner[len(edit.place(node).parents) :]
    changed = set().union(*(query.names_written(each) for each in (*inner, node))) - {held.array}
    used = set().union(*(query.names(each) for each in (*held.shape, held.dtype)))
    depends = sorted(used & changed - query.names_written(node.target))
    if depends:
        raise ScheduleError(
            f"the shape of {held.array} depends on {', '.join(depends)}, which the loops inside "
            f"{named(node)} change",
            code="schedule.bad-bounds",
            hints=["name a loop inside those"],
            span=edit.span(held.statement),
        )
    if held.found.word.removesuffix("_like") != "empty":
        raise ScheduleError(
            f"{held.array} is filled anew by {held.found.word} where it is allocated",
            code="schedule.filled",
            span=edit.span(held.statement),
            hints=["allocate it by `empty`, and fill it in a loop"],
        )
    _check_scope(edit, held, node)
    place = edit.place(held.statement)
    del place.block[place.index]
    if not place.block:
        place.block.append(ast.Pass())
    node.body.insert(0, held.remade([nodes.clone(each) for each in held.shape]))


def _inwards(edit: Editor, held: Intermediate, node: ast.For) -> None:
    inside = accesses_inside(node.body, held.array)
    if not inside or len(inside) < len(accesses_of(edit, held.array)):
        known = {id(each.node) for each in inside}
        other = next(
            (each for each in accesses_of(edit, held.array) if id(each) not in known), node
        )
        raise ScheduleError(
            f"{held.array} is used outside of {named(node)} too"
            if inside
            else f"nothing in {named(node)} uses {held.array}",
            code="schedule.used-outside",
            span=edit.span(other),
            hints=["bring its producer under the loop with `compute_at`"],
        )
    _check_scope(edit, held, node)
    scope = held.found.scope
    staging.check_signs(edit, held.array, node, inside)
    tile = staging.tile_of(edit, held.array, scope, node, inside)
    for access in inside:
        staging.redirect(access.node, tile, held.array)
    place = edit.place(held.statement)
    del place.block[place.index]
    first = next(k for k, each in enumerate(node.body) if held.array in query.names(each))
    node.body.insert(first, held.remade(list(tile.shape)))


def _check_scope(edit: Editor, held: Intermediate, node: ast.For) -> None:
    staging.check_home(edit, held.array, node, held.found.scope)
