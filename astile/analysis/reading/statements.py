"""The leaf statements of a program, with what is known where each of them stands.

A leaf is any statement but a counted loop over a readable range and an ``if`` whose condition
is one over known integers. Whatever else holds statements (``while``, an ``if`` on data, a loop
that is left early) is one leaf, kept whole.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property

from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi, Scope, at_least_zero, atom, const
from astile.analysis.forms.params import Names, first_scope, names_of, shape_of
from astile.analysis.forms.radix import parted
from astile.ir import nodes, query
from astile.ir.nodes import Origin
from astile.ir.program import Program


@dataclass(frozen=True)
class Level:
    """One counted loop around a statement.

    Args:
        loop: the loop.
        variable: its variable.
        dimension: the isl name of the variable.
        start: first value.
        stop: the value that is not reached.
        step: what is added each trip, not 0.
        position: place of the loop among the statements of the loop around it.
    """

    loop: ast.For
    variable: str
    dimension: str
    start: Quasi
    stop: Quasi
    step: int
    position: int

    @cached_property
    def bounds(self) -> str:
        """The values of the variable as an isl formula."""
        here, name, start = atom(self.dimension), self.dimension, self.start.text
        upwards = self.step > 0
        first, last = (here, self.stop) if upwards else (self.stop, here)
        inside = at_least_zero(last.plus(first, -1).plus(const(-1)))
        since = here.plus(self.start, -1) if upwards else self.start.plus(here, -1)
        found = f"{at_least_zero(since)} and {inside}"
        if abs(self.step) == 1:
            return found
        count = f"{name} - {start}" if upwards else f"{start} - {name}"
        return f"{found} and ({count}) mod {abs(self.step)} = 0"


@dataclass(frozen=True)
class Place:
    """Where a statement stands.

    Args:
        levels: the counted loops around it, outermost first.
        conditions: formulas of the static conditions around it.
        scope: what is known of names there.
    """

    levels: tuple[Level, ...]
    conditions: tuple[str, ...]
    scope: Scope

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the loop variables in isl."""
        return tuple(level.dimension for level in self.levels)

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """Formulas that hold whenever the statement runs."""
        return (*(level.bounds for level in self.levels), *self.conditions)


@dataclass(frozen=True)
class Leaf:
    """One leaf statement.

    Args:
        number: its number in textual order.
        node: the statement.
        place: where it stands.
        position: its place among the statements of the innermost loop.
    """

    number: int
    node: ast.stmt
    place: Place
    position: int

    @property
    def origin(self) -> Origin | None:
        """The original statement and iteration it says it stands for."""
        return nodes.origin(self.node)

    @property
    def variables(self) -> tuple[str, ...]:
        """Variables of the loops around it, outermost first."""
        return tuple(level.variable for level in self.place.levels)

    @property
    def is_simple(self) -> bool:
        """Whether it holds no other statement."""
        return not query.bodies(self.node)


def leaves(program: Program) -> tuple[Leaf, ...]:
    """The leaf statements in textual order."""
    return survey(program).leaves


def with_origins(program: Program) -> Program:
    """The same program, each leaf saying that it stands for itself.

    Where a loop is modelled as one over the digits of its variable, so are the iterations.
    """
    new = program.cloned()
    for node in ast.walk(new.function):
        if isinstance(node, ast.expr) and nodes.origin(node) is not None:
            nodes.set_origin(node, None)  # inlined from another original
    every = list(query.statements(new.function))
    for number, statement in enumerate(every):
        nodes.set_origin(statement, Origin(number, ()))
    modelled, digits = parted(new)
    found = survey(modelled)
    made = [(leaf, nodes.origin(leaf.node)) for leaf in found.leaves]
    for statement in every:
        nodes.set_origin(statement, None)
    for leaf, held in made:
        assert held is not None
        iteration = tuple(nodes.substitute(nodes.name(e), digits) for e in leaf.variables)
        nodes.set_origin(every[held.statement], Origin(leaf.number, iteration))
    return replace(new, integers=found.names.integers)


