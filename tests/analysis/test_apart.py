from __future__ import annotations

import ast

import numpy as np
import pytest

from astile.analysis import isl
from astile.analysis.forms.affine_sets import parameters_in, quasi
from astile.analysis.forms.apart import apart_form
from astile.analysis.forms.params import first_scope, names_of
from astile.analysis.reading.domains import sizes
from astile.errors import IllegalSchedule
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.schedule.schedule import Schedule
from tests.analysis.test_radix import assert_same_trace, program
from tests.support.assert_rewrite import load
from tests.support.pace import processor_seconds, slowness

# mypy: disable-error-code="no-untyped-def"


def spelled(body: str, value: str) -> Program:
    """A program whose statements stand for an iteration of the original that is spelled so."""
    made = program(body)
    for each in query.statements(made.function):
        if isinstance(each, ast.Expr):
            iteration = ast.parse(value, mode="eval").body
            nodes.set_origin(each, nodes.Origin(0, (iteration,)))
    return made


#: Name -> the program, how the number is spelled, and the variables of its form's loops.
FORMS = {
    "blocks outside": (
        """
for a in range(3):
    for i in range(h):
        for b in range(m):
            log.append((i, a * m + b))
""",
        "a * m + b",
        ["a", "i", "a_b"],
    ),
    "blocks inside": (
        """
for b in range(m):
    for i in range(h):
        for a in range(3):
            log.append((i, (a * m + b) * 2))
""",
        "a * m + b",
        ["b", "i", "a_b"],
    ),
    "the blocks stay in sight": (
        """
for a in range(2):
    log.append(a)
    for b in range((n + 5) // 6):
        log.append((a, a * ((n + 5) // 6) + b))
    for b in range((n + 5) // 6):
        log.append((a * ((n + 5) // 6) + b, a))
""",
        "a * ((n + 5) // 6) + b",
        ["a", "a_b", "a_b_1"],
    ),
    "a digit below": (
        """
for c in range(2):
    for a in range(3):
        for i in range(h):
            for b in range((n + 5) // 6):
                if a * ((n + 5) // 6) * 2 + b * 2 + c < n:
                    log.append((i, a * ((n + 5) // 6) * 2 + b * 2 + c))
""",
        "a * ((n + 5) // 6) * 2 + b * 2 + c",
        ["c", "a", "i", "a_b"],
    ),
    "two digits outside": (
        """
for b in range((n + 5) // 6):
    for c in range(2):
        for i in range(h):
            for a in range(3):
                if a * ((n + 5) // 6) * 2 + b * 2 + c < n:
                    log.append((i, a * ((n + 5) // 6) * 2 + b * 2 + c))
""",
        "a * ((n + 5) // 6) * 2 + b * 2 + c",
        ["b", "c", "i", "a_b"],
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_the_form_does_the_same(name: str) -> None:
    body, value, variables = FORMS[name]
    before = spelled(body, value)
    after = apart_form(before)
    assert after is not None
    found = [query.header(each) for each in query.loops(after.function)]
    assert [each.variable for each in found if each is not None] == variables
    assert_same_trace(before, after)


def test_origins_are_said_by_the_number() -> None:
    body, value, _ = FORMS["blocks inside"]
    after = apart_form(spelled(body, value))
    assert after is not None
    [held] = [nodes.origin(e) for e in query.statements(after.function) if isinstance(e, ast.Expr)]
    assert held is not None
    assert [print_expression(each) for each in held.iteration] == ["a_b"]


OUTSIDE = FORMS["blocks outside"][0]
NEAR = {
    "more blocks than are looked at": OUTSIDE.replace("range(3)", "range(65)"),
    "as many blocks as there are": OUTSIDE.replace("range(3)", "range(n)"),
    "the place in a block is used too": OUTSIDE.replace("(i,", "(b,"),
    "another size": OUTSIDE.replace("range(m)", "range(n)"),
    "blocks start later": OUTSIDE.replace("range(3)", "range(1, 3)"),
    "blocks in steps": OUTSIDE.replace("range(3)", "range(0, 3, 2)"),
    "the size changes": OUTSIDE + "        m = 2\n",
    "the size changes between the loops": FORMS["blocks inside"][0].replace(
        "    for i", "    m = 2\n    for i"
    ),
    "a size of the function's own changes between the loops": FORMS["blocks inside"][0]
    .replace("m", "p")
    .replace("for b", "p = w\nfor b")
    .replace("    for i", "    p = w // 2\n    for i"),
    "the size grows with the blocks": OUTSIDE.replace("range(m)", "range(a)"),
    "read after the loop": f"b = 0{OUTSIDE}log.append(b)",
    "threads": OUTSIDE.replace("b in range", "b in thread.x"),
    "left early": OUTSIDE.replace("log", "if b == 1:\n                break\n            log"),
}


@pytest.mark.parametrize("name", NEAR)
def test_near_misses_have_no_form(name: str) -> None:
    value = "a * p + b" if "a * p + b" in NEAR[name] else "a * m + b"
    assert apart_form(spelled(NEAR[name], value)) is None


def test_what_the_function_scales_itself_has_no_form() -> None:
    assert apart_form(spelled(OUTSIDE, "a + b")) is None


# --- quotients of sizes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["(n + 511) // 512", "-n // 3", "(h * 2 - w + 1) // 7 + n", "((n + 1) // 2 + m) // 5 * 3"],
)
def test_a_quotient_is_one_integer_for_all_sizes(text: str) -> None:
    of = program(f"for i in range({text}):\n    log.append((i, w, m))")
    names = names_of(of)
    expression = ast.parse(text, mode="eval").body
    forms = [
        quasi(expression, _with_extents(first_scope(of, names, names_quotients=named)))
        for named in (False, True)
    ]
    assert forms[0] is not None
    assert forms[1] is not None
    parameters = sorted(parameters_in([form.text for form in forms if form is not None]))
    quotients = [each for each in parameters if each[0] == "q"]
    assert quotients
    known = " and ".join(sizes(parameters))
    head = f"[{', '.join(parameters)}] -> "
    session = isl.Session()
    differ = session.set(f"{head}{{ : {known} and {forms[0].text} != {forms[1].text} }}")
    assert differ.is_empty()
    others = [each for each in parameters if each not in quotients]
    signs = " and ".join(sizes(others)) or "true"
    every = session.set(f"[{', '.join(others)}] -> {{ : {signs} }}")
    some = session.set(f"[{', '.join(others)}] -> {{ : exists {', '.join(quotients)} : {known} }}")
    assert some.is_equal(every)


def _with_extents(scope):
    values = dict(scope.values)
    extents = dict(zip("hw", scope.shapes["x"], strict=True))
    return type(scope)({**values, **extents}, scope.shapes, scope.hidden, scope.names_quotients)


# --- steps --------------------------------------------------------------------------------------


def row_sums(x, y):
    n, m = x.shape
    for i in range(n):
        for k in range(m):
            y[i] += x[i, k]


def rows(x, y):
    n, m = x.shape
    for i in range(n):
        for k in range(m):
            y[i, k] = 2 * x[i, k]


def row_ends(x, y):
    n, m = x.shape
    for i in range(n):
        for k in range(m):
            y[i, k] = 2 * x[i, k - 1]


def against_the_diagonal(y):
    n, m = y.shape
    for i in range(1, n):
        for k in range(m - 1):
            y[i, k] = y[i - 1, k + 1]


def values(n: int, m: int) -> np.ndarray:
    return np.arange(n * m, dtype=np.float32).reshape(n, m) % 7


@pytest.mark.parametrize("order", [("k_0", "i", "k_1", "k_2"), ("k_1", "k_0", "i", "k_2")])
def test_loops_over_blocks_of_any_size_are_reordered_soon(order: tuple[str, ...]) -> None:
    s = Schedule(row_sums)
    s.split("k", [16, None, 32])
    assert processor_seconds(lambda: s.reorder(*order)) < 4 * slowness()
    for n, m in ((1, 1), (3, 31), (2, 32), (2, 513), (3, 1024 + 7), (0, 5), (4, 0)):
        y = np.ones(n, np.float32)
        load(s.program)(values(n, m), y)
        assert np.array_equal(y, 1 + values(n, m).sum(axis=1))


def test_blocks_run_in_parallel_where_they_are_independent() -> None:
    s = Schedule(rows)
    k_0, _ = s.split("k", [4, None])
    s.reorder(k_0, "i")
    s.parallel(k_0)
    other = Schedule(row_sums)
    k_0, _ = other.split("k", [4, None])
    other.reorder(k_0, "i")
    with pytest.raises(IllegalSchedule, match="may meet in y"):
        other.parallel(k_0)


@pytest.mark.parametrize("axis", ["blockIdx.x", "threadIdx.x"])
@pytest.mark.parametrize(
    ("order", "bound"),
    [("aib", "a"), ("aib", "i"), ("bia", "b"), ("bai", "b"), ("iab", "a"), ("iab", "b")],
)
def test_kernels_check_no_index_of_them(order: str, bound: str, axis: str) -> None:
    s = Schedule(row_ends)
    loops = dict(zip("iab", (s.loops()[0], *s.split("k", [4, None])), strict=True))
    if order != "iab":
        s.reorder(*(loops[each] for each in order))
    s.bind(loops[bound], axis)
    assert "failed" not in s.source("cuda")
    kernel = s.build("emulate")
    for n, m in ((0, 0), (0, 2), (2, 0), (3, 1), (2, 9)):
        y = np.zeros((n, m), np.float32)
        kernel(values(n, m), y)
        assert np.array_equal(y, 2 * np.roll(values(n, m), 1, axis=1))


def test_empty_arrays_have_no_cell_that_kernels_check() -> None:
    s = Schedule(rows)
    k_0, k_1 = s.split("k", [65, None])  # more blocks than cases are told apart
    s.reorder(k_0, "i", k_1, unsafe=True)
    s.bind(k_0, "blockIdx.x", unsafe=True)
    assert "failed" in s.source("cuda")
    kernel = s.build("emulate")
    for n, m in ((0, 0), (0, 2), (2, 0), (2, 66)):
        y = np.zeros((n, m), np.float32)
        kernel(values(n, m), y)
        assert np.array_equal(y, 2 * values(n, m))


@pytest.mark.parametrize(
    "order", [("k_0", "i", "k_1", "k_2"), ("k_1", "i", "k_0", "k_2"), ("k_2", "i", "k_0", "k_1")]
)
def test_an_order_that_turns_values_round_is_refused(order: tuple[str, ...]) -> None:
    s = Schedule(against_the_diagonal)
    s.split("k", [4, None, 8])
    with pytest.raises(IllegalSchedule, match="would be read before it is written") as caught:
        s.reorder(*order)
    assert caught.value.witness is not None


def test_exact_sums_keep_their_order() -> None:
    s = Schedule(row_sums, exact=True)
    s.split("k", [4, None, 8])
    s.reorder("k_0", "i", "k_1", "k_2")
    with pytest.raises(IllegalSchedule):
        s.reorder("k_1", "k_0")
