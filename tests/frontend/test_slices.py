"""Statements over slices: what becomes loops, what stays, and that values are those of NumPy."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile import ArgumentError, LoweringError
from astile.decorator import tile
from astile.frontend.build import build_from_source
from astile.frontend.text import function_of
from astile.ir import needs
from astile.ir.verify import verify
from tests.support.plain_forms import HEAD, as_given, grid, kernel, outcome, printed, read, shown

BECOMES = {
    "row": (
        "for i in range(A.shape[0]):\n    A[i, :] = 0.0",
        "for i in range(A.shape[0]):\n    for j in range(A.shape[1]):\n        A[i, j] = 0.0",
    ),
    "lengths with names": (
        "h, w = A.shape\nA[:, 1:] = 1",
        "h, w = A.shape\nfor i in range(h):\n    for j in range(1, w):\n        A[i, j] = 1",
    ),
    "same array, no guard": (
        "A[1:-1] = A[1:-1] * 2 + n",
        "for i in range(1, A.shape[0] - 1):\n    A[i] = A[i] * 2 + n",
    ),
    "two arrays": (
        "A[1:-1] = B[:-2]",
        "if A.shape[0] != B.shape[0]:\n"
        '    raise ValueError("A[1:-1] and B[:-2] have different lengths")\n'
        "for i in range(1, A.shape[0] - 1):\n    A[i] = B[i - 1]",
    ),
    "elimination": (
        "for k in range(n):\n    A[k, k:] /= A[k, k]",
        "for k in range(n):\n    value = A[k, k]\n    for i in range(k, A.shape[1]):\n"
        "        A[k, i] /= value",
    ),
    "reads ahead": (
        "A[:-1] = A[1:]",
        "for i in range(A.shape[0] - 1):\n    A[i] = A[i + 1]",
    ),
    "reads behind": (
        "A[1:] = A[:-1]",
        "A_new = np.empty(max(A.shape[0] - 1, 0), A.dtype)\n"
        "for i in range(1, A.shape[0]):\n    A_new[i - 1] = A[i - 1]\n\n"
        "for i in range(1, A.shape[0]):\n    A[i] = A_new[i - 1]",
    ),
    "row of the same array": (
        "for i in range(1, n):\n    A[i, :] += 0.5 * A[i - 1, :]",
        "for i in range(1, n):\n    for j in range(A.shape[1]):\n"
        "        A[i, j] += 0.5 * A[i - 1, j]",
    ),
    "missing axes": (
        "for i in range(n):\n    A[i] = 0\n    A[i, 0] = 1",
        "for i in range(n):\n    for j in range(A.shape[1]):\n        A[i, j] = 0\n    A[i, 0] = 1",
    ),
    "whole arrays": (
        "A[0] += 0\nB[0] += 0\nA -= n * B",
        'if A.shape[0] != B.shape[0]:\n    raise ValueError("A and B have different lengths")\n'
        "A[0] += 0\nB[0] += 0\nfor i in range(A.shape[0]):\n    A[i] -= n * B[i]",
    ),
    "function": (
        "A[:] = np.sqrt(A[:] + 1)",
        "for i in range(A.shape[0]):\n    A[i] = np.sqrt(A[i] + 1)",
    ),
    "square": (
        "A[:] = A[:] ** 2",
        "for i in range(A.shape[0]):\n    A[i] = A[i] * A[i]",
    ),
    "square of a sum": (
        "A[:] = (A[:] + 1) ** 2",
        "for i in range(A.shape[0]):\n    A[i] = np.square(A[i] + 1)",
    ),
    "steps": (
        "A[::2] = A[::2] + 1",
        "for i in range(0, A.shape[0], 2):\n    A[i] = A[i] + 1",
    ),
    "backwards": (
        "C = np.zeros(A.shape[0])\nC[:] = A[::-1]",
        "C = np.zeros(A.shape[0])\nfor i in range(A.shape[0]):\n    C[i] = A[A.shape[0] - i - 1]",
    ),
    "own array": (
        "m = A.shape[0]\nC = np.zeros(m)\nC[:] = A[:]",
        "m = A.shape[0]\nC = np.zeros(m)\nfor i in range(m):\n    C[i] = A[i]",
    ),
    "copy, of an array that is not indexed": (
        "m = A.shape[0]\nC = A.copy()\nfor k in range(m):\n    C[k, k:] /= 2.0",
        "m = A.shape[0]\nC = A.copy()\nfor k in range(m):\n    for i in range(k, A.shape[1]):\n"
        "        C[k, i] /= 2.0",
    ),
    "indirect row": (
        "for k in range(B.shape[0]):\n    A[B[k], :] = 0",
        "for k in range(B.shape[0]):\n    value = B[k]\n    for i in range(A.shape[1]):\n"
        "        A[value, i] = 0",
    ),
    "computed once": (
        "A[:] = A[:] * (n // 3)",
        "value = n // 3\nfor i in range(A.shape[0]):\n    A[i] = A[i] * value",
    ),
    "end inside": (
        "for i in range(A.shape[0]):\n    A[i, :i] = 0",
        "for i in range(A.shape[0]):\n    for j in range(min(i, A.shape[1])):\n        A[i, j] = 0",
    ),
    "end past the array": ("A[: A.shape[0] + 2] = 0", "for i in range(A.shape[0]):\n    A[i] = 0"),
    "no guard for the last": (
        "m = A.shape[0]\nA[1 : m - 1] = 0",
        "m = A.shape[0]\nfor i in range(1, m - 1):\n    A[i] = 0",
    ),
    "in a loop that is left": (
        "for i in range(n):\n    A[i, :] = 0\n    if A[i, 0]:\n        break",
        "for i in range(n):\n    for j in range(A.shape[1]):\n        A[i, j] = 0\n"
        "    if A[i, 0]:\n        break",
    ),
    "numbers side by side": (
        "for i in range(n):\n    A[i] = B[i], 0.5, -A[i, 0]",
        "if A.shape[1] != 3:\n"
        '    raise ValueError("A[i] does not have 3 cells")\n'
        "for i in range(n):\n    value = B[i]\n    value_1 = -A[i, 0]\n"
        "    A[i, 0] = value\n    A[i, 1] = 0.5\n    A[i, 2] = value_1",
    ),
    "in a while": (
        "while n > 0:\n    A[:] = 0\n    n -= 1",
        "while n > 0:\n    for i in range(A.shape[0]):\n        A[i] = 0\n    n -= 1",
    ),
    "under a condition on data": (
        "if A[0] > 0:\n    A[1:] = 0",
        "if A[0] > 0:\n    for i in range(1, A.shape[0]):\n        A[i] = 0",
    ),
    "place of a result": (
        "A[0] = 0\nnp.add(A, B[:], out=A)\nnp.sqrt(A[:], A)",
        'if A.shape[0] != B.shape[0]:\n    raise ValueError("A and B[:] have different lengths")\n'
        "A[0] = 0\nfor i in range(A.shape[0]):\n    A[i] = np.add(A[i], B[i])\n\n"
        "for i in range(A.shape[0]):\n    A[i] = np.sqrt(A[i])",
    ),
    "axes of one index": (
        "A[:, :] = B[:, None] * n",
        'if A.shape[0] != B.shape[0]:\n    raise ValueError("A[:, :] and B[:, None] have different '
        'lengths")\n'
        "for i in range(A.shape[0]):\n    for j in range(A.shape[1]):\n        A[i, j] = B[i] * n",
    ),
    "as long as a number says": (
        "A[:3] = B[:]",
        "if B.shape[0] != 3:\n"
        '    raise ValueError("A[:3] and B[:] have different lengths")\n'
        "for i in range(3):\n    A[i] = B[i]",
    ),
    "start that is an argument": (
        "A[n:] = 0",
        'if n < 0:\n    raise ValueError("A[n:] starts before the array")\n'
        "for i in range(n, A.shape[0]):\n    A[i] = 0",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_becomes_loops(name):
    before, after = BECOMES[name]
    assert shown(before) == after


STAYS = {
    "an axis of the same array": "A[:] = A[:, 0][:, None] * n\nA[0, 0] = 1",
    "an axis that is stored into": "A[:, None] = 0",
    "slices that may differ": "k = n // 2\nA[:k] = B[1:]",
    "start that may be negative": "k = B[0]\nA[k:] = 0",
    "start that goes down": "for i in range(n):\n    A[i - 1:] = 0",
    "steps that differ": "A[::2] = B[:]",
    "negative step": "A[::-2] = 0",
    "bound from an array": "A[B[0]:] = 0",
    "index array": "k = np.argsort(B)\nA[k, 1:] = 0",
    "mask": "A[A > 0] = 0",
    "ellipsis": "A[...] = 0",
    "new axis": "A[:, None] = 0",
    "power": "A[:] = A[:] ** 0.5",
    "power of a name": "A[:] = A[:] ** n",
    "power in place": "A[:] **= 2",
    "matrix product": "A[:, :] = A[:, :] @ B[:, :]",
    "truth value": "A[:] = not B[:]",
    "and": "A[:] = A[1:] and B[1:]",
    "conditional": "A[:] = A[1:] if n else A[:-1]",
    "method": "A[:] = B.cumsum()",
    "function of NumPy that is not cell by cell": "A[:] = np.cumsum(B[:])",
    "keyword": "A[:] = np.add(B[:], 1, dtype=np.float32)",
    "more axes than the place": "A[0, :] = B[:, :]",
    "name that is bound again": "B = A\nB[0] = 1\nB[:] = 0",
    "unknown local": "C = np.asarray(B)\nA[:, :] = C[:, :]",
    "slice of a slice": "A[1:][0, :] = 0",
    "numbers in several rows": "A[:, :] = n, 1",
    "list": "A[:] = np.array([1, 2])",
    "overlap with a step": "A[2::2] = A[:-2:2]",
    "integers that get floats": "C = np.zeros(n, np.int64)\nC[:] += 0.5",
    "unknown type": "C = np.full(n, n)\nC[:] = A[:]\nfor i in range(n):\n    A[i] = 0",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])


# --- what a call brings -------------------------------------------------------------------------


CALLS = {
    "as expected": ("A[:, :] += B[:, :]", grid(2, 3), grid(2, 3)),
    "one row for all": ("A[:, :] += B[:, :]", grid(2, 3), grid(1, 3)),
    "more axes": ("A[1:] = B[:-1]", grid(3, 2), grid(3, 2)),
    "integers that would get floats": ("A[:] += B[:]", grid(3, dtype=int), grid(3)),
    "integers divided": ("A[:] /= 2", grid(3, dtype=int), grid(3)),
    "signed into unsigned": ("A[:] += B[:]", grid(3, dtype="u1"), grid(3, dtype="i1")),
    "narrow into wide": ("A[:] += B[:]", grid(3), grid(3, dtype="f4")),
    "NaN into integers": ("A[:] = B[:] * np.nan", grid(3, dtype=int), grid(3)),
    "complex numbers": ("A[:] = A[:] * B[:]", grid(3, dtype=complex) * 1j, grid(3)),
    "numbers side by side": ("A[n - 3, :] = B[0], 2.5", grid(3, 2), grid(3)),
    "one number too many": ("A[n - 3, :] = B[0], 2.5, n", grid(3, 2), grid(3)),
    "other lengths": ("A[:] = B[:]", grid(3), grid(4)),
    "an end past the array": ("A[:n] = 0", grid(2), grid(1)),
    "an end before it": ("A[: n - 6] = 0", grid(5), grid(1)),
    "a start before it": ("A[n - 6 :] = 0", grid(5), grid(1)),
    "squares of truth values": ("A[:] = B[:] ** 2 + B[:] ** 2", grid(3), grid(3, dtype=bool)),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_give_what_numpy_gives(name):
    body, A, B = CALLS[name]
    made = kernel(body)
    assert outcome(made, A, B, 4) == outcome(made.__wrapped__, A, B, 4)


def test_a_number_that_is_an_array_becomes_one():
    made = kernel("A[:] = A[:] * n")
    assert outcome(made, grid(3), grid(3), grid(3)) == outcome(
        made.__wrapped__, grid(3), grid(3), grid(3)
    )


def test_a_number_that_goes_into_a_cell_is_no_array():
    made = kernel("A[0] = A[0] * n")
    with pytest.raises(ArgumentError, match="expected a number"):
        made(grid(3), grid(3), grid(3))


def test_arrays_that_meet_in_memory_run_as_written():
    made = kernel("A[1:] = B[:-1]")
    line = np.arange(6.0)
    made(line, line, 0)
    assert line.tolist() == [0, 0, 1, 2, 3, 4]
    line = np.arange(6.0)
    made(line[1:], line[:-1], 0)
    assert line.tolist() == [0, 1, 0, 1, 2, 3]


def test_compiled_too():
    made = kernel("A[1:-1] = A[:-2] + A[2:]", target="cpu")
    try:
        found = outcome(made, grid(7), grid(1), 0)
    except LoweringError:
        pytest.skip("numba is not installed")
    assert found == outcome(made.__wrapped__, grid(7), grid(1), 0)


@pytest.mark.parametrize("line", ["A %= A[0]", "A //= 2", "A[1:] %= A[:-1]"])
def test_truth_values_are_not_divided_in_loops(line):
    function = function_of(f"def f(A):\n    n, m = A.shape\n    {line}\n", None)
    truths = np.array([[True, True], [False, True]])
    for target in ("python", "cpu"):
        with pytest.raises((TypeError, LoweringError)):
            tile(target=target)(function)(truths.copy())
        given = np.array([[7, 5], [3, 4]])
        wanted = given.copy()
        function(wanted)
        tile(target=target)(function)(given)
        assert given.tolist() == wanted.tolist()


def test_check_compares_with_the_plain_function():
    made = kernel("for i in range(A.shape[0]):\n    A[i, 1:] -= B[i, :-1]")
    report = made.check(grid(4, 3), grid(4, 3), 0)
    assert "target python" in str(report)


def test_printed_module_raises_where_lengths_differ():
    made = kernel("A[:] = B[:]")
    space: dict[str, Any] = {}
    exec(made.source("python"), space)
    with pytest.raises(ValueError, match="have different lengths"):
        space["f"](grid(3), grid(4), 0)


def test_statements_have_the_place_of_the_slice_and_loops_have_none():
    program = read("A[1:] = 0")
    (loop,) = program.function.body
    assert not hasattr(loop, "lineno")
    assert program.source.span(loop.body[0]).line == 5


# --- random statements --------------------------------------------------------------------------

bounds = st.sampled_from(["", "1", "2", "-1", "-2", "n", "n - 1", "m", "m - 1", "k"])
one = st.builds(lambda a, b: f"{a}:{b}", bounds, bounds)
axis = st.one_of(one, one, st.sampled_from(["::2", "::-1", "k", "0", "-1", "1::2"]))
part = st.builds(
    lambda array, first, second: f"{array}[{first}, {second}]", st.sampled_from("AB"), axis, axis
)
short = st.builds(lambda first: f"C[{first}]", axis)
leaf = st.one_of(part, part, short, st.sampled_from(["2", "0.5", "k", "A[k, 0]", "C[1]", "x"]))
value = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.builds(lambda a, o, b: f"({a} {o} {b})", inner, st.sampled_from("+-*"), inner),
        st.builds(lambda a: f"np.maximum({a}, 1)", inner),
        st.builds(lambda a: f"{a} ** 2", leaf),
    ),
    max_leaves=3,
)
stored = st.one_of(part, part, short)
statement = st.builds(
    lambda target, op, value: f"{target} {op} {value}",
    stored,
    st.sampled_from(["=", "=", "+=", "-=", "*="]),
    value,
)


def _function(lines: list[str]) -> Any:
    body = "".join(f"        {each}\n" for each in lines)
    text = (
        f"{HEAD}def f(A, B, C, x):\n    n, m = A.shape\n    t = B[0, 0] + C[0]\n"
        f"    for k in range(2):\n{body}"
    )
    linecache.cache.clear()
    return function_of(text, "f"), text


@settings(max_examples=120, deadline=None)
@given(
    st.lists(statement, min_size=1, max_size=2),
    st.sampled_from(["f8", "f4", "i4", "u1"]),
    st.sampled_from(["f8", "f4", "i8"]),
    st.integers(1, 4),
    st.integers(1, 4),
    st.booleans(),
)
def test_loops_give_what_numpy_gives(lines, dtype, other, height, width, alike):
    function, text = _function(lines)
    made = build_from_source(text, "f")
    verify(made)
    random = np.random.default_rng(height * 8 + width)
    shape = (height, width) if alike else (width + 1, height)
    A = random.integers(1, 9, (height, width)).astype(dtype)
    B = random.integers(1, 9, shape).astype(other)
    C = random.integers(1, 9, shape[1]).astype(dtype)
    values = {"A": A, "B": B, "C": C, "x": 3}
    if not needs.are_met(made.needs, values):
        return
    assert outcome(printed(made), *values.values()) == outcome(function, *values.values()), text


def test_conditions_on_sizes_tell_where_slices_start():
    before = "for i in range(A.shape[0]):\n    if i > 2:\n        A[i - 3:] = 1"
    after = before.replace(
        "A[i - 3:] = 1", "for j in range(i - 3, A.shape[0]):\n            A[j] = 1"
    )
    assert shown(before) == after
    for unsure in ("if i > 1:", "if n > 2:", "if i > 2 or n > 2:", "if A[0] > 2:"):
        text = before.replace("if i > 2:", unsure)
        assert shown(text) == as_given(text)
    changed = (
        "for i in range(A.shape[0]):\n    if i > 2:\n        i = int(B[0])\n        A[i - 3:] = 1"
    )
    assert shown(changed) == as_given(changed)
