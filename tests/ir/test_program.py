"""The frozen program."""

from __future__ import annotations

import ast
import dataclasses

import numpy as np
import pytest

from astile.frontend.build import as_written as build
from astile.ir import nodes, query

LIMIT = 3


def helper(x):
    return x


def sample(A, out):
    for i in range(LIMIT):
        for j in range(3):
            out[i, j] = helper(np.sqrt(A[i, j]))


def test_a_program_is_a_value():
    program = build(sample)
    with pytest.raises(dataclasses.FrozenInstanceError):
        program.name_of_something = 1  # type: ignore[attr-defined]
    with pytest.raises(dataclasses.FrozenInstanceError):
        program.next_loop = 9  # type: ignore[misc]


def test_a_clone_may_be_edited():
    program = build(sample)
    before = ast.dump(program.function)
    clone = program.cloned()
    clone.function.body.append(nodes.assign("x", nodes.const(1)))
    assert ast.dump(program.function) == before
    assert clone.constants == program.constants
    assert [nodes.loop_id(each) for each in query.loops(clone.function)] == [0, 1]


def test_names_that_are_taken():
    taken = build(sample).used_names()
    assert {"A", "out", "i", "j", "LIMIT", "helper", "np", "sample"} <= taken
    assert {"range", "block", "thread", "shared", "local", "parallel"} <= taken


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [("i_0", "i_0"), ("i", "i_1"), ("sample", "sample_1"), ("shared", "shared_1"), ("np", "np_1")],
)
def test_fresh_names(wanted, expected):
    assert build(sample).fresh_name(wanted) == expected


def test_fresh_names_avoid_what_else_is_taken():
    program = build(sample)
    assert program.fresh_name("i", {"i_1", "i_2"}) == "i_3"
    assert program.fresh_name("k", frozenset({"k"})) == "k_1"


def test_loops_are_found_by_identity():
    program = build(sample)
    first, second = query.loops(program.function)
    assert program.loop(0) is first
    assert program.loop(1) is second
    assert program.loop(2) is None
