"""Whether a new program computes what the original function computes, for all sizes.

Value-based dataflow decides: every read of the new program must get its value from the same
iteration of the same statement of the original, or from the same input cell, as it does there.
Which iteration a new statement stands for is a hint that is verified, never trusted. Nothing
here knows how the new program came to be.
"""

from __future__ import annotations

import ast
import time
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.forms.affine_sets import substituted
from astile.analysis.forms.apart import apart_form
from astile.analysis.forms.params import extent_name, readable
from astile.analysis.forms.radix import affine_form, parted
from astile.analysis.proof.flows import (
    Flow,
    Hints,
    final_reads,
    hints_of,
    new_flow,
    original_flow,
    scalar_reads,
    unset,
)
from astile.analysis.proof.interface import other_interface
from astile.analysis.proof.matching import Different, check_inside, match
from astile.analysis.proof.reach import Reach
from astile.analysis.proof.reductions import foreign_reads, integral, updates_of
from astile.analysis.proof.rejoined import rejoined
from astile.analysis.proof.reordering import Kind, Reordering
from astile.analysis.proof.value_types import find_cast
from astile.analysis.proof.verdicts import BUDGET, Proved, Refuted, Unknown, Verdict, Witness
from astile.analysis.proof.witness import Explorer, statement_witness
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.domains import Signs, array_name, tuple_text
from astile.analysis.reading.model import Model, Statement, extract
from astile.analysis.reading.unfold import unfolded
from astile.ir.printer import print_expression, print_statement
from astile.ir.program import Program
from astile.source import Span


def compare(
    original: Program, new: Program, *, exact: bool = False, budget: isl.Budget | None = None
) -> Verdict:
    """Compare a new program with the original function.

    Args:
        original: the function as written.
        new: another form of it, whose statements carry their origins.
        exact: whether the order of recognised reductions has to be kept.
        budget: what it may cost, `BUDGET` seconds when not given; when it is spent the verdict is
            unknown.
    """
    return Checker(original, exact=exact).compare(new, budget=budget)


