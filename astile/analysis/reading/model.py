"""The polyhedral model of a program: instances, times, reads, writes, all as isl sets and maps.

Every read and every write of a statement is a tuple of its own, ``S3r0[v0_i, v1_j]``; where the
cell is not known its coordinates are added, ``S3r1[v0_i, v1_j, c0]``, one point for each cell
that it may be. A write that may not happen reads what it would keep, and writes always.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.forms.affine_sets import mangled, parameters_in
from astile.analysis.forms.params import extent_name
from astile.analysis.reading.accesses import (
    CONTROL,
    EFFECTS,
    RETURN,
    Access,
    Accesses,
    NotModelled,
    Reader,
)
from astile.analysis.reading.aliases import check_aliases
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.domains import Signs, array_name, sizes, time, tuple_text
from astile.analysis.reading.instances import (
    Model,
    Statement,
    cell_ends,
    cells,
    coordinates,
    integer_value,
)
from astile.analysis.reading.statements import Leaf, Place, Survey, survey
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program

__all__ = ["Model", "Statement", "cells", "extract", "integer_value"]

#: A value of an array that nobody wrote.
UNDEFINED = "U"
#: Python's own types as dtypes.
_PYTHON = {"float": "numpy.float64", "int": "numpy.int64", "bool": "numpy.bool"}
#: Integers as values: the source of a loop variable that is read after its loop.
INTEGER = "INT"


def extract(
    program: Program,
    *,
    session: isl.Session | None = None,
    original: Model | None = None,
    names_quotients: bool = False,
) -> Model:
    """The model of a program, from its text alone.

    Args:
        program: the program.
        session: the isl session to build sets in; a new one when not given.
        original: model of the original function, when this program is another form of it. Then
            statements are named ``T0``, ... and not ``S0``, ...
        names_quotients: whether quotients of sizes are parameters of the model.

    Raises:
        NotModelled: for Python whose meaning the model does not hold.
        isl.Error: when isl fails.
    """
    session = session or isl.Session()
    if original is None:
        return _Extractor(program, survey(program), session, "S").run((), ())
    found = survey(program, original.names, names_quotients=names_quotients)
    return _Extractor(program, found, session, "T").run(original.observed, original.parameters)


class _Extractor:
    def __init__(self, program: Program, found: Survey, session: isl.Session, prefix: str) -> None:
        self.program, self.names, self.session = program, found.names, session
        self.leaves, self.prefix = found.leaves, prefix
        self.signs = Signs(session)
        self.levels = found.levels
        depth = max((len(place.levels) + 1 for place, _ in found.levels), default=0)
        self.length = 2 * depth + 1
        self.sinks: list[str] = []
        self.sources: list[str] = []
        self.tokens: list[str] = []
        self.ends: list[str] = []
        self.times = session.union_map((), [])
        self.read = session.union_set((), [])
        self.written = session.union_set((), [])
        self.domains: dict[tuple[str, ...], isl.Set] = {}

    def run(self, also_observed: Sequence[str], also_known: Sequence[str]) -> Model:
        calls = Calls(self.program, frozenset(self.names.arguments) | self.names.local)
        check_aliases(self.program, self.names, calls)
        reader = Reader(self.names, calls)
        found = [(leaf, reader.accesses(leaf)) for leaf in self.leaves]
        read = {a.array for _, each in found for a in each.reads if a.slot[0] == "r"}
        observed = self._observed([each for _, each in found], set(also_observed))
        leaves_early = any(each.leaves for _, each in found)
        statements = tuple(
            self._statement(number, leaf, each, read, observed, leaves_early)
            for number, (leaf, each) in enumerate(found)
        )
        for statement in statements:
            self._add(statement)
        self._loop_variables(read)
        self._final_reads(observed)
        return self._model(statements, observed, set(also_known))

    def _observed(self, found: list[Accesses], also: set[str]) -> tuple[str, ...]:
        written = {access.array for each in found for access in each.writes} | also
        changed = {
            node.target.id
            for node in query.preorder(self.program.function)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        kept = [
            name
            for name in self.names.arguments
            if name in written
            and name not in self.program.scratch
            and (name in self.names.ranks or name in changed | also)
        ]
        return (*kept, EFFECTS, RETURN)

    # --- statements -----------------------------------------------------------------------------

    def _statement(
        self,
        number: int,
        leaf: Leaf,
        found: Accesses,
        read: set[str],
        observed: tuple[str, ...],
        leaves_early: bool,
    ) -> Statement:
        reads, writes = list(found.reads), list(found.writes)
        if not leaf.is_simple:  # scalars that nobody else reads are its own business
            own = {a.array for a in writes if a.slot.startswith("w_")} - read
            found = _numbered(found, own)
            reads = [a for a in found.reads if a.slot[1:] not in {f"_{each}" for each in own}]
            writes = [a for a in found.writes if a.slot[1:] not in {f"_{each}" for each in own}]
        if found.leaves:
            live = [each for each in observed if each not in (EFFECTS, RETURN)]
            reads += [Access(f"x_{each}", each, self._every(each)) for each in live]
            writes.append(Access("w_<control>", CONTROL, ()))
        if found.acts or found.leaves:
            reads.append(Access("x_<effects>", EFFECTS, ()))
            writes.append(Access("w_<effects>", EFFECTS, ()))
        if leaves_early and (self.prefix == "S" or leaf.origin is not None):
            reads.append(Access("x_<control>", CONTROL, ()))
        name = f"{self.prefix}{number}"
        return Statement(name, leaf, found, _named(reads), _named(writes))

    def _every(self, array: str) -> tuple[None, ...]:
        return (None,) * self.names.ranks.get(array, 0)

    def _add(self, statement: Statement) -> None:
        place = statement.leaf.place
        domain = self._domain(place)
        moment = time(place, statement.leaf.position, self.length)
        times = self.session.map(f"{{ [{', '.join(place.dimensions)}] -> [{', '.join(moment)}] }}")
        for phase, access in enumerate((*statement.reads, *statement.writes)):
            is_read = phase < len(statement.reads)
            name, extra = f"{statement.name}{access.slot}", len(cells(access))
            after = 0 if is_read else 1 + phase - len(statement.reads)
            self.times = self.times.union(isl.timed(times, name, extra, after))
            found = self._cell_maps(statement.instance(access), access, statement)
            here = self._inside(isl.named(domain, name, extra), statement, access)
            if is_read:
                self.sinks += found
                self.read = self.read.union(here)
            else:
                self.sources += found
                self.written = self.written.union(here)
                self._token(statement, access, statement.instance(access))

    def _domain(self, place: Place) -> isl.Set:
        """The iterations of a place."""
        if place.constraints not in self.domains:
            condition = " and ".join(place.constraints) or "true"
            parameters = ", ".join(sorted(parameters_in(place.constraints)))
            text = f"[{parameters}] -> {{ [{', '.join(place.dimensions)}] : {condition} }}"
            self.domains[place.constraints] = self.session.set(text)
        return self.domains[place.constraints]

    def _inside(self, here: isl.UnionSet, statement: Statement, access: Access) -> isl.UnionSet:
        """The instances of an access; a cell that is not known is one that the array has."""
        ends = cell_ends(statement, access)
        if not ends:
            return here
        self.ends += ends
        text = f"{statement.instance(access)} : {' and '.join(ends)}"
        return here.intersect(self.session.union_set(sorted(parameters_in(ends)), [text]))

    def _cell_maps(self, instance: str, access: Access, statement: Statement) -> list[str]:
        """The cell that an access touches; negative indices count from the end, as in Python."""
        place = statement.leaf.place
        found: list[tuple[list[str], list[str]]] = [([], [])]
        for axis, index in enumerate(access.indices):
            if index is None:
                for indices, _ in found:
                    indices.append(f"c{axis}")
                continue
            if self.signs.is_never_negative(index, place):
                for indices, _ in found:
                    indices.append(index.text)
                continue
            extent = statement.accesses.scope.extent(access.array, axis)
            if extent is None:
                raise NotModelled(
                    f"an index of {access.array} that may be negative, on an axis of unknown size",
                    access.node or statement.leaf.node,
                )
            found = [
                ([*indices, text], [*conditions, sign])
                for indices, conditions in found
                for text, sign in (
                    (index.text, f"{index.text} >= 0"),
                    (index.plus(extent).text, f"{index.text} < 0"),
                )
            ]
        cell = array_name(access.array)
        return [
            f"{instance} -> {tuple_text(cell, tuple(indices))} : "
            + (" and ".join(conditions) or "true")
            for indices, conditions in found
        ]

    def _token(self, statement: Statement, access: Access, instance: str) -> None:
        """What a write stands for when it is not itself."""
        node = statement.leaf.node
        made = query.allocation(node)
        token = None
        if made is not None and access.slot == "w0":
            token = self._fill(made, node)
        elif statement.leaf.origin is None and self.prefix != "S" and statement.is_exact:
            value = integer_value(statement)
            if access.array in self.names.ranks:
                token = self._filling(access.array, None if value is None else value.value)
            elif value is not None:
                token = tuple_text(INTEGER, (value.text,))
        if token is not None:
            self.tokens.append(f"{instance} -> {token}")

    def _fill(self, made: query.Allocation, node: ast.stmt) -> str | None:
        word = plain(made)
        if word == "empty":
            return f"{UNDEFINED}[]"
        if word not in ("zeros", "ones"):
            return None
        return f"F_{word}_0x{self._dtype(made, node).encode().hex()}[]"

    def _dtype(self, made: query.Allocation, node: ast.stmt) -> str:
        """The dtype of an allocation, spelled so that equal text is the same dtype."""
        if made.dtype is not None:
            calls = Calls(self.program, frozenset(self.names.arguments) | self.names.local)
            path = calls.path(made.dtype)
            return _PYTHON.get(path or "", path) or print_expression(made.dtype)
        if made.word == plain(made):
            return _PYTHON["float"]
        assert isinstance(node, ast.Assign)
        assert isinstance(node.value, ast.Call)
        return print_expression(node.value.args[0]) + ".dtype"

    def _filling(self, array: str, value: int | None) -> str | None:
        """A cell set to 0 or 1 is one of an array made by zeros or ones of the same type."""
        made = [
            (found, each)
            for each in query.statements(self.program.function)
            if (found := query.allocation(each)) is not None and found.array == array
        ]
        word = {0: "zeros", 1: "ones"}.get(-1 if value is None else value)
        if word is None:
            return None
        fills = {
            self._fill(replace(found, word=word + found.word[len(plain(found)) :]), node)
            for found, node in made
        }
        return fills.pop() if len(fills) == 1 else None

    # --- the rest -------------------------------------------------------------------------------

    def _loop_variables(self, read: set[str]) -> None:
        """Loop variables that are read after their loop are written by each trip of it."""
        for number, (place, level) in enumerate(self.levels):
            if level.variable not in read:
                continue
            levels = (*place.levels, level)
            name = f"{self.prefix}L{number}w"
            inside = Place(levels, place.conditions, place.scope)
            instance = tuple_text(name, inside.dimensions)
            self.sources.append(f"{instance} -> {array_name(level.variable)}[]")
            self.written = self.written.union(isl.named(self._domain(inside), name))
            moment = ", ".join(time(inside, -1, self.length))
            times = f"{{ [{', '.join(inside.dimensions)}] -> [{moment}] }}"
            self.times = self.times.union(isl.timed(self.session.map(times), name, 0, 0))
            self.tokens.append(f"{instance} -> {INTEGER}[{level.dimension}]")

    def _final_reads(self, observed: tuple[str, ...]) -> None:
        outermost = [place for place, _ in self.levels if not place.levels]
        last = len(self.leaves) + len(outermost)  # more than any position
        for name in observed:
            cell, rank = array_name(name), self.names.ranks.get(name, 0)
            axes = coordinates(rank)
            extents = [extent_name(name, axis) for axis in range(rank)]
            inside = [f"0 <= {each} < {extent}" for each, extent in zip(axes, extents, strict=True)]
            domain = self.session.set(
                f"[{', '.join(extents)}] -> {{ [{', '.join(axes)}] : "
                f"{' and '.join(inside) or 'true'} }}"
            )
            instance = tuple_text(f"O{cell}", axes)
            self.sinks.append(f"{instance} -> {tuple_text(cell, axes)}")
            self.read = self.read.union(isl.named(domain, f"O{cell}"))
            moment = ", ".join([str(last), *["0"] * (self.length - 1)])
            times = self.session.map(f"{{ [{', '.join(axes)}] -> [{moment}] }}")
            self.times = self.times.union(isl.timed(times, f"O{cell}", 0, 0))

    def _model(
        self, statements: tuple[Statement, ...], observed: tuple[str, ...], mentioned: set[str]
    ) -> Model:
        texts = [*self.sinks, *self.sources, *self.tokens, *self.ends]
        mentioned = mentioned | parameters_in(texts)
        for constraints in self.domains:
            mentioned |= parameters_in(constraints)
        for name in observed:
            mentioned |= {extent_name(name, k) for k in range(self.names.ranks.get(name, 0))}
        parameters = tuple(sorted(mentioned))
        known = " and ".join(sizes(list(parameters))) or "true"
        possible = self.session.set(f"[{', '.join(parameters)}] -> {{ : {known} }}")
        sinks = self.session.union_map(parameters, self.sinks).intersect_domain(self.read)
        sinks = sinks.intersect_params(possible)
        sources = self.session.union_map(parameters, self.sources)
        tokens = self.session.union_map(parameters, self.tokens)
        return Model(
            self.program,
            self.names,
            self.session,
            statements,
            observed,
            self.prefix,
            sinks,
            sources.intersect_domain(self.written),
            self.times,
            tokens,
            self.written.subtract(tokens.domain()),
            parameters,
        )


def _numbered(found: Accesses, own: AbstractSet[str]) -> Accesses:
    """The accesses of a compound statement, those of scalars named like those of cells.

    A scalar may become a cell for each iteration of a loop. All that are written are numbered in
    the order of the text, but for those that the statement keeps to itself.
    """
    order = [slot[1:] for slots in found.slots.values() for slot in slots if slot[0] == "w"]
    order += [each.slot[1:] for each in found.writes]
    kept = {f"_{each}" for each in own}
    written = [e for e in dict.fromkeys(order) if e not in kept and not e.startswith("_<")]
    numbers = {each: str(number) for number, each in enumerate(written)}

    def named(slot: str) -> str:
        head = "iw" if slot.startswith("iw") else slot[0]  # "iw": a read of what "w" has written
        key = slot[len(head) :]
        return head + numbers.get(key, key) if head in ("w", "o", "iw") else slot

    return replace(
        found,
        reads=tuple(replace(each, slot=named(each.slot)) for each in found.reads),
        writes=tuple(replace(each, slot=named(each.slot)) for each in found.writes),
        slots={key: tuple(map(named, slots)) for key, slots in found.slots.items()},
    )


def _named(accesses: list[Access]) -> tuple[Access, ...]:
    """The accesses with slots that isl can read."""
    return tuple(replace(each, slot=isl_slot(each.slot)) for each in accesses)


def isl_slot(slot: str) -> str:
    """A slot as isl can read it."""
    kind, mark, name = slot.partition("_")
    if not mark:
        return slot
    return f"{kind}E{name[1:-1]}" if name[0] == "<" else f"{kind}V{mangled(name)}"


def plain(made: query.Allocation) -> str:
    """What an allocation fills with: ``empty_like`` as ``empty``."""
    return made.word.removesuffix("_like")
