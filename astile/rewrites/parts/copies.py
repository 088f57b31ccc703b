"""Copies between an array and a tile of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.extents import footprint
from astile.analysis.extents.footprint import Access
from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.proof.dataflow import dependences
from astile.analysis.proof.reach import Inside
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.model import extract
from astile.analysis.reading.statements import survey
from astile.ir import nodes, query
from astile.rewrites.parts import storage
from astile.rewrites.parts.result import Editor, range_call
from astile.rewrites.parts.staging import Tile, divided, extent_of


@dataclass(frozen=True)
class Window:
    """The cells of a tile that a copy moves.

    Args:
        tile: the tile.
        variables: a variable of the copy's loops for each axis, ``A_0``, ``A_1``; None for an axis
            of one cell.
        shape: how many cells there are along each axis.
        inside: the indices of the tile for one cell.
        cell: the indices of the array for it.
    """

    tile: Tile
    variables: tuple[str | None, ...]
    shape: tuple[ast.expr, ...]
    inside: tuple[Affine, ...]
    cell: tuple[Affine, ...]


def window(tile: Tile, home: ast.For, accesses: Sequence[Access], scope: str) -> Window:
    """The window of a tile around some of the accesses that it is for."""
    hidden = {name for each in home.body for name in query.names_written(each)}
    variables: list[str | None] = []
    inside: list[Affine] = []
    shape: list[ast.expr] = []
    boxed = footprint.box(accesses, tile.at_most, hidden)
    for axis, (own, whole, step) in enumerate(zip(boxed, tile.sides, tile.steps, strict=True)):
        side = own or whole
        extent = extent_of(side, scope, tile.at_most, step)
        start = divided(side.first - whole.first, step)
        if extent is None or start is None:
            start, extent = affine.constant(0), nodes.clone(tile.shape[axis])
        is_one = query.is_constant(extent, 1)
        variables.append(None if is_one else tile.names[axis])
        name = variables[-1]
        inside.append(start if name is None else start + affine.variable(name))
        shape.append(extent)
    held = zip(tile.sides, tile.steps, inside, strict=True)
    cell = [side.first + each * step for side, step, each in held]
    return Window(tile, tuple(variables), tuple(shape), tuple(inside), tuple(cell))


def copy_nest(edit: Editor, moved: Window, conditions: Sequence[ast.expr], *, out: bool) -> Copy:
    """Loops that copy a window into the tile, or back.

    Args:
        edit: the program that is edited.
        moved: the cells.
        conditions: what is known of those cells that have to be copied.
        out: whether to copy from the tile to the array.
    """
    ends = [
        (moved.tile.name, [each.expression() for each in moved.inside]),
        (moved.tile.array, [each.expression() for each in moved.cell]),
    ]
    (to, left), (of, right) = reversed(ends) if out else ends
    moving = nodes.assign(nodes.subscript(to, left, store=True), nodes.subscript(of, right))
    edges = _inside_array(edit, moved)
    guard = nodes.if_then(nodes.conjunction([*conditions, *edges]), [moving])
    made: ast.stmt = guard
    loops: list[ast.For] = []
    for variable, extent in reversed(list(zip(moved.variables, moved.shape, strict=True))):
        if variable is not None:
            iterator = range_call(nodes.const(0), extent)
            made = edit.new_loop(variable, iterator, [made])
            loops.insert(0, made)
    return Copy(moved, made, loops, guard, [*conditions], edges)


@dataclass(frozen=True)
class Copy:
    """Loops that copy a window.

    Args:
        moved: the window.
        nest: the outermost statement.
        loops: its loops, outermost first.
        guard: the condition around the statement that copies a cell.
        known: conditions of the guard that all wanted cells meet.
        edges: conditions of the guard that keep the cell inside the array.
    """

    moved: Window
    nest: ast.stmt
    loops: list[ast.For]
    guard: ast.If
    known: list[ast.expr]
    edges: list[ast.expr]

    def drop_edges(self, edit: Editor) -> None:
        """Leave out conditions that follow from the others wherever the program can be called.

        To be called when the copy stands in its place.
        """
        drop_needless(edit, self.moved.tile.array, self.guard, self.known, self.edges)


def drop_needless(
    edit: Editor, array: str, guard: ast.If, known: Sequence[ast.expr], edges: Sequence[ast.expr]
) -> None:
    """Leave out conditions of a guard that follow from others wherever the program can be called.

    Args:
        edit: the program that is edited, with the guard in its place.
        array: the array that the guard protects.
        guard: the guard.
        known: conditions of it that stay.
        edges: conditions of it that keep indices inside the array.
    """
    place = survey(edit.program).place(guard)
    if place is None:
        return
    inside = Inside(edit.before, array)
    kept = list(edges)
    for each in edges:
        others = [other for other in kept if other is not each]
        if inside.implies(place, [*known, *others], each):
            kept = others
    guard.test = nodes.conjunction([*known, *kept])


def _inside_array(edit: Editor, moved: Window) -> list[ast.expr]:
    """Conditions under which a cell is one of the array; the needless ones are dropped later."""
    conditions: list[ast.expr] = []
    extents = storage.extents_of(edit, moved.tile.array, len(moved.cell))
    for index, extent in zip(moved.cell, extents, strict=True):
        conditions.append(nodes.compare(nodes.const(0), ast.LtE, index.expression()))
        conditions.append(nodes.compare(index.expression(), ast.Lt, extent))
    return conditions


def is_read_unwritten(edit: Editor, made: ast.stmt) -> bool:
    """Whether a cell of an array may be read before anything is stored there.

    Args:
        edit: the program that is edited.
        made: the statement that allocates the array.
    """
    try:
        model = extract(edit.program)
        allocation = next((e for e in model.statements if e.leaf.node is made), None)
        if allocation is None:  # it stands inside a block that is not taken apart
            return True
        writes = [allocation.instance(allocation.writes[0])]
        found = dependences(model.sinks, model.sources, model.schedule).must
        own = found.intersect_domain(model.session.union_set(model.parameters, writes))
        return not own.is_empty()
    except (NotModelled, isl.Error):
        return True