class Checker:
    """Compares programs with one original, whose model and flow it keeps.

    Args:
        original: the function as written.
        exact: whether the order of recognised reductions has to be kept.
    """

    def __init__(self, original: Program, *, exact: bool = False) -> None:
        self.original = original
        self.exact = exact
        self.session = isl.Session()
        self._model: Model | None = None
        self._flow: Flow | None = None
        self._reached: Reach | None = None

    def compare(self, new: Program, *, budget: isl.Budget | None = None) -> Verdict:
        """Compare a program with the original; see `compare`.

        Args:
            new: the program.
            budget: what it may cost.
        """
        began = time.thread_time()
        budget = budget or isl.Budget(BUDGET)
        self.session.begin(budget)
        try:
            verdict = self._compare(new)
            joined = None if isinstance(verdict, Proved) else rejoined(new)
            if joined is not None:
                again = self._compare(joined)
                verdict = again if isinstance(again, Proved) else verdict
        except NotModelled as problem:
            return Unknown(f"not modelled: {problem.reason}", self._span(problem.node))
        except isl.BudgetError as problem:
            return Unknown(str(problem))
        except isl.Error as problem:
            if self.session.is_budget(problem):
                return Unknown(f"{isl.OUT_OF_TIME} {budget}")
            return Unknown(f"the proof failed: {problem}")
        if isinstance(verdict, Proved):
            return replace(verdict, seconds=time.thread_time() - began)
        return verdict

    def model(self) -> Model:
        """The model of the original."""
        if self._model is None:
            self._model = extract(parted(self.original)[0], session=self.session)
        return self._model

    def flow(self) -> Flow:
        """The flow of the original."""
        if self._flow is None:
            self._flow = original_flow(self.model())
        return self._flow

    def _reach(self) -> Reach:
        """What is known of where the original's accesses are."""
        if self._reached is None:
            self._reached = Reach(self.model())
        return self._reached

    def _sizes_apart(self, one: isl.UnionMap, other: isl.UnionMap) -> isl.Set:
        """The sizes, of those at which the original can be called, at which relations differ.

        Those at which the second lacks something, where there are any.
        """
        lost = self._reach().possible(one.subtract(other).params())
        if not lost.is_empty():
            return lost
        return self._reach().possible(other.subtract(one).params())

    def _telling(self, sizes: isl.Set) -> isl.Set:
        """Those of some sizes at which the original runs to its end, where there are any."""
        calm = self._reach().calm(sizes)
        left = calm.subtract(unset(self.model(), self.flow()))
        return calm if left.is_empty() else left

    def _reads_outside(self) -> isl.UnionSet:
        """The reads of the original that would be of cells that an argument does not have."""
        model = self.model()
        pieces, parameters = [], set(model.parameters)
        for array in model.names.array_arguments:
            axes = range(model.names.ranks[array])
            cell = tuple_text(array_name(array), tuple(f"c{axis}" for axis in axes))
            ends = [f"(c{k} < 0 or c{k} >= {extent_name(array, k)})" for k in axes]
            pieces.append(f"{cell} : {' or '.join(ends) or 'false'}")
            parameters |= {extent_name(array, k) for k in axes}
        outside = self.session.union_set(sorted(parameters), pieces)
        return model.sinks.intersect_range(outside).domain()

    def _span(self, node: ast.AST) -> Span | None:
        return self.original.source.span(node)

    def _compare(self, new: Program) -> Verdict:
        model, flow = self.model(), self.flow()
        self.session.tick()
        problem = other_interface(self.original, new)
        if problem is not None:
            return Unknown(problem)
        new = unfolded(new, [each.leaf.node for each in model.statements])
        form = apart_form(new)
        if form is not None:
            verdict = self._compared(form, flow, names_quotients=True)
            if isinstance(verdict, Proved):
                return verdict
            self.session.tick()
        return self._compared(affine_form(new), flow)

    def _compared(self, form: Program, flow: Flow, *, names_quotients: bool = False) -> Verdict:
        """Compare a form that can be modelled.

        Args:
            form: of the new program.
            flow: of the original.
            names_quotients: as for `extract`; for proofs only, since it adds parameters.
        """
        model = self.model()
        other = extract(form, session=self.session, original=model, names_quotients=names_quotients)
        hints = hints_of(other, model)
        if hints.problem is not None:
            reason, node = hints.problem
            return Unknown(f"a statement cannot be traced back: {reason}", self._span(node))
        self.session.tick()
        found = self._statements(hints) or self._memory(other, hints)
        if found is not None:
            return found
        self.session.tick()
        return self._sources(other, hints, flow, new_flow(other, hints))

    def _statements(self, hints: Hints) -> Verdict | None:
        """Compare the texts of statements."""
        signs = Signs(self.session)
        for source, statement, values in hints.pairs:
            try:
                check_inside(source, statement, values)
                for first, second in match(source, statement).equal:
                    wanted = substituted(first, values)
                    unequal = f"{wanted.text} != {second.text}"
                    if wanted != second and not signs.never(unequal, statement.leaf.place):
                        node = statement.leaf.node
                        raise Different("an integer has another value", node)
            except Different as difference:
                if not source.leaf.is_simple:
                    return self._as_a_whole(source)
                return Refuted(statement_witness(self.model(), source, difference.reason))
        return None

    def _as_a_whole(self, block: Statement) -> Unknown:
        """Nothing is known of a change inside a block that is not taken apart."""
        head = print_statement(block.leaf.node).splitlines()[0].rstrip(":")
        return Unknown(
            f"`{head}` is taken as a whole, since not all of it can be modelled, so that what is "
            "inside has to stay",
            self._span(block.leaf.node),
            block.writes[0].array if block.writes else None,
        )

    def _memory(self, other: Model, hints: Hints) -> Verdict | None:
        """Check that accesses stay inside their arrays."""
        model = self.model()
        unlike = [
            name
            for name in model.names.array_arguments
            if other.names.ranks.get(name, model.names.ranks[name]) != model.names.ranks[name]
        ]
        if unlike:
            return Unknown(f"{unlike[0]} is used with another number of indices")
        if set(model.observed) - set(other.observed):
            return Unknown("an argument is not looked at afterwards any more")
        foreign = set(other.observed) - set(model.observed)
        if foreign:
            return Unknown(f"{min(foreign)} is written, which the original only reads")
        cast = find_cast(model, other, hints)
        if cast is not None:
            statement, array = cast
            return Unknown(
                f"{array} may have another type than what it stands for",
                self._span(statement.leaf.node),
            )
        left = self._reach().objection(other, hints, Signs(self.session))
        if left is None:
            return None
        return Unknown(left.reason, self._span(left.node), left.array, left.hint)

    def _sources(self, other: Model, hints: Hints, flow: Flow, found: Flow) -> Verdict:
        """Compare where values come from."""
        model = self.model()
        reads = hints.reads.intersect_domain(other.sinks.domain())
        if not reads.range().is_subset(model.sinks.domain()):
            more = reads.subtract_range(model.sinks.domain())
            possible = self._reach().possible(more.params())
            if not possible.is_empty():
                more = more.intersect_params(self._telling(possible))
                one = Explorer(model, other, hints, flow, found).extra(more)
                return Refuted(one) if one else Unknown("an iteration runs that should not run")
            reads = reads.intersect_range(model.sinks.domain())
        if not final_reads(model).intersect_params(other.sizes).is_subset(reads.range()):
            return Unknown("an output of the original is not one of the new program")
        values = found.values.intersect_range(reads.domain())
        garbage = reads.intersect_range(flow.undefined).domain()
        if not garbage.is_empty():
            values = values.subtract_range(garbage)
        expected = flow.values.apply_range(reads.reverse())
        kind: Kind = "equal"
        if not values.is_equal(expected):  # then leave out what cannot be
            reads = reads.subtract_range(self._reads_outside())
            values = values.intersect_range(reads.domain())
            expected = expected.intersect_range(reads.domain())
            lost, gained = expected.subtract(values), values.subtract(expected)
            apart = self._sizes_apart(lost, gained)
            self.session.tick()
            if not apart.is_empty():
                order = Reordering(model, other, hints, self._sizes_apart, exact=self.exact)
                reordered = order.kept(reads, values, lost, gained)
                if reordered is None:
                    self.session.tick()
                    explorer = Explorer(model, other, hints, flow, found)
                    return self._differing(explorer, reads, expected, values)
                kind = reordered
        # nobody may look at the value, but Python raises where there is none
        if not found.undefined.intersect(scalar_reads(other)).is_subset(garbage):
            return Unknown("a scalar may be read before it has a value")
        return self._proved(kind)

    def _differing(
        self,
        explorer: Explorer,
        reads: isl.UnionMap,
        expected: isl.UnionMap,
        values: isl.UnionMap,
    ) -> Verdict:
        """Two iterations that show how values differ at one of some sizes."""
        whole = integral(updates_of(self.model()), self.model())
        # that updates of integers come in another order is not what is wrong
        telling = reads.intersect_range(foreign_reads(self.model(), whole)).domain()
        first, second = expected.intersect_range(telling), values.intersect_range(telling)
        if whole and not self._sizes_apart(first, second).is_empty():
            expected, values = first, second
        apart = self._telling(self._sizes_apart(expected, values))
        expected, values = (
            explorer.at_smallest(expected, apart),
            explorer.at_smallest(values, apart),
        )
        witness = explorer.witness(expected, values)
        if witness is None:
            return Unknown(explorer.reason, explorer.span, explorer.array)
        return self._uncertain(witness) or Refuted(witness)

    def _uncertain(self, witness: Witness) -> Unknown | None:
        """The access of a witness that may be of other cells, for which it need not happen."""
        model = self.model()
        for instance in (witness.first, witness.second):
            if instance is None or instance.number < 0:
                continue
            statement = model.statements[instance.number]
            for access in (*statement.reads, *statement.writes):
                if access.array == witness.array and not access.is_exact:
                    node = access.node or statement.leaf.node
                    text = print_expression(node) if isinstance(node, ast.expr) else access.array
                    return Unknown(
                        f"{text} may be any cell of {access.array}, so its order has to stay",
                        instance.span,
                        access.array,
                    )
        return None

    def _proved(self, kind: Kind) -> Proved:
        model = self.model()
        names = tuple(readable(each, model.names) for each in model.parameters)
        return Proved(kind, names, 0.0)  # `compare` measures it
