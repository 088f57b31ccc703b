"""Whether a new program stays inside its arrays, given that the original does.

The original's own accesses are taken to be inside: calls check that. A new program may only rely
on it where it touches the same cells; everything else is shown to be inside here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.forms.affine_sets import Quasi, formula, parameters_in, substituted
from astile.analysis.proof.flows import Hints
from astile.analysis.reading.accesses import Access, NotModelled
from astile.analysis.reading.domains import Signs, highs, lowest, lows, sizes
from astile.analysis.reading.model import Model, Statement, extract
from astile.analysis.reading.statements import Place
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program


@dataclass(frozen=True)
class Objection:
    """What is not known of indices.

    Args:
        reason: in one sentence.
        node: the statement.
        array: the array concerned, where the original leaves it.
        hint: what to write instead, where that is known.
    """

    reason: str
    node: ast.stmt
    array: str | None = None
    hint: str | None = None


class Reach:
    """Finds accesses of a new program that may be outside.

    Args:
        original: model of the original.
    """

    def __init__(self, original: Model) -> None:
        self._original = original
        #: Array -> sizes at which the original leaves it.
        self._leaving: dict[str, tuple[isl.Set, ...]] = {}
        self._unchecked: tuple[tuple[Statement, Access], ...] | None = None

    def objection(self, new: Model, hints: Hints, signs: Signs) -> Objection | None:
        """Why an index error may come or go, or None.

        Raises:
            isl.Error: when isl fails.
        """
        lost = self.lost(hints, signs)
        if lost is not None:
            statement, access = lost
            reason = (
                f"whether {_text(access)} leaves {access.array} is not known before it runs, so "
                "that it has to stay"
            )
            hint = f"give {access.array} a length that the sizes of arguments tell"
            return Objection(reason, statement.leaf.node, access.array, hint)
        outside = self.outside(new, hints, signs)
        if outside is not None:
            statement, access = outside
            reason = f"{_text(access)} is not known to stay inside {access.array}"
            return Objection(reason, statement.leaf.node)
        return None

    def lost(self, hints: Hints, signs: Signs) -> tuple[Statement, Access] | None:
        """The first access of the original that may raise, and is not there any more, or None.

        Calls do not check accesses of arrays of the program's own whose length is not known
        before, or that data decide upon: Python does, where they happen.

        Raises:
            isl.Error: when isl fails.
        """
        if self._unchecked is None:
            self._unchecked = tuple(self._not_checked())
        for source, access in self._unchecked:
            forms = [(new, values) for old, new, values in hints.pairs if old.name == source.name]
            for new, values in forms:
                there = _with_slot(new, access.slot)
                if there is None or not self._is_same(there, new, source, values, signs):
                    return source, access
            if not forms:
                return source, access
        return None

    def _not_checked(self) -> Iterator[tuple[Statement, Access]]:
        """The accesses of arrays of the program's own that may raise in the middle of a call."""
        made = self._original.names.ranks.keys() & self._original.names.local
        for array in sorted(made):
            for statement, access in self._accesses(array):
                scope = statement.leaf.place.scope
                axes = [axis for axis, index in enumerate(access.indices) if index is not None]
                if _is_made(statement, access) or not axes:
                    continue
                is_known = all(scope.extent(array, axis) is not None for axis in axes)
                if is_known and access.sure:
                    continue
                leaving = self._leaving_of(array, [(statement, access)])
                if not is_known or (leaving is not None and not self.possible(leaving).is_empty()):
                    yield statement, access

    def outside(self, new: Model, hints: Hints, signs: Signs) -> tuple[Statement, Access] | None:
        """The first access that may be outside of its array, or None.

        Raises:
            isl.Error: when isl fails.
        """
        pairs = {statement.name: (source, values) for source, statement, values in hints.pairs}
        for statement in new.statements:
            pair = pairs.get(statement.name)
            for access in (*statement.reads, *statement.writes):
                if access.node is None or not access.indices or _is_made(statement, access):
                    continue
                # a statement that reads nothing may run more often than in the original
                if (
                    pair is not None
                    and statement.reads
                    and self._is_same(access, statement, *pair, signs)
                ):
                    continue
                given = {} if pair is None else self._given(access, statement, *pair)
                if not self._is_inside(access, statement, signs, given):
                    return statement, access
        return None

    def possible(self, sizes: isl.Set, *arrays: str) -> isl.Set:
        """The part of some sizes at which the original stays inside its arrays; calls check it.

        Sizes at which it does not are taken away from what is asked about. All that is possible
        would often be a set of very many pieces.

        Args:
            sizes: a set of parameters.
            arrays: only these arrays; all of them when none is named.

        Raises:
            isl.Error: when isl fails.
        """
        result = sizes.coalesce().intersect(self._original.sizes)
        if result.plain_is_empty():
            return result
        for array in arrays or sorted(self._original.names.ranks):
            if array not in self._leaving:
                self._leaving[array] = self._sizes_outside(array)
            for each in self._leaving[array]:
                result = result.subtract(each)
        return result

    def calm(self, sizes: isl.Set) -> isl.Set:
        """The part of some sizes at which no access leaves its array, whatever data decide.

        These are the sizes to show something at; all of them where there are no such ones.

        Args:
            sizes: a set of parameters.

        Raises:
            isl.Error: when isl fails.
        """
        result = sizes
        for array in sorted(self._original.names.ranks):
            found = self._leaving_of(array, self._accesses(array), of_data=True)
            result = result if found is None else result.subtract(found)
        return sizes if result.is_empty() else result

    def _is_same(
        self,
        access: Access,
        statement: Statement,
        source: Statement,
        values: dict[str, Quasi],
        signs: Signs,
    ) -> bool:
        """Whether an access is to the cell that the original accesses there."""
        there = _with_slot(source, access.slot)
        if there is None or there.array != access.array:
            return False
        if len(there.indices) != len(access.indices):
            return False
        for axis, (first, second) in enumerate(zip(there.indices, access.indices, strict=True)):
            if (first is None) != (second is None):
                return False
            if first is not None and second is not None:
                wanted = substituted(first, values)
                unequal = f"{wanted.text} != {second.text}"
                if wanted != second and not signs.never(unequal, statement.leaf.place):
                    return False
            before = source.leaf.place.scope.extent(access.array, axis)
            after = statement.leaf.place.scope.extent(access.array, axis)
            if (None if before is None else substituted(before, values)) != after:
                return False
        return True

    def _given(
        self,
        access: Access,
        statement: Statement,
        source: Statement,
        values: dict[str, Quasi],
    ) -> dict[int, Quasi]:
        """The axes along which an index out of an array is inside if it is in the original.

        The index is the same one there, in the same order, which `matching` compares; here each
        of these axes gets the extent of the axis that it stands for in the original.
        """
        there = _with_slot(source, access.slot)
        if there is None or not statement.reads:
            return {}
        mine, theirs = (
            [axis for axis, index in enumerate(each.indices) if index is None]
            for each in (access, there)
        )
        if len(mine) != len(theirs):
            return {}
        scope = source.accesses.scope
        extents = [scope.extent(there.array, axis) for axis in theirs]
        pairs = zip(mine, extents, strict=True)
        return {axis: substituted(each, values) for axis, each in pairs if each is not None}

    def _is_inside(
        self, access: Access, statement: Statement, signs: Signs, given: Mapping[int, Quasi]
    ) -> bool:
        place = statement.leaf.place
        for axis, index in enumerate(access.indices):
            extent = place.scope.extent(access.array, axis)
            if extent is None:
                return False
            if index is None:
                if given.get(axis) != extent:
                    return False
                continue
            low, high = lows(place), highs(place)
            under = lowest(index, low, high)
            over = lowest(extent.plus(index, -1), low, high)
            if under is not None and under >= 0 and over is not None and over >= 1:
                continue
            outside = f"({index.text} < {extent.times(-1).text} or {index.text} >= {extent.text})"
            if not signs.never(outside, place) and not self._never(
                outside, access, statement, signs
            ):
                return False
        return True

    def _never(self, outside: str, access: Access, statement: Statement, signs: Signs) -> bool:
        """Whether it never happens for sizes for which the original stays inside the array."""
        left = signs.instances(outside, statement.leaf.place).params()
        known = [access.array] if access.array in self._original.names.ranks else []
        if known and self.possible(left, *known).is_empty():
            return True
        return bool(self.possible(left).is_empty())

    def _sizes_outside(self, array: str) -> tuple[isl.Set, ...]:
        """The sizes for which some certain access of the original to an array is outside."""
        certain = (each for each in self._accesses(array) if each[1].sure)
        found = self._leaving_of(array, certain)
        return () if found is None else (found.coalesce(),)

    def _leaving_of(
        self, array: str, accesses: Iterable[tuple[Statement, Access]], *, of_data: bool = False
    ) -> isl.Set | None:
        """The sizes for which some of these accesses would be outside of an array.

        Args:
            array: the array.
            accesses: of it.
            of_data: whether an index that is not known is taken for one cell, which has to
                exist. It may be a slice as well, which may be empty.
        """
        session = self._original.session
        found: isl.Set | None = None
        for statement, access in accesses:
            place = statement.leaf.place
            for axis, index in enumerate(access.indices):
                extent = place.scope.extent(array, axis)
                if extent is None or (index is None and not of_data):
                    continue
                if index is None:
                    ends = f"{extent.text} <= 0"
                else:
                    back = extent.times(-1).text
                    ends = f"({index.text} >= {extent.text} or {index.text} < {back})"
                texts = [*place.constraints, ends]
                parameters = sorted(parameters_in(texts))
                condition = " and ".join([*sizes(parameters), *texts])
                names = ", ".join(place.dimensions)
                text = f"[{', '.join(parameters)}] -> {{ [{names}] : {condition} }}"
                outside = session.set(text).params()
                found = outside if found is None else found.union(outside)
        return found

    def _accesses(self, array: str) -> Iterator[tuple[Statement, Access]]:
        for statement in self._original.statements:
            for access in (*statement.reads, *statement.writes):
                if access.array == array and access.node is not None:
                    yield statement, access


