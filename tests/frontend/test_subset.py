"""What is read and what is refused."""

from __future__ import annotations

import ast
import sys
import textwrap

import pytest

from astile.errors import SourceError
from astile.frontend import subset
from astile.frontend.build import as_written, build_from_source
from astile.frontend.text import function_of
from astile.ir.printer import print_module
from astile.source import SourceFile


def check(text: str) -> None:
    source = SourceFile("<source>", textwrap.dedent(text).lstrip("\n"))
    function = ast.parse(source.text).body[0]
    assert isinstance(function, ast.FunctionDef)
    subset.check(function, source)


def body(*lines: str) -> str:
    return "def f(A, B, n):\n" + "\n".join(f"    {line}" for line in lines) + "\n"


KEPT = {
    "while": ["while n > 0:", "    n -= 1"],
    "break": ["for i in range(n):", "    if A[i] > 0:", "        break"],
    "continue": ["for i in range(n):", "    if A[i] > 0:", "        continue", "    A[i] = 0"],
    "return in a loop": ["for i in range(n):", "    if A[i] > 0:", "        return i", "return -1"],
    "raise": ["if n < 0:", "    raise ValueError('n is negative')"],
    "assert": ["assert n > 0, 'n is negative'"],
    "slices": ["A[1:n] = B[:n - 1] * 2", "A[::2] += 1", "B[...] = 0"],
    "array expressions": ["B[:] = A + A * 2", "s = A.sum() + A[0].max()"],
    "methods": ["C = A.copy()", "A.fill(0)", "B[:] = A.T"],
    "conditional expression": ["A[0] = 1 if n > 2 else 0"],
    "chained comparison": ["if 0 <= n < 3 != 5:", "    A[0] = 1"],
    "tuple assignment": ["h, w = A.shape", "A[0], A[1] = A[1], A[0]", "(a, b), c = (h, w), n"],
    "for over an array": ["for x in A:", "    B[0] += x"],
    "enumerate and zip": ["for i, (x, y) in enumerate(zip(A, B)):", "    A[i] = x + y"],
    "None default tests": ["if B is None:", "    return 0", "return 1"],
    "membership": ["if n in (1, 2, 3):", "    A[0] = 1"],
    "bit operations": ["A[0] = (n << 2 | 1) & ~n ^ 5"],
    "matrix product": ["B[:] = A @ A"],
    "complex numbers": ["A[0] = 1j * n + complex(1, 2)"],
    "string modes": ["if n == 'same':", "    A[0] = 1"],
    "builtins": ["A[0] = abs(round(n)) + pow(n, 2) + sum((1, 2)) + divmod(n, 2)[0]"],
    "lists given to calls": ["C = np.array([[1, 2], [3, 4]])", "D = np.zeros([n, n])"],
    "dtype as text": ["C = np.zeros(n, dtype='float32')"],
    "pass": ["for i in range(n):", "    pass"],
    "docstring": ["'''Doc.'''", "A[0] = 1"],
    "nested ifs": ["if n > 0:", "    if n > 1:", "        A[0] = 1", "else:", "    A[0] = 2"],
    "loop variable reused": ["for i in range(n):", "    for i in range(3):", "        A[i] = 0"],
    "loop variable assigned": ["for i in range(n):", "    i = i + 1", "    A[i] = 0"],
}


@pytest.mark.parametrize("lines", KEPT.values(), ids=KEPT.keys())
def test_kept_as_it_stands(lines):
    text = "import numpy as np\n\n" + body(*lines)
    program = as_written(function_of(text, "f"))
    function = ast.parse(text).body[1]
    if "[n, n]" not in text and "pass" not in text:  # the two forms that `normalize` rewrites
        assert print_module([program.function]) == print_module([function])


