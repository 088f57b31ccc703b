"""Vector loops become operations of vectors, with the values of the plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from astile.lower import cpu, python
from astile.lower.vectors.explicit import Machine
from tests.support.scheduled import program

F32 = {"x": "float32", "y": "float32", "m": "float32"}


def lowered(text: str, types: dict[str, str], *, exact: bool = False, width: int = 64) -> str:
    made = program(text, imports={"np": "numpy", "float32": "numpy.float32"})
    return cpu.lower(made, types=types, machine=Machine(width, exact=exact)).text


def function_of(text: str) -> object:
    namespace: dict[str, object] = {}
    exec(compile(text, "<f>", "exec"), namespace)
    return namespace["f"]


def body_of(text: str) -> list[str]:
    """The lines of a generated function, without indentation."""
    lines = text.partition("def f(")[2].splitlines()[1:]
    return [line.strip() for line in lines if line.strip()]


# --- texts --------------------------------------------------------------------------------------


def test_a_whole_vector() -> None:
    text = lowered("def f(x, y):\n    for j in vector(16):\n        y[j] = x[j] * x[j]", F32)
    assert body_of(text) == ["x_v = load(x, 0, 16)", "store(y, 0, x_v * x_v)"]
    assert "from astile.intrinsics.vectors import load, store" in text


@pytest.mark.parametrize("trips", ["5, 5", "5, 3"])
def test_loops_without_a_trip_stay(trips: str) -> None:
    text = f"def f(x, y):\n    for j in vector({trips}):\n        y[j] = x[j] * x[j]"
    assert body_of(lowered(text, F32))[0] == f"for j in range({trips}):"


@pytest.mark.parametrize(("terms", "fits"), [(3, True), (8, False)])
def test_masks_that_would_be_longer_than_the_loop_are_not_written(terms: int, fits: bool) -> None:
    """Each term of an `or` is looked at where none before it holds."""
    test = " or ".join(f"x[{k}, j]" for k in range(terms))
    text = f"def f(x, y):\n    for j in vector(32):\n        y[j] = {test}"
    made = lowered(text, {"x": "bool_", "y": "bool_"})
    assert ("store(" in made) is fits
    assert ("for j in range(32):" in made) is not fits


def test_lanes_are_as_many_as_the_register_holds() -> None:
    text = "def f(x, y):\n    for j in vector(8):\n        y[j] = x[j] + 1.0"
    assert "load(x, 0, 8)" in lowered(text, F32, width=32)
    assert "load(x, 4, 4)" in lowered(text, F32, width=16)
    assert "load(x, 0, 8)" in lowered(text, dict(F32, y="float64"))  # the wider of two types


def test_what_is_certainly_left_after_whole_vectors_stands_under_no_condition() -> None:
    text = lowered("def f(x, y):\n    for j in vector(1, 16):\n        y[j] = -x[j]", F32)
    assert body_of(text) == [
        "for j in range(1, 9, 8):",
        "store(y, j, -load(x, j, 8))",
        "inside = below(9, 16, 8)",
        "store_where(inside, y, 9, -load_where(inside, x, 9))",
    ]


def test_arrays_made_for_vectors_start_at_a_line_of_the_cache() -> None:
    text = lowered(
        "def f(x, y):\n"
        "    t = np.empty((x.shape[0], 16), float32)\n"
        "    u = np.empty(x.shape[0], float32)\n"
        "    for i in range(x.shape[0]):\n"
        "        u[i] = x[i]\n"
        "        for j in vector(16):\n"
        "            t[i, j] = x[j] * u[i]\n"
        "    y[0] = t[0, 0]",
        F32,
    )
    assert "t = empty_aligned((x.shape[0], 16), float32)" in text
    assert "u = np.empty(x.shape[0], float32)" in text  # read cell by cell


def test_products_are_contracted_unless_exact() -> None:
    text = "def f(x, y):\n    for j in vector(16):\n        y[j] += x[j] * float32(2.0)"
    assert "fma(load(x, 0, 16), splat(float32(2.0), 16), load(y, 0, 16))" in lowered(text, F32)
    exact = lowered(text, F32, exact=True)
    assert "load(y, 0, 16) + load(x, 0, 16) * splat(float32(2.0), 16)" in exact


def test_rows_share_what_they_read_of_another_array() -> None:
    text = """
        def f(x, y, m):
            for k in range(m):
                for j in vector(16):
                    for i in unroll(2):
                        y[i, j] = x[i, j + k] + x[i + 1, j + k]
        """
    types = dict(F32, m="int")
    row = "load(x, (1, k), 16)"
    assert lowered(text, types).count(row) == 1
    swapped = text.replace("            for k", "            x, y = y, x\n            for k", 1)
    assert lowered(swapped, types).count(row) == 2
    assert lowered(text.replace("y[i, j] =", "x[i, j] ="), types).count(row) == 2


def test_rows_have_names_where_their_loop_does_not_change_them() -> None:
    text = lowered(
        """
        def f(x, y, m):
            for i in range(m):
                for j in vector(m):
                    y[2 * i, j] = x[2 * i, j] + x[2 * i + 1, j] + x[j, 2 * i]
        """,
        dict(F32, m="int"),
    )
    assert "row = i * 2\n" in text.replace("2 * i", "i * 2")
    assert text.count("(row, j)") == 2
    assert "row_1" not in text


def test_a_tile_of_local_memory_is_kept_in_registers() -> None:
    text = lowered(
        """
        def f(x, y, m):
            c = local.empty((2, 32), float32)
            for i in unroll(2):
                for j in vector(32):
                    c[i, j] = 0.0
            for k in range(x.shape[0]):
                for i in unroll(2):
                    for j in vector(32):
                        c[i, j] += m[i, k] * y[k, j]
            for i in unroll(2):
                for j in vector(32):
                    m[i, j] = c[i, j]
        """,
        F32,
    )
    lines = body_of(text)
    assert "empty" not in text
    inner = lines.index("for k in range(x.shape[0]):")
    assert lines[inner + 1 : inner + 9] == [
        "m_s = splat(get(m, (0, k)), 16)",
        "y_v = load(y, (k, 0), 16)",
        "c_0_0 = fma(m_s, y_v, c_0_0)",
        "y_v_1 = load(y, (k, 16), 16)",
        "c_0_1 = fma(m_s, y_v_1, c_0_1)",
        "m_s_1 = splat(get(m, (1, k)), 16)",
        "c_1_0 = fma(m_s_1, y_v, c_1_0)",
        "c_1_1 = fma(m_s_1, y_v_1, c_1_1)",
    ]
    assert lines[-1] == "store(m, (1, 16), c_1_1)"


@pytest.mark.parametrize(
    "body",
    [
        "y[j] = x[j // 2]",  # not side by side
        "y[j] = x[j - 1]",  # may count from the end
        "y[j] = unknown(x[j])",
        "y[j] = x[j] ** 3",
        "y[0] = x[j]",  # one cell for all lanes
        "y[2 * j] = x[j]",
    ],
)
def test_other_loops_stay_as_they_are(body: str) -> None:
    text = lowered(f"def f(x, y):\n    for j in vector(16):\n        {body}", F32)
    assert "for j in range(16):" in text
    assert "astile" not in text


def test_a_name_read_after_the_loop_keeps_it_plain() -> None:
    text = lowered("def f(x, y):\n    for j in vector(16):\n        t = x[j]\n    y[0] = t", F32)
    assert "for j in range(16):" in text


def test_a_bound_that_changes_keeps_it_plain() -> None:
    body = "y[j] = x[j]\n        n = 3"
    text = f"def f(x, y, n):\n    for j in vector(n):\n        {body}"
    assert "load" not in lowered(text, {**F32, "n": "int"})


def test_the_last_value_of_a_variable_is_kept() -> None:
    text = """
    def f(x, y, n):
        for i in unroll(4):
            if n > 5:
                for j in vector(16):
                    y[j] = x[j]
        return i
    """
    assert function_of(lowered(text, {**F32, "n": "int"}))(*np.ones((2, 16), "f"), 0) == 3  # type: ignore[operator]


def test_unknown_types_keep_it_plain() -> None:
    assert "load" not in lowered("def f(x, y):\n    for j in vector(16):\n        y[j] = x[j]", {})


def test_cells_of_registers_keep_the_type_of_their_array() -> None:
    text = lowered(
        """
        def f(x, y, n):
            c = local.empty((2,), np.int8)
            c[0] = x[0]
            c[1] = 100
            for k in range(n):
                c[0] += c[1]
            for j in vector(16):
                y[j] = x[j] * c[0]
        """,
        {"x": "int8", "y": "int8", "n": "int"},
    )
    assert "c_0 = int8(c_0 + c_1)" in text
    assert "splat(c_0, 16)" in text


def test_lanes_that_an_unrolled_loop_takes_one_by_one_stay_in_registers() -> None:
    text = lowered(
        """
        def f(x, y):
            part = local.empty(16, float32)
            for j in vector(16):
                part[j] = x[j] * x[j]
            for j in unroll(16):
                y[0] += part[j]
        """,
        F32,
    )
    assert "np.empty" not in text
    assert "y[0] += lane(part_0, 15)" in text
    x, y = np.arange(16, dtype=np.float32), np.ones(1, np.float32)
    function_of(text)(x, y)  # type: ignore[operator]
    assert y[0] == 1 + sum(k * k for k in range(16))


def test_lanes_are_dropped_only_where_a_mask_is_the_same_all_the_time() -> None:
    form = """
        def f(x, y, n):
            c = local.empty((16,), float32)
            for j in vector(16):
                if {first}:
                    c[j] = y[j]
            for k in range(n):
                for j in vector(16):
                    if {second}:
                        c[j] += y[j]
            for j in vector(16):
                if {second}:
                    y[j] = c[j]
        """
    types = {"x": "float32", "y": "float32", "n": "int"}
    same = lowered(form.format(first="j < n", second="j < n"), types)
    assert "select" not in same
    other = lowered(form.format(first="j < n + 1", second="j < n"), types)
    assert "select" in other
    assert "select" in lowered(form.format(first="x[j] > 0.0", second="x[j] > 0.0"), types)
    changed = form.replace("for k in range(n):", "n = n - 1\n            for k in range(n):")
    assert "select" in lowered(changed.format(first="j < n", second="j < n"), types)


# --- values -------------------------------------------------------------------------------------

PRODUCTS = "def f(x, y):\n    for j in vector(32):\n        y[j] += x[j] * x[j]"


@pytest.mark.parametrize("exact", [False, True])
def test_a_product_is_rounded_before_it_is_added_when_exact(exact: bool) -> None:
    x, y = (np.random.default_rng(n).normal(size=32).astype(np.float32) for n in (0, 1))
    wide = x.astype(np.float64) * x  # is exact, and so is what is rounded once
    wanted = y + x * x if exact else (wide + y).astype(np.float32)
    assert (wanted != (y + x * x)).any() or exact
    function_of(lowered(PRODUCTS, F32, exact=exact))(x, y)  # type: ignore[operator]
    np.testing.assert_array_equal(y, wanted)


FORMS = """
def f(x, y, m, a, b):
    n = x.shape[0]
    for j in vector(n):
        y[0, j] = x[j] * 0.5 + a[j]
    for j in vector(1, n):
        y[1, j] = x[j - 1] - x[j] / 3.0
    for j_0 in range((n + 15) // 16):
        for j in vector(16):
            if j_0 * 16 + j < n:
                t = max(x[j_0 * 16 + j], y[0, j_0 * 16 + j])
                y[2, j_0 * 16 + j] = t if t > 0.0 else -t
    for j in vector(n):
        s = 0.0
        for k in range(m.shape[1]):
            s += m[j, k] * x[k]
        y[3, j] = s
    for j in vector(n):
        if x[j] > 0.0 and j < n - 2:
            y[4, j] = x[j + 2]
        else:
            y[4, j] = abs(x[j]) + j
    for j in vector(n):
        b[j] = b[j] * 3 - a[j]
        y[5, j] = np.sqrt(abs(x[j])) if not x[j] < 0.0 else np.minimum(x[j], y[0, j])
    for j in vector(n):
        r = x[j]
        if x[j] < 0.0:
            x[j] = r * r
            r = 1.0
        y[6, j] = r + x[j]
"""
TYPES = {"x": "float32", "y": "float32", "m": "float64", "a": "int32", "b": "int8"}


def arguments(n: int) -> list[np.ndarray]:
    random = np.random.default_rng(n)
    x = random.normal(size=n).astype(np.float32)
    if n > 4:
        x[3], x[4] = np.nan, -0.0
    m = random.normal(size=(n, n))
    a, b = (random.integers(-most, most, size=n) for most in (100, 9))
    return [x, np.zeros((7, n), np.float32), m, a.astype(np.int32), b.astype(np.int8)]


def test_arrays_that_are_not_contiguous() -> None:
    text = """
    def f(x, y, m):
        for j in vector(20):
            y[j] = x[j] - m[j, 1]
            m[2, j] = y[j]
    """
    run = function_of(lowered(text, F32))
    wide = np.random.default_rng(0).normal(size=(60, 60)).astype(np.float32)
    x, y, m = wide[0, ::3], np.zeros(40, np.float32)[::2], wide.T[10:40]
    wanted = x - m[:20, 1]
    run(x, y, m)  # type: ignore[operator]
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(m[2, :20], wanted)


@pytest.fixture(scope="module")
def forms() -> tuple[object, object]:
    made = program(FORMS, imports={"np": "numpy"})
    text = cpu.lower(made, types=TYPES, machine=Machine(64, exact=True)).text
    assert text.count("store") > 6
    return function_of(python.lower(made).text), function_of(text)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 15, 16, 17, 31, 33, 70])
def test_values_are_those_of_the_plain_loops(forms: tuple[object, object], n: int) -> None:
    plain, vectors = forms
    wanted, got = arguments(n), arguments(n)
    with np.errstate(all="ignore"):
        plain(*wanted)  # type: ignore[operator]
    vectors(*got)  # type: ignore[operator]
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_array_equal(one, other)
