"""Reads that certainly get their value from a statement a few lines above, read off the text.

Where a statement writes the cell that a later one reads, runs whenever that one does, in the same
iteration, and nothing in between writes the array, the write is the source of the read. Dataflow
by isl gives the same answer, but takes its time for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astile.analysis.reading.accesses import Access
from astile.analysis.reading.statements import Leaf


@dataclass(frozen=True)
class Acting:
    """A statement with what it reads and writes.

    Args:
        leaf: the statement.
        reads: before it writes.
        writes: in order, all of them sure to happen.
    """

    leaf: Leaf
    reads: Sequence[Access]
    writes: Sequence[Access]


@dataclass(frozen=True)
class Near:
    """A read, and the write that gives it its value.

    Args:
        writer: position of the statement that writes.
        write: its last write of the array.
        reader: position of the statement that reads.
        read: the read.
    """

    writer: int
    write: Access
    reader: int
    read: Access


def nearby(statements: Sequence[Acting]) -> Iterator[Near]:
    """The reads whose source is known from the text.

    Args:
        statements: all leaf statements, in textual order.
    """
    variables = {level.variable for each in statements for level in each.leaf.place.levels}
    writers: dict[str, list[int]] = {}
    for position, each in enumerate(statements):
        for write in each.writes:
            found = writers.setdefault(write.array, [])
            if not found or found[-1] != position:
                found.append(position)
    for position, each in enumerate(statements):
        for read in each.reads:
            before = [k for k in writers.get(read.array, ()) if k < position]
            # loops write their variables too
            if not before or not read.is_exact or read.array in variables:
                continue
            writer = statements[before[-1]]
            write = [each for each in writer.writes if each.array == read.array][-1]
            if (
                write.indices == read.indices
                and _comes_along(writer.leaf, each.leaf, read)
                and not _written_inside(writer.leaf, each.leaf, statements, writers[read.array])
            ):
                yield Near(before[-1], write, position, read)


def _comes_along(writer: Leaf, reader: Leaf, read: Access) -> bool:
    """Whether a statement runs in every iteration in which a later one does."""
    above, here = writer.place, reader.place
    return (
        len(above.levels) <= len(here.levels)
        and all(
            one.loop is other.loop for one, other in zip(above.levels, here.levels, strict=False)
        )
        and set(above.conditions) <= set(here.conditions)
        and all(
            above.scope.extent(read.array, axis) == here.scope.extent(read.array, axis)
            for axis in range(len(read.indices))
        )
    )


def _written_inside(
    writer: Leaf, reader: Leaf, statements: Sequence[Acting], writers: Sequence[int]
) -> bool:
    """Whether the array is written in a loop around the reader that the writer is not in."""
    depth = len(writer.place.levels)
    if depth == len(reader.place.levels):
        return False
    loop = reader.place.levels[depth].loop
    around = (statements[each].leaf.place.levels for each in writers)
    return any(len(levels) > depth and levels[depth].loop is loop for levels in around)
