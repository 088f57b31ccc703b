"""Which cells a program touches, and how often its statements run, as sets over its sizes.

`traffic` counts them for given sizes, `formulas_of` with sizes as names.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence

from astile.analysis import isl
from astile.analysis.counts import block_counts
from astile.analysis.counts.earlier import from_before
from astile.analysis.forms.affine_sets import Quasi, quasi
from astile.analysis.reading.domains import array_name
from astile.analysis.reading.instances import Model, Statement, coordinates
from astile.analysis.reading.statements import Level
from astile.ir import query


class Touched:
    """The sets of one program.

    Args:
        model: of the program.
        values: isl parameter -> its value, for parameters that are fixed.
        shapes: array -> its extents, numbers or parameters, where known.
    """

    def __init__(
        self,
        model: Model,
        values: Mapping[str, int],
        shapes: Mapping[str, Sequence[int | str | None] | None],
    ) -> None:
        self.model, self.session = model, model.session
        known = [f"{n} = {v}" for n, v in values.items() if n in model.parameters]
        parameters = ", ".join(model.parameters)
        #: The fixed parameters have their values.
        self.fixed = self.session.set(f"[{parameters}] -> {{ : {' and '.join(known) or 'true'} }}")
        self._names = {array_name(each): each for each in model.names.ranks}
        inside = self._inside(shapes)
        self.sinks = model.sinks.intersect_params(self.fixed).intersect_range(inside)
        self.sources = model.sources.intersect_params(self.fixed).intersect_range(inside)

    def nests(self) -> list[list[Statement]]:
        """The statements of each nest, in textual order."""
        by_nest: dict[int, list[Statement]] = {}
        for each in self.model.statements:
            if isinstance(each.leaf.node, ast.Return) and not query.accesses(each.leaf.node):
                continue  # an array is handed over, not read
            levels = each.leaf.place.levels
            position = levels[0].position if levels else each.leaf.position
            by_nest.setdefault(position, []).append(each)
        return [each for _, each in sorted(by_nest.items())]

    def pieces(self, cells: isl.UnionSet) -> Iterator[tuple[str, isl.Set]]:
        """The cells of each array, in sets; of ``[block -> cell]`` as one tuple of both."""
        pieces = cells.get_set_list()
        for position in range(int(pieces.n_set())):
            piece = pieces.get_at(position)
            if piece.is_wrapping():
                name = self._names.get(piece.unwrap().get_tuple_name(isl.dim_type.out) or "")
                piece = piece.flatten()
            else:
                name = self._names.get(piece.get_tuple_name() or "")
            if name is not None:
                yield name, piece

    def read(self, statements: Sequence[Statement], arrays: Container[str]) -> isl.UnionSet:
        """The cells of some arrays whose value was there before statements ran."""
        reads, writes = self._accesses(statements, arrays)
        sinks, sources = self.sinks.intersect_domain(reads), self.sources.intersect_domain(writes)
        return from_before(sinks, sources, self.model.schedule)

    def written(self, statements: Sequence[Statement], arrays: Container[str]) -> isl.UnionSet:
        """The cells of some arrays that statements write."""
        return self.sources.intersect_domain(self._accesses(statements, arrays)[1]).range()

    def has_blocks(self, statements: Sequence[Statement]) -> bool:
        """Whether all statements of a nest are inside of the same number of loops over blocks."""
        return block_counts.depth(statements) > 0

    def read_by_blocks(
        self, statements: Sequence[Statement], arrays: Container[str]
    ) -> isl.UnionSet:
        """The same as `read` as ``[block -> cell]``, for each block of a nest that has some."""
        reads, writes = self._accesses(statements, arrays)
        homes = block_counts.homes(self.session, statements)
        sinks, sources = self.sinks.intersect_domain(reads), self.sources.intersect_domain(writes)
        # a cell seen from a block is another one than the same cell seen from another block
        own_sinks, own_sources = homes.range_product(sinks), homes.range_product(sources)
        return from_before(own_sinks, own_sources, self.model.schedule)

    def written_by_blocks(
        self, statements: Sequence[Statement], arrays: Container[str]
    ) -> isl.UnionSet:
        """The same as `written` as ``[block -> cell]``."""
        sources = self.sources.intersect_domain(self._accesses(statements, arrays)[1])
        return block_counts.homes(self.session, statements).range_product(sources).range()

    def touched(
        self, statements: Sequence[Statement], iteration: Mapping[str, str]
    ) -> isl.UnionSet:
        """The cells that statements touch in one iteration of loops around them.

        Args:
            statements: of a nest.
            iteration: dimension of a loop -> an integer, or a parameter.
        """
        reads, writes = self._accesses(statements, self.model.names.ranks, iteration)
        cells = self.sinks.intersect_domain(reads).range()
        return cells.union(self.sources.intersect_domain(writes).range())

    def iterations(self, constraints: Sequence[str], dimensions: Sequence[str]) -> isl.Set:
        """The values of loop variables, and of other names, that constraints allow."""
        condition = " and ".join(constraints) or "true"
        parameters = ", ".join(self.model.parameters)
        values = self.session.set(
            f"[{parameters}] -> {{ [{', '.join(dimensions)}] : {condition} }}"
        )
        return values.intersect_params(self.fixed)

    def extents(self, made: query.Allocation, statement: Statement) -> list[isl.Set | None] | None:
        """The values of each extent of an array over all runs of the statement that makes it.

        Args:
            made: what it makes; None for each extent that is no known integer, and None for an
                array that is made like another.
            statement: makes it.
        """
        if made.shape is None:
            return None
        forms = [quasi(each, statement.accesses.scope) for each in made.shape]
        return [None if each is None else self._values(each, statement) for each in forms]

    def texts_of_extents(self) -> dict[str, list[str | None]]:
        """Array that the program makes -> its extents, those that depend on no loop, in isl."""
        found: dict[str, list[str | None]] = {}
        for each in self.model.statements:
            made = query.allocation(each.leaf.node)
            if made is None or made.shape is None or each.dimensions:
                continue
            forms = [quasi(extent, each.accesses.scope) for extent in made.shape]
            texts = [None if form is None else form.text for form in forms]
            if found.setdefault(made.array, texts) != texts:  # a name for several arrays
                found[made.array] = [None] * len(texts)
        return found

    def _values(self, form: Quasi, statement: Statement) -> isl.Set:
        place = statement.leaf.place
        dimensions = (*place.dimensions, "value")
        values = self.iterations((*place.constraints, f"value = {form.text}"), dimensions)
        return values.project_out(isl.dim_type.set, 0, len(place.dimensions))

    def _accesses(
        self,
        statements: Sequence[Statement],
        arrays: Container[str],
        iteration: Mapping[str, str] | None = None,
    ) -> tuple[isl.UnionSet, isl.UnionSet]:
        """Instances of the reads and writes of arrays that the text of statements shows."""
        limits = iteration or {}
        condition = " and ".join(f"{name} = {at}" for name, at in limits.items()) or "true"
        parameters = [each for each in limits.values() if each.isidentifier()]
        reads, writes = [], []
        for each in statements:
            made = query.allocation(each.leaf.node)
            shown = [a for a in each.reads if a.slot.startswith("r") and a.array in arrays]
            reads += [f"{each.instance(a)} : {condition}" for a in shown]
            if made is None or not made.word.startswith("empty"):
                stored = [a for a in each.writes if a.array in arrays]
                writes += [f"{each.instance(a)} : {condition}" for a in stored]
        return self.session.union_set(parameters, reads), self.session.union_set(parameters, writes)

    def _inside(self, shapes: Mapping[str, Sequence[int | str | None] | None]) -> isl.UnionSet:
        """The cells of all arrays, within their shapes where those are known."""
        pieces = []
        for name, rank in self.model.names.ranks.items():
            axes = coordinates(rank)
            extents = zip(axes, shapes.get(name) or (), strict=False)
            limits = [f"0 <= {axis} < {extent}" for axis, extent in extents if extent is not None]
            condition = " and ".join(limits) or "true"
            pieces.append(f"{array_name(name)}[{', '.join(axes)}] : {condition}")
        return self.session.union_set(self.model.parameters, pieces)


def is_inside(statement: Statement, level: Level) -> bool:
    """Whether a statement stands in a loop.

    Args:
        statement: a leaf.
        level: the loop.
    """
    return any(each.loop is level.loop for each in statement.leaf.place.levels)


def like(made: query.Allocation, statement: Statement) -> str:
    """The array that ``np.empty_like`` and its kin are given.

    Args:
        made: what it makes.
        statement: the call.
    """
    assert isinstance(statement.leaf.node, ast.Assign)
    assert isinstance(statement.leaf.node.value, ast.Call)
    return query.dotted(statement.leaf.node.value.args[0]) or ""
