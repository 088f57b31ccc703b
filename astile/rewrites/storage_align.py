"""`storage_align`: pads an array so that its rows start at chosen distances."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from math import prod

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten
from astile.rewrites.parts.storage import intermediate


def storage_align(program: Program, array: str, axis: int, factor: int, offset: int) -> Rewritten:
    """Pad an array so that neighbours along an axis are ``k * factor + offset`` cells apart.

    A shared tile whose rows are a multiple of 32 cells apart keeps a column in one memory bank;
    one cell more puts it into 32 banks: ``storage_align("A_shared", 0, 32, 1)``.

    Args:
        program: the program before.
        array: an array allocated in the function.
        axis: the axis whose neighbours are counted, not the last one.
        factor: cells.
        offset: cells beyond a multiple of `factor`.

    Raises:
        ScheduleError: when the array is no intermediate, is used other than cell by cell, the
            axis has no other behind it, or no padding of the next axis reaches this distance.

    Before:
        tile = shared.empty((16, 32), np.float32)
        for i in range(16):
            for j in range(32):
                tile[i, j] = x[i, j]

    After ``storage_align("tile", 0, 32, 1)``:
        # axis 1 is padded from 32 to 33 cells
        tile = shared.empty((16, 33), np.float32)
        for i in range(16):
            for j in range(32):
                tile[i, j] = x[i, j]
    """
    edit = Editor(program)
    _check_numbers(axis, factor, offset)
    held = intermediate(edit, array)
    rank = len(held.shape)
    position = axis + rank if axis < 0 else axis
    if not 0 <= position < rank - 1:
        raise ScheduleError(
            f"{array} has {rank} axes, of which axis {axis} has no other behind it to pad",
            code="schedule.bad-axis",
            span=edit.span(held.statement),
            hints=["axis=0 of a tile with two axes sets the distance of its rows"],
        )
    padded = _padded(edit, array, held.shape, position + 1, factor, offset)
    old, new = affine.of(held.shape[position + 1]), affine.of(padded)
    if old == new:
        raise ScheduleError(
            f"neighbours of {array} along axis {axis} are this far apart already",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(held.statement),
        )
    shape = [nodes.clone(each) for each in held.shape]
    shape[position + 1] = padded
    made = held.remade(shape)
    if old.value is not None and new.value is not None:
        nodes.add_comment(
            made, f"axis {position + 1} is padded from {old.value} to {new.value} cells"
        )
    edit.replace(held.statement, [made])
    return edit.finish()


def _check_numbers(axis: int, factor: int, offset: int) -> None:
    for name, number, least in (("axis", axis, None), ("factor", factor, 1), ("offset", offset, 0)):
        is_integer = isinstance(number, int) and not isinstance(number, bool)
        if not is_integer or (least is not None and number < least):
            raise ScheduleError(
                f"{name}={number!r} is no integer" + ("" if least is None else f" from {least} on"),
                code="schedule.bad-align",
                hints=["write for example `storage_align(array, 0, 32, 1)`"],
            )


def _padded(
    edit: Editor, array: str, shape: Sequence[ast.expr], axis: int, factor: int, offset: int
) -> ast.expr:
    """The least extent of an axis that is enough, with neighbours before it far enough apart."""
    behind = [query.integer(each) for each in shape[axis + 1 :]]
    inner = prod(each for each in behind if each is not None)
    extent = query.integer(shape[axis])
    if None not in behind and extent is not None:
        for cells in range(extent, extent + factor):
            if (cells * inner - offset) % factor == 0:
                return nodes.const(cells)
    elif not behind:  # e + (offset - e) % factor
        missing = affine.modulo(affine.constant(offset) - affine.of(shape[axis]), factor)
        return (affine.of(shape[axis]) + missing).expression()
    raise ScheduleError(
        f"no padding of axis {axis} of {array} makes its neighbours a multiple of {factor} and "
        f"{offset} cells apart",
        code="schedule.bad-align",
        span=edit.span(shape[axis]),
        hints=["choose the axis before the last one, or an offset that the inner extents divide"],
    )
