"""Which cells are read before anything has written them, against dataflow."""

from __future__ import annotations

import pytest

from astile.analysis import isl
from astile.analysis.counts.earlier import from_before
from astile.analysis.reading.model import extract
from tests.support.recipes import RECIPES, small

#: All recipes but those whose dataflow takes seconds.
CHOSEN = [e for e in RECIPES if e.name not in ("matmul_registers", "matmul_pipelined", "jacobi")]


@pytest.mark.parametrize("recipe", CHOSEN, ids=lambda each: each.name)
def test_reads_of_recipes_from_before_are_those_without_a_source(recipe):
    model = extract(small(recipe).program)
    found = from_before(model.sinks, model.sources, model.schedule)
    flow = isl.flow(model.sinks, model.sources, model.schedule)
    assert found.is_equal(flow.get_must_no_source().range())


def test_a_cell_that_is_written_after_it_was_read():
    session = isl.Session()
    sinks = session.union_map((), ["R[i] -> A[i + 1] : 0 <= i < 9", "Q[i] -> B[i] : 0 <= i < 4"])
    sources = session.union_map((), ["W[i] -> A[i] : 0 <= i < 9"])
    times = session.union_map((), ["R[i] -> [i, 0]", "Q[i] -> [i, 0]", "W[i] -> [i, 1]"])
    after = session.union_map((), ["R[i] -> [9 - i, 0]", "Q[i] -> [i, 0]", "W[i] -> [9 - i, 1]"])
    for schedule, text in (
        (times, "{ A[c] : 0 < c < 10; B[c] : 0 <= c < 4 }"),
        (after, "{ A[9]; B[c] : 0 <= c < 4 }"),
    ):
        expected = isl.UnionSet.read_from_str(session.context, text)
        assert from_before(sinks, sources, schedule).is_equal(expected)
