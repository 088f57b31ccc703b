"""`annotate`: write a note on a loop, for those who read the program and for later stages."""

from __future__ import annotations

from astile.errors import ScheduleError
from astile.ir import nodes
from astile.ir.nodes import Note
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten

#: How many characters of a text are kept.
_LONGEST = 200


def annotate(program: Program, loop: int, key: str, value: Note) -> Rewritten:
    """Record a value under a key on a loop; it is printed as a comment above it.

    Any key is kept, known to astile or not, until a primitive replaces the loop by others. Two
    have a meaning for vectors on a CPU. ``"store": "streaming"``, on a vector loop, writes what it
    stores around the caches: for results that no cache holds until they are read. ``"store":
    "large"`` does so for arrays of 32 MiB or more. ``"store": "ahead"`` stores by the caches, as
    ``"large"`` does below that size, and asks for lines some way ahead: for several rows that are
    stored side by side. ``"store": "late"`` stores each vector after the next two are computed:
    for rows of a multiple of 4096 bytes, where a read to the left of what was just stored waits
    for it, though it is of another array. ``"prefetch": n``, on a loop of or around vectors, asks
    for the memory of the iteration n later; on a loop over rows, for that of the row n later while
    this one is computed.

    Args:
        program: the program before.
        loop: identity of the loop.
        key: a name, or several joined by dots.
        value: None, a bool, an integer, a text, or a list of these. A new value replaces the old.

    Raises:
        ScheduleError: for a key that is no name, another kind of value, or what is noted already.

    Before:
        for i in range(n):
            y[i] = x[i]

    After ``annotate(i, "prefetch", 2)``:
        # prefetch = 2
        for i in range(n):
            y[i] = x[i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    if not isinstance(key, str) or not all(each.isidentifier() for each in key.split(".")):
        raise ScheduleError(
            f"the key {key!r} is no name",
            code="schedule.bad-name",
            hints=['write a name, or several joined by dots: "pipeline.stages"'],
        )
    kept = _checked(value)
    held = nodes.notes(node)
    if key in held and repr(held[key]) == repr(kept):
        raise ScheduleError(
            f"{key} = {kept!r} is noted on this loop already",
            code="schedule.nothing-to-do",
            hints=["leave the call out, or note another value"],
            span=edit.span(node),
        )
    nodes.set_note(node, key, kept)
    return edit.finish([node])


def _checked(value: object) -> Note:
    """The value, NumPy's integers as Python's own.

    Raises:
        ScheduleError: for a value that a trace could not hold.
    """
    if isinstance(value, (list, tuple)):
        return tuple(_single(each) for each in value)
    return _single(value)


def _single(value: object) -> nodes.Plain:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isprintable() and len(value) <= _LONGEST:
        return value
    index = getattr(value, "__index__", None)
    if index is not None:
        return int(index())
    raise ScheduleError(
        f"{value!r} cannot be noted on a loop",
        code="schedule.bad-value",
        hints=[f"use None, a bool, an integer, a text of one line (up to {_LONGEST}), or a list"],
    )
