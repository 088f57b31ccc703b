"""Invariants: each holds for what the frontend makes, and each broken one is named."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from astile.errors import InternalError
from astile.frontend.build import build
from astile.ir import nodes, query
from astile.ir.nodes import Origin
from astile.ir.program import Program
from astile.ir.verify import CHECKS, verify
from tests.support.pace import is_within


def sample(A, B, out, n=4):
    """A docstring."""
    h, w = A.shape
    for i in range(h - 1, -1, -1):
        acc = -1.0
        for j in range(w):
            if j < 3 and B[j] is not None:
                acc += A[i, j] * B[-1] ** -2
            else:
                acc = min(acc, np.sqrt(A[i, j]), 1e-05)
        out[i] = acc
    for k, x in enumerate(B):
        out[k], out[n] = x, acc
    while n > 0:
        n -= 1
    out[1:] += A[1:, 0]
    return out, ...


def program() -> Program:
    return build(sample, scratch=("out",))


def test_what_the_frontend_makes_is_valid():
    verify(program())


def test_operators_may_be_shared():
    made = program()
    plus = ast.Add()
    for node in ast.walk(made.function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node.op = plus
    verify(made)


# --- broken invariants ---------------------------------------------------------------------------

Edit = Callable[[ast.FunctionDef], None]


def first(function: ast.FunctionDef, kind: type[ast.AST]) -> ast.AST:
    return next(node for node in query.preorder(function) if isinstance(node, kind))


def share_expression(function):
    assign = first(function, ast.Assign)
    function.body[-1].value = assign.value


def share_statement(function):
    function.body.append(function.body[1])


def share_origin(function):
    value = nodes.name("i")
    for statement in (function.body[1], function.body[2]):
        nodes.set_origin(statement, Origin(0, (value,)))


def share_origin_with_text(function):
    nodes.set_origin(function.body[1], Origin(0, (first(function, ast.BinOp),)))


def negative_constant(function):
    first(function, ast.Constant)
    function.body.append(nodes.assign("x", ast.Constant(-1)))


def negative_zero(function):
    function.body.append(nodes.assign("x", ast.Constant(-0.0)))


def foreign_constant(function):
    function.body.append(nodes.assign("x", ast.Constant(np.int64(3))))


def tuple_constant(function):
    function.body.append(nodes.assign("x", ast.Constant((1, 2))))


def no_identity(function):
    del query.loops(function)[0].astile_loop


def late_identity(function):
    nodes.set_loop_id(query.loops(function)[0], 99)


def loop_over_cell(function):
    query.loops(function)[0].target = nodes.subscript("A", [nodes.const(0)], store=True)


def loop_with_read_target(function):
    query.loops(function)[0].target = nodes.name("i")


def loop_with_else(function):
    query.loops(function)[0].orelse = [ast.Pass()]


def decorator(function):
    function.decorator_list = [nodes.name("A")]


def returns(function):
    function.returns = nodes.name("A")


def annotated_argument(function):
    function.args.args[0].annotation = nodes.name("int")


def annotated_assignment(function):
    function.body.append(ast.AnnAssign(nodes.target("x"), nodes.name("int"), nodes.const(1), 1))


def empty_block(function):
    query.loops(function)[0].body = []


def unknown_name(function):
    function.body.append(nodes.assign("x", nodes.name("nowhere")))


def unknown_origin(function):
    nodes.set_origin(function.body[1], Origin(0, (nodes.name("nowhere"),)))


def negative_origin(function):
    nodes.set_origin(function.body[1], Origin(-1, ()))


def read_target(function):
    function.body.append(ast.Assign([nodes.name("h")], nodes.const(1)))


def written_value(function):
    function.body.append(nodes.assign("x", nodes.target("h")))


def written_index(function):
    function.body.append(nodes.assign("x", nodes.subscript("A", [nodes.target("h")])))


def target_inside_a_tuple(function):
    pair = ast.Tuple([nodes.target("x"), nodes.name("h")], ast.Store())
    function.body.append(nodes.assign(pair, nodes.name("A")))


def same_parameter_twice(function):
    function.args.args[1].arg = "A"
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == "B":
            node.id = "A"


def scratch_is_gone(function):
    function.args.args[2].arg = "result"
    function.body.insert(0, nodes.assign("out", nodes.name("result")))


def unprintable(function):
    function.body.append(nodes.assign("two words", nodes.const(1)))


BROKEN: list[tuple[Edit, str]] = [
    (share_expression, "no node stands in two places"),
    (share_statement, "no node stands in two places"),
    (share_origin, "no node stands in two places"),
    (share_origin_with_text, "no node stands in two places"),
    (negative_constant, "negative numbers are a minus and a number"),
    (negative_zero, "negative numbers are a minus and a number"),
    (foreign_constant, "constants are Python's own scalars"),
    (tuple_constant, "constants are Python's own scalars"),
    (no_identity, "every loop has an identity"),
    (late_identity, "the next loop identity is a new one"),
    (loop_over_cell, "a loop runs over a name"),
    (loop_with_read_target, "a loop runs over a name"),
    (loop_with_else, "a loop has no `else`"),
    (decorator, "no decorators and annotations"),
    (returns, "no decorators and annotations"),
    (annotated_argument, "no decorators and annotations"),
    (annotated_assignment, "no decorators and annotations"),
    (empty_block, "no block is empty"),
    (unknown_name, "the name 'nowhere' is known"),
    (unknown_origin, "the origin reads the known name 'nowhere'"),
    (negative_origin, "origins count from 0"),
    (read_target, "what is written is marked as written"),
    (written_value, "what is written is marked as written"),
    (written_index, "what is written is marked as written"),
    (target_inside_a_tuple, "what is written is marked as written"),
    (same_parameter_twice, "parameters have different names"),
    (scratch_is_gone, "the scratch array 'out' is a parameter"),
    (unprintable, "does not parse to the program"),
]


@pytest.mark.parametrize(("edit", "invariant"), BROKEN, ids=[edit.__name__ for edit, _ in BROKEN])
def test_broken_invariants_are_named(edit: Edit, invariant: str) -> None:
    made = program()
    edit(made.function)
    with pytest.raises(InternalError) as caught:
        verify(made)
    assert invariant in str(caught.value)


def test_names_of_all_kinds_are_known():
    made = replace(
        program(), constants={"K": 1}, imports={"np": "numpy"}, helpers={"helper": sample}
    )
    for each in ("K", "np", "helper", "shared", "max", "ValueError", "A", "acc"):
        made.function.body.append(nodes.assign("x", nodes.name(each)))
    verify(made)


def test_every_check_is_run():
    names = {each.__name__ for each in CHECKS}
    assert len(CHECKS) == len(names) == 8


def test_a_fault_points_at_the_users_line():
    made = program()
    query.loops(made.function)[1].orelse = [ast.Pass()]
    with pytest.raises(InternalError) as caught:
        verify(made)
    assert "for j in range(w):" in str(caught.value)
    assert "in the program sample" in str(caught.value)


def test_verifying_is_quick():
    made = program()
    verify(made)
    assert is_within(0.02, lambda: verify(made), tries=5)