def _text(access: Access) -> str:
    """An access as it is written."""
    assert access.node is not None
    return print_expression(access.node)


def _with_slot(statement: Statement, slot: str) -> Access | None:
    """The access of a statement that has a slot, or None."""
    return next((e for e in (*statement.reads, *statement.writes) if e.slot == slot), None)


def _is_made(statement: Statement, access: Access) -> bool:
    """Whether this is the name of an array in the statement that makes it."""
    return access.slot == "w0" and query.is_allocation(statement.leaf.node)


class Inside:
    """What holds at the sizes at which a program stays inside one of its arguments.

    Answers are exact for what can be read; what cannot is never taken to hold.

    Args:
        program: the program.
        array: the argument.
    """

    def __init__(self, program: Program, array: str) -> None:
        self._session = isl.Session(isl.Budget(1.0))
        self._array = array
        self._reach: Reach | None = None
        try:
            self._reach = Reach(extract(program, session=self._session))
        except (NotModelled, isl.Error):
            return

    def implies(self, place: Place, given: Sequence[ast.expr], wanted: ast.expr) -> bool:
        """Whether a condition holds wherever a statement runs and others hold.

        Args:
            place: where the statement stands.
            given: the other conditions.
            wanted: the condition.
        """
        texts = [formula(each, place.scope) for each in (*given, wanted)]
        known = [each for each in texts if each is not None]
        if self._reach is None or len(known) < len(texts):
            return False
        text = " and ".join([*known[:-1], f"not ({known[-1]})"])
        try:
            found = Signs(self._session).instances(text, place)
            return bool(self._reach.possible(found.params(), self._array).is_empty())
        except isl.Error:
            return False
