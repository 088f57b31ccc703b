"""Questions about trees."""

from __future__ import annotations

import ast
import textwrap

import pytest

from astile.ir import query
from astile.ir.printer import print_expression


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def statement(text: str) -> ast.stmt:
    return ast.parse(textwrap.dedent(text)).body[0]


def loop(header: str) -> ast.For:
    made = statement(f"{header}\n    pass")
    assert isinstance(made, ast.For)
    return made


@pytest.mark.parametrize(
    ("text", "kind", "bounds"),
    [
        ("for i in range(n):", "range", ("0", "n", "1")),
        ("for i in range(2, n):", "range", ("2", "n", "1")),
        ("for i in range(n, -1, -2):", "range", ("n", "-1", "-2")),
        ("for i in parallel(n):", "parallel", ("0", "n", "1")),
        ("for i in unroll(1, 4):", "unroll", ("1", "4", "1")),
        ("for i in vector(4):", "vector", ("0", "4", "1")),
        ("for i in block.x(n):", "block.x", ("0", "n", "1")),
        ("for i in thread.z(n):", "thread.z", ("0", "n", "1")),
        ("for i in prange(n):", "parallel", ("0", "n", "1")),
    ],
)
def test_header(text, kind, bounds):
    header = query.header(loop(text))
    assert header is not None
    assert (header.variable, header.kind) == ("i", kind)
    assert tuple(map(print_expression, (header.start, header.stop, header.step))) == bounds
    assert header.is_bound is kind.startswith(("block", "thread"))


@pytest.mark.parametrize(
    "text",
    [
        "for i in A:",
        "for i, x in enumerate(A):",
        "for i in range():",
        "for i in range(1, 2, 3, 4):",
        "for i in range(*bounds):",
        "for i in range(stop=3):",
        "for i in block.w(3):",
        "for i in other.range(3):",
        "for i in A[0](3):",
        "for A[0] in range(3):",
    ],
)
def test_no_header(text):
    assert query.header(loop(text)) is None


def test_loops_are_in_program_order():
    function = statement("""
        def f():
            for a in A:
                for b in B:
                    pass
                for c in C:
                    pass
            while d:
                for e in E:
                    pass
    """)
    assert [query.dotted(each.iter) for each in query.loops(function)] == ["A", "B", "C", "E"]


def test_bodies_and_statements():
    made = statement("""
        try:
            if a:
                x = 1
            else:
                x = 2
        except ValueError:
            x = 3
        else:
            x = 4
        finally:
            x = 5
    """)
    assert len(query.bodies(made)) == 4
    kinds = [type(each).__name__ for each in query.statements(made)]
    assert kinds == ["Try", "If", "Assign", "Assign", "Assign", "Assign", "Assign"]
    assert query.bodies(statement("x = 1")) == []


def test_place():
    function = statement("""
        def f():
            x = 0
            for i in A:
                if i:
                    y = 1
                    z = 2
    """)
    assert isinstance(function, ast.FunctionDef)
    outer = function.body[1]
    target = outer.body[0].body[1]
    place = query.find_place(function, target)
    assert place is not None
    assert place.block[place.index] is target
    assert place.index == 1
    assert place.parents == (outer, outer.body[0])
    assert place.loops == (outer,)
    assert query.find_place(function, statement("z = 2")) is None


def test_names():
    function = statement(
        "def f(a, *b, k=c, **d):\n    x = a[y]\n    a[z] += w\n    for v in u: pass\n"
    )
    assert query.names_read(function) == {"a", "c", "y", "z", "w", "u"}
    assert query.names_written(function) == {"x", "v"}
    assert query.names(function) == {"a", "b", "c", "d", "k", "x", "y", "z", "w", "v", "u"}
    assert isinstance(function, ast.FunctionDef)
    assert query.parameters(function) == ["a", "k", "b", "d"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("x = y", ["x"]),
        ("x, (y, z) = w = v", ["x", "y", "z", "w"]),
        ("[x, *y] = z", ["x", "y"]),
        ("x[i], y.z = w", []),
        ("x += y", ["x"]),
        ("x: float = y", ["x"]),
        ("for i, j in a:\n    x = i\nelse:\n    y = j", ["i", "j", "x", "y"]),
        ("while x:\n    y = x\nelse:\n    z = y", ["y", "z"]),
        ("if x:\n    y = x\nelif z:\n    w = y\nelse:\n    x = 1", ["y", "w", "x"]),
        ("with f() as g:\n    x = g", ["g", "x"]),
        ("try:\n    x = 1\nexcept E:\n    y = 2\nfinally:\n    z = 3", ["x", "y", "z"]),
        ("return x", []),
    ],
)
def test_names_written_in_statements(text, written):
    assert [each.id for each in query.stored(statement(text))] == written
    assert query.names_written(statement(text)) == set(written)


