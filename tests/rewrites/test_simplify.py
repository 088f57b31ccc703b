from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.analysis.reading.context import Context, Contexts
from astile.ir import nodes, query
from astile.ir.printer import print_expression, print_statement
from astile.ir.program import Program
from astile.rewrites.parts.simplify import simplify
from tests.support.assert_rewrite import assert_same_results, check, program
from tests.support.evaluate import value_of


def made_guards(before: Program) -> Program:
    """The program with all its conditions as a rewrite would make them."""
    new = before.cloned()
    for each in query.statements(new.function):
        if isinstance(each, ast.If):
            del each.lineno
    return new


def simplified(text: str, *, made: bool = True) -> str:
    before = program(text)
    before = made_guards(before) if made else before
    dumped = ast.dump(before.function, include_attributes=True)
    after = simplify(before)
    assert ast.dump(before.function, include_attributes=True) == dumped
    check(after, before)
    assert nodes.same(simplify(after).function, after.function), "once more changes it again"
    return "\n".join(map(print_statement, after.function.body))


def in_tile(line: str) -> str:
    """What becomes of a statement inside a tile."""
    text = simplified(f"""
def f(x, y, n, m, s):
    x[m] = s
    for i_0 in range((n + 15) // 16):
        for i_1 in range(16):
            {line}
""")
    return text.split("range(16):\n")[1].strip()


# --- index arithmetic ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("y[i_1 + 0] = 1", "y[i_1] = 1"),
        ("y[i_0 * 16 + i_1 - i_0 * 16] = 1", "y[i_1] = 1"),
        ("y[(i_0 * 16 + i_1) // 16] = 1", "y[i_0] = 1"),
        ("y[(i_0 * 16 + i_1) % 16] = 1", "y[i_1] = 1"),
        ("y[i_1 // 32] = 1", "y[0] = 1"),
        ("y[i_1 % 16, i_1 // 16] = 1", "y[i_1, 0] = 1"),
        ("y[x[i_1 + 1 - 1]] = 1", "y[x[i_1]] = 1"),
        ("y[i_1] = x[i_1 + 1 - 1] + (i_0 * 2 - i_0)", "y[i_1] = x[i_1] + i_0"),
        ("y[i_1 + 1 - 1:n + 0] = 1", "y[i_1:n] = 1"),
    ],
)
def test_shorter(line: str, expected: str) -> None:
    assert in_tile(line) == expected


@pytest.mark.parametrize(
    "line",
    [
        "y[1 + i_1] = 1",
        "y[2 * i_0 + i_1] = 1",
        "y[16 * i_0 + i_1] = 1",
        "y[i_1] = x[i_1] * 2 * 3",
        "y[i_1] = 1 + 2",
        "y[i_1] = 0.5 + x[i_1] - 0.5",
        "y[x[i_1] - x[i_1]] = 1",
        "y[i_1] = s + 1 - 1",
        "y[i_1 // n] = 1",
        "y[i_1 % 8] = 1",
        "y[i_1, :] = 1",
    ],
)
def test_left_as_written(line: str) -> None:
    assert in_tile(line) == line


def test_data_in_an_index_may_overflow() -> None:
    assert in_tile("y[x[0] + 300 - 300] = 1") == "y[x[0] + 300 - 300] = 1"


def test_variables_that_are_hidden_or_assigned_again() -> None:
    text = """
def f(x, y, n):
    for i in range(4):
        for i in range(n):
            y[i // 4] = 1
    for k in range(4):
        k = k * 2
        y[k // 4] = 1
    for k in range(4):
        while y[0] > k:
            y[k // 4] = 1
            k = 9
"""
    assert simplified(text) == "\n".join(map(print_statement, program(text).function.body))


def test_bounds_that_change_inside() -> None:
    text = """
def f(x, y, n):
    for i in range(n):
        n = n - 5
        if i < n:
            y[i] = 1
"""
    assert "if i < n:" in simplified(text)


def test_headers() -> None:
    text = """
def f(y, n):
    for i in range(n + 1 - 1):
        for j in range(i + 0, i * 2 - i + 16):
            y[i, j] = 1
"""
    assert "for i in range(n):" in simplified(text)
    assert "for j in range(i, i + 16):" in simplified(text)


