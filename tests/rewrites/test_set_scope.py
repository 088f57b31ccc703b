from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir.module import module_text
from astile.ir.program import Program
from astile.rewrites.compute_at import compute_at
from astile.rewrites.reorder import reorder
from astile.rewrites.set_scope import set_scope
from astile.rewrites.split import split
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    loops,
    program,
    refused,
    rewritten,
    sizes,
    stage,
)

Golden = Callable[[str, str], None]

TILED = """
def f(x, y):
    n = len(x)
    {made}
    for i_0 in range((n + 7) // 8):
        for i in range(8):
            if i_0 * 8 + i < n:
                a[i_0 * 8 + i] = x[i_0 * 8 + i] * 2
        for i_1 in range(8):
            if i_0 * 8 + i_1 < n:
                y[i_0 * 8 + i_1] = a[i_0 * 8 + i_1] + 1
"""
BLUR = """
def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]
"""
UPDATED = """
def f(x, y):
    n, m = x.shape
    a = {made}
    for i in range(n):
        for k in range(m):
            a[i] += x[i, k]
    for i in range(n):
        y[i] = a[i] * 2
"""


def interleaved(text: str, producer: str, variables: list[str], tile: list[int]) -> Program:
    before = program(text)
    after, outer, inner = before, [], []
    for identity, size in zip(loops(before, *variables), tile, strict=True):
        after, made = applied(split, after, identity, [None, size])
        outer.append(made[0])
        inner.append(made[1])
    if len(outer) > 1:
        after = rewritten(reorder, after, [*outer, *inner])
    return rewritten(compute_at, after, stage(after, producer), outer[-1])


def vectors(n: int) -> tuple[object, ...]:
    return np.arange(n) * 3.0, np.zeros(n)


def rows(n: int) -> tuple[object, ...]:
    return np.arange(n * 4.0).reshape(n, 4), np.zeros(n)


def floats(n: int) -> tuple[object, ...]:
    shape = (n, n + 3)
    x = (np.arange(n * (n + 3)) % 13).reshape(shape).astype(np.float32)
    return x, np.zeros(shape, np.float32)


# --- rewrites -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("typed", "a = np.empty(n, np.float32)"),
        ("default", "a = np.empty(n)"),
        ("like", "a = np.empty_like(x)"),
        ("keyword", "a = np.empty(n, dtype=np.int64)"),
        ("written_anyway", "a = np.zeros(n)"),
    ],
)
def test_the_type_stays(golden: Golden, name: str, made: str) -> None:
    before = program(TILED.format(made=made))
    after = rewritten(set_scope, before, "a", "shared")
    golden(f"rewrites/set_scope/{name}.py", module_text(after))
    assert_proved(before, after)


def test_a_scratch_argument(golden: Golden) -> None:
    text = TILED.format(made="pass").replace("f(x, y)", "f(x, a, y)")
    before = program(text, scratch=["a"])
    after = rewritten(set_scope, before, "a", "local")
    golden("rewrites/set_scope/scratch.py", module_text(after))
    assert_proved(before, after)


def test_a_tile_with_halo(golden: Golden) -> None:
    before = interleaved(BLUR, "wide", ["i#1", "j#1"], [16, 16])
    after = rewritten(set_scope, before, "wide", "shared")
    golden("rewrites/set_scope/halo.py", module_text(after))
    assert_proved(program(BLUR), after)


def test_symbolic_extents_are_local(golden: Golden) -> None:
    before = program(BLUR)
    after = rewritten(compute_at, before, stage(before, "wide"), loop(before, "i", 1))
    after = rewritten(set_scope, after, "wide", "local")
    golden("rewrites/set_scope/symbolic.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize(
    ("name", "made"), [("zeros", "np.zeros(n)"), ("ones", "np.ones(n, np.float32)")]
)
def test_what_is_read_unwritten_is_filled(golden: Golden, name: str, made: str) -> None:
    text = UPDATED.format(made=made)
    before = interleaved(text, "a", ["i#1"], [8])
    after, made_loops = applied(set_scope, before, "a", "shared")
    golden(f"rewrites/set_scope/{name}.py", module_text(after))
    assert [after.loop(each).target.id for each in made_loops] == ["a_0"]
    assert_proved(program(text), after)


@pytest.mark.parametrize(
    ("at", "filled"),
    [
        ("i", "        for a_1 in range(m):\n            a_local[0, a_1] = 0"),
        ("j", "            a_local[0, 0] = 0"),
    ],
)
def test_an_axis_of_one_cell_is_filled_without_a_loop(at: str, filled: str) -> None:
    text = """
def f(x, y):
    n, m = y.shape
    a = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            for k in range(3):
                a[i, j] += x[i, j + k]
    for i in range(n):
        for j in range(m):
            y[i, j] = a[i, j]
"""
    before = program(text)
    near = rewritten(compute_at, before, stage(before, "a"), loop(before, at, 1))
    after = rewritten(set_scope, near, "a", "local")
    assert filled in module_text(after)
    assert "range(1)" not in module_text(after)
    assert_proved(before, after)


