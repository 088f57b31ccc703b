"""How parameters are used, read off the text of a function."""

import ast
import textwrap

import pytest

from astile.ir.program import Program
from astile.lower.parameters.uses import uses
from astile.source import SourceFile


def use_of(text: str, name: str, **ranks: int):
    text = textwrap.dedent(text)
    function = ast.parse(text).body[0]
    imports = {"np": "numpy", "math": "math", "sqrt": "math.sqrt", "f4": "numpy.float32"}
    program = Program(function, SourceFile("k.py", text), imports=imports, ranks=ranks)
    return {each.name: each for each in uses(program)}[name]


@pytest.mark.parametrize(
    ("body", "rank", "written"),
    [
        ("b[0] = a[i]", 1, False),
        ("a[i] = 0", 1, True),
        ("a[i] += 1", 1, True),
        ("a[i, j] = b[i]", 2, True),
        ("a[i][j] = 0", 2, True),
        ("b[a[i]] = 0", 1, False),
        ("a[b[0]] = 0", 1, True),
        ("h, w = a.shape", 2, False),
        ("h, *w = a.shape", None, False),
        ("n = len(a)", None, False),
        ("n = a.shape[0]", None, False),
        ("a[1:, 0] = 0", None, True),
        ("a[...] = 0", None, True),
        ("a[i] = a[i, j]", None, True),
        ("np.add(b, 1, out=a)", None, True),
        ("np.sqrt(b[i, :], out=a[i, :])", None, True),
        ("a[a < 0] = 0", None, True),
    ],
)
def test_arrays(body, rank, written):
    use = use_of(f"def f(a, b, i, j):\n    {body}\n", "a")
    assert (use.role, use.rank, use.written) == ("array", rank, written)
    assert use.may_be_written == written


@pytest.mark.parametrize(
    ("body", "written"),
    [
        ("x, y = a[i]", False),
        ("b[i] = c @ a[i]", False),
        ("a[i] = c @ b[i]", True),
        ("a[i] = c.dot(b[i])", True),
        ("a[i] = b[i] / n if n else 0.0\n    n = b[i, 0]", True),
        ("a[i] = n, 2 * n", True),
        ("for k in range(3):\n        b[k] = a[k] - np.mean(a[k])", False),
    ],
)
def test_arrays_that_may_have_more_axes_than_indices(body, written):
    use = use_of(f"def f(a, b, c, i, n):\n    {body}\n", "a")
    assert (use.role, use.rank, use.written) == ("array", None, written)


@pytest.mark.parametrize(
    "body",
    ["a[i] = b[i].sum()", "a[i] = np.sqrt(b[i])", "a[i] = np.sum(b[i])", "a[i] = g(b[i])"],
)
def test_numbers_that_are_stored_show_how_many_axes_there_are(body):
    assert use_of(f"def f(a, b, i):\n    {body}\n", "a").rank == 1


@pytest.mark.parametrize(
    "body",
    [
        "c = a",
        "g(a)",
        "a.fill(0)",
        "c = a[1:]",
        "c = a.T",
        "c = (a, b)",
        "a[i].fill(0)",
        "for row in a: row[0] = 1",
        "g(b, out=a)",
    ],
)
def test_arrays_that_may_be_written_under_another_name(body):
    use = use_of(f"def f(a, b, i):\n    b[0] = a[i]\n    {body}\n", "a")
    assert (use.role, use.written, use.may_be_written) == ("array", False, True)


@pytest.mark.parametrize(
    "body",
    [
        "row = a[i]\n    row[0] = 1",
        "row = a[i]\n    row.fill(0)",
        "c = d = a[i]\n    d[0] = 1",
        "g(a[i])",
        "g(b, out=a[i])",
        "c = np.sum(a[i])",
        "g(*a[i])",
        "for v in a[i]: b[0] = v",
    ],
)
def test_rows_leave_the_rank_open(body):
    use = use_of(f"def f(a, b, i):\n    {body}\n", "a")
    assert (use.role, use.rank, use.may_be_written) == ("array", None, True)
    use = use_of(f"def f(a, b, i):\n    b[0] = a[i, 0]\n    {body}\n", "a")
    assert (use.role, use.rank) == ("array", 2)


