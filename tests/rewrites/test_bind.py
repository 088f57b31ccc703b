from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.rewrites.bind import AXES, bind
from astile.runtime import emulate
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
    sizes,
)

Golden = Callable[[str, str], None]

NEST = """
def f(x, y):
    n, m = x.shape
    for i in {i}:
        for j in {j}:
            y[i, j] += x[i, j] * 2
"""


def squares(n: int) -> tuple[object, ...]:
    return (np.arange(n * (n + 2)) % 5.0).reshape(n, n + 2), np.zeros((n, n + 2))


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_has_a_word(axis: str) -> None:
    before = program(NEST.format(i="range(n)", j="range(m)"))
    after, made = applied(bind, before, loop(before, "i"), axis)
    assert f"for i in {AXES[axis]}(n):" in module_text(after)
    assert made == (loop(before, "i"),)


@pytest.mark.parametrize(
    ("name", "bounds"),
    [
        ("from_zero", "range(m)"),
        ("from_elsewhere", "range(2, m)"),
        ("in_steps", "range(0, m, 3)"),
        ("falling", "range(m - 1, -1, -1)"),
    ],
)
def test_bound_loops_count_from_zero(golden: Golden, name: str, bounds: str) -> None:
    before = program(NEST.format(i="block.x(n)", j=bounds))
    after = rewritten(bind, before, loop(before, "j"), "threadIdx.x")
    golden(f"rewrites/bind/{name}.py", module_text(after))
    assert_proved(before, after)


def test_axes_in_one_nest() -> None:
    after = program(NEST.format(i="range(n)", j="range(m)"))
    after = rewritten(bind, after, loop(after, "j"), "threadIdx.x")
    after = rewritten(bind, after, loop(after, "i"), "threadIdx.y")
    text = module_text(after)
    assert "for i in thread.y(n):" in text
    assert "for j in thread.x(m):" in text


def weighted(a, w, y):
    for i in range(len(y)):
        s = 0.0
        for k in range(len(a)):
            s += a[k] * w[i, k]
        y[i] = s


def staged(function: str | Callable[..., object] = weighted) -> Schedule:
    """A tile of `a` in shared memory inside the loop over i."""
    s = Schedule(program(function))
    k_0, _ = s.split("k", [None, 4])
    s.cache_read("a", "shared", at=k_0)
    return s


def rows(n: int) -> tuple[object, ...]:
    g = np.random.default_rng(n)
    return g.random(n + 2), g.random((n, n + 2)), np.zeros(n)


def test_a_shared_tile_is_one_for_the_block(golden: Golden) -> None:
    before = staged().program
    after, made = applied(bind, before, loop(before, "i"), "threadIdx.x")
    golden("rewrites/bind/shared_tile.py", module_text(after))
    assert_proved(program(weighted), after)
    assert len(made) == 3
    assert made[-1] == loop(before, "i")


def test_a_shared_tile_inside_a_loop_over_blocks() -> None:
    s = staged("""
def f(a, w, y):
    for b in range(2):
        for i in range(y.shape[1]):
            s = 0.0
            for k in range(len(a)):
                s += a[k] * w[i, k]
            y[b, i] = s
""")
    s.bind("b", "blockIdx.x")
    s.bind("i", "threadIdx.x")
    text = s.source()
    assert (text.count("block.x("), text.count("thread.x(")) == (1, 3)


def test_tiles_that_differ_from_thread_to_thread_stay() -> None:
    before = program("""
def f(a, y):
    for i in range(4):
        t = shared.empty(4, a.dtype)
        for k in range(4):
            t[k] = a[k] + i
        y[i] = t[0]
""")
    after = rewritten(bind, before, loop(before, "i"), "threadIdx.x")
    assert module_text(after).count("thread.x(") == 1


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "code", "message"),
    [
        ("t = np.empty(3)", "schedule.allocated-between", "t is allocated inside i, beside a tile"),
        ("u = (a[0], i)[1]", "schedule.unknown-type", "the type of the scalar 'u' is not known"),
    ],
)
def test_what_cannot_pass_from_part_to_part(start: str, code: str, message: str) -> None:
    before = staged(f"""
def f(a, w, y):
    for i in range(len(y)):
        {start}
        for k in range(len(a)):
            y[i] += a[k] * w[i, k]
        y[i] *= {start[0]}{"[0]" if start[0] == "t" else ""}
""").program
    error = refused(bind, before, loop(before, "i"), "threadIdx.x")
    assert error.code == code
    assert message in str(error)


def test_threads_that_have_nothing_to_do() -> None:
    before = program("""
def f(a):
    for i in range(4):
        t = shared.empty(4, a.dtype)
        for k in range(4):
            t[k] = a[k]
""")
    for each in query.statements(before.function):
        nodes.set_origin(each, None)
    error = refused(bind, before, loop(before, "i"), "threadIdx.x")
    assert error.code == "schedule.bad-nesting"
    assert "nothing in the loop over i depends on it" in str(error)


@pytest.mark.parametrize("axis", ["blockIdx", "threadIdx.w", "block.x", "", "vthread"])
def test_no_such_axis(axis: str) -> None:
    before = program(NEST.format(i="range(n)", j="range(m)"))
    error = refused(bind, before, loop(before, "i"), axis)
    assert error.code == "schedule.bad-axis"
    assert "blockIdx.x" in str(error)