REFUSED = {
    "async for": ["async for i in B:", "    A[i] = 0"],
    "async with": ["async with B:", "    A[0] = 0"],
    "await": ["A[0] = await B"],
    "yield": ["yield A"],
    "yield from": ["yield from A"],
    "generator expression": ["A[0] = sum(x for x in B)"],
    "list comprehension": ["C = [x for x in B]"],
    "set comprehension": ["C = {x for x in B}"],
    "dict comprehension": ["C = {x: x for x in B}"],
    "lambda": ["g = lambda x: x"],
    "function": ["def g(x):", "    return x"],
    "class": ["class C:", "    x = 1"],
    "global": ["global K", "K = 1"],
    "try": ["try:", "    A[0] = 1", "except ValueError:", "    A[0] = 2"],
    "try star": ["try:", "    A[0] = 1", "except* ValueError:", "    A[0] = 2"],
    "with": ["with B:", "    A[0] = 0"],
    "starred call": ["A[0] = max(*B)"],
    "starred assignment": ["first, *rest = B"],
    "keyword unpacking": ["A[0] = max(**B)"],
    "f-string": ["x = f'{n}'"],
    "string sum": ["x = 'a' + n"],
    "string format": ["x = '%d' % n"],
    "string method": ["x = '{}'.format(n)"],
    "bytes": ["x = b'abc'"],
    "dict": ["x = {'a': n}"],
    "set": ["x = {1, 2}"],
    "list": ["x = [1, 2]"],
    "empty list": ["x = []"],
    "list index": ["A[[0, 1]] = 0"],
    "append": ["B.append(n)"],
    "match": ["match n:", "    case 0:", "        A[0] = 1"],
    "walrus": ["if (x := n) > 0:", "    A[0] = x"],
    "del": ["del A"],
    "import": ["import math"],
    "from import": ["from math import sqrt"],
    "for else": ["for i in range(n):", "    A[i] = 0", "else:", "    A[0] = 1"],
    "while else": ["while n > 0:", "    n -= 1", "else:", "    A[0] = 1"],
    "cell as loop variable": ["for A[0] in range(n):", "    B[0] += A[0]"],
    "attribute as loop variable": ["for A.x in range(n):", "    B[0] += 1"],
    "attribute store": ["A.shape = (n, n)"],
    "attribute update": ["A.x += 1"],
    "call of a cell": ["A[0](n)"],
    "call of a call": ["A[0] = max(n)(n)"],
}


@pytest.mark.parametrize("lines", REFUSED.values(), ids=REFUSED.keys())
def test_refused(lines):
    text = body(*lines)
    with pytest.raises(SourceError) as caught:
        check(text)
    error = caught.value
    assert error.code == subset.CODE
    assert error.diagnostic.span is not None
    assert error.diagnostic.span.line >= 2
    assert error.diagnostic.hints
    assert len(str(error).splitlines()) <= 12


@pytest.mark.parametrize(
    "header", ["def f(*args):", "def f(a, **options):", "async def f(a):"], ids=str
)
def test_refused_headers(header):
    with pytest.raises(SourceError):
        build_from_source(f"{header}\n    pass\n")


def test_nonlocal_is_refused():
    text = "def f(A):\n    nonlocal K\n    K = 1\n"
    source = SourceFile("<source>", text)
    function = ast.FunctionDef("f", ast.parse("def f(A): pass").body[0].args, [], [])
    function.body = [ast.Nonlocal(["K"], lineno=2, col_offset=4)]
    with pytest.raises(SourceError, match="nonlocal"):
        subset.check(function, source)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
@pytest.mark.parametrize("text", ["def f[T](a: T):\n    pass\n", "def f(a):\n    type X = int\n"])
def test_constructs_of_newer_pythons(text):
    with pytest.raises(SourceError, match="does not read"):
        check(text)


def test_the_first_construct_of_the_text_is_named():
    with pytest.raises(SourceError) as caught:
        check(body("x = [1]", "with B:", "    del A"))
    assert caught.value.diagnostic.span is not None
    assert (caught.value.diagnostic.span.line, caught.value.diagnostic.span.column) == (2, 9)


def test_annotations_and_decorators_are_not_looked_at():
    check("@decorate(lambda x: {x})\ndef f(A: [1, 2], n: {3: 4} = 1) -> f'x':\n    a: [5] = 1\n")


@pytest.mark.parametrize("name", sorted(subset.REFUSED_BUILTINS))
def test_refused_builtins(name):
    with pytest.raises(SourceError) as caught:
        build_from_source(body(f"A[0] = {name}(n)"))
    assert f"does not read {name}()" in str(caught.value)
    assert caught.value.diagnostic.hints == (subset.REFUSED_BUILTINS[name],)


def test_every_entry_of_the_table_is_a_node_of_some_python():
    newer = {"TemplateStr", "TypeAlias"}
    for name in subset.REFUSED:
        assert name in newer or issubclass(getattr(ast, name), ast.AST)
