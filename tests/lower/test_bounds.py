"""Guards become loop bounds without changing which iterations run."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir import printer
from astile.lower import bounds, facts
from tests.support.scheduled import program


def tightened(text: str) -> str:
    made = program(text).cloned()
    bounds.tighten(made.function, facts.of(made))
    return printer.print_statement(made.function)


def body_of(text: str) -> str:
    lines = [line for line in tightened(text).splitlines() if line.strip()]
    return textwrap.dedent("\n".join(lines[2:]))


NEST = """
def f(y, k):
    H, W = y.shape
    {}
"""


def nest(*lines: str) -> str:
    return NEST.format("\n    ".join(lines))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            ("for i in range(16):", "    if k * 16 + i < H:", "        y[k * 16 + i] = 0"),
            "for i in range(min(16, H - k * 16)):\n    y[k * 16 + i] = 0",
        ),
        (
            ("for i in range(16):", "    if k * 16 + i <= H and W > 3:", "        y[k] = 0"),
            "if W > 3:\n    for i in range(min(16, H - k * 16 + 1)):\n        y[k] = 0",
        ),
        (
            ("for i in range(16):", "    if 0 <= i - 1 < H:", "        y[i - 1] = 0"),
            "for i in range(1, min(16, H + 1)):\n    y[i - 1] = 0",
        ),
        (
            ("for i in range(16):", "    if H > 15 - i:", "        y[i] = 0"),
            "for i in range(max(0, 16 - H), 16):\n    y[i] = 0",
        ),
        (
            (
                "for i in range(4):",
                "    for j in range(4):",
                "        if i < H and j < W:",
                "            y[i, j] = 0",
            ),
            "for i in range(min(4, H)):\n    for j in range(min(4, W)):\n        y[i, j] = 0",
        ),
        (
            ("for i in range(min(4, H)):", "    if i < W and y[i] > 0:", "        y[i] = 0"),
            "for i in range(min(4, H, W)):\n    if y[i] > 0:\n        y[i] = 0",
        ),
    ],
)
def test_guards_that_become_bounds(before: tuple[str, ...], after: str) -> None:
    assert body_of(nest(*before)) == after


@pytest.mark.parametrize(
    "lines",
    [
        ("for i in range(16):", "    if i % 2 < H:", "        y[i] = 0"),
        ("for i in range(16):", "    if 2 * i < H:", "        y[i] = 0"),
        ("for i in range(16):", "    if i != H:", "        y[i] = 0"),
        ("for i in range(0, 16, 2):", "    if i < H:", "        y[i] = 0"),
        ("for i in range(16):", "    if i < y[0]:", "        y[i] = 0"),
        ("for i in range(16):", "    if i < k:", "        y[i] = 0"),  # k may be a float
        ("for i in range(16):", "    if i < H:", "        y[i] = 0", "    else:", "        k = 1"),
        ("for i in range(16):", "    if i < H:", "        y[i] = 0", "    y[0] = i"),
        ("for i in range(16):", "    if i < H // W:", "        y[i] = 0"),  # may divide by zero
        ("for i in range(16):", "    if i < H:", "        y[i] = 0", "y[0] = i"),  # i lives on
        (
            "m = H",
            "for i in range(16):",
            "    if i < m:",
            "        m = m - 1",
        ),
    ],
)
def test_guards_that_stay(lines: tuple[str, ...]) -> None:
    text = nest(*lines)
    assert tightened(text).split() == printer.print_statement(program(text).function).split()


@st.composite
def guards(draw: st.DrawFn) -> str:
    """A condition linear in the variables of two loops."""
    left = draw(st.sampled_from(("i", "j", "i + j", "i - j", "2 * i", "3 - i", "i * 4 + j", "n")))
    right = draw(st.sampled_from(("n", "n - 1", "3", "i", "n - i", "0")))
    operator = draw(st.sampled_from(("<", "<=", ">", ">=")))
    return f"{left} {operator} {right}"


@given(
    inner=st.lists(guards(), min_size=1, max_size=3),
    outer=st.lists(guards().filter(lambda g: "j" not in g), max_size=1),
    ranges=st.tuples(
        st.sampled_from(("range(4)", "range(1, 6)", "range(n)")),
        st.sampled_from(("range(4)", "range(i, 5)", "range(min(4, n))")),
    ),
    n=st.integers(0, 6),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_the_same_iterations_run(
    inner: list[str], outer: list[str], ranges: tuple[str, str], n: int
) -> None:
    text = f"""
    def f(seen, x):
        n = len(x)
        for i in {ranges[0]}:
            if {" and ".join(outer or ["True"])}:
                for j in {ranges[1]}:
                    if {" and ".join(inner)}:
                        seen.append((i, j))
    """

    def run(written: str) -> list[tuple[int, int]]:
        namespace: dict[str, object] = {}
        exec(textwrap.dedent(written), namespace)
        seen: list[tuple[int, int]] = []
        namespace["f"](seen, [0] * n)  # type: ignore[operator]
        return seen

    assert run(tightened(text)) == run(text)