@pytest.mark.parametrize(
    "body",
    [
        "c = a[i]\n    b[0] = c",
        "b[0] = abs(a[i])",
        "b[0] = math.exp(a[i])",
        "b[0] = sqrt(a[i])",
        "b[0] = np.exp(a[i])",
        "b[0] = f4(a[i])",
        "b[0] = np.float32(a[i])",
        "b[a[i]] = 0",
        "if a[i]: pass",
    ],
)
def test_cells_fix_the_rank(body):
    use = use_of(f"def f(a, b, i):\n    {body}\n", "a")
    assert (use.role, use.rank, use.may_be_written) == ("array", 1, False)


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n): b[i] = 0",
        "for i in parallel(0, n - 1): b[i] = 0",
        "b[n] = 0",
        "b[2 * n + 1] = 0",
        "b[n, 0] = 0",
        "b[min(n, 3)] = 0",
        "b[n:] = 0",
        "c = b[0] * n + b[n]",
    ],
)
def test_integers(body):
    assert use_of(f"def f(b, n):\n    {body}\n", "n").role == "integer"


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n - 1): b[i] = 0",
        "b[2 * n] = 0",
        "b[min(n, 3)] = 0",
        "c = np.empty((n, 2), np.float32); b[n] = 0",
        "if n + 1 < b.shape[0]: b[n] = 0",
        "m = n // 2; b[m] = 0",
        "for i in range(9):\n        if i < n: b[i + n] = 0",
    ],
)
def test_integers_that_are_sizes_only(body):
    use = use_of(f"def f(b, n):\n    {body}\n", "n")
    assert (use.role, use.valued) == ("integer", False)


@pytest.mark.parametrize(
    "body",
    [
        "b[n] = n",
        "b[n] = b[0] * n",
        "if b[0] < n: b[n] = 0",
        "m = n // 2; b[m] = m * 0.5",
        "c = np.full(3, n); b[n] = 0",
        "b[n] = 0; return n",
    ],
)
def test_integers_that_enter_values(body):
    use = use_of(f"def f(b, n):\n    {body}\n", "n")
    assert (use.role, use.valued) == ("integer", True)


@pytest.mark.parametrize(
    "body",
    [
        "b[0] = n * 2",
        "b[0] = n",
        "b[0] = -n",
        "b[0] = 1 if n > 0 else 2",
        "b[0] = np.sqrt(n) + math.exp(n * 2)",
        "c = n * 2\n    d = c + 1\n    b[0] += d",
        "c = 0.0\n    c += n * 2\n    if c > 0: b[0] = c",
        "while n > 0: b[0] = 0",
    ],
)
def test_numbers(body):
    use = use_of(f"def f(b, n):\n    {body}\n", "n", b=1)
    assert (use.role, use.operand, use.may_be_written) == ("number", False, False)


@pytest.mark.parametrize(
    "body",
    [
        "b[0] = n * 2",
        "b[:] = n",
        "b[1:] = np.sqrt(n)",
        "b += n",
        "b[:] += 2 * n",
        "c = n * 2\n    b[:] = c",
        "c = n * 2\n    d = c\n    return d",
        "c = 2 - n\n    b[0] = c[0]",
        "c = 2 - n\n    b[0] = c.sum()",
        "return n + 1, 2",
        "return np.where(n > 0, n, -n)",
        "b[n > 0] = 0",
        "b[0] = np.sum(n * n)",
        "g(n + 1)",
        "b[0] = (n * 2)[0]",
    ],
)
def test_numbers_or_arrays_that_are_computed_with(body):
    ranks = {"b": 2} if body == "b[0] = n * 2" else {"b": 1}  # a row of b
    use = use_of(f"def f(b, n):\n    {body}\n", "n", **ranks)
    assert (use.role, use.operand, use.may_be_written) == ("either", True, False)


@pytest.mark.parametrize("body", ["b[0] = np.sum(n)", "return np.dot(n, b)"])
def test_arrays_that_functions_take_as_a_whole(body):
    use = use_of(f"def f(b, n):\n    {body}\n", "n")
    assert (use.role, use.operand, use.reduced) == ("open", False, True)


@pytest.mark.parametrize("body", ["pass", "n = n + 1", "g(n)", "b[g(n)] = 0", "b[n.x] = 0"])
def test_open(body):
    assert use_of(f"def f(b, n):\n    {body}\n", "n").role in ("open", "array")
    assert use_of(f"def f(b, n):\n    {body}\n", "n").rank is None


def test_a_rebound_name_promises_nothing():
    use = use_of("def f(a):\n    a[0] = 1\n    a = a + 1\n", "a")
    assert (use.role, use.rank, use.written, use.may_be_written) == ("open", None, False, True)


def test_span_shows_the_use():
    use = use_of("def f(a, b):\n    for i in range(3):\n        b[i] = a[i, 1]\n", "a")
    assert (use.span.line, use.span.column) == (3, 16)
