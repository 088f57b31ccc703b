"""Tiles of a loop of which its iterations use several copies in turns."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.query import Header
from astile.rewrites.parts.result import Editor, named
from astile.rewrites.parts.storage import Intermediate, accesses_of, reindex


def take_turns(edit: Editor, held: Intermediate, home: ast.For, slots: int) -> None:
    """Let the iterations of a loop use several copies of a tile in turns.

    Args:
        edit: the program that is edited.
        held: an array allocated in the body of the loop.
        home: the loop.
        slots: how many copies.

    Raises:
        ScheduleError: as `take_out`.
    """
    slot = affine.modulo(_trip(edit.counted(home)), slots)
    take_out(edit, held, home, slots)
    for access in accesses_of(edit, held.array):
        reindex(access, held.array, [slot.expression(), *query.indices(access)])


def take_out(edit: Editor, held: Intermediate, home: ast.For, slots: int | None = None) -> None:
    """Allocate before a loop what it allocates in each iteration.

    Args:
        edit: the program that is edited.
        held: an array allocated in the body of the loop.
        home: the loop.
        slots: the extent of one more axis, or None.

    Raises:
        ScheduleError: when the array is filled where it is allocated, or its shape depends on
            the loop.
    """
    if held.found.word.removesuffix("_like") != "empty":
        raise ScheduleError(
            f"{held.array} is filled anew in each iteration by {held.found.word}",
            code="schedule.filled",
            span=edit.span(held.statement),
            hints=["allocate it by `empty`, and fill it in a loop"],
        )
    inside = query.names_written(home)
    depends = sorted(
        inside & set().union(*(query.names(each) for each in (*held.shape, held.dtype)))
    )
    if depends:
        raise ScheduleError(
            f"the shape of {held.array} depends on {', '.join(depends)}, "
            f"which {named(home)} changes",
            code="schedule.bad-bounds",
            hints=["make the array of one shape for all iterations"],
            span=edit.span(held.statement),
        )
    place = edit.place(held.statement)
    del place.block[place.index]
    if not place.block:
        place.block.append(ast.Pass())
    around = edit.place(home)
    first = [] if slots is None else [nodes.const(slots)]
    made = held.remade([*first, *(nodes.clone(each) for each in held.shape)])
    around.block.insert(around.index, made)


def _trip(header: Header) -> Affine:
    """The number of an iteration, counted from 0."""
    step = query.integer(header.step)
    assert step
    offset = affine.variable(header.variable) - affine.of(header.start)
    return affine.floor_div(offset if step > 0 else -offset, abs(step))
