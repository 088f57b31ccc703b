"""In-bounds conditions: exactly the sizes at which plain Python raises no IndexError."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

from astile import tile
from astile.analysis.extents import bounds
from astile.analysis.extents.conditions import Condition
from astile.errors import ArgumentError
from tests.support.pace import is_within
from tests.support.programs import program_from

CONV_ADD = """
def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = 0.0
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]
"""


def conditions(text: str) -> tuple[Condition, ...]:
    return bounds.conditions(program_from(text))


def only(text: str) -> Condition:
    (found,) = conditions(text)
    return found


def all_hold(
    text: str, shapes: Mapping[str, tuple[int, ...]], ints: Mapping[str, int] | None = None
) -> bool:
    return all(each.holds(shapes, ints or {}) for each in conditions(text))


def runs(text: str, shapes: Mapping[str, tuple[int, ...]], ints: Mapping[str, int]) -> bool:
    """Whether plain Python runs without an IndexError."""
    space: dict[str, object] = {"np": np}
    exec(text, space)
    function = next(each for each in space.values() if getattr(each, "__code__", None) is not None)
    arrays = {name: np.zeros(shape, np.int64) for name, shape in shapes.items()}
    try:
        function(**arrays, **ints)  # type: ignore[operator]
    except IndexError:
        return False
    return True


# --- which conditions there are -----------------------------------------------------------------


def test_conditions_of_conv_add() -> None:
    found = conditions(CONV_ADD)
    places = [(each.array, each.axis) for each in found]
    assert places == [("x", 0), ("x", 1), ("w", 0), ("w", 1), ("bias", 0), ("bias", 1)]
    shapes = {"x": (226, 226), "w": (3, 3), "bias": (224, 224), "out": (224, 224)}
    assert all(each.holds(shapes, {}) for each in found)
    for array, axis in places:
        smaller = list(shapes[array])
        smaller[axis] -= 1
        failing = [e for e in found if not e.holds({**shapes, array: tuple(smaller)}, {})]
        assert [(each.array, each.axis) for each in failing] == [(array, axis)]


def test_accesses_bounded_by_their_own_shape_need_nothing() -> None:
    assert (
        conditions("""
def k(x, out):
    for i in range(x.shape[0]):
        for j in range(i, x.shape[1]):
            x[i, j] = x[i, x.shape[1] - 1 - j]
""")
        == ()
    )


def test_zero_trips_need_nothing() -> None:
    text = """
def k(x, out, n):
    for i in range(n):
        out[i] = x[i, 3]
"""
    assert all_hold(text, {"x": (0, 0), "out": (0,)}, {"n": 0})
    assert all_hold(text, {"x": (0, 0), "out": (0,)}, {"n": -7})
    assert not all_hold(text, {"x": (1, 3), "out": (1,)}, {"n": 1})
    assert all_hold(text, {"x": (1, 4), "out": (1,)}, {"n": 1})


def test_equal_and_weaker_conditions_are_dropped() -> None:
    found = only("""
def k(x, n):
    for i in range(n):
        x[i] = x[i] + x[i + 1] + x[i + 3] + x[i + 2]
""")
    assert found.text == "x[i + 3]"


def test_a_literal_tile_of_a_program_with_bound_loops() -> None:
    found = conditions("""
