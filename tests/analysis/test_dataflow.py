from __future__ import annotations

import random

import pytest

from astile.analysis import isl
from astile.analysis.dataflow import dependences
from astile.analysis.flows import dependences_of
from astile.analysis.model import Model, extract
from astile.analysis.reductions import updates_of
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
        model.session.restart(0.5)
        try:
            check(model)
        except isl.Error:
            continue  # too large for the time
