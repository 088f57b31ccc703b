"""`cache_read`: the part of an array that one iteration of a loop reads, copied into a tile."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents.footprint import Access, accesses_inside, box
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts import copies, guards, staging
from astile.rewrites.parts.region import at_most_in
from astile.rewrites.parts.result import Editor, Rewritten, spelled


def cache_read(
    program: Program, array: str, scope: str, at: int, stage: Stage | None = None
) -> Rewritten:
    """Copy what one iteration of a loop reads of an array into a tile, and read the tile.

    The tile is the box of all cells that are read, halo included. The copy's loops are named
    after the axes and stay inside the array where the box sticks out of it. Where that box has no
    known size, as for ``p[j] - p[i]``, it is that of the reads that move with the loop; the others
    stay as they are.

    Args:
        program: the program before.
        array: an argument or an intermediate.
        scope: ``"shared"`` (one tile per thread block), ``"local"`` or ``"global"``.
        at: identity of the loop; the tile is made in its body, before the first statement that
            reads the array.
        stage: only what the statements of this stage read is redirected; None for all reads.

    Raises:
        ScheduleError: when nothing inside the loop reads the array, it is used other than cell by
            cell or updated there, an index may be negative, or the box is not known.

    Before:
        for i_0 in range((n + 13) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n - 2:
                    y[i_0 * 16 + i_1] = x[i_0 * 16 + i_1] + x[i_0 * 16 + i_1 + 2]

    After ``cache_read("x", "shared", at=i_0)``:
        for i_0 in range((n + 13) // 16):
            x_shared = shared.empty(18, x.dtype)
            for x_0 in range(18):
                if i_0 * 16 + x_0 < n:
                    x_shared[x_0] = x[i_0 * 16 + x_0]
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n - 2:
                    y[i_0 * 16 + i_1] = x_shared[i_1] + x_shared[i_1 + 2]
    """
    edit = Editor(program)
    staging.check_scope(scope)
    node = edit.loop(at)
    edit.header(node)
    reads = _boxed(edit, node, _reads(edit, array, node, stage), scope)
    staging.check_signs(edit, array, node, reads)
    tile = staging.tile_of(edit, array, scope, node, reads)
    moved = copies.window(tile, node, reads, scope)
    copy = copies.copy_nest(edit, moved, guards.around(edit, node, moved, reads), out=False)
    redirected = {id(each.node) for each in reads}
    first = next(
        k
        for k, each in enumerate(node.body)
        if any(id(part) in redirected for part in ast.walk(each))
    )
    for each in reads:
        staging.redirect(each.node, tile)
    node.body[first:first] = [tile.made, copy.nest]
    copy.drop_edges(edit)
    return edit.finish(copy.loops)


def _reads(edit: Editor, array: str, node: ast.For, stage: Stage | None) -> list[Access]:
    """The reads that go to the tile; afterwards none is left that should go there."""
    inside: Sequence[ast.stmt] = node.body
    if stage is not None:
        every = list(query.statements(edit.function))
        own = {id(every[position]) for position in stage.positions}
        inside = [s for b in node.body for s in query.statements(b) if id(s) in own]
        if not inside:
            raise ScheduleError(
                f"{stage.name} is not computed inside this loop",
                code="schedule.not-nested",
                hints=["name a loop around it, or leave `stage` out"],
                span=edit.span(node),
            )
    staging.check_only_cells(edit, array, inside)
    parts = {id(part) for each in inside for part in ast.walk(each)}
    found = [e for e in accesses_inside(node.body, array) if id(e.node) in parts and e.is_read]
    if not found:
        raise _not_read(edit, array, node, stage)
    for each in found:
        if each.is_written:
            raise ScheduleError(
                f"{array} is updated in place inside this loop, not only read",
                code="schedule.updated",
                span=edit.span(each.node),
                hints=[f'`cache_write("{array}", ...)` keeps what is updated in a tile'],
            )
    return found


def _boxed(edit: Editor, node: ast.For, reads: list[Access], scope: str) -> list[Access]:
    """The reads that a tile is for: all, or those whose cells depend on the loop's variable."""
    at_most = at_most_in(edit, node)
    hidden = {name for each in node.body for name in query.names_written(each)}

    def is_known(some: list[Access]) -> bool:
        return all(
            side is not None and staging.extent_of(side, scope, at_most) is not None
            for side in box(some, at_most, hidden)
        )

    is_whole = any(isinstance(index, ast.Slice) for e in reads for index in query.indices(e.node))
    if is_whole or is_known(reads):
        return reads
    variable = edit.header(node).variable
    moving = [
        each
        for each in reads
        if any(side and variable in side.first.names() for side in box([each], at_most, hidden))
    ]
    return moving if moving and is_known(moving) else reads


def _not_read(edit: Editor, array: str, node: ast.For, stage: Stage | None) -> ScheduleError:
    readers = spelled(
        edit,
        (
            each
            for each in query.loops(edit.function)
            if any(access.is_read for access in accesses_inside(each.body, array))
        ),
    )
    who = "nothing in this loop reads" if stage is None else f"{stage.name} does not read"
    read = sorted(
        {
            n
            for each in node.body
            for a in query.accesses(each)
            if isinstance(a.ctx, ast.Load)
            if (n := query.base_name(a))
        }
    )
    hints = [f"loops that read it: {', '.join(readers)}"] if readers else []
    return ScheduleError(
        f"{who} a cell of {array}",
        code="schedule.not-a-consumer",
        span=edit.span(node),
        hints=hints or suggestions(array, read, "arrays read here"),
    )
