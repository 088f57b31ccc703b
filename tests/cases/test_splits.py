"""Every loop of every program of the case corpus, split: the values stay as they were."""

from __future__ import annotations

import warnings
from types import ModuleType

import numpy as np
import pytest

from astile.errors import ScheduleError
from astile.frontend.build import build
from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.split import split
from tests.cases import corpus
from tests.support.assert_rewrite import applied, load

#: Why a loop of the corpus may not be split.
REFUSALS = {"schedule.not-counted", "schedule.variable-live", "schedule.bad-bounds"}

pytestmark = pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")


def every_loop_split(program: Program, factor: int, tail: str) -> Program:
    for loop in query.loops(program.function):
        identity = nodes.loop_id(loop)
        assert identity is not None
        try:
            program, _ = applied(split, program, identity, [None, factor], tail=tail)
        except ScheduleError as error:
            if error.code not in REFUSALS:
                raise
    return program


def assert_same_bits(module: ModuleType, program: Program) -> None:
    plain, printed = getattr(module, module.META["function"]), load(program)
    for size in module.SIZES:
        (one, _), (other, _) = module.make_args(size, 3), module.make_args(size, 3)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected, found = plain(*one), printed(*other)
        for left, right in zip((*one, expected), (*other, found), strict=True):
            np.testing.assert_array_equal(left, right, err_msg=module_text(program))


@pytest.mark.parametrize(
    ("factor", "tail"), [(1, "guard"), (2, "guard"), (3, "cut"), (16, "guard")]
)
@pytest.mark.parametrize("name", corpus.programs())
def test_every_loop_split(name: str, factor: int, tail: str) -> None:
    module = corpus.load(name)
    before = build(getattr(module, module.META["function"]), exact=True)  # as for a schedule
    assert_same_bits(module, every_loop_split(before, factor, tail))