# --- guards -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("i_0 * 16 + i_1 < n", "if i_0 * 16 + i_1 < n:"),
        ("i_0 * 16 + i_1 + 2 < n + 2", "if i_0 * 16 + i_1 < n:"),
        ("i_1 < 16", None),
        ("0 <= i_0 * 16 + i_1", None),
        ("0 <= i_0 * 16 + i_1 and i_1 < 16", None),
        ("0 <= i_1 and i_0 * 16 + i_1 < n", "if i_0 * 16 + i_1 < n:"),
        ("i_0 * 16 < n", None),
        ("i_1 < 8 and i_1 < 12", "if i_1 < 8:"),
        ("i_1 < 12 and i_1 < 8", "if i_1 < 8:"),
        ("i_1 < 8 and i_1 < 8", "if i_1 < 8:"),
        ("1 <= i_1 and i_1 < m", "if 1 <= i_1 < m:"),
        ("1 <= i_1 < m", "if 1 <= i_1 < m:"),
        ("i_1 < m and 1 <= i_1", "if 1 <= i_1 < m:"),
        ("2 <= i_1 and i_1 - 2 < m", "if 0 <= i_1 - 2 < m:"),
        ("m <= i_1 + 1", "if m <= i_1 + 1:"),
        ("i_1 < m + 1", "if i_1 <= m:"),
        ("m <= i_1 - 1", "if m < i_1:"),
        ("i_1 > m - 1", "if i_1 >= m:"),
        ("i_1 - m < -3", "if i_1 < m - 3:"),
        ("n + i_1 - m + 3 < n", "if i_1 < m - 3:"),
        ("0 < m - i_1", "if i_1 < m:"),
        ("i_1 % 2 == 0", "if i_1 % 2 == 0:"),
        ("i_1 % 16 == i_1", None),
        ("i_1 == 3 or i_1 < 99", None),
        ("x[i_1] > 0", "if x[i_1] > 0:"),
    ],
)
def test_conditions(condition: str, expected: str | None) -> None:
    text = in_tile(f"if {condition}:\n                y[i_1] = 1")
    assert text.split("\n")[0] == (expected or "y[i_1] = 1")


def test_guards_inside_each_other_are_one() -> None:
    text = in_tile("if i_1 < m:\n                if 2 <= i_1:\n                    y[i_1] = 1")
    assert text.split("\n") == ["if 2 <= i_1 < m:", "            y[i_1] = 1"]


#: Two guards, what stands in the first one, and whether they hold together.
FOLLOWING = """
def f(x, y, n, m):
    for i in range(n):
        if {first}:
            {inside}
        if {second}:
            y[i] = x[i]
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("i + 2 < m", "i < m - 2"),
        ("i < m - 2", "i + 2 < m"),
        ("1 <= i < m", "i < m and i > 0"),
        ("i <= x.shape[0] - m", "i < x.shape[0] - m + 1"),
    ],
)
def test_guards_that_hold_together_are_one(first: str, second: str) -> None:
    text = simplified(FOLLOWING.format(first=first, second=second, inside="x[i] = 1"))
    assert text.count("if ") == 1
    assert text.index("x[i] = 1") < text.index("y[i] = x[i]")


@pytest.mark.parametrize(
    ("first", "second", "inside"),
    [
        ("i + 2 < m", "i + 1 < m", "x[i] = 1"),
        ("i < m", "i < m and i > 2", "x[i] = 1"),
        ("i < m", "i < m", "m = y.shape[0]"),
        ("x[i] > 1", "x[i] > 1", "x[i] = 1"),
    ],
)
def test_guards_that_may_differ_stay(first: str, second: str, inside: str) -> None:
    text = simplified(FOLLOWING.format(first=first, second=second, inside=inside))
    assert text.count("if ") == 2


def test_conditions_of_the_user_that_hold_together_stay() -> None:
    text = FOLLOWING.format(first="i < m", second="i < m", inside="x[i] = 1")
    assert simplified(text, made=False).count("if ") == 2


def test_conditions_of_the_user_stay() -> None:
    text = """
