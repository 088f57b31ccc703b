"""The conservative finder of barriers."""

from __future__ import annotations

import ast

import pytest

from astile.ir import query
from astile.lower.kernels import fences
from tests.support.scheduled import program


def found(text: str) -> list[str]:
    """The statements that barriers stand before, as their first lines, in textual order."""
    made = program(text)
    plan = fences.find(made)
    return [
        ast.unparse(each).splitlines()[0]  # noqa: TID251
        for each in query.statements(made.function)
        if each in plan.before
    ]


KERNEL = """
def f(x, y, out):
    for b in block.x(2):
        t = shared.empty((8,), np.float64)
        {}
"""


def kernel(*lines: str) -> str:
    return KERNEL.format("\n        ".join(lines))


@pytest.mark.parametrize(
    ("lines", "before"),
    [
        # read after write, and nothing between phases that touch different arrays
        (
            (
                "for i in thread.x(8):",
                "    t[i] = x[i]",
                "for j in thread.x(8):",
                "    y[j] = 1",
                "for k in thread.x(8):",
                "    out[k] = t[7 - k]",
            ),
            ["for k in thread.x(8):"],
        ),
        # write after read
        (
            (
                "for i in thread.x(8):",
                "    out[i] = t[i]",
                "for j in thread.x(8):",
                "    t[j] = x[j]",
            ),
            ["for j in thread.x(8):"],
        ),
        # two reads need none
        (
            (
                "for i in thread.x(8):",
                "    out[i] = x[i]",
                "for j in thread.x(8):",
                "    y[j] = x[7 - j]",
            ),
            [],
        ),
        # the wrap-around of a sequential loop
        (
            (
                "for k in range(4):",
                "    for i in thread.x(8):",
                "        t[i] = x[i + k]",
                "    for j in thread.x(8):",
                "        out[j] += t[7 - j]",
            ),
            ["for i in thread.x(8):", "for j in thread.x(8):"],
        ),
        # one thread needs no barrier for itself, all others do
        (
            ("t[0] = 1", "t[1] = t[0]", "for i in thread.x(8):", "    out[i] = t[1]"),
            ["for i in thread.x(8):"],
        ),
        # a value read by all threads
        (
            (
                "for i in thread.x(8):",
                "    t[i] = x[i]",
                "v = t[3]",
                "for j in thread.x(8):",
                "    t[j] = v",
            ),
            ["v = t[3]", "for j in thread.x(8):"],
        ),
        # a barrier in one branch does not serve the other
        (
            (
                "for i in thread.x(8):",
                "    t[i] = x[i]",
                "if b == 0:",
                "    for j in thread.x(8):",
                "        out[j] = t[7 - j]",
                "for k in thread.x(8):",
                "    y[k] = t[7 - k]",
            ),
            ["for j in thread.x(8):", "for k in thread.x(8):"],
        ),
        # names that may stand for one memory
        (
            (
                "row = x[b]",
                "for i in thread.x(8):",
                "    row[i] = 1",
                "for j in thread.x(8):",
                "    out[j] = x[b, 7 - j]",
            ),
            ["for i in thread.x(8):", "for j in thread.x(8):"],
        ),
    ],
)
def test_where_barriers_stand(lines: tuple[str, ...], before: list[str]) -> None:
    assert found(kernel(*lines)) == before


def test_nests_on_the_host_are_separate() -> None:
    assert not found("""
    def f(x, y):
        for i in block.x(4):
            x[i] = 0
        for t in range(3):
            for i in block.x(4):
                y[i] = x[3 - i]
    """)
