from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.ir import query
from astile.ir.printer import print_expression
from tests.support.evaluate import value_of


def e(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def form(text: str) -> Affine:
    return affine.of(e(text))


def text_of(made: Affine) -> str:
    return print_expression(made.expression())


def ranges(**bounds: tuple[str, str]) -> list[Range]:
    return [Range(name, form(first), form(last)) for name, (first, last) in bounds.items()]


def loops_in(text: str) -> list[ast.For]:
    return query.loops(ast.parse(text))


TILE = {"i_0": ("0", "(n + 15) // 16 - 1"), "i_1": ("0", "15")}


# --- ranges of loops ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bounds", "first", "last"),
    [
        ("8", "0", "7"),
        ("2, n", "2", "n - 1"),
        ("0, 16, 3", "0", "15"),
        ("0, 16, 2", "0", "14"),
        ("10, 0, -3", "1", "10"),
        ("n, -1, -1", "0", "n"),
        ("0, n, 4", "0", "n - 1"),
        ("5, 2", "5", "1"),
    ],
)
def test_range_of(bounds: str, first: str, last: str) -> None:
    [loop] = loops_in(f"for i in range({bounds}):\n    pass\n")
    found = intervals.range_of(loop)
    assert found is not None
    assert (text_of(found.first), text_of(found.last)) == (first, last)


@pytest.mark.parametrize("header", ["range(0, n, m)", "x", "range(0, 9, 0)", "zip(x, y)"])
def test_loops_without_a_range(header: str) -> None:
    [loop] = loops_in(f"for i in {header}:\n    pass\n")
    assert intervals.range_of(loop) is None


def test_what_holds_inside_nested_loops() -> None:
    found = intervals.ranges_of(
        loops_in("for i in range(n):\n    for j in range(i, m):\n        x[i, j] = 0\n")
    )
    assert [each.variable for each in found] == ["i", "j"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("for i in range(n):\n    for j in range(m):\n        i = 3\n", ["j"]),
        ("for i in range(n):\n    for j in range(m):\n        n = 3\n", ["j"]),
        ("for i in range(n):\n    for j in range(m):\n        m += 1\n", ["i"]),
        ("for i in range(n):\n    for i in range(m):\n        pass\n", ["i"]),
        ("for i in range(i):\n    for j in range(m):\n        pass\n", ["j"]),
        ("for i in range(n):\n    for j in x:\n        pass\n", ["i"]),
    ],
)
def test_what_is_changed_or_hidden_holds_no_longer(text: str, left: list[str]) -> None:
    assert [each.variable for each in intervals.ranges_of(loops_in(text))] == left


# --- bounds -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("i_0 * 16 + i_1", "0", "(n + 15) // 16 * 16 - 1"),
        ("i_1 + 2", "2", "17"),
        ("3 - i_1", "-12", "3"),
        ("m", "m", "m"),
        ("i_1 // 4", "0", "3"),
        ("i_1 % 4", "0", "3"),
        ("16 * (i_1 // 4)", "0", "48"),
        ("max(i_1 - 2, 0)", "0", "13"),
        ("min(i_1 + 2, m)", "min(2, m)", "17"),
        ("max(i_1, m)", "0", "max(15, m)"),
    ],
)
def test_bounds(text: str, low: str, high: str) -> None:
    around = ranges(**TILE)
    assert text_of(intervals.lowest(form(text), around)) == low
    assert text_of(intervals.highest(form(text), around)) == high


def test_a_clamped_index_has_several_bounds() -> None:
    around = ranges(c=("0", "15"))
    low = intervals.lower_bounds(form("max(t * 16 + c - 2, 0)"), around)
    assert {text_of(each) for each in low} == {"t * 16 - 2", "0", "max(t * 16 - 2, 0)"}
    high = intervals.upper_bounds(form("min(t * 16 + c + 2, w - 1)"), around)
    assert {text_of(each) for each in high} == {
        "t * 16 + 17",
        "w - 1",
        "min(t * 16 + 17, w - 1)",
    }


def test_what_hides_the_variable_stays() -> None:
    around = ranges(i=("0", "15"))
    assert intervals.highest(form("p[i]"), around).mentions("i")
    assert intervals.highest(form("i * m"), around).mentions("i")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i_0 * 16 + i_1", True),
        ("15 - i_1", True),
        ("14 - i_1", False),
        ("A.shape[0]", True),
        ("len(A)", True),
        ("A.shape[0] - 1", False),
        ("-A.shape[0]", False),
        ("m", False),
        ("(A.shape[0] + 15) // 16", True),
        ("(A.shape[0] - 1) // 16", False),
        ("x % 4", True),
        ("max(m, 0)", True),
        ("min(m, 0)", False),
        ("max(m, -1)", False),
    ],
)
def test_is_nonnegative(text: str, expected: bool) -> None:
    assert intervals.is_nonnegative(form(text), ranges(**TILE)) is expected


# --- properties ---------------------------------------------------------------------------------

leaves = st.sampled_from(["i", "j", "n", "3", "-2"])


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    number = st.integers(1, 5).map(str)
    return st.one_of(
        st.tuples(parts, st.sampled_from(["+", "-"]), parts).map(lambda t: f"({' '.join(t)})"),
        st.tuples(parts, number).map(lambda t: f"{t[0]} * {t[1]}"),
        st.tuples(parts, st.sampled_from(["//", "%"]), number).map(
            lambda t: f"({t[0]}) {t[1]} {t[2]}"
        ),
        st.tuples(st.sampled_from(["min", "max"]), parts, parts).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
    )


expressions = st.recursive(leaves, _combined, max_leaves=6)


@settings(max_examples=150, deadline=None)
@given(expressions, st.integers(0, 6), st.sampled_from(["0", "i", "n - i", "-i"]))
def test_no_value_is_outside_of_any_bound(text: str, n: int, start: str) -> None:
    around = ranges(i=("0", "n"), j=(start, "n + 2"))
    lows = [text_of(b) for b in intervals.lower_bounds(form(text), around) if not _hides(b)]
    highs = [text_of(b) for b in intervals.upper_bounds(form(text), around) if not _hides(b)]
    claimed = intervals.is_nonnegative(form(text), around)
    for i in range(n + 1):
        for j in range(value_of(start, {"i": i, "n": n}), n + 3):
            value = value_of(text, {"i": i, "j": j, "n": n})
            assert all(value_of(each, {"n": n}) <= value for each in lows)
            assert all(value_of(each, {"n": n}) >= value for each in highs)
            assert value >= 0 or not claimed


def _hides(bound: Affine) -> bool:
    return bool(bound.names() & {"i", "j"})