@dataclass(frozen=True)
class Survey:
    """All leaves of a program, its counted loops, and places of statements outside of leaves."""

    names: Names
    leaves: tuple[Leaf, ...]
    places: dict[int, Place] = field(repr=False)
    levels: tuple[tuple[Place, Level], ...] = field(repr=False)

    def place(self, statement: ast.stmt) -> Place | None:
        """The place of a loop, condition or leaf; None for statements inside a leaf."""
        return self.places.get(id(statement))


def survey(
    program: Program, original: Names | None = None, *, names_quotients: bool = False
) -> Survey:
    """Walk a program once.

    Args:
        program: the program.
        original: names of the original function, when this is another form of it.
        names_quotients: as for `Scope`.
    """
    names = names_of(program, original)
    walker = _Walker(stores(program.function))
    start = Place((), (), first_scope(program, names, names_quotients=names_quotients))
    walker.block(program.function.body, start, _Counter())
    return Survey(names, tuple(walker.leaves), walker.places, tuple(walker.levels))


def is_nothing(statement: ast.stmt) -> bool:
    """Whether a statement does nothing: ``pass``, a text, an annotation without a value."""
    return (
        isinstance(statement, ast.Pass)
        or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        or (
            isinstance(statement, ast.AnnAssign)
            and statement.value is None
            and isinstance(statement.target, ast.Name)
        )
    )


def stores(root: ast.stmt) -> dict[int, frozenset[str]]:
    """The names that each statement at or below `root` assigns, by identity of the statement.

    Those of the statements inside it are among them.
    """
    found: dict[int, frozenset[str]] = {}

    def visit(statement: ast.stmt) -> frozenset[str]:
        blocks = query.bodies(statement)
        if not blocks:
            names = frozenset(query.names_written(statement))
        else:
            own = [e for e in ast.iter_child_nodes(statement) if not isinstance(e, ast.stmt)]
            names = frozenset().union(*(query.names_written(each) for each in own))
            names = names.union(*(visit(each) for block in blocks for each in block))
        found[id(statement)] = names
        return names

    visit(root)
    return found


class _Counter:
    """Numbers what stands in one loop body, conditions left out."""

    def __init__(self) -> None:
        self.next = 0

    def take(self) -> int:
        self.next += 1
        return self.next - 1


class _Walker:
    """Walks statements in order, following what is known of names.

    Args:
        stores: statement -> the names that it assigns.
    """

    def __init__(self, stores: Mapping[int, frozenset[str]]) -> None:
        self.stores = stores
        self.leaves: list[Leaf] = []
        self.places: dict[int, Place] = {}
        self.levels: list[tuple[Place, Level]] = []
        self.survived: tuple[str, ...] = ()

    def block(self, body: Sequence[ast.stmt], place: Place, counter: _Counter) -> Scope:
        """Walk a list of statements; the scope after it."""
        for statement in body:
            here = replace(place, conditions=(*place.conditions, *self.survived))
            self.places[id(statement)] = here
            scope = self._statement(statement, place, here, counter)
            place = replace(place, scope=scope)
        return place.scope

    def _statement(
        self, statement: ast.stmt, place: Place, here: Place, counter: _Counter
    ) -> Scope:
        if is_nothing(statement):
            return place.scope
        if isinstance(statement, ast.For):
            level = self._level(statement, place, counter.next)
            if level is not None:
                counter.take()
                self.levels.append((here, level))
                return self._loop(statement, level, place)
        if isinstance(statement, ast.If):
            condition = affine_sets.formula(statement.test, place.scope)
            if condition is not None:
                return self._condition(statement, condition, place, counter)
        self.leaves.append(Leaf(len(self.leaves), statement, here, counter.take()))
        if not place.levels:
            self._leave(statement, here)
        return scope_after(statement, place.scope, self.stores[id(statement)])

    def _level(self, loop: ast.For, place: Place, position: int) -> Level | None:
        if any(
            isinstance(loop.target, ast.Name) and loop.target.id in self.stores[id(each)]
            for each in loop.body
        ):
            return None
        return _range(loop, place.scope, len(place.levels), position)

    def _loop(self, loop: ast.For, level: Level, place: Place) -> Scope:
        scope = forget(place.scope, self.stores[id(loop)])
        inside = replace(
            scope, values={**scope.values, level.variable: affine_sets.atom(level.dimension)}
        )
        self.block(loop.body, Place((*place.levels, level), place.conditions, inside), _Counter())
        return scope

    def _condition(
        self, statement: ast.If, condition: str, place: Place, counter: _Counter
    ) -> Scope:
        yes = replace(place, conditions=(*place.conditions, condition))
        no = replace(place, conditions=(*place.conditions, f"(not {condition})"))
        first = self.block(statement.body, yes, counter)
        second = self.block(statement.orelse, no, counter)
        return _joined(first, second, statement.test, place.scope)

    def _leave(self, statement: ast.stmt, here: Place) -> None:
        """After a return, raise or assert outside loops: what runs on did not leave there."""
        if isinstance(statement, (ast.Return, ast.Raise)):
            reached = " and ".join(here.conditions) or "true"
            self.survived = (*self.survived, f"(not ({reached}))")
        elif isinstance(statement, ast.Assert):
            holds = affine_sets.formula(statement.test, here.scope)
            if holds is not None:
                reached = " and ".join(here.conditions) or "true"
                self.survived = (*self.survived, f"((not ({reached})) or {holds})")


