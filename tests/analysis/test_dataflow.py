from __future__ import annotations

import random

import pytest

from astile.analysis import isl
from astile.analysis.proof.dataflow import dependences
from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.flows import dependences_of
from astile.analysis.proof.reductions import updates_of
from astile.analysis.proof.verdicts import Proved
from astile.analysis.reading.model import Model, extract
from tests.support.hints import hinted
from tests.support.programs import program_from
from tests.support.random_programs import Writer

KERNEL = """
def f(A, B, C, n, m):
    s = 0.0
    for i in range(1, n):
        for j in range(m - 1):
            s += A[i - 1]
            B[i, j] = B[i - 1, j + 1] + s
        A[i] = C[i]
    C[0] = s
"""


def check(model: Model) -> None:
    """Array by array gives what isl gives for all arrays at once."""
    whole = isl.flow(model.sinks, model.sources, model.schedule)
    parts = dependences(model.sinks, model.sources, model.schedule)
    assert parts.must.is_equal(whole.get_must_dependence())
    assert parts.without.is_equal(whole.get_must_no_source())
    with_text = dependences_of(model)  # some sources are read off the text
    assert with_text.must.is_equal(whole.get_must_dependence())
    assert with_text.without.is_equal(whole.get_must_no_source())
    writes = [each.instance for each in updates_of(model).values()]
    added = model.session.union_set((), writes)
    may, must = model.sources.intersect_domain(added), model.sources.subtract_domain(added)
    whole = isl.flow(model.sinks, must, model.schedule, may)
    parts = dependences(model.sinks, must, model.schedule, may)
    assert parts.may.is_equal(whole.get_may_dependence())
    assert parts.maybe_without.is_equal(whole.get_may_no_source())


def test_a_kernel_with_a_reduction():
    check(extract(program_from(KERNEL)))


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_random_programs(seed):
    for each in range(seed, seed + 6):
        model = extract(Writer(random.Random(each)).program())
        model.session.begin(isl.Budget(0.5))
        try:
            check(model)
        except isl.Error:
            continue  # too large for the time


# --- results of isl that are not right ----------------------------------------------------------

SLOTS = """
def f(x, y):
    n = len(x)
    for k in range(0, n, {step}):
        tile = local.empty(1, np.float64)
        tile[0] = x[k]
        y[k] = tile[0]
"""
IN_TURNS = """
def f(x, y):
    n = len(x)  # 0:
    tile = local.empty((2, 1), np.float64)
    for k in range(0, min(n, {step}), {step}):
        tile[k // {step} % 2, 0] = x[k]  # 2: k
    for k in range(0, n - {step}, {step}):
        tile[{slot}, 0] = x[k + {step}]  # 2: k + {step}
        y[k] = tile[k // {step} % 2, 0]  # 3: k
    for k in range(max((n + {step} - 1) // {step} * {step} - {step}, 0), n, {step}):
        y[k] = tile[k // {step} % 2, 0]  # 3: k
"""


@pytest.mark.parametrize("step", [2, 3, 5])
def test_slots_that_are_used_in_turns(step: int) -> None:
    """Here isl takes a write of an earlier turn for the last one; its results are checked."""
    original = program_from(SLOTS.format(step=step))
    right = IN_TURNS.format(step=step, slot=f"(k // {step} + 1) % 2")
    assert isinstance(compare(original, hinted(right)), Proved)
    wrong = IN_TURNS.format(step=step, slot=f"k // {step} % 2")
    assert not isinstance(compare(original, hinted(wrong)), Proved)
