"""`reuse_buffer`: one array in place of two that are not needed at the same time."""

from __future__ import annotations

import ast

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten
from astile.rewrites.parts.storage import Intermediate, accesses_of, intermediate, reindex


def reuse_buffer(program: Program, buffer: str, array: str) -> Rewritten:
    """Keep an array in the memory of another one, whose values are no longer needed.

    That no value is overwritten while it is still read is left to the proof.

    Args:
        program: the program before.
        buffer: the array that stays.
        array: the array whose cells it takes over; its allocation goes.

    Raises:
        ScheduleError: when one of them is no intermediate, they differ in memory, type or number
            of axes, the array is larger or filled where it is made, or the buffer is not made
            before it, outside of it.

    Before:
        top = shared.empty(16, np.float32)
        for i in range(16):
            top[i] = x[i]
        for i in range(16):
            y[i] = top[15 - i]
        total = shared.empty(16, np.float32)
        for i in range(16):
            total[i] = y[i] * 2
        for i in range(16):
            y[i] = total[15 - i]

    After ``reuse_buffer("top", "total")``:
        top = shared.empty(16, np.float32)
        for i in range(16):
            top[i] = x[i]
        for i in range(16):
            y[i] = top[15 - i]
        for i in range(16):
            top[i] = y[i] * 2
        for i in range(16):
            y[i] = top[15 - i]
    """
    edit = Editor(program)
    if buffer == array:
        raise ScheduleError(
            f"{array} is one array already",
            code="schedule.nothing-to-do",
            hints=["name two arrays"],
        )
    stays, goes = intermediate(edit, buffer), intermediate(edit, array)
    _check_alike(edit, stays, goes)
    _check_before(edit, stays, goes)
    for access in accesses_of(edit, array):
        reindex(access, buffer, query.indices(access))
    for node in ast.walk(edit.function):
        if isinstance(node, ast.Attribute) and query.dotted(node) == f"{array}.dtype":
            node.value = nodes.name(buffer)
    place = edit.place(goes.statement)
    del place.block[place.index]
    return edit.finish()


def _check_alike(edit: Editor, stays: Intermediate, goes: Intermediate) -> None:
    """Refuse an array that the buffer cannot hold as it is."""
    why = None
    if stays.found.scope != goes.found.scope:
        why = f"{goes.array} is {goes.found.scope}, {stays.array} is {stays.found.scope}"
    elif not nodes.same(stays.dtype, goes.dtype):
        why = f"{goes.array} and {stays.array} are not known to have one type"
    elif len(stays.shape) != len(goes.shape):
        why = f"{goes.array} has {len(goes.shape)} axes, {stays.array} has {len(stays.shape)}"
    elif not all(map(_fits, goes.shape, stays.shape)):
        why = f"{goes.array} is not known to fit into {stays.array}"
    elif goes.found.word.removesuffix("_like") != "empty":
        why = f"{goes.array} is filled where it is made, by {goes.found.word}"
    if why is not None:
        raise ScheduleError(
            why,
            code="schedule.not-alike",
            span=edit.span(goes.statement),
            hints=["reuse a buffer of the same memory and type, as large or larger on each axis"],
        )


def _fits(extent: ast.expr, room: ast.expr) -> bool:
    one, other = query.integer(extent), query.integer(room)
    return nodes.same(extent, room) or (one is not None and other is not None and one <= other)


def _check_before(edit: Editor, stays: Intermediate, goes: Intermediate) -> None:
    """Refuse a buffer that is not there wherever the array is."""
    place, other = edit.place(stays.statement), edit.place(goes.statement)
    around = [*other.parents, goes.statement]
    here = [k for k, each in enumerate(place.block) if any(each is a for a in around)]
    if not here or here[0] < place.index:
        raise ScheduleError(
            f"{stays.array} is not made before {goes.array}, in the same loop or outside of it",
            code="schedule.not-nested",
            span=edit.span(stays.statement),
            hints=[f"reuse {goes.array} for {stays.array} instead, or move one by `store_at`"],
        )
