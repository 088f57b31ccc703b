"""`cache_write`: the part of an array that one iteration of a loop writes, kept in a tile."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents.footprint import Access, accesses_inside
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.rewrites.parts import copies, guards, staging
from astile.rewrites.parts.result import Editor, Rewritten


def cache_write(program: Program, array: str, scope: str, at: int) -> Rewritten:
    """Keep what one iteration of a loop writes of an array in a tile, and copy it out at its end.

    Only cells that were written are copied out. Where old values are read (``+=``), or a cell of
    the tile may stay unwritten, the tile is filled from the array first.
    Cells that lie apart, as those of ``y[i * 2]``, lie side by side in the tile.

    Args:
        program: the program before.
        array: an argument or an intermediate.
        scope: ``"shared"`` (one tile per thread block), ``"local"`` or ``"global"``.
        at: identity of the loop; the tile lives in its body.

    Raises:
        ScheduleError: when nothing inside the loop writes the array, it is used other than cell
            by cell there, an index may be negative, or the box is not known.

    Before:
        for i_0 in range((n + 15) // 16):
            for k in range(m):
                for i_1 in range(16):
                    if i_0 * 16 + i_1 < n:
                        y[i_0 * 16 + i_1] += x[k, i_0 * 16 + i_1]

    After ``cache_write("y", "local", at=i_0)``:
        for i_0 in range((n + 15) // 16):
            y_local = local.empty(16, y.dtype)
            for y_0 in range(16):
                if i_0 * 16 + y_0 < n:
                    y_local[y_0] = y[i_0 * 16 + y_0]
            for k in range(m):
                for i_1 in range(16):
                    if i_0 * 16 + i_1 < n:
                        y_local[i_1] += x[k, i_0 * 16 + i_1]
            for y_0 in range(16):
                if i_0 * 16 + y_0 < n:
                    y[i_0 * 16 + y_0] = y_local[y_0]
    """
    edit = Editor(program)
    staging.check_scope(scope)
    node = edit.loop(at)
    edit.header(node)
    accesses, writes = _checked(edit, array, node)
    tile = staging.tile_of(edit, array, scope, node, accesses)
    moved = copies.window(tile, node, writes, scope)
    out = copies.copy_nest(edit, moved, guards.around(edit, node, moved, writes), out=True)
    filled = copies.window(tile, node, accesses, scope)
    needed = guards.around(edit, node, filled, accesses)
    first = _first(node.body, accesses)
    for each in accesses:
        staging.redirect(each.node, tile)
    node.body.insert(first, tile.made)
    node.body.append(out.nest)
    out.drop_edges(edit)
    if not copies.is_read_unwritten(edit, tile.made):
        return edit.finish(out.loops)
    fill = copies.copy_nest(edit, filled, needed, out=False)
    node.body.insert(first + 1, fill.nest)
    fill.drop_edges(edit)
    return edit.finish([*fill.loops, *out.loops])


def _checked(edit: Editor, array: str, node: ast.For) -> tuple[list[Access], list[Access]]:
    """The accesses of an array inside a loop, and the writes among them, if it can be staged."""
    staging.check_only_cells(edit, array, node.body)
    accesses = accesses_inside(node.body, array)
    writes = _writes(edit, array, node, accesses)
    staging.check_signs(edit, array, node, accesses)
    return accesses, writes


def _first(body: Sequence[ast.stmt], accesses: Sequence[Access]) -> int:
    """The position of the first statement that holds one of some accesses."""
    touched = {id(each.node) for each in accesses}
    return next(
        k for k, each in enumerate(body) if any(id(part) in touched for part in ast.walk(each))
    )


def _writes(edit: Editor, array: str, node: ast.For, accesses: Sequence[Access]) -> list[Access]:
    """Those of the accesses that write.

    Raises:
        ScheduleError: when there are none.
    """
    writes = [each for each in accesses if each.is_written]
    if writes:
        return writes
    writers = [
        header.variable
        for each in query.loops(edit.function)
        if (header := query.header(each)) is not None
        and any(access.is_written for access in accesses_inside(each.body, array))
    ]
    written = [name for each in node.body for name in query.written_arrays(each)]
    raise ScheduleError(
        f"nothing in this loop writes a cell of {array}",
        code="schedule.not-written",
        span=edit.span(node),
        hints=[f"loops that write it: {', '.join(dict.fromkeys(writers))}"]
        if writers
        else suggestions(array, written, "arrays written here"),
    )
