"""Processor time of steps: of all claims of the case corpus, and of all recipes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from unittest import mock

from astile.errors import AstileError
from astile.schedule.schedule import Schedule
from astile.schedule.steps import Steps
from tests.cases import corpus
from tests.support.recipes import RECIPES


@dataclass(frozen=True)
class Timed:
    """One step.

    Args:
        subject: the program or recipe that it belongs to.
        call: the step, as text.
        seconds: processor time, of rewriting and proof.
        is_refused: whether it was refused.
    """

    subject: str
    call: str
    seconds: float
    is_refused: bool


@contextmanager
def timed(subject: str) -> Iterator[list[Timed]]:
    """The steps that are taken, or refused, inside."""
    found: list[Timed] = []
    plain = Steps._apply

    def apply(self: Steps, call: Any, unsafe: bool, rewrite: Callable[..., Any]) -> Any:
        if self._is_trial:
            return plain(self, call, unsafe, rewrite)
        spelled, is_refused = str(self._spelled(call)), True
        began = time.process_time()
        try:
            made = plain(self, call, unsafe, rewrite)
            is_refused = False
            return made
        finally:
            found.append(Timed(subject, spelled, time.process_time() - began, is_refused))

    with mock.patch.object(Steps, "_apply", apply):
        yield found


def of_schedule(subject: str, make: Callable[[], object]) -> list[Timed]:
    """The steps that a function takes."""
    with timed(subject) as found:
        make()
    return found


def of_program(name: str) -> list[Timed]:
    """The steps of the claims about a program of the case corpus, one schedule for each."""
    module = corpus.load(name)
    with timed(name) as found:
        for claim in module.META["claims"]:
            with suppress(AstileError, corpus.NotCountedError):
                corpus.apply_claim(corpus.schedule_of(module, claim), module, claim)
    return found


def of_recipes() -> Iterator[list[Timed]]:
    """The steps of each recipe."""
    for recipe in RECIPES:
        yield of_schedule(recipe.name, recipe.schedule)


def of_claims() -> Iterator[list[Timed]]:
    """The steps of the claims of each program."""
    for name in corpus.programs():
        yield of_program(name)


def median(steps: list[Timed]) -> float:
    """Of the seconds of steps, 0 without any."""
    return statistics.median([each.seconds for each in steps] or [0.0])


def worst(steps: list[Timed]) -> Timed:
    """The step that took longest."""
    return max(steps, key=lambda each: each.seconds)


def conv_add_steps(function: Callable[..., Any]) -> list[Timed]:
    """The steps of the first example: tiles, the producer inside of them, threads."""

    def make() -> Schedule:
        s = Schedule(function)
        i_0, i_1 = s.split("out.i", [None, 16])
        j_0, j_1 = s.split("out.j", [None, 16])
        s.reorder(i_0, j_0, i_1, j_1)
        i, j, *_ = s.compute_at("conv", j_0)
        s.set_scope("conv", "shared")
        for rows, columns, unit in ((i_0, j_0, "block"), (i, j, "thread"), (i_1, j_1, "thread")):
            s.bind(rows, f"{unit}Idx.y")
            s.bind(columns, f"{unit}Idx.x")
        return s

    return of_schedule(function.__name__, make)
