"""Partial results of a reduction: what a rewrite gets wrong is found by the proof."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.verdicts import Proved
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.rfactor import rfactor
from astile.rewrites.split import split
from tests.support.assert_rewrite import applied, loop, program, rewritten, stage

ROWS = """
def rows(x, y):
    n, m = x.shape
    for i in range(n):
        y[i] = {start}
        for k in range(m):
            y[i] {operator} x[i, k]
"""
MAXIMUM = """
def rows(x, y):
    n, m = x.shape
    for i in range(n):
        y[i] = 0
        for k in range(m):
            y[i] = max(y[i], x[i, k])
"""
SUM = ROWS.format(start="0.0", operator="+=")
PRODUCT = ROWS.format(start="1", operator="*=")


def in_parts(text: str) -> tuple[Program, Program]:
    original = program(text)
    before, [_, k_1] = applied(split, original, loop(original, "k"), [None, 8])
    return original, rewritten(rfactor, before, stage(before, "y"), k_1)


def statements(of: Program, text: str) -> list[ast.stmt]:
    """The statements that are spelled like this."""
    wanted = ast.parse(text).body[0]
    return [each for each in query.statements(of.function) if nodes.same(each, wanted)]


def body(of: Program) -> list[ast.stmt]:
    """The statements of the loop over rows: y[i] = ..., parts start, sums, parts are joined."""
    [outer] = [each for each in of.function.body if isinstance(each, ast.For)]
    return outer.body


def starts_with(value: str) -> Callable[[Program], None]:
    def fault(of: Program) -> None:
        for start in statements(of, "y_rf[i, k_1] = 0") + statements(of, "y_rf[i, k_1] = 1"):
            assert isinstance(start, ast.Assign)
            start.value = ast.parse(value, mode="eval").body

    return fault


def never_starts(of: Program) -> None:
    del body(of)[1]


def starts_too_few(of: Program) -> None:
    start = body(of)[1]
    assert isinstance(start, ast.For)
    start.iter = nodes.call("range", [nodes.const(7)])


def joins_too_few(of: Program) -> None:
    join = body(of)[3]
    assert isinstance(join, ast.For)
    join.iter = nodes.call("range", [nodes.const(7)])


def never_joins(of: Program) -> None:
    del body(of)[3]


def joins_twice(of: Program) -> None:
    [_, _, _, join] = body(of)
    again = nodes.clone(join)
    nodes.set_loop_id(again, 99)
    body(of).append(again)


def joins_within(of: Program) -> None:
    """The parts are joined after each step, so that what is in them counts again."""
    [_, _, middle, join] = body(of)
    assert isinstance(middle, ast.For)
    middle.body.append(join)
    del body(of)[3]


def joins_one_cell(of: Program) -> None:
    [join] = statements(of, "y[i] += y_rf[i, k_1]")
    assert isinstance(join, ast.AugAssign)
    join.value = ast.parse("y_rf[i, 0]", mode="eval").body


def joins_by(operator: type[ast.operator]) -> Callable[[Program], None]:
    def fault(of: Program) -> None:
        for join in query.statements(body(of)[3]):
            if isinstance(join, ast.AugAssign):
                join.op = operator()

    return fault


def joins_something_more(of: Program) -> None:
    [join] = statements(of, "y[i] += y_rf[i, k_1]")
    assert isinstance(join, ast.AugAssign)
    join.value = ast.parse("y_rf[i, k_1] + 1", mode="eval").body


def joins_itself(of: Program) -> None:
    [join] = statements(of, "y[i] += y_rf[i, k_1]")
    assert isinstance(join, ast.AugAssign)
    join.value = ast.parse("y[i]", mode="eval").body


def parts_overlap(of: Program) -> None:
    """All lanes add to one part, which is joined for each of them."""
    for each in ast.walk(of.function):
        if isinstance(each, ast.Subscript) and query.base_name(each) == "y_rf":
            assert isinstance(each.slice, ast.Tuple)
            each.slice.elts[1] = nodes.const(0)


def adds_to_both(of: Program) -> None:
    """Lane 0 adds to the whole, and to its part."""
    [update] = [each for each in query.statements(body(of)[2]) if isinstance(each, ast.AugAssign)]
    place = query.find_place(of.function, update)
    assert place is not None
    extra = nodes.clone(update)
    assert isinstance(extra, ast.AugAssign)
    extra.target = nodes.subscript("y", [nodes.name("i")], store=True)
    place.block.append(extra)


FAULTS = {
    "starts_with_1": (SUM, starts_with("1")),
    "starts_with_the_whole": (SUM, starts_with("y[i]")),
    "starts_with_a_value": (SUM, starts_with("x[i, 0]")),
    "starts_with_0": (PRODUCT, starts_with("0")),
    "never_starts": (SUM, never_starts),
    "starts_too_few": (SUM, starts_too_few),
    "joins_too_few": (SUM, joins_too_few),
    "never_joins": (SUM, never_joins),
    "joins_twice": (SUM, joins_twice),
    "joins_within": (SUM, joins_within),
    "joins_one_cell": (SUM, joins_one_cell),
    "joins_by_difference": (SUM, joins_by(ast.Sub)),
    "joins_by_product": (SUM, joins_by(ast.Mult)),
    "joins_product_by_sum": (PRODUCT, joins_by(ast.Add)),
    "joins_something_more": (SUM, joins_something_more),
    "joins_itself": (SUM, joins_itself),
    "parts_overlap": (SUM, parts_overlap),
    "adds_to_both": (SUM, adds_to_both),
    "maximum_never_starts": (MAXIMUM, never_starts),
    "maximum_joins_too_few": (MAXIMUM, joins_too_few),
}


@pytest.mark.parametrize("text", [SUM, PRODUCT, MAXIMUM])
def test_parts_are_proved_up_to_reassociation(text: str) -> None:
    original, after = in_parts(text)
    verdict = compare(original, after)
    assert isinstance(verdict, Proved)
    assert verdict.kind == "equal up to reassociation"
    assert not isinstance(compare(original, after, exact=True), Proved)


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    text, fault = FAULTS[name]
    original, after = in_parts(text)
    faulty = after.cloned()
    fault(faulty)
    assert not nodes.same(faulty.function, after.function)
    assert not isinstance(compare(original, faulty), Proved)


def test_a_part_that_is_not_known_is_not_joined() -> None:
    text = SUM.replace("(x, y)", "(x, y, idx)").replace("    for i", "    idx[0] = 0\n    for i")
    original, after = in_parts(text)
    assert isinstance(compare(original, after), Proved)
    [join] = statements(after, "y[i] += y_rf[i, k_1]")
    assert isinstance(join, ast.AugAssign)
    join.value = ast.parse("y_rf[i, idx[k_1]]", mode="eval").body
    assert not isinstance(compare(original, after), Proved)


def test_a_minimum_may_be_joined_twice() -> None:
    original, after = in_parts(MAXIMUM)
    again = after.cloned()
    joins_twice(again)
    assert isinstance(compare(original, again), Proved)


def test_parts_of_parts() -> None:
    original, after = in_parts(SUM)
    again = rewritten(rfactor, after, stage(after, "y_rf#1"), loop(after, "k_0"))
    assert isinstance(compare(original, again), Proved)