def test_questions_about_the_shape_are_answered(golden: Golden) -> None:
    before = program(
        """
def f(x, y):
    n, m = x.shape
    a = np.empty((n, m), np.float32)
    for i in range(a.shape[0]):
        for j in range(a.shape[-1]):
            a[i, j] = x[i, j]
        for j in range(1, len(a[i]) if False else a.shape[1]):
            y[i, j] = a[i, j] - a[i, j - 1]
""".replace("len(a[i]) if False else ", "")
    )
    after = rewritten(set_scope, before, "a", "local")
    golden("rewrites/set_scope/shape.py", module_text(after))
    assert_proved(before, after)


def test_numpy_under_another_name() -> None:
    before = program("""
def f(x, y):
    a = numpy.empty(len(x))
    for i in range(len(x)):
        a[i] = x[i]
        y[i] = a[i]
""")
    before = type(before)(**{**before.__dict__, "imports": {"numpy": "numpy"}})
    after = rewritten(set_scope, before, "a", "local")
    assert "a_local = local.empty(1, numpy.float64)" in module_text(after)


def test_names_that_are_taken_get_a_number() -> None:
    text = TILED.format(made="a = np.empty(n)\n    a_shared = 3")
    after = rewritten(set_scope, program(text), "a", "shared")
    assert "a_shared_1 = shared.empty(8, np.float64)" in module_text(after)


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", ["global", "Shared", "", "register"])
def test_no_such_scope(scope: str) -> None:
    error = refused(set_scope, program(TILED.format(made="a = np.empty(n)")), "a", scope)
    assert error.code == "schedule.bad-scope"
    assert "shared, local" in str(error)


def test_no_such_array() -> None:
    error = refused(set_scope, program(TILED.format(made="a = np.empty(n)")), "b", "shared")
    assert error.code == "schedule.no-such-array"
    assert "arrays allocated here: a" in str(error)


def test_an_output() -> None:
    error = refused(set_scope, program(TILED.format(made="a = np.empty(n)")), "y", "shared")
    assert error.code == "schedule.not-an-intermediate"
    assert 'scratch=("y",)' in str(error)


def test_several_nests() -> None:
    error = refused(set_scope, program(BLUR), "wide", "shared")
    assert error.code == "schedule.several-nests"
    assert "wide is used in several nests" in str(error)
    assert "compute_at" in str(error)


def test_twice() -> None:
    once = rewritten(set_scope, program(TILED.format(made="a = np.empty(n)")), "a", "shared")
    error = refused(set_scope, once, "a_shared", "local")
    assert error.code == "schedule.nothing-to-do"
    assert "shared memory already" in str(error)


def test_shared_needs_literals() -> None:
    before = program(BLUR)
    after = rewritten(compute_at, before, stage(before, "wide"), loop(before, "i", 1))
    error = refused(set_scope, after, "wide", "shared")
    assert error.code == "schedule.not-literal"
    assert "axis 1 of wide inside the loop over i is W - 2, no literal" in str(error)


def test_cells_that_data_pick_keep_the_whole_axis() -> None:
    before = program("""
def f(x, y):
    a = np.empty((len(y), 8))
    for i in range(len(y)):
        for k in range(8):
            a[i, k] = 0
        for k in range(len(x)):
            a[i, x[k]] += 1
        for k in range(8):
            y[i] += a[i, k] * k
""")
    after = rewritten(set_scope, before, "a", "shared")
    assert "a_shared[0, x[k]] += 1" in module_text(after)
    assert_proved(before, after)
    assert_same_results(before, after, lambda n: (np.arange(n) % 9 - 4, np.zeros(n)), (0, 1, 5))
    error = refused(
        set_scope,
        program(module_text(before).replace("8", "n").replace("def f(x, y)", "def f(x, y, n)")),
        "a",
        "shared",
    )
    assert "axis 1 of a inside the loop over i is n, no literal" in str(error)


def test_a_region_that_is_not_known() -> None:
    before = program("""
def f(x, p, y):
    a = np.empty(len(x))
    for i in range(len(y)):
        for k in range(3):
            a[k * k] = x[p[i, k]]
        for k in range(3):
            y[i] += a[k * k]
""")
    error = refused(set_scope, before, "a", "local")
    assert error.code == "schedule.not-literal"
    assert "axis 0 of a inside the loop over i is not known" in str(error)


