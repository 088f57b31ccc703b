"""Proves steps: the result is that of the original, and bound loops are independent."""

from __future__ import annotations

import ast
import time
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.concurrency import races
from astile.analysis.forms.numbering import IN_ORDER
from astile.analysis.forms.radix import is_quotient, scaled_digit
from astile.analysis.proof.equivalence import Checker
from astile.analysis.proof.verdicts import BUDGET, Proved, Unknown, Verdict
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.schedule.refusal import refusal


class Prover:
    """Compares programs with one original, whose model it keeps.

    Args:
        original: the program with which every later one is compared.
        exact: refuse what only reassociates a reduction.
    """

    def __init__(self, original: Program, *, exact: bool) -> None:
        self._checker = Checker(original, exact=exact)
        self._exact = exact

    def prove(
        self,
        before: Program,
        known: Proved | None,
        program: Program,
        budget: isl.Budget | None = None,
    ) -> Proved:
        """The proof that a program computes what the original does.

        Args:
            before: the program before the step.
            known: what was proved about `before`, or None.
            program: the program after the step.
            budget: what it may cost.

        Raises:
            IllegalSchedule: when it does not, or that could not be shown.
        """
        began = time.thread_time()
        budget = budget or isl.Budget(BUDGET)
        verdict: Verdict
        if known is not None and is_same_but_kinds(before, program):
            verdict = known
        else:
            verdict = self._checker.compare(program, budget=budget)
        if isinstance(verdict, Proved) and _has_bound_loops(program):
            independent = races.check(
                program,
                exact=self._exact,
                is_finished=False,
                budget=budget,
                session=self._checker.session,
            )
            if not isinstance(independent, Proved):
                verdict = independent
        if isinstance(verdict, Proved) and _has_products(program):
            verdict = replace(verdict, kind="equal up to reassociation")
            if self._exact:
                verdict = Unknown("matrix units add up products in an order of their own")
        if isinstance(verdict, Proved):
            return replace(verdict, seconds=time.thread_time() - began, is_kept=False)
        if isinstance(verdict, Unknown):
            # under `exact` the order of sums may be the reason as well
            hard = None if self._exact else _hint(program)
            verdict = replace(verdict, hint=verdict.hint or hard)
        raise refusal(verdict)

    def check_finished(self, program: Program) -> None:
        """Check that each thread finds in its names and local arrays what it wrote there.

        While loops are still being bound this is left open, see `prove`.

        Args:
            program: the program, with all its loops bound.

        Raises:
            IllegalSchedule: when a value would be another thread's, or that could not be shown.
        """
        if _has_bound_loops(program):
            verdict = races.check(program, session=self._checker.session)
            if not isinstance(verdict, Proved):
                raise refusal(verdict)


def _hint(program: Program) -> str | None:
    """What makes a program hard to prove, where a split with other factors avoids it."""
    digit = scaled_digit(program)
    if digit is None:
        return None
    if is_quotient(program, digit):
        return f"{digit} counts several loops at once: take this step before they are fused"
    return f"{digit} is multiplied by a size; where a split made it, put None before its factor"


def is_same_but_kinds(one: Program, other: Program) -> bool:
    """Whether two programs differ in the kinds of their loops only, read off the text."""
    return _is_alike(one.function, other.function)


def _is_alike(first: object, second: object) -> bool:
    """Whether two statements, or lists of them, are equal but for the words of their loops."""
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_is_alike, first, second))
    if not isinstance(first, ast.stmt) or type(first) is not type(second):
        return nodes.same(first, second)
    for field in first._fields:
        mine, theirs = getattr(first, field, None), getattr(second, field, None)
        if field == "iter" and _is_counted(first) and _is_counted(second):
            assert isinstance(mine, ast.Call)
            assert isinstance(theirs, ast.Call)
            mine, theirs = [*mine.args, *mine.keywords], [*theirs.args, *theirs.keywords]
        if not _is_alike(mine, theirs):
            return False
    return True


def _is_counted(statement: object) -> bool:
    return isinstance(statement, ast.For) and query.header(statement) is not None


def _has_bound_loops(program: Program) -> bool:
    return any(each not in IN_ORDER for each in _kinds(program))


def _has_products(program: Program) -> bool:
    """Whether matrix units compute sums of a program."""
    return any(each in query.MATRIX_WORDS for each in _kinds(program))


def _kinds(program: Program) -> list[str]:
    headers = [query.header(each) for each in query.loops(program.function)]
    return [each.kind for each in headers if each is not None]
