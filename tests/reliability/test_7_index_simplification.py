"""Every index that is simplified is proved equal on its domain, quasi-affine forms included."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from astile.analysis.forms import affine
from astile.ir.printer import print_expression
from astile.schedule.schedule import Schedule
from tests.reliability.running import assert_same, whole

NUMBERS = st.integers(-4, 4)


def expressions(depth=3):
    leaf = st.one_of(st.sampled_from(["i", "j", "n"]), NUMBERS.map(str))
    if depth == 0:
        return leaf
    inner = expressions(depth - 1)
    return st.one_of(
        leaf,
        st.tuples(inner, st.sampled_from(["+", "-"]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        st.tuples(inner, NUMBERS).map(lambda t: f"({t[0]} * {t[1]})"),
        st.tuples(inner, st.integers(1, 6)).map(lambda t: f"({t[0]} // {t[1]})"),
        st.tuples(inner, st.integers(1, 6)).map(lambda t: f"({t[0]} % {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"min({t[0]}, {t[1]})"),
        st.tuples(inner, inner).map(lambda t: f"max({t[0]}, {t[1]})"),
    )


@given(expressions(), st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 9))
def test_the_normal_form_has_the_same_value(text, i, j, n):
    tree = ast.parse(text, mode="eval").body
    names = {"i": i, "j": j, "n": n}
    wanted = eval(text, {}, names)
    for form in (affine.of(tree).expression(), affine.simplified(tree)):
        assert eval(print_expression(form), {}, names) == wanted


def flat(x, out):
    n = len(x)
    for i in range(n):
        out[i] = x[i // 4 * 4] + x[i - i % 4] + x[(i * 6) // 6]


@pytest.mark.parametrize("factors", [[None, 4], [None, 3], [None, 2, 8]])
def test_divisions_survive_splits(factors):
    s = Schedule(flat)
    s.split("i", factors)
    assert_same(s, flat, [(whole(n), whole(n)) for n in (0, 1, 4, 5, 23)])


def block(x, out):
    for i in range(6):
        for j in range(4):
            out[i, j] = x[i * 4 + j]


def test_fused_indices_come_back():
    s = Schedule(block)
    s.fuse("i", "j")
    assert "x[i_j_fused]" in s.source()
    assert_same(s, block, [(whole(24), whole(6, 4))])
