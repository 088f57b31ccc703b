"""Proves steps: the result is that of the original, and bound loops are independent."""

from __future__ import annotations

import ast
import time
from dataclasses import replace

from astile.analysis import races
from astile.analysis.equivalence import BUDGET, Checker
from astile.analysis.verdicts import Proved, Verdict
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
        self, before: Program, known: Proved | None, program: Program, seconds: float = BUDGET
    ) -> Proved:
        """The proof that a program computes what the original does.

        Args:
            before: the program before the step.
            known: what was proved about `before`, or None.
            program: the program after the step.
            seconds: time allowed for the comparison.

        Raises:
            IllegalSchedule: when it does not, or that could not be shown.
        """
        began = time.thread_time()
        verdict: Verdict
        if known is not None and is_same_but_kinds(before, program):
            verdict = known
        else:
            verdict = self._checker.compare(program, budget_seconds=seconds)
        if isinstance(verdict, Proved) and _has_bound_loops(program):
            independent = races.check(
                program, exact=self._exact, is_finished=False, session=self._checker.session
            )
            if not isinstance(independent, Proved):
                verdict = independent
        if isinstance(verdict, Proved):
            return replace(verdict, seconds=time.thread_time() - began)
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


def is_same_but_kinds(one: Program, other: Program) -> bool:
    """Whether two programs differ in the kinds of their loops only, read off the text."""
    return nodes.same(_without_kinds(one.function), _without_kinds(other.function))


def _without_kinds(function: ast.FunctionDef) -> ast.FunctionDef:
    plain = nodes.clone(function)
    for loop in query.loops(plain):
        if query.header(loop) is not None:
            assert isinstance(loop.iter, ast.Call)
            loop.iter.func = nodes.name("range")
    return plain


def _has_bound_loops(program: Program) -> bool:
    headers = [query.header(each) for each in query.loops(program.function)]
    return any(each is not None and each.kind not in ("range", "unroll") for each in headers)