@pytest.mark.parametrize(
    "use",
    [
        "y[i] = np.sum(a)",
        "y[i] = a[i] + np.max(a)",
        "b = np.empty_like(a)",
        "y[i] = a[0:3].sum()",
        "y[i] = a[:][i]",
        "g(a)",
        "b = a",
        "y[i] = a[None, i]",
        "y[i] = a.shape[n]",
        "y[i] = a.sum()",
    ],
)
def test_used_as_a_whole(use: str) -> None:
    before = program(f"""
def f(x, y, n):
    a = np.empty(n)
    for i in range(n):
        a[i] = x[i]
        {use}
""")
    error = refused(set_scope, before, "a", "local")
    assert error.code == "schedule.used-whole"
    assert "a " in str(error)
    assert error.diagnostic.span is not None


def test_returned() -> None:
    before = program(TILED.format(made="a = np.empty(n)") + "    return a\n")
    assert refused(set_scope, before, "a", "shared").code == "schedule.used-whole"


def test_allocated_twice() -> None:
    text = TILED.format(made="a = np.empty(n)") + "    a = np.empty(n)\n"
    error = refused(set_scope, program(text), "a", "shared")
    assert error.code == "schedule.several-allocations"


def test_filled_with_something_else() -> None:
    error = refused(set_scope, program(TILED.format(made="a = np.full(n, 3.0)")), "a", "shared")
    assert error.code == "schedule.filled"
    assert "np.full" in str(error)


def test_shared_inside_threads() -> None:
    before = program("""
def f(x, y):
    a = np.empty(len(x))
    for i in thread.x(len(x)):
        a[i] = x[i]
        y[i] = a[i]
""")
    error = refused(set_scope, before, "a", "shared")
    assert error.code == "schedule.inside-threads"
    assert "the loop over i" in str(error)
    assert 'set_scope("a", "local")' in str(error)


def test_never_used() -> None:
    before = program("def f(x):\n    a = np.empty(3)\n    x[0] = 1\n")
    error = refused(set_scope, before, "a", "local")
    assert error.code == "schedule.several-nests"
    assert "no cell of a is used" in str(error)


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["np.empty(n)", "np.zeros(n)", "np.empty_like(x)"])
def test_tiles_at_awkward_sizes(made: str) -> None:
    before = program(TILED.format(made=f"a = {made}"))
    for scope in ("shared", "local"):
        after = rewritten(set_scope, before, "a", scope)
        assert_same_results(before, after, vectors, sizes(8))


@pytest.mark.parametrize("made", ["np.zeros(n)", "np.ones(n)"])
@pytest.mark.parametrize("scope", ["shared", "local"])
def test_updates_at_awkward_sizes(made: str, scope: str) -> None:
    text = UPDATED.format(made=made)
    after = rewritten(set_scope, interleaved(text, "a", ["i#1"], [5]), "a", scope)
    assert_same_results(program(text), after, rows, sizes(5))


def test_halos_at_awkward_sizes() -> None:
    before = interleaved(BLUR, "wide", ["i#1", "j#1"], [5, 3])
    after = rewritten(set_scope, before, "wide", "shared")
    assert_same_results(program(BLUR), after, floats, sizes(5))


def test_negative_extents_at_small_sizes() -> None:
    before = program(BLUR)
    after = rewritten(compute_at, before, stage(before, "wide"), loop(before, "i", 1))
    after = rewritten(set_scope, after, "wide", "local")

    def arguments(n: int) -> tuple[object, ...]:
        return np.ones((n + 3, n), np.float32), np.zeros((n + 3, n), np.float32)

    assert_same_results(before, after, arguments, (0, 1, 2, 5))


# --- properties ---------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(-2, 2), min_size=1, max_size=3, unique=True),
    st.sampled_from([1, 2]),
    st.sampled_from([1, 3, 4]),
    st.sampled_from(["max({}, 0)", "min({}, n - 1)", "min(max({}, 0), n - 1)"]),
)
def test_any_clamped_window(window: list[int], stride: int, tile: int, clamp: str) -> None:
    value = " + ".join(f"a[{clamp.format(f'{stride} * i + {each}')}]" for each in window)
    text = f"""
def f(x, y):
    n = len(x)
    a = np.empty(n)
    for k in range(n):
        a[k] = x[k] * 2
    for i in range(2, (n - 2) // {stride}):
        y[i] = {value}
"""
    before = program(text)
    after, [at, _] = applied(split, before, loop(before, "i"), [None, tile])
    after = rewritten(compute_at, after, stage(after, "a"), at)
    after = rewritten(set_scope, after, "a", "shared")
    assert_same_results(before, after, vectors, (0, 1, 2, 3, 5, 8, 13))
    assert_proved(before, after)


# --- trace --------------------------------------------------------------------------------------


def blur(x, out):
    H, W = x.shape
    wide = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W - 2):
            wide[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H - 2):
        for j in range(W - 2):
            out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]


def test_the_printed_script_replays() -> None:
    schedule = Schedule(blur)
    outer = schedule.tile(["out.i", "out.j"], [16, 8])
    schedule.compute_at("wide", outer[1])
    schedule.set_scope("wide", "shared")
    assert_replays(schedule)
