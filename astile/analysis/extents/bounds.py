"""In-bounds conditions: what must hold of sizes so that every access stays inside its array.

Each condition is computed once, parametric in the sizes, and checked at a call by arithmetic on
the sizes alone. An index that is negative counts from the end, as in Python, and must reach no
further back than the first element.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.extents.conditions import Condition, Unproved
from astile.analysis.extents.ends import Reckoner, Values
from astile.analysis.extents.guards import Guards
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi
from astile.analysis.forms.apart import apart_form
from astile.analysis.forms.params import extent_name, readable
from astile.analysis.forms.radix import affine_form
from astile.analysis.forms.size_functions import compiled, lookup, mentioned
from astile.analysis.reading import guarded
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.guarded import Guarded
from astile.analysis.reading.scene import Scene
from astile.analysis.reading.statements import Leaf
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program


def conditions(program: Program) -> tuple[Condition, ...]:
    """The conditions under which every access stays inside its array, none implied by another.

    A program that cannot be read gives none; `unproved` says so.

    Args:
        program: a program as written; steps do not change which cells it touches.
    """
    return _survey(program)[0]


def unproved(program: Program) -> tuple[Unproved, ...]:
    """The accesses that `conditions` says nothing about.

    Args:
        program: any form of a kernel.
    """
    return _unproved(program, _survey(affine_form(program))[1])


def both(program: Program) -> tuple[tuple[Condition, ...], tuple[Unproved, ...]]:
    """`conditions` and `unproved`, which have most of their work in common.

    Args:
        program: a program as written.
    """
    made, found = _survey(program)
    form = affine_form(program)
    return made, _unproved(program, found if form is program else _survey(form)[1])


def _unproved(program: Program, found: tuple[Unproved, ...]) -> tuple[Unproved, ...]:
    """What is left of the accesses of one form where another form says something about them."""
    apart = apart_form(program) if found else None
    if apart is None:
        return found
    missing = {each.array for each in _survey(apart)[1]}  # both touch the same cells
    return found if "" in missing else tuple(each for each in found if each.array in missing)


def helpers_index(program: Program) -> bool:
    """Whether a helper function indexes something, which is not known here.

    Args:
        program: any form of a kernel.
    """
    return any(query.accesses(each.function) for each in program.helper_programs.values())


def sure(program: Program, values: Values | None = None) -> tuple[Condition, ...] | None:
    """Conditions under which no access leaves its array, whatever data decide; None without any.

    Args:
        program: a program as written.
        values: what is known of indices that data give, for the types of a call.
    """
    if helpers_index(program):
        return None
    try:
        found, missing = _Sure(Scene(program), values).run()
    except NotModelled:
        return None
    return None if missing else found


def negative(program: Program) -> frozenset[tuple[str, int, str]]:
    """Indices that are negative for some sizes: array, axis, and the index as written.

    Args:
        program: any form of a kernel; nothing is known of one that cannot be read.
    """
    found = _negative(program)
    if found is None:
        return frozenset()
    maybe = found.unread
    for form in (affine_form(program), apart_form(program)):
        other = _negative(form) if maybe and form is not None else None
        if other is not None:
            axes = {each[:2] for each in (*other.negative, *other.unread)}
            maybe = {each for each in maybe if each[:2] in axes}
    return frozenset(found.negative | maybe)


def _negative(program: Program) -> _Negative | None:
    try:
        found = _Negative(Scene(program))
    except NotModelled:
        return None
    found.walk()
    return found


def inside(scene: Scene) -> isl.Set:
    """The sizes for which every access that can be read stays inside its array.

    Args:
        scene: a program; the set belongs to its session.
    """
    return _left_by(_Bounds(scene))


def calm(scene: Scene) -> isl.Set:
    """The sizes for which no access leaves its array, whatever data decide.

    Args:
        scene: a program; the set belongs to its session.
    """
    return _left_by(_Calm(scene))


def _left_by(found: _Bounds) -> isl.Set:
    found.walk()
    left = found.context
    for each in found.kept.values():
        for reach in each:
            left = left.subtract(reach.leaving)
    return left


def _survey(program: Program) -> tuple[tuple[Condition, ...], tuple[Unproved, ...]]:
    try:
        return _Bounds(Scene(program)).run()
    except NotModelled as unread:
        text, span = f"{program.name}(...)", program.source.span(unread.node)
        return (), (Unproved("", text, span, f"the function has {unread.reason}"),)


@dataclass(frozen=True, eq=False)
class _Reach:
    """One index of one access, and the parameters with which it leaves the array."""

    node: ast.Subscript
    value: Quasi
    extent: Quasi
    domain: str
    dimensions: tuple[str, ...]
    leaving: isl.Set


class _Bounds:
    #: Whether accesses count of which data decide whether they happen.
    of_data = False

    def __init__(self, scene: Scene) -> None:
        self.program, self.scene = scene.program, scene
        self.missing: list[Unproved] = []
        self.kept: dict[tuple[str, int], list[_Reach]] = {}
        self.seen: set[tuple[str, int, str, str]] = set()
        sizes = [f"{each} >= 0" for each in self.scene.parameters if not each.startswith("n_")]
        self.context = self._set("", " and ".join(sizes))

    def walk(self) -> None:
        """Look at every access."""
        for seat in self.scene.seats:
            scope = self.scene.accesses[seat.leaf.number].scope
            for each in guarded.accesses(seat.statement, scope):
                self._access(seat.leaf, each)

    def run(self) -> tuple[tuple[Condition, ...], tuple[Unproved, ...]]:
        """The conditions, and what they say nothing about."""
        self.walk()
        made = [self._condition(*key, each) for key, found in self.kept.items() for each in found]
        return tuple(made), tuple(self.missing)

    def _access(self, leaf: Leaf, access: Guarded) -> None:
        array = query.base_name(access.node)
        assert array is not None
        if array not in self.scene.survey.names.ranks:
            return
        indices = query.indices(access.node)
        if any(isinstance(e, ast.Constant) and e.value in (None, Ellipsis) for e in indices):
            self._unproved(array, access.node, "it has an index that shifts the axes")
            return
        scope = self.scene.accesses[leaf.number].scope
        for axis, index in enumerate(indices):
            if isinstance(index, ast.Slice):
                continue  # a slice is cut to the array
            value, extent = affine_sets.quasi(index, scope), scope.extent(array, axis)
            if value is None and extent is not None and self._wraps(index, extent, scope):
                # by a length of 0 it is 0 for integers of NumPy, and raises for those of Python
                assert isinstance(index, ast.BinOp)
                if affine_sets.quasi(index.left, scope) is not None:
                    continue
                value = affine_sets.quasi(nodes.const(0), scope)
            if value is None:
                self._not_affine(leaf, access, (array, axis))
            elif extent is None:
                self._unproved(array, access.node, f"the length of axis {axis} is not known")
            else:
                self._index(leaf, access, (array, axis), value, extent)

    @staticmethod
    def _wraps(index: ast.expr, extent: Quasi, scope: affine_sets.Scope) -> bool:
        """Whether an index is a remainder by the length of its axis."""
        if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Mod):
            return False
        divisor = affine_sets.quasi(index.right, scope)
        return divisor is not None and divisor.text == extent.text

    def _not_affine(self, leaf: Leaf, access: Guarded, key: tuple[str, int]) -> None:
        index = print_expression(query.indices(access.node)[key[1]])
        self._unproved(key[0], access.node, f"the index {index} is not affine in known integers")

    def _unproved(self, array: str, node: ast.Subscript, reason: str) -> None:
        self.missing.append(Unproved(array, _text(node), self.program.source.span(node), reason))

    def _index(
        self, leaf: Leaf, access: Guarded, key: tuple[str, int], value: Quasi, extent: Quasi
    ) -> None:
        domain = " and ".join([self.scene.domain(leaf), *access.formulas])
        if (known := (*key, value.text, domain)) in self.seen:
            return
        self.seen.add(known)
        outside = f"({value.text} >= {extent.text} or {value.text} < -1*{extent.text})"
        leaving = self._set("", f"{_exists(leaf.place.dimensions)}{outside} and {domain}")
        if leaving.is_empty():
            return
        if access.depends and not self.of_data:
            self._unproved(
                key[0], access.node, "whether it is reached depends on values of the run"
            )
            return
        self._keep(key, _Reach(access.node, value, extent, domain, leaf.place.dimensions, leaving))

    def _set(self, space: str, condition: str) -> isl.Set:
        # a condition inside a statement may name an integer that no index or loop does
        named = {*self.scene.parameters, *affine_sets.parameters_in([condition])}
        parameters = ", ".join(sorted(named))
        return self.scene.session.set(f"[{parameters}] -> {{ {space} : {condition or 'true'} }}")

    def _keep(self, key: tuple[str, int], reach: _Reach) -> None:
        """Keep an access unless another one leaves the array whenever it does."""
        found = self.kept.setdefault(key, [])
        if any(reach.leaving.is_subset(each.leaving) for each in found):
            return
        found[:] = [each for each in found if not each.leaving.is_subset(reach.leaving)]
        found.append(reach)

    def _condition(self, array: str, axis: int, reach: _Reach) -> Condition:
        fails = isl.condition_tree(reach.leaving.coalesce(), self.context)
        values = self._set(
            "[i]", f"{_exists(reach.dimensions)}i = {reach.value.text} and {reach.domain}"
        )
        extents = self._set(
            "[i]", f"{_exists(reach.dimensions)}i = {reach.extent.text} and {reach.domain}"
        )
        trees = [
            fails,
            isl.value_tree(values.dim_min(0), self.context),
            isl.value_tree(values.dim_max(0), self.context),
            isl.value_tree(extents.dim_min(0), self.context),
        ]
        used = sorted({name for tree in trees for name in mentioned(tree)})
        position = {name: k for k, name in enumerate(used)}
        fails_at, lowest, highest, extent = (compiled(tree, position) for tree in trees)
        names = self.scene.survey.names
        return Condition(
            array, axis, _text(reach.node), self.program.source.span(reach.node),
            tuple(lookup(each, names) for each in used),
            tuple(readable(each, names) for each in used),
            fails_at, lowest, highest, extent,
        )  # fmt: skip


class _Sure(_Bounds):
    """Takes what data decide to happen always, and indices that data give for all they may be."""

    of_data = True

    def __init__(self, scene: Scene, values: Values | None) -> None:
        super().__init__(scene)
        self._reckoner = None if values is None else Reckoner(scene.program, values)
        self._guards = Guards(scene.program.function)

    def _not_affine(self, leaf: Leaf, access: Guarded, key: tuple[str, int]) -> None:
        scope = self.scene.accesses[leaf.number].scope
        index, extent = query.indices(access.node)[key[1]], scope.extent(*key)
        found = None
        if self._reckoner is not None:
            found = self._reckoner.ends(index, scope, self._guards.at(index))
        if found is None or extent is None:
            super()._not_affine(leaf, access, key)
            return
        for each in found:
            self._index(leaf, access, key, each, extent)


class _Calm(_Bounds):
    """Takes into account what data decide: a cell that they choose has to exist."""

    of_data = True

    def _unproved(self, array: str, node: ast.Subscript, reason: str) -> None:
        super()._unproved(array, node, reason)
        names = (extent_name(array, axis) for axis in range(len(query.indices(node))))
        for each in {*names} & {*self.scene.parameters}:
            self.context = self.context.subtract(self._set("", f"{each} = 0"))


class _Negative(_Bounds):
    """Looks for indices that count from the end."""

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene)
        self.negative: set[tuple[str, int, str]] = set()
        #: Those of which this form of the program does not tell.
        self.unread: set[tuple[str, int, str]] = set()

    def _not_affine(self, leaf: Leaf, access: Guarded, key: tuple[str, int]) -> None:
        self.unread.add((*key, print_expression(query.indices(access.node)[key[1]])))

    def _index(
        self, leaf: Leaf, access: Guarded, key: tuple[str, int], value: Quasi, extent: Quasi
    ) -> None:
        array, axis = key
        found = (array, axis, print_expression(query.indices(access.node)[axis]))
        if found in self.negative:
            return
        domain = " and ".join([self.scene.domain(leaf), *access.formulas])
        condition = f"{_exists(leaf.place.dimensions)}{value.text} < 0 and {domain}"
        if not self._set("", condition).intersect(self.context).is_empty():
            self.negative.add(found)


def _exists(dimensions: Sequence[str]) -> str:
    return f"exists {', '.join(dimensions)} : " if dimensions else ""


def _text(node: ast.Subscript) -> str:
    return print_expression(node)
