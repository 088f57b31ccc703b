"""What holds wherever a statement runs: the values of loop variables and parameters."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi
from astile.analysis.reading.statements import Place, Survey, forget, survey
from astile.ir import query
from astile.ir.program import Program

#: Time allowed for one question, in seconds.
SECONDS = 1.0


class Context:
    """The values of loop variables and integer parameters under which a statement runs.

    Answers are exact for what can be read; None means that it cannot be read, or that isl failed.

    Args:
        place: where the statement stands.
        session: the isl session to ask in.
    """

    def __init__(self, place: Place, session: isl.Session) -> None:
        self.place = place
        self._session = session

    @classmethod
    def at(cls, program: Program, statement: ast.stmt) -> Context:
        """The context of a statement; the loop or condition itself is not part of it.

        Args:
            program: the program that holds the statement.
            statement: a node of the program's tree.
        """
        return Contexts(program).at(statement)

    def implies(self, condition: ast.expr) -> bool | None:
        """Whether a condition holds whenever the statement runs; False when it may fail."""
        text = affine_sets.formula(condition, self.place.scope)
        return None if text is None else self._always(text)

    def equal(self, a: ast.expr, b: ast.expr) -> bool | None:
        """Whether two integer expressions are equal whenever the statement runs."""
        first, second = self._quasi(a), self._quasi(b)
        if first is None or second is None:
            return None
        if first == second:
            return True
        return self._always(f"{first.text} = {second.text}")

    def nonnegative(self, expression: ast.expr) -> bool | None:
        """Whether an integer expression is never below 0 when the statement runs."""
        value = self._quasi(expression)
        return None if value is None else self._always(f"{value.text} >= 0")

    def constant_bounds(self, expression: ast.expr) -> tuple[int | None, int | None]:
        """The least and the greatest value of an expression, None where there is no such number."""
        value = self._quasi(expression)
        if value is None:
            return None, None
        if value.value is not None:
            return value.value, value.value
        try:
            values = self._values(value)
            if values.is_empty():
                return None, None
            low, high = values.dim_min_val(0), values.dim_max_val(0)
        except isl.Error:
            return None, None
        return (
            isl.integer(low) if low.is_int() else None,
            isl.integer(high) if high.is_int() else None,
        )

    def is_empty(self) -> bool | None:
        """Whether the statement never runs."""
        try:
            return bool(self._domain().is_empty())
        except isl.Error:
            return None

    def _quasi(self, expression: ast.expr) -> Quasi | None:
        return affine_sets.quasi(expression, self.place.scope)

    def _always(self, text: str) -> bool | None:
        try:
            return bool(self._domain().intersect(self._set([f"not ({text})"])).is_empty())
        except isl.Error:
            return None

    def _domain(self) -> isl.Set:
        """All iterations; begins a new budget."""
        self._session.begin(isl.Budget(SECONDS))
        return self._set(self.place.constraints)

    def _set(self, texts: Sequence[str], coordinates: tuple[str, ...] | None = None) -> isl.Set:
        parameters = sorted(affine_sets.parameters_in(texts))
        sizes = [f"{each} >= 0" for each in parameters if not each.startswith("n_")]
        names = self.place.dimensions if coordinates is None else coordinates
        condition = " and ".join([*sizes, *texts]) or "true"
        if coordinates is not None and self.place.dimensions:
            condition = f"exists {', '.join(self.place.dimensions)} : {condition}"
        return self._session.set(
            f"[{', '.join(parameters)}] -> {{ [{', '.join(names)}] : {condition} }}"
        )

    def _values(self, value: Quasi) -> isl.Set:
        self._session.begin(isl.Budget(SECONDS))
        found = self._set([*self.place.constraints, f"value = {value.text}"], ("value",))
        return found.project_out_all_params()


class Contexts:
    """The contexts of all statements of one program; walks it once.

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self._function = program.function
        self._survey: Survey = survey(program)
        self._session = isl.Session()
        self._made: dict[int, Context] = {}

    def at(self, statement: ast.stmt) -> Context:
        """The context of a statement; inside a leaf, the context of the whole leaf.

        Raises:
            ValueError: when the program does not hold the statement.
        """
        if id(statement) in self._made:
            return self._made[id(statement)]
        place = self._survey.place(statement)
        if place is None:
            found = query.find_place(self._function, statement)
            known = [] if found is None else [self._survey.place(p) for p in found.parents]
            places = [each for each in known if each is not None]
            if found is None or not places:
                raise ValueError("the statement is not part of the program")
            # names that the leaf itself changes are not known inside it
            place = _inside(places[-1], found.parents[len(places) - 1])
        self._made[id(statement)] = Context(place, self._session)
        return self._made[id(statement)]


def _inside(place: Place, leaf: ast.stmt) -> Place:
    return replace(place, scope=forget(place.scope, query.names_written(leaf)))
