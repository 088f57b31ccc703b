"""Races and bounds of the shared case corpus, whose programs state which loops carry what."""

from __future__ import annotations

import ast
from types import ModuleType

import numpy as np
import pytest

from astile.analysis.concurrency import races
from astile.analysis.extents import bounds
from astile.analysis.proof.verdicts import Proved
from astile.frontend.build import build
from astile.ir import nodes, query
from astile.ir.program import Program
from tests.cases import corpus

pytestmark = pytest.mark.skipif(
    not corpus.programs(), reason=f"the case corpus is not at {corpus.FOLDER} (set ASTILE_CASES)"
)

#: Loops that the corpus knows to be parallel, inside what astile keeps whole, or with views.
_KEPT_WHOLE = {
    ("blocked_rowops", "w.j"),
    ("embedding_bag", "d"),
    ("row_views", "a.i"),
    ("row_views", "b.j"),
    ("row_views", "c.j"),
}


def program_of(module: ModuleType) -> Program:
    return build(getattr(module, module.META["function"]))


def in_any_order(program: Program, position: int) -> Program | None:
    """The program with one loop made parallel; None for a loop that does not count."""
    made = program.cloned()
    loops = [
        each
        for each in query.preorder(made.function)
        if isinstance(each, (ast.For, ast.While)) and hasattr(each, "lineno")  # the user wrote it
    ]
    loop = loops[position]
    if not isinstance(loop, ast.For) or query.header(loop) is None:
        return None
    assert isinstance(loop.iter, ast.Call)
    loop.iter.func = nodes.name("parallel")
    return made


@pytest.mark.parametrize("name", corpus.programs())
def test_exactly_the_parallel_loops_may_run_in_any_order(name: str) -> None:
    module = corpus.load(name)
    program = program_of(module)
    for position, label in enumerate(module.META["loops"]):
        made = in_any_order(program, position)
        if made is None:
            continue
        verdict = races.check(made)
        if label not in module.META["parallel"]:
            assert not isinstance(verdict, Proved), label
        elif (name, label) not in _KEPT_WHOLE:
            assert isinstance(verdict, Proved), (label, verdict)


@pytest.mark.parametrize("name", corpus.programs())
def test_no_call_of_the_corpus_is_out_of_bounds(name: str) -> None:
    module = corpus.load(name)
    program = program_of(module)
    found = bounds.conditions(program)
    for size in module.SIZES:
        arguments, _ = module.make_args(size, 0)
        given = dict(zip(query.parameters(program.function), arguments, strict=False))
        defaults = program.function.args.defaults
        last = program.function.args.args[-len(defaults) :] if defaults else []
        for parameter, value in zip(last, defaults, strict=True):
            given.setdefault(parameter.arg, ast.literal_eval(value))
        shapes = {k: v.shape for k, v in given.items() if isinstance(v, np.ndarray)}
        ints = {k: int(v) for k, v in given.items() if isinstance(v, (int, np.integer))}
        for each in found:
            assert each.holds(shapes, ints), (size, each.message(shapes, ints))
