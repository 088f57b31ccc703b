"""What the thread blocks of a kernel move, each for itself, and how many of their threads work.

Two blocks that read one cell read it twice from slow memory, or from a cache in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.reading import hardware
from astile.analysis.reading.domains import tuple_text
from astile.analysis.reading.instances import Statement
from astile.analysis.reading.statements import Level

_BLOCK = "block_"


@dataclass(frozen=True)
class Pairs:
    """Sets of ``[block -> cell]``: what each block reads from before it ran, and what it writes."""

    read: isl.UnionSet
    written: isl.UnionSet


def pairs(
    session: isl.Session,
    statements: Sequence[Statement],
    sinks: isl.UnionMap,
    sources: isl.UnionMap,
    schedule: isl.UnionMap,
) -> Pairs | None:
    """Which block touches which cell, for one nest; None where it has no blocks.

    Args:
        session: of all the sets.
        statements: of the nest.
        sinks: their reads.
        sources: their writes.
        schedule: read or write -> time.
    """
    around = [tuple(e.dimension for e in bound(each, "block")) for each in statements]
    most = max(map(len, around), default=0)
    if not most or any(len(each) != most for each in around):
        return None
    homes = session.union_map(
        (),
        [
            f"{statement.instance(access)} -> {tuple_text(_BLOCK, dimensions)}"
            for statement, dimensions in zip(statements, around, strict=True)
            for access in (*statement.reads, *statement.writes)
        ],
    )
    # a cell seen from a block is another one than the same cell seen from another block
    own_sinks, own_sources = homes.range_product(sinks), homes.range_product(sources)
    flow = isl.flow(own_sinks, own_sources, schedule)
    return Pairs(flow.get_must_no_source().range(), own_sources.range())


def bound(statement: Statement, level: str) -> list[Level]:
    """The loops around a statement that are bound to one level of the hardware.

    Args:
        statement: a leaf.
        level: ``"block"`` or ``"thread"``.
    """
    return [
        each
        for each in statement.leaf.place.levels
        if hardware.kind(each.loop).partition(".")[0] == level
    ]
