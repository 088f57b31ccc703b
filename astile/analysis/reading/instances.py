"""A program as instances that read and write cells: what `model.extract` makes."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property

from astile.analysis import isl
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi
from astile.analysis.forms.params import Names
from astile.analysis.reading.accesses import CONTROL, EFFECTS, RETURN, Access, Accesses
from astile.analysis.reading.domains import array_name, sizes, tuple_text
from astile.analysis.reading.nearby import Acting, Near, nearby
from astile.analysis.reading.statements import Leaf
from astile.ir.program import Program


@dataclass(frozen=True)
class Statement:
    """A leaf with its accesses.

    Args:
        name: its isl name.
        leaf: the leaf.
        accesses: what its text reads and writes.
        reads: all reads, those of the outside world included.
        writes: all writes, in order.
    """

    name: str
    leaf: Leaf
    accesses: Accesses
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of its loop variables in isl."""
        return self.leaf.place.dimensions

    @property
    def is_exact(self) -> bool:
        """Whether it is simple, with known cells only."""
        return self.leaf.is_simple and self.accesses.is_exact

    def instance(self, access: Access) -> str:
        """The isl tuple of one of its accesses."""
        return tuple_text(f"{self.name}{access.slot}", (*self.dimensions, *cells(access)))


def cells(access: Access) -> tuple[str, ...]:
    """Names for the coordinates of a cell that are not known."""
    return tuple(f"c{axis}" for axis, each in enumerate(access.indices) if each is None)


def written_as(statement: Statement, access: Access) -> ast.expr | None:
    """How an access is written; what a write keeps is written as that write."""
    if access.slot[0] != "o":
        return access.node
    return next((e.node for e in statement.writes if e.slot[1:] == access.slot[1:]), None)


def cell_ends(statement: Statement, access: Access) -> list[str]:
    """Where cells that are not known lie, as formulas over their coordinates.

    A subscript is inside its array. A name may stand for an array that is longer afterwards.
    """
    if not isinstance(written_as(statement, access), ast.Subscript):
        return []
    scope = statement.accesses.scope
    return [
        f"0 <= c{axis} < {extent.text}"
        for axis, index in enumerate(access.indices)
        if index is None and (extent := scope.extent(access.array, axis)) is not None
    ]


@dataclass(frozen=True)
class Model:
    """A program as instances that read and write cells.

    Args:
        program: the program.
        names: what its names are.
        session: the isl session that its sets belong to.
        statements: its leaves in textual order.
        observed: names whose cells are looked at when the function has ended.
        sinks: read -> cell.
        sources: write -> cell.
        schedule: read or write -> time.
        tokens: write -> what it stands for when it is not itself (fills, undefined cells, ints).
        parameters: all isl parameters.
    """

    program: Program
    names: Names
    session: isl.Session
    statements: tuple[Statement, ...]
    observed: tuple[str, ...]
    prefix: str
    sinks: isl.UnionMap = field(repr=False)
    sources: isl.UnionMap = field(repr=False)
    schedule: isl.UnionMap = field(repr=False)
    tokens: isl.UnionMap = field(repr=False)
    plain: isl.UnionSet = field(repr=False)
    parameters: tuple[str, ...] = ()

    @cached_property
    def inputs(self) -> isl.UnionSet:
        """Every cell that has a value when the function begins."""
        outside = [EFFECTS, CONTROL, RETURN]
        pieces = [
            tuple_text(array_name(each), coordinates(self.names.ranks.get(each, 0)))
            for each in (*self.names.arguments, *outside)
        ]
        return self.session.union_set((), pieces)

    @cached_property
    def near(self) -> tuple[Near, ...]:
        """The reads whose source is known from the text."""
        return tuple(nearby([Acting(e.leaf, e.reads, e.writes) for e in self.statements]))

    @cached_property
    def sizes(self) -> isl.Set:
        """What is known of the parameters."""
        known = " and ".join(sizes(list(self.parameters))) or "true"
        return self.session.set(f"[{', '.join(self.parameters)}] -> {{ : {known} }}")


def coordinates(rank: int) -> tuple[str, ...]:
    """Names for the coordinates of an array."""
    return tuple(f"c{axis}" for axis in range(rank))


def integer_value(statement: Statement) -> Quasi | None:
    """The known integer that a plain assignment writes, or None."""
    node = statement.leaf.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return affine_sets.quasi(node.value, statement.accesses.scope)
    return None
