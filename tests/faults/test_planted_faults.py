"""Every planted fault that changes the meaning is caught by the proof alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from astile.analysis.proof.equivalence import Checker
from astile.analysis.proof.verdicts import Proved
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.schedule.schedule import Schedule
from tests.faults.operators import OPERATORS, Operator
from tests.faults.scenarios import SCENARIOS, SIZES, Scenario

#: How many planted faults must at least change the meaning, over all scenarios and operators.
LEAST = 60


def scheduled(scenario: Scenario) -> Schedule:
    schedule = Schedule(scenario.function)
    scenario.schedule(schedule)
    return schedule


def callable_of(program: Program) -> Callable[..., Any]:
    scope: dict[str, Any] = {}
    exec(module_text(program), scope)
    return scope[program.name]


def changes_the_meaning(scenario: Scenario, program: Program) -> bool:
    """Whether a run differs at any size: other values, or an error that the plain run has not."""
    candidate = callable_of(program)
    for rows, columns in SIZES:
        arguments = scenario.arguments(rows, columns, np.random.default_rng(rows * 31 + columns))
        wanted = [each.copy() for each in arguments]
        got = [each.copy() for each in arguments]
        scenario.function(*wanted)
        try:
            candidate(*got)
        except (IndexError, UnboundLocalError, NameError, TypeError):
            return True
        if not all(np.array_equal(a, b) for a, b in zip(wanted, got, strict=True)):
            return True
    return False


@cache
def planted(operator: Operator) -> tuple[int, list[str]]:
    """How many faults of one kind change the meaning, and the texts of those that were proved."""
    harmful, accepted = 0, []
    for scenario in SCENARIOS:
        schedule = scheduled(scenario)
        checker = Checker(schedule.original)
        for program in operator(schedule.program):
            if not changes_the_meaning(scenario, program):
                continue
            harmful += 1
            if isinstance(checker.compare(program), Proved):
                accepted.append(module_text(program))
    return harmful, accepted


def test_the_scenarios_themselves_are_proved_and_right():
    for scenario in SCENARIOS:
        schedule = scheduled(scenario)
        assert not changes_the_meaning(scenario, schedule.program), scenario.name
        assert isinstance(Checker(schedule.original).compare(schedule.program), Proved)


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.__name__)
def test_no_harmful_fault_is_proved(operator: Operator):
    harmful, accepted = planted(operator)
    assert not accepted, f"{len(accepted)} of {harmful} accepted, the first:\n{accepted[0]}"
    assert harmful > 0, "the operator planted nothing that changes the meaning"


def test_enough_faults_are_planted():
    assert sum(planted(each)[0] for each in OPERATORS) >= LEAST