@pytest.mark.parametrize("kind", ["thread.x", "block.y", "parallel", "vector", "unroll"])
def test_a_loop_that_has_a_kind(kind: str) -> None:
    before = program(NEST.format(i="range(n)", j=f"{kind}(m)"))
    error = refused(bind, before, loop(before, "j"), "threadIdx.y")
    assert error.code == "schedule.already-bound"
    assert f"j is already {kind}" in str(error)


@pytest.mark.parametrize(("bound", "other"), [("i", "j"), ("j", "i")])
def test_an_axis_that_is_taken(bound: str, other: str) -> None:
    kinds = {"i": "range", "j": "range", bound: "thread.x"}
    before = program(NEST.format(i=f"{kinds['i']}(n)", j=f"{kinds['j']}(m)"))
    error = refused(bind, before, loop(before, other), "threadIdx.x")
    assert error.code == "schedule.axis-taken"
    assert f"{bound}, in the same nest, is already thread.x" in str(error)


@pytest.mark.parametrize(
    ("i", "j", "which", "axis"),
    [
        ("thread.x", "range", "j", "blockIdx.x"),
        ("range", "block.x", "i", "threadIdx.x"),
    ],
)
def test_blocks_are_outside_of_threads(i: str, j: str, which: str, axis: str) -> None:
    before = program(NEST.format(i=f"{i}(n)", j=f"{j}(m)"))
    error = refused(bind, before, loop(before, which), axis)
    assert error.code == "schedule.bad-nesting"
    assert "over blocks cannot stand inside a loop over threads" in str(error)


@pytest.mark.parametrize(
    ("i", "j", "which"), [("parallel", "range", "j"), ("range", "parallel", "i")]
)
def test_threads_of_the_cpu_and_of_a_gpu(i: str, j: str, which: str) -> None:
    before = program(NEST.format(i=f"{i}(n)", j=f"{j}(m)"))
    error = refused(bind, before, loop(before, which), "blockIdx.x")
    assert error.code == "schedule.bad-nesting"
    assert "not on both" in str(error)


def test_a_step_that_is_no_literal() -> None:
    before = program(NEST.format(i="range(0, n, m)", j="range(m)"))
    error = refused(bind, before, loop(before, "i"), "blockIdx.x")
    assert error.code == "schedule.not-counted"
    assert "the loop over i" in str(error)


def test_a_variable_that_is_assigned() -> None:
    before = program("""
def f(x):
    for i in range(2, 9):
        i = i + 1
        x[i] = 1
""")
    error = refused(bind, before, loop(before, "i"), "blockIdx.x")
    assert error.code == "schedule.variable-assigned"
    assert "assigns i itself" in str(error)


def test_a_loop_left_early() -> None:
    before = program("def f(y):\n    for i in range(4):\n        if y[i] > 1:\n            break\n")
    error = refused(bind, before, loop(before, "i"), "blockIdx.x")
    assert error.code == "schedule.not-counted"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bounds", ["range(m)", "range(1, m - 1)", "range(0, m, 3)", "range(m - 1, 0, -2)"]
)
def test_at_awkward_sizes(bounds: str) -> None:
    before = program(NEST.format(i="range(n)", j=bounds))
    after = rewritten(bind, before, loop(before, "j"), "threadIdx.x")
    assert_same_results(before, after, squares, sizes(4))


def test_shared_tiles_at_awkward_sizes() -> None:
    before = staged().program
    after = rewritten(bind, before, loop(before, "i"), "threadIdx.x")
    assert_same_results(before, after, rows, sizes(4))


@pytest.mark.parametrize("order", ["forward", "reverse"])
def test_a_tile_is_loaded_between_barriers(order: Literal["forward", "reverse"]) -> None:
    s = staged()
    s.bind("i", "threadIdx.x")
    types = dict.fromkeys(("a", "w", "y"), "float64")
    text = s.lowered("cuda", types).text
    inside = text.split("for k_0 in")[1].split("\n\n")[0]
    assert inside.count("cuda.syncthreads()") == 2
    assert inside.index("a_shared") < inside.index("cuda.syncthreads()") < inside.index("s_tile")
    run = emulate.load(text, "weighted", order=order)
    for count in (0, 1, 5, 40):
        a, w, y = rows(count)
        run(a, w, y)
        np.testing.assert_allclose(y, w @ a)  # type: ignore[operator]


# --- trace --------------------------------------------------------------------------------------


def double(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(1, m):
            y[i, j] = x[i, j] * 2


def test_the_script_of_a_shared_tile_replays() -> None:
    schedule = Schedule(weighted)
    k_0, _ = schedule.split("k", [None, 4])
    schedule.cache_read("a", "shared", at=k_0)
    schedule.bind("i", "threadIdx.x")
    assert_replays(schedule)


def test_the_printed_script_replays() -> None:
    schedule = Schedule(double)
    schedule.bind("i", "blockIdx.x")
    schedule.bind("j", "threadIdx.x")
    assert_replays(schedule)