def _range(loop: ast.For, scope: Scope, depth: int, position: int) -> Level | None:
    """The level of a loop whose body does not assign its variable."""
    header = query.header(loop)
    if header is None or loop.orelse or query.leaves_early(loop.body):
        return None
    start, stop = affine_sets.quasi(header.start, scope), affine_sets.quasi(header.stop, scope)
    step = affine_sets.quasi(header.step, scope)
    if start is None or stop is None or step is None or not step.value:
        return None
    dimension = f"v{depth}_{affine_sets.mangled(header.variable)}"
    return Level(loop, header.variable, dimension, start, stop, step.value, position)


def forget(scope: Scope, names: AbstractSet[str]) -> Scope:
    """The scope without what it knows of some names."""
    if not names & (scope.values.keys() | scope.shapes.keys()):
        return scope
    return replace(
        scope,
        values={k: v for k, v in scope.values.items() if k not in names},
        shapes={k: v for k, v in scope.shapes.items() if k not in names},
    )


def _joined(first: Scope, second: Scope, test: ast.expr, before: Scope) -> Scope:
    """What is known whichever of two ways a condition, tested before, has taken."""
    values: dict[str, Quasi] = {}
    for name, value in first.values.items():
        found = affine_sets.chosen(test, value, second.values.get(name), before)
        if found is not None:
            values[name] = found
    shapes = {k: v for k, v in first.shapes.items() if second.shapes.get(k) == v}
    return replace(first, values=values, shapes=shapes)


def scope_after(
    statement: ast.stmt, before: Scope, written: AbstractSet[str] | None = None
) -> Scope:
    """What is known of names after a leaf.

    Args:
        statement: the leaf.
        before: what is known before it.
        written: the names that it assigns, where they have been found already.
    """
    after = forget(before, query.names_written(statement) if written is None else written)
    values, shapes = dict(after.values), dict(after.shapes)
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _bind(target, value, before, values)
            made = query.allocation(statement)
            if made is not None and made.shape is not None:
                shapes[made.array] = tuple(affine_sets.quasi(e, before) for e in made.shape)
            elif made is not None and isinstance(value, ast.Call):
                source = value.args[0]
                if isinstance(source, ast.Name) and source.id in before.shapes:
                    shapes[made.array] = before.shapes[source.id]
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _bind(target, value, before, values)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            whole = nodes.binary(nodes.name(name), type(op), value)
            found = affine_sets.quasi(whole, before)
            if found is not None:
                values[name] = found
    return replace(after, values=values, shapes=shapes)


def _bind(target: ast.expr, value: ast.expr, before: Scope, values: dict[str, Quasi]) -> None:
    match target, value:
        case ast.Name(id=name), _:
            found = affine_sets.quasi(value, before)
            if found is not None:
                values[name] = found
        case ast.Tuple(elts=targets), ast.Tuple(elts=parts) if len(targets) == len(parts):
            for each, part in zip(targets, parts, strict=True):
                _bind(each, part, before, values)
        case ast.Tuple(elts=targets), _ if (array := shape_of(value)) is not None:
            for axis, each in enumerate(targets):
                extent = before.extent(array, axis)
                if isinstance(each, ast.Name) and extent is not None:
                    values[each.id] = extent
