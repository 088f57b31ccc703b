"""The case corpus as it stands, on every target; ``python -m tests.cases.every`` runs all forms."""

from __future__ import annotations

from functools import cache

import pytest

from astile.kernel import Kernel
from tests.cases import corpus, troubles
from tests.cases.forms import Subject
from tests.cases.runs import TARGETS, Run, bare, corpus_subject

pytestmark = pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")


@cache
def few(name: str) -> Subject:
    """A program at its smallest and largest size; targets share what the plain one gives."""
    subject = corpus_subject(name)
    sizes = list(subject.sizes)
    chosen = [sizes[0], sizes[-1]] if len(sizes) > 2 else sizes
    return Subject(subject.name, subject.function, subject.make_args, chosen, subject.scratch)


def assert_right(run: Run) -> None:
    assert (run.result, run.message) == ("ok", "")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", corpus.programs())
def test_programs_as_they_stand(name: str, target: str) -> None:
    (run,) = bare(few(name), [target], seeds=(1,))
    assert_right(run)


@pytest.mark.parametrize("name", troubles.troubles())
def test_troubles_as_they_stand(name: str) -> None:
    (run,) = bare(troubles.subject_of(corpus.load(name, "troubles")), ["python"])
    assert_right(run)


@pytest.mark.parametrize("target", ["python", "emulate"])
@pytest.mark.parametrize("name", troubles.troubles())
def test_troubles_as_stated(name: str, target: str) -> None:
    (run,) = troubles.as_stated(name, [target])
    assert troubles.is_as_stated(run), run


def test_the_tile_of_t10_is_loaded_between_barriers() -> None:
    module = corpus.load("t10_missing_second_barrier", "troubles")
    text = troubles.scheduled(module, troubles.subject_of(module)).source("cuda")
    tile_loop = text.partition("for k_0 in")[2].partition("out[")[0]
    load, *_ = (k for k, each in enumerate(tile_loop.split("syncthreads()")) if "a[" in each)
    assert tile_loop.count("syncthreads()") == 2
    assert load == 0  # the second barrier stands before the load of the next iteration


def test_the_tile_of_t10_inside_of_which_the_threads_run() -> None:
    module = corpus.load("t10_missing_second_barrier", "troubles")
    schedule = troubles.subject_of(module).schedule()
    block, thread = schedule.split("i", [None, 8])
    outer, _ = schedule.split("k", [None, 4])
    schedule.reorder(outer, thread)
    schedule.cache_read("a", "shared", at=outer)
    schedule.bind(block, "blockIdx.x")
    for each in schedule.loops():
        if each.var == "i_1":
            schedule.bind(each, "threadIdx.x")
    a, w, out = module.make_args()
    Kernel.of_schedule(schedule, "emulate")(a, w, out)
    assert (out == w @ a).all()
    tile_loop = schedule.source("cuda").partition("for k_0 in")[2].partition("out[")[0]
    assert tile_loop.count("syncthreads()") >= 2  # before the tile is read, and before the next