def test_children_are_nodes_right_below():
    call = expression("f(a + 1, *b, k=c[d], **e)")
    assert isinstance(call, ast.Call)
    assert query.children(call) == [call.func, *call.args, *call.keywords]
    added = call.args[0]
    assert isinstance(added, ast.BinOp)
    assert query.children(added) == [added.left, added.right]
    assert query.children(expression("a")) == query.children(expression("1")) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a", "a"), ("a.b.c", "a.b.c"), ("f()", None), ("f().a", None), ("a[0].b", None)],
)
def test_dotted(text, expected):
    assert query.dotted(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "base", "indices"),
    [
        ("A[i]", "A", ["i"]),
        ("A[i, j + 1]", "A", ["i", "j + 1"]),
        ("A[i][j, k]", "A", ["i", "j", "k"]),
        ("A.shape[0]", None, ["0"]),
        ("f(x)[i]", None, ["i"]),
        ("A[1:, None]", "A", ["1:", "None"]),
    ],
)
def test_indices(text, base, indices):
    access = expression(text)
    assert isinstance(access, ast.Subscript)
    assert query.base_name(access) == base
    assert [ast.unparse(each) for each in query.indices(access)] == indices  # noqa: TID251


def test_accesses():
    made = statement("A[i, B[j]] = A[i - 1][0] + f(C[k]) + D.shape[0] + D.T[1]")
    found = [print_expression(each) for each in query.accesses(made)]
    assert found == ["A[i, B[j]]", "B[j]", "A[i - 1][0]", "C[k]"]
    assert [print_expression(each) for each in query.accesses(made, "A")] == [
        "A[i, B[j]]",
        "A[i - 1][0]",
    ]
    assert query.written_arrays(made) == ["A"]
    assert query.written_arrays(statement("A[i], B[j], x = 1, 2, 3")) == ["A", "B"]


def test_shape_is_no_access():
    access = expression("A.shape[0]")
    assert isinstance(access, ast.Subscript)
    assert query.is_shape_of(access)
    assert not query.is_shape_of(expression("A[0]"))


@pytest.mark.parametrize(
    ("text", "word", "scope", "shape", "dtype"),
    [
        ("C = np.zeros((n, m))", "zeros", "global", ["n", "m"], None),
        ("C = np.empty(n, np.float32)", "empty", "global", ["n"], "np.float32"),
        ("C = np.empty(n, dtype=np.int8)", "empty", "global", ["n"], "np.int8"),
        ("C = np.full((n, 2), 0.5)", "full", "global", ["n", "2"], "float"),
        ("C = np.full(n, fill_value=-3)", "full", "global", ["n"], "int"),
        ("C = np.full(n, True)", "full", "global", ["n"], "bool"),
        ("C = np.full(n, -np.inf)", "full", "global", ["n"], "float"),
        ("C = np.full(n, np.float32(2))", "full", "global", ["n"], "np.float32"),
        ("C = np.full(n, v)", "full", "global", ["n"], "np.asarray(v).dtype"),
        ("C = np.full(n, 1 << 63)", "full", "global", ["n"], "np.asarray(1 << 63).dtype"),
        ("C = np.full_like(A, 3)", "full_like", "global", None, None),
        ("C = np.full(n, 0.5, np.int8)", "full", "global", ["n"], "np.int8"),
        ("C = np.ones([n, 2])", "ones", "global", ["n", "2"], None),
        ("C = np.zeros_like(A)", "zeros_like", "global", None, None),
        ("C = shared.empty((16, 16), np.float32)", "empty", "shared", ["16", "16"], "np.float32"),
        ("C = local.empty(4, np.float32)", "empty", "local", ["4"], "np.float32"),
    ],
)
def test_allocation(text, word, scope, shape, dtype):
    made = query.allocation(statement(text))
    assert made is not None
    assert query.is_allocation(statement(text))
    assert (made.array, made.word, made.scope) == ("C", word, scope)
    assert (
        None if made.shape is None else [print_expression(each) for each in made.shape]
    ) == shape
    assert (None if made.dtype is None else print_expression(made.dtype)) == dtype


@pytest.mark.parametrize(
    "text",
    [
        "C = zeros(3)",
        "C = np.zeros()",
        "C = np.full(3)",
        "C = np.array((1, 2))",
        "C[0] = np.zeros(3)",
        "C = D = np.zeros(3)",
        "C += np.zeros(3)",
        "C = np.zeros(3, order='F')",
        "C = np.zeros(3) + 1",
        "np.zeros(3)",
    ],
)
def test_no_allocation(text):
    assert query.allocation(statement(text)) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("3", 3), ("-3", -3), ("--3", 3), ("3.0", None), ("True", None), ("n", None), ("2 + 1", None)],
)
def test_integer(text, value):
    assert query.integer(expression(text)) == value
    assert query.is_constant(expression(text), 3) is (value == 3)


def test_only_statement():
    body = ast.parse("a = 1\nb = 2").body
    assert query.only_statement(body[:1]) is body[0]
    assert query.only_statement(body) is None
    assert query.only_statement([]) is None
