"""Names of rows: what is seen through, what stays, and that values are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from astile.ir import needs
from tests.support.plain_forms import as_given, grid, kernel, outcome, printed, read, shown

LOOP = "for i in range(A.shape[0]):\n"
BECOMES = {
    "row": (
        LOOP + "    row = A[i]\n    for j in range(len(row)):\n        B[i, j] = row[j]",
        LOOP + "    for j in range(A.shape[1]):\n        B[i, j] = A[i, j]",
    ),
    "row with a slice": (
        LOOP + "    row = A[i, :]\n    row[0] = row[1]",
        LOOP + "    A[i, 0] = A[i, 1]",
    ),
    "column": (
        "for j in range(A.shape[1]):\n    c = A[:, j]\n    c[0] += 1",
        "for j in range(A.shape[1]):\n    A[0, j] += 1",
    ),
    "written through two names": (
        "for i in range(1, A.shape[0]):\n    a = A[i - 1]\n    b = A[i]\n    b[0] += a[0]",
        "for i in range(1, A.shape[0]):\n    A[i, 0] += A[i - 1, 0]",
    ),
    "row of a row": (
        "for i in range(A.shape[0]):\n    p = A[i]\n    for j in range(A.shape[1]):\n"
        "        r = p[j]\n        r[0] = p[j, 1]",
        LOOP + "    for j in range(A.shape[1]):\n        A[i, j, 0] = A[i, j, 1]",
    ),
    "transposed": (
        "C = A.T\nfor i in range(n):\n    C[i, 0] = 1",
        "for i in range(n):\n    A[0, i] = 1",
    ),
    "shape": (LOOP + "    r = A[i]\n    r[0] = r.shape[0]", LOOP + "    A[i, 0] = A.shape[1]"),
    "given to a function": (
        LOOP + "    r = A[i]\n    r[0] = np.argmax(r)",
        LOOP + "    A[i, 0] = np.argmax(A[i])",
    ),
    "two rows of one name": (
        LOOP + "    r = A[i]\n    r[0] = 1\n    r = B[i]\n    r[0] = A[i, 0]",
        LOOP + "    A[i, 0] = 1\n    B[i, 0] = A[i, 0]",
    ),
    "indirect": (
        "for i in range(B.shape[0]):\n    k = B[i]\n    r = A[k]\n    r[0] = 1",
        "for i in range(B.shape[0]):\n    k = B[i]\n    A[k, 0] = 1",
    ),
}


@pytest.mark.parametrize("name", BECOMES)
def test_is_seen_through(name):
    before, after = BECOMES[name]
    assert shown(before) == as_given(after)


STAYS = {
    "number": LOOP + "    x = A[i]\n    B[i] = x\n    A[i] = 0",
    "index that changes": "k = 0\nr = A[k]\nwhile k < n:\n    r[0] = k\n    k += 1",
    "index that is a later loop": "i = 0\nr = A[i]\nfor i in range(n):\n    r[i] = 0",
    "index of unknown kind": "k = np.argsort(B)\nr = A[k]\nr[0, 0] = 1",
    "used before it is bound": "for i in range(n):\n    if i > 0:\n        r[0] = 1\n    r = A[i]",
    "used after the loop": LOOP + "    r = A[i]\n    r[0] = 1\nr[1] = 2",
    "bound on two ways": "if n > 0:\n    r = A[0]\nelse:\n    r = A[1]\nr[0] = 1",
    "changed as a whole": LOOP + "    r = A[i]\n    r += 1\n    r[0] = 1",
    "copy": LOOP + "    r = A[i].copy()\n    r[0] = 1",
    "base that is bound again": "C = A\nr = C[0]\nr[0] = 1",
    "mask of a row": LOOP + "    r = A[i]\n    r[r > 1] = 0",
    "index that may be outside": "k = B[0]\nr = A[k]\nfor i in range(n):\n    r[i] = 0",
    "row of a parameter that is bound": "A = B\nr = A[0]\nr[0] = 1",
    "raveled": "r = A.ravel()\nr[0] = A[0, 0]",
}


@pytest.mark.parametrize("name", STAYS)
def test_stays(name):
    assert shown(STAYS[name]) == as_given(STAYS[name])


def test_a_list_of_rows_runs_as_written():
    made = kernel(LOOP.replace("A.shape[0]", "n") + "    r = A[i]\n    r[0] = r[1]")
    plain = made.__wrapped__
    assert outcome(made, grid(3, 4), grid(1), 2) == outcome(plain, grid(3, 4), grid(1), 2)
    assert outcome(made, grid(3, 4), grid(1), 5) == outcome(plain, grid(3, 4), grid(1), 5)
    assert outcome(made, grid(3, 4, 2), grid(1), 2) == outcome(plain, grid(3, 4, 2), grid(1), 2)


@pytest.mark.parametrize("size", [0, 1, 3])
@pytest.mark.parametrize("width", [0, 2, 3])
def test_an_index_outside_stays_an_error(size, width):
    body = """
    for i in range(n):
        r = A[i]
        for j in range(len(r)):
            r[j] += B[i]
    """
    made = kernel(body)
    for count in (0, 1, 2, 4):
        arguments = grid(size, width), grid(4), count
        found, wanted = outcome(made, *arguments), outcome(made.__wrapped__, *arguments)
        assert found == wanted or (found, wanted) == ("ArgumentError", "IndexError")


access = st.sampled_from(["r[0]", "r[j]", "r[-1]", "q[j]", "q[i]", "A[i, j]", "B[j, i]"])
line = st.builds(
    lambda to, op, value: f"{to} {op} {value}", access, st.sampled_from(["=", "+="]), access
)
rows = st.sampled_from(["A[i]", "A[i, :]", "B[:, i]", "B[j]", "A[j]", "A[0]", "B[-1]"])


@settings(max_examples=100, deadline=None)
@given(rows, rows, st.lists(line, min_size=1, max_size=3), st.booleans(), st.booleans())
def test_rows_are_what_they_stand_for(first, second, lines, inner, again):
    body = (
        f"for j in range(n):\n    for i in range(n):\n        r = {first}\n        q = {second}\n"
    )
    indent = "        "
    if inner:
        body += "        for j in range(n):\n"
        indent += "    "
    body += "".join(f"{indent}{each}\n" for each in lines)
    if again:
        body += f"        r = {second}\n        r[0] = 1\n"
    made = read(body)
    values = {"A": grid(3, 3), "B": -grid(3, 3), "n": 3}
    assert needs.are_met(made.needs, values)
    plain = printed(made.written or made)
    assert outcome(printed(made), *values.values()) == outcome(plain, *values.values()), body
    assert isinstance(values["A"], np.ndarray)
