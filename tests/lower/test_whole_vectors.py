"""Loops that load beside whole vectors under masks have an inner part without masks."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from astile.lower import cpu, python
from astile.lower.vectors.explicit import Machine
from tests.support.scheduled import program

TYPES = {**dict.fromkeys("xyzw", "float32"), "n": "int64", "t": "int64"}
IMPORTS = {"np": "numpy", "float32": "numpy.float32"}


def lowered(text: str) -> list[str]:
    """The lines of the generated function, without indentation."""
    made = cpu.lower(program(text, IMPORTS), types=TYPES, machine=Machine(64)).text
    lines = made.partition("def f(")[2].splitlines()[1:]
    return [line.strip() for line in lines if line.strip()]


def loops(text: str) -> list[str]:
    return [line for line in lowered(text) if line.startswith("for ")]


def neighbours(
    loop: str = "j_0 in range((N + 15) // 16)",
    *,
    guard: str = "j_0 * 16 + j < N",
    left: str = "x[j_0 * 16 + j]",
    right: str = "x[j_0 * 16 + j + 1]",
    rest: str = "",
) -> str:
    text = f"""
    def f(x, y, z, w, n, t):
        N, M = y.shape[0], z.shape[0]
        for {loop}:
            for j in vector(16):
                if {guard}:
                    y[j_0 * 16 + j] = {left} + {right}
            {rest or "pass"}
    """
    return textwrap.dedent(text)


# --- texts --------------------------------------------------------------------------------------


def test_the_last_vector_alone_has_a_mask() -> None:
    assert lowered(neighbours()) == [
        "N, M = y.shape[0], z.shape[0]",
        "j_0_whole = N // 16",
        "for j_0 in range(min(j_0_whole, (N + 15) // 16)):",
        "store(y, j_0 * 16, load(x, j_0 * 16, 16) + load(x, j_0 * 16 + 1, 16))",
        "pass",
        "for j_0 in range(j_0_whole, (N + 15) // 16):",
        "inside = below(j_0 * 16, N, 16)",
        "store_where(",
        "inside,",
        "y,",
        "j_0 * 16,",
        "load_where(inside, x, j_0 * 16) + load_where(inside, x, j_0 * 16 + 1),",
        ")",
        "pass",
    ]


SUMS = """
def f(x, y, z, w, n, t):
    N = y.shape[0]
    for j_0 in range((N + 31) // 32):
        c = local.empty(32, float32)
        for j in vector(32):
            if j_0 * 32 + j < N:
                c[j] = y[j_0 * 32 + j]
        for k in range(w.shape[0]):
            for j in vector(32):
                if j_0 * 32 + j < N:
                    c[j] += w[k] * x[j_0 * 32 + j + k]
        for j in vector(32):
            if j_0 * 32 + j < N:
                y[j_0 * 32 + j] = c[j]
"""


def test_of_several_vectors_the_last_one_decides() -> None:
    lines = lowered(SUMS)
    assert "j_0_whole = N // 32" in lines
    masked = [k for k, line in enumerate(lines) if "_where(" in line or "below(" in line]
    assert masked[0] > lines.index("for j_0 in range(j_0_whole, (N + 31) // 32):")


def test_of_several_bounds_the_least_decides() -> None:
    text = neighbours(guard="j_0 * 16 + j < N and j_0 * 16 + j + 2 < M")
    assert "j_0_whole = min(N // 16, (M - 2) // 16)" in lowered(text)


ROWS = """
def f(x, y, z, w, n, t):
    N = y.shape[0]
    for j_0 in range((N + 255) // 256):
        for j in vector(256):
            if j_0 * 256 + j < N:
                y[j_0 * 256 + j] = x[j_0 * 256 + j] + x[j_0 * 256 + j + 1]
"""


def test_the_vectors_of_a_long_row_are_cut_at_its_end() -> None:
    assert loops(ROWS) == [
        "for j_0 in range((N + 255) // 256):",
        "for j in range(0, min(j_whole, 256), 16):",
        "for j in range(max(0, j_whole), 256, 16):",
    ]
    assert "j_whole = N // 16 * 16 - j_0 * 256" in lowered(ROWS)


def test_what_else_masks_depend_on_stays() -> None:
    text = SUMS.replace(
        "< N:\n                    c", "< N and j_0 * 32 + j + k < 99:\n                    c"
    )
    lines = lowered(text)
    whole = lines[: lines.index("for j_0 in range(j_0_whole, (N + 31) // 32):")]
    left = [line for line in whole if "below" in line]
    assert left == [
        "inside = below(j_0 * 32 + k, 99, 16)",
        "inside_1 = below(j_0 * 32 + k + 16, 99, 16)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        neighbours("j_0 in parallel((N + 15) // 16)"),
        neighbours("j_0 in range((N + 15) // 16 - 1, -1, -1)"),
        neighbours(rest="if n == j_0: break"),
        neighbours(guard="j_0 * 16 + j < M", rest="M = N"),  # a bound that changes
        neighbours(rest="N = n"),
        neighbours(guard="j_0 * 16 + j >= M"),  # which holds at the end
        neighbours(guard="j_0 * 16 + j < N and x[j_0 * 16 + j] > 0.0"),
        neighbours(guard="t * 16 + j < N"),
        neighbours(left="1.0", right="x[j_0 * 16 + j]"),  # whole vectors: nothing gained
        neighbours(right="x[j_0 * 16 + j + 32]"),
    ],
)
def test_other_loops_stay_in_one_piece(text: str) -> None:
    assert len([each for each in loops(text) if "j_0" in each]) == 1


def test_parts_of_a_loop_that_is_cut_are_not_cut_again() -> None:
    inner = """
            for k_0 in range((N + 15) // 16):
                for k in vector(16):
                    if j_0 * 16 + k < N:
                        y[j_0 * 16 + k] += x[j_0 * 16 + k + k_0]
    """
    text = f"def f(x, y, z, w, n, t):\n    N = y.shape[0]\n    for j_0 in range(N):\n{inner}"
    assert [each.count("k_0") for each in loops(text)] == [0, 1, 0, 1]


# --- values -------------------------------------------------------------------------------------

FORMS = """
def f(x, y, z, w, n, t):
    N, M = x.shape[0] - 3, z.shape[0]
    for j_0 in range((N + 15) // 16):
        for j in vector(16):
            if j_0 * 16 + j < N:
                y[0, j_0 * 16 + j] = x[j_0 * 16 + j] - x[j_0 * 16 + j + 1]
    for j_0 in range(1, t):
        for j in vector(16):
            if j_0 * 16 + j + 3 < N and j_0 * 16 + j < M:
                y[1, j_0 * 16 + j] = x[j_0 * 16 + j + 1] * 2.0
    y[2, 0] = j_0
    for j_0 in range((N + 31) // 32):
        c = local.empty(32, float32)
        s = local.empty(32, float32)
        for j in vector(32):
            s[j] = 1.0
            if j_0 * 32 + j < N:
                c[j] = y[0, j_0 * 32 + j]
        for k in range(3):
            for j in vector(32):
                if j_0 * 32 + j < N:
                    c[j] += w[k] * x[j_0 * 32 + j + k]
                if j_0 * 32 + j + k < M:
                    s[j] += x[j_0 * 32 + j + k]
        for j in vector(32):
            if j_0 * 32 + j < N:
                y[3, j_0 * 32 + j] = max(c[j], 0.0) + s[j]
    for j_0 in range(4):
        for j in vector(16):
            if j_0 * 8 + j < N:
                y[4, j_0 * 8 + j] += x[j_0 * 8 + j + 1]
    for j_0 in range(1, 8, 2):
        for j in vector(16):
            if j_0 * 8 + j < N and j_0 * 8 + j < M + 5:
                y[5, j_0 * 8 + j] = x[j_0 * 8 + j + 1]
    y[2, 1:2] = j_0
"""


@pytest.fixture(scope="module")
def forms() -> tuple[object, object]:
    made = program(FORMS, IMPORTS)
    text = cpu.lower(made, types=TYPES, machine=Machine(64, exact=True)).text
    assert text.count("for j_0 in range") == 10
    found = []
    for each in (python.lower(made).text, text):
        namespace: dict[str, object] = {}
        exec(compile(each, "<f>", "exec"), namespace)
        found.append(namespace["f"])
    return found[0], found[1]


def arguments(n: int, less: int, trips: int) -> list[object]:
    random = np.random.default_rng(n)
    x = random.normal(size=n + 3).astype(np.float32)
    w = random.normal(size=3).astype(np.float32)
    z = np.zeros(max(n - less, 0), np.float32)
    return [x, np.zeros((6, max(n, 1)), np.float32), z, w, n, trips]


@pytest.mark.parametrize("n", [*range(5), 15, 16, 17, 18, 31, 32, 33, 47, 48, 63, 64, 65, 67, 97])
@pytest.mark.parametrize("less", [0, 1, 20])
@pytest.mark.parametrize("trips", [2, 5])
def test_values_are_those_of_the_plain_loops(
    forms: tuple[object, object], n: int, less: int, trips: int
) -> None:
    plain, vectors = forms
    wanted, got = arguments(n, less, trips), arguments(n, less, trips)
    plain(*wanted)  # type: ignore[operator]
    vectors(*got)  # type: ignore[operator]
    np.testing.assert_array_equal(wanted[1], got[1])