def f(y, n):
    for i in range(16):
        if i < 16:
            y[i] = 1
        if 0 <= i + 0 and i < n:
            y[i] = 2
"""
    assert "if i < 16:" in simplified(text, made=False)
    assert "if 0 <= i + 0 and i < n:" not in simplified(text, made=True)


def test_comments_of_guards_that_go_are_kept() -> None:
    before = made_guards(
        program("""
def f(y):
    for i in range(16):
        if i < 16:
            y[i] = 1
""")
    )
    for each in query.statements(before.function):
        if isinstance(each, ast.If):
            nodes.add_comment(each, "why")
    after = simplify(before)
    [store] = [each for each in query.statements(after.function) if isinstance(each, ast.Assign)]
    assert nodes.comments(store) == ("why",)


def test_loops_and_guards_around_nothing_go() -> None:
    before = program("def f(y):\n    for i in range(16):\n        y[i] = 1\n    y[0] = 2\n")
    before.function.body[0].body = []  # type: ignore[attr-defined]
    assert [print_statement(each) for each in simplify(before).function.body] == ["y[0] = 2"]


# --- properties ---------------------------------------------------------------------------------

leaves = st.sampled_from(["i", "j", "n", "0", "1", "3", "16"])


def _combined(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    number = st.integers(1, 17).map(str)
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


expressions = st.recursive(leaves, _combined, max_leaves=7)


def nest(line: str) -> Program:
    return made_guards(
        program(f"""
def f(y, n):
    for i in range(n):
        for j in range(2, 7):
            {line}
""")
    )


@settings(max_examples=80, deadline=None)
@given(expressions)
def test_simplified_indices_are_equal_where_they_stand(text: str) -> None:
    before = nest(f"y[{text}] = 1")
    after = simplify(before)
    [first] = [e for e in query.statements(before.function) if isinstance(e, ast.Assign)]
    [second] = [e for e in query.statements(after.function) if isinstance(e, ast.Assign)]
    one = first.targets[0].slice  # type: ignore[attr-defined]
    other = second.targets[0].slice  # type: ignore[attr-defined]
    assert Context.at(before, first).equal(one, other) is True
    for n in range(4):
        for i in range(n):
            for j in range(2, 7):
                names = {"i": i, "j": j, "n": n}
                assert value_of(text, names) == value_of(print_expression(other), names)


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.tuples(expressions, st.sampled_from(["<", "<=", ">", ">=", "=="]), expressions),
        min_size=1,
        max_size=3,
    )
)
def test_guards_hold_as_before(tests: list[tuple[str, str, str]]) -> None:
    condition = " and ".join(f"{one} {op} {other}" for one, op, other in tests)
    before = nest(f"if {condition}:\n                y[i, j] += 1")
    after = simplify(before)
    check(after, before)

    def arguments(n: int) -> tuple[object, ...]:
        import numpy as np

        return np.zeros((8, 8), int), n

    assert_same_results(before, after, arguments, range(5))


def test_a_function_of_which_nothing_runs_is_left_empty() -> None:
    after = simplify(nest("if i < i:\n                y[i, j] = 1"))
    assert [type(each) for each in after.function.body] == [ast.Pass]


def test_contexts_answer_for_every_guard() -> None:
    before = nest("if i < 3 and j < n:\n                y[i, j] = 1")
    contexts = Contexts(before)
    for each in query.statements(before.function):
        if isinstance(each, ast.If):
            assert contexts.at(each).implies(ast.parse("i < n", mode="eval").body) is True


@pytest.mark.parametrize(
    ("test", "shorter"),
    [
        ("t * 2 + 1 <= i + t * 2", "0 < i"),
        ("t * 2 < i + t * 3", "0 < i + t"),
        ("i + n < n + t", "i < t"),
        ("i - t < n", "i - t < n"),
    ],
)
def test_what_both_sides_share_is_left_out(test, shorter):
    text = f"""
def f(x, k):
    n = len(x)
    for t in range(-5, 5):
        for i in range(-7, n):
            if {test}:
                x[i] = t
"""
    assert f"if {shorter}:" in simplified(text)
