"""Arguments of the wrong kind are refused with what to write, before anything else goes wrong."""

from __future__ import annotations

import numpy as np
import pytest

from astile import Schedule, tile
from astile.errors import AstileError
from tests.differential import kernels

CALLS = {
    "split('out.i', 32)": ("schedule.bad-factor", "factors=[None, 32]"),
    "split('out.i', [None, 8], names='ab')": ("schedule.bad-name", "in a list"),
    "tile('out.i', 32)": ("schedule.bad-factor", "tile(['out.i'], [32])"),
    "tile(['out.i', 'out.j'], 32)": ("schedule.bad-factor", "tile(['out.i', 'out.j'], [32, 32])"),
    "tile(s.loops('out'), [8])": ("schedule.bad-factor", "tile(['i#1', 'j#1'], [8, 16])"),
    "tile('out.i', 'out.j', 32, 32)": (
        "schedule.bad-factor",
        "tile(['out.i', 'out.j'], [16, 16])",
    ),
    "reorder(['out.j', 'out.i'])": ("schedule.bad-loops", "without brackets"),
    "fuse(['out.i', 'out.j'])": ("schedule.bad-loops", "without brackets"),
    "unroll('a', 0)": ("schedule.bad-factor", "unroll(loop, 4)"),
    "unroll('a', '4')": ("schedule.bad-factor", "write an integer"),
    "cache_read('hw', 'shared', at='conv.i')": ("schedule.not-a-consumer", "'w'"),
    "expand('acc')": ("schedule.bad-loops", "expand('s', 'i')"),
    "apply(3)": ("schedule.bad-trace", "as_json()"),
    "blame('x')": ("argument.no-line", "its lines are"),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_with_an_argument_of_the_wrong_kind(call):
    s = Schedule(kernels.conv_add)
    with pytest.raises(AstileError) as caught:
        eval(f"s.{call}", {"s": s})
    code, hint = CALLS[call]
    assert caught.value.code == code
    assert any(hint in each for each in caught.value.diagnostic.hints)
    assert not s.steps


OPTIONS = {
    "tile(i=0)(f)": "@tile(i=16)",
    "tile(i='16')(f)": "@tile(i=16)",
    "tile(tiles=[16, 16])(f)": 'tiles={"i": 16, "j": 16}',
    "tile(scratch='oout')(f)": "did you mean 'out'?",
    "Schedule(3)": "written with `def`",
    "tile(target='python')(f).explain((9, -1), (3, 3), (9, 9), (9, 9))": "explain(x=(224, 224))",
}


@pytest.mark.parametrize("call", OPTIONS)
def test_options_of_the_wrong_kind(call):
    with pytest.raises(AstileError) as caught:
        eval(call, {"f": kernels.conv_add, "tile": tile, "Schedule": Schedule})
    assert any(OPTIONS[call] in each for each in caught.value.diagnostic.hints)


def test_one_scratch_argument_may_be_named_without_a_tuple():
    def staged(x, middle, out):
        for i in range(len(out)):
            middle[i] = 2 * x[i]
        for i in range(len(out)):
            out[i] = middle[i]

    kernel = tile(i=4, target="python", scratch="middle")(staged)
    assert "middle_local" in kernel.source()
    out = np.zeros(9)
    kernel(np.ones(9), np.zeros(9), out)
    assert out.sum() == 18


def test_what_has_to_be_inlined_first_is_told():
    s = Schedule(chained)
    with pytest.raises(AstileError) as caught:
        s.compute_inline("b")
    assert caught.value.diagnostic.hints == ("`compute_inline('t')` first makes this legal",)
    s.compute_inline("t")
    s.compute_inline("b")


def chained(x, out):
    b = np.empty(len(x), np.float32)
    for i in range(len(x)):
        t = 2 * x[i]
        b[i] = t * t
    for i in range(len(x) - 1):
        out[i] = b[i] + b[i + 1]
