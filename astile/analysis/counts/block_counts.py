"""What the thread blocks of a kernel move, each for itself, and how many of their threads work.

Two blocks that read one cell read it twice from slow memory, or from a cache in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from astile.analysis import isl
from astile.analysis.reading import hardware
from astile.analysis.reading.domains import tuple_text
from astile.analysis.reading.instances import Statement
from astile.analysis.reading.statements import Level

_BLOCK = "block_"


def depth(statements: Sequence[Statement]) -> int:
    """How many loops over blocks are around each statement; 0 where it is not the same number.

    Args:
        statements: of one nest.
    """
    around = {len(bound(each, "block")) for each in statements}
    return around.pop() if len(around) == 1 else 0


def homes(session: isl.Session, statements: Sequence[Statement]) -> isl.UnionMap:
    """Read or write -> the block that does it, for one nest that has blocks.

    Args:
        session: of all the sets.
        statements: of the nest.
    """
    around = [tuple(each.dimension for each in bound(e, "block")) for e in statements]
    return session.union_map(
        (),
        [
            f"{statement.instance(access)} -> {tuple_text(_BLOCK, dimensions)}"
            for statement, dimensions in zip(statements, around, strict=True)
            for access in (*statement.reads, *statement.writes)
        ],
    )


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
