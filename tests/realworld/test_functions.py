"""The functions of this folder give the plain function's values; the command runs all forms."""

from __future__ import annotations

from functools import cache

import pytest

from tests.cases.forms import Subject
from tests.cases.runs import bare, splits
from tests.realworld.functions import FIELDS, subjects

#: Functions that are refused, and what the message says.
REFUSED = {
    "erode": "DELTAS is an array from outside the kernel",
    "skip_and_stop": "does not read `else` after a loop",
}
#: One or two functions of each field for numba, which takes a second or two for each.
COMPILED = {
    "binomial_tree", "markov_path", "hilbert_index", "connected", "spmv", "integral_image",
    "embedding", "scaled_product", "upwind_step", "edit_distance", "crc16", "fir_filter",
    "reverse_complement", "pearson", "weighted_ranks",
    "envelope", "log_softmax", "move_nanmean", "gini", "integer_corners", "permute_rows",
}  # fmt: skip
#: The share of functions that may be refused.
AT_MOST = 0.05

ALL = {each.name: each for each in subjects()}


@cache
def few(name: str) -> Subject:
    """A function at its first two sizes and the last one; tests share what the plain one gives."""
    subject = ALL[name]
    sizes = [*subject.sizes[:2], subject.sizes[-1]]
    return Subject(subject.name, subject.function, subject.make_args, sizes)


def test_counts():
    assert len(ALL) == sum(map(len, FIELDS.values()))  # no name twice
    assert len(ALL) >= 60
    assert len(REFUSED) <= AT_MOST * len(ALL)
    assert ALL.keys() >= COMPILED


@pytest.mark.parametrize("name", ALL)
def test_as_they_stand(name):
    (run,) = bare(few(name), ["python"])
    if name in REFUSED:
        assert run.result == "refused"
        assert REFUSED[name] in run.message
    else:
        assert (run.result, run.message) == ("ok", "")


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_compiled(name):
    (run,) = bare(few(name), ["cpu"])
    assert (run.result, run.message) == ("ok", "")


@pytest.mark.parametrize(
    "name",
    ["every_other", "rotate", "zero_crossings", "stretch", "log_softmax", "empty_csr", "gravity"],
)
def test_emulated(name):
    (run,) = bare(few(name), ["emulate"])
    assert (run.result, run.message) == ("ok", "")


@pytest.mark.parametrize("name", sorted(ALL.keys() - REFUSED.keys()))
def test_every_loop_split(name):
    (run,) = splits(few(name), ["python"], [(3, 0)])
    assert run.result in ("ok", "refused"), run