def k(x, out):
    n = out.shape[0]
    for b in block.x((n + 15) // 16):
        t = shared.empty((18,), np.float32)
        for i in thread.x(18):
            if b * 16 + i < n + 2:
                t[i] = x[b * 16 + i]
        for i in thread.x(16):
            if b * 16 + i < n:
                out[b * 16 + i] = t[i] + t[i + 2]
""")
    assert [each.array for each in found] == ["x"]
    assert found[0].holds({"x": (34,), "out": (32,)}, {})
    assert not found[0].holds({"x": (33,), "out": (32,)}, {})


def test_a_tile_that_is_too_small_fails_for_all_sizes() -> None:
    found = only(
        """
def k(x, out):
    for b in range(4):
        t = shared.empty((16,), np.float32)
        for i in range(17):
            t[i] = x[i % 2]
""".replace("x[i % 2]", "0.0")
    )
    assert not found.holds({"x": (1,), "out": (1,)}, {})
    assert found.message({}, {}) == (
        "t[i] leaves t: along axis 0, of length 16, its index runs from 0 to 16, and index 16 is "
        "past the end"
    )


# --- negative indices ---------------------------------------------------------------------------


def test_the_last_element_needs_one_element() -> None:
    found = only("""
def k(x):
    x[-1] = x[-1] + 1.0
""")
    assert found.holds({"x": (1,)}, {})
    assert not found.holds({"x": (0,)}, {})
    assert "index -1 is negative, and before the start" in found.message({"x": (0,)}, {})


def test_an_index_that_becomes_negative_counts_from_the_end() -> None:
    text = """
def k(x, n):
    for i in range(n):
        x[i - 3] = 1.0
"""
    for size, n in itertools.product(range(5), range(-1, 9)):
        assert all_hold(text, {"x": (size,)}, {"n": n}) == runs(text, {"x": (size,)}, {"n": n})


# --- against plain Python -----------------------------------------------------------------------

NESTS = {
    "steps": """
def k(x, n, m):
    for i in range(n, -1, -3):
        x[i] = x[i // 2] + x[m]
""",
    "triangle": """
def k(x, n, m):
    for i in range(n):
        for j in range(i, m):
            x[i + j] = x[j - i]
""",
    "minimum": """
def k(x, n, m):
    for i in range(min(n, m), max(n, 2)):
        x[2 * i - m] = 1
""",
    "guards": """
def k(x, n, m):
    for i in range(n):
        if i > 0 and i + m < x.shape[0]:
            x[i + m] = x[i - 1]
        elif i == 2:
            x[i * 2] = 0
""",
    "modulo": """
def k(x, n, m):
    for i in range(n):
        x[i % 4] = x[(i + m) // 3]
""",
    "expressions": """
def k(x, n, m):
    for i in range(n):
        y = x[i - 2] if i >= 2 else x[m]
        if i < m and x[i] > 5:
            y = 1
""",
    "either": """
def k(x, n, m):
    for i in range(n):
        if i + 1 >= n or x[i + 1] == 0:
            y = 1
""",
    "inside": """
def k(x, n, m):
    t = np.zeros((m + 1,), np.int64)
    for i in range(n):
        t[i] = 1
    for i in range(m + 2):
        x[i] = t[i - 1]
""",
    "returns": """
def k(x, n, m):
    if n > 3:
        return
    x[n + 1] = m
    assert m > 0
    x[m - 2] = 1
""",
}


@pytest.mark.parametrize("name", NESTS)
def test_conditions_are_those_of_plain_python(name: str) -> None:
    text = NESTS[name]
    program = program_from(text)
    found = bounds.conditions(program)
    assert bounds.unproved(program) == ()
    for size, n, m in itertools.product(range(6), range(-1, 7), range(6)):
        shapes, ints = {"x": (size,)}, {"n": n, "m": m}
        try:
            expected = runs(text, shapes, ints)
        except (AssertionError, ValueError):
            continue
        assert all(each.holds(shapes, ints) for each in found) == expected, (size, n, m)


def test_the_message_names_the_range_that_plain_python_reaches() -> None:
    found = only("""
def k(x, n):
    for i in range(n):
        x[2 * i + 1] = 1
""")
    assert found.message({"x": (7,)}, {"n": 4}) == (
        "x[2 * i + 1] leaves x: along axis 0, of length 7, its index runs from 1 to 7, and "
        "index 7 is past the end (n = 4, x.shape[0] = 7)"
    )
    assert found.text == "x[2 * i + 1]"
    assert str(found.span) == "kernel.py:3:9"


# --- what no condition covers -------------------------------------------------------------------


def reasons(text: str) -> list[str]:
    return [each.reason for each in bounds.unproved(program_from(text))]


def test_indices_from_memory_are_listed() -> None:
    program = program_from("""
def k(x, idx, out):
    for i in range(out.shape[0]):
        out[i] = x[idx[i]]
""")
    (listed,) = bounds.unproved(program)
    assert (listed.array, listed.text) == ("x", "x[idx[i]]")
    assert listed.reason == "the index idx[i] is not affine in known integers"
    assert str(listed.span) == "kernel.py:3:18"
    assert [each.array for each in bounds.conditions(program)] == ["idx"]


def test_accesses_under_conditions_on_data_are_listed_where_they_may_leave() -> None:
    text = """
def k(x, n):
    for i in range(n):
        if x[i] > 0:
            x[{}] = 1
"""
    assert reasons(text.format("i + 1")) == ["whether it is reached depends on values of the run"]
    assert reasons(text.format("0")) == ["whether it is reached depends on values of the run"]
    assert len(conditions(text.format("i + 1"))) == 1


def test_in_an_alternative_the_first_part_has_failed() -> None:
    text = """
def k(x, y, n):
    for i in range(n):
        x[i] = i < 4 or y[i] > 0
"""
    assert all_hold(text, {"x": (3,), "y": (0,)}, {"n": 3})
    assert all_hold(text, {"x": (10,), "y": (10,)}, {"n": 10})
    assert not all_hold(text, {"x": (10,), "y": (4,)}, {"n": 10})


def test_the_end_of_a_chain_of_comparisons_may_not_be_reached() -> None:
    program = program_from("""
def k(x, y, z, n):
    for i in range(n):
        x[i] = 0.0 < y[i] < z[i]
""")
    assert [each.text for each in bounds.unproved(program)] == ["z[i]"]


def test_slices_never_leave() -> None:
    assert (
        conditions("""
def k(x, n):
    for i in range(x.shape[0]):
        x[i, n:] = 1
""")
        == ()
    )


def test_programs_that_cannot_be_read_say_so() -> None:
    program = program_from("""
def k(x):
    row = x[0]
    row[5] = 1
""")
    assert bounds.conditions(program) == ()
    (listed,) = bounds.unproved(program)
    assert "may be a view of another array" in listed.reason


def test_what_methods_compute_is_no_view() -> None:
    program = program_from("""
def k(x, y):
    m, low = x.mean(), x.min()
    s = x.std(ddof=1)
    for i in range(x.shape[0]):
        y[i] = (x[i] - m - low) / s
""")
    assert bounds.unproved(program) == ()


# --- cost ---------------------------------------------------------------------------------------


def test_conditions_are_cheap_to_make_and_to_check() -> None:
    program = program_from(CONV_ADD)
    bounds.conditions(program)
    found = bounds.conditions(program)
    assert is_within(0.2, lambda: bounds.conditions(program))  # 20 ms when nothing else runs
    shapes = {"x": (226, 226), "w": (3, 3), "bias": (224, 224), "out": (224, 224)}

    def check() -> None:
        for _ in range(1000):
            for each in found:
                each.holds(shapes, {})

    assert is_within(6000 * 20e-6, check)  # 2 us each when nothing else runs


# --- whatever data decide -----------------------------------------------------------------------


def test_sizes_at_which_it_does_not_matter_what_data_decide():
    program = program_from(
        """
        def f(x, y):
            for i in range(x.shape[0]):
                if x[i] > 0:
                    y[i] = x[i]
        """
    )
    assert bounds.unproved(program)
    (condition,) = bounds.sure(program)
    assert condition.array == "y"
    assert condition.is_known_to_hold({"x": (3,), "y": (3,)}, {})
    assert not condition.is_known_to_hold({"x": (3,), "y": (2,)}, {})
    assert not condition.is_known_to_hold({"x": (3,)}, {})


def test_cells_that_data_pick_are_never_sure():
    text = """
        def f(x, k, y):
            for i in range(x.shape[0]):
                y[k[i]] = x[i]
        """
    assert bounds.sure(program_from(text)) is None


def test_a_remainder_by_the_length_of_its_axis_is_inside():
    text = """
        def f(x, y):
            n = x.shape[0]
            for i in range(y.shape[0]):
                y[i] = x[(i + 3) % n]
        """
    assert bounds.unproved(program_from(text)) == ()
    other = text.replace("x[(i", "y[(i")
    assert [each.array for each in bounds.unproved(program_from(other))] == ["y"]


def test_a_choice_inside_a_statement_may_be_of_an_integer_that_nothing_else_names():
    text = """
        def f(x, c, y, k):
            for i in range(1, y.shape[0]):
                y[i] = x[i] if c[i] < 3 and i == k else c[i]
        """
    assert bounds.sure(program_from(text)) is not None


def test_a_remainder_of_data_by_a_length_needs_a_cell() -> None:
    def f(a, idx, out):  # type: ignore[no-untyped-def]
        n = len(a)
        for i in range(len(out)):
            out[i] = a[idx[i] % n]

    kernel = tile(target="cpu")(f)
    with pytest.raises(ArgumentError, match="length 0"):
        kernel(np.zeros(0), np.arange(3), np.zeros(3))
    out = np.zeros(3)
    kernel(np.array([5.0, 7.0]), np.arange(3), out)
    assert out.tolist() == [5.0, 7.0, 5.0]
