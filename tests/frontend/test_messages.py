"""Messages: mistakes that people make, with the full text that they get."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from astile.errors import SourceError
from astile.frontend.build import build, build_from_source
from tests.support import mistakes

Golden = Callable[[str, str], None]

#: Name of the golden file -> a module with a mistake in its function `f`.
MISTAKES = {
    "list_comprehension": """
def f(A, B):
    n = len(A)
    B[:] = [A[i] * 2 for i in range(n)]
""",
    "generator": """
def f(A):
    return sum(A[i] for i in range(len(A)))
""",
    "lambda": """
def f(A):
    g = lambda x: x + 1
    for i in range(len(A)):
        A[i] = g(A[i])
""",
    "nested_function": """
def f(A):
    def g(x):
        return x + 1
    for i in range(len(A)):
        A[i] = g(A[i])
""",
    "with": """

def f(A, B):
    with np.errstate(divide="ignore"):
        for i in range(len(A)):
            A[i] = 1.0 / B[i]
""",
    "try": """
def f(A):
    for i in range(len(A)):
        try:
            A[i] = 1 // A[i]
        except ZeroDivisionError:
            A[i] = 0
""",
    "star_args": """
def f(A, *args):
    for i in range(len(A)):
        A[i] = args[0]
""",
    "starred_call": """
def f(A, shape):
    for i in range(*shape):
        A[i] = 0
""",
    "f_string": """
def f(A, n):
    if len(A) != n:
        raise ValueError(f"expected {n} values")
    for i in range(n):
        A[i] = 0
""",
    "growing_list": """
def f(A):
    found = []
    for i in range(len(A)):
        if A[i] > 0:
            found.append(i)
    return found
""",
    "dict": """
def f(A):
    count = {}
    for i in range(len(A)):
        count[A[i]] = 1
    return count
""",
    "walrus": """
def f(A, B):
    for i in range(len(A)):
        if (x := A[i]) > 0:
            B[i] = x
""",
    "match": """
def f(A, mode):
    match mode:
        case 0:
            A[0] = 1
""",
    "for_else": """
def f(A):
    for i in range(len(A)):
        if A[i] < 0:
            break
    else:
        A[0] = 0
""",
    "global": """
COUNT = 0

def f(A):
    global COUNT
    for i in range(len(A)):
        COUNT += A[i]
""",
    "import_inside": """
def f(A):
    import math
    for i in range(len(A)):
        A[i] = math.sqrt(A[i])
""",
    "async": """
async def f(A):
    for i in range(len(A)):
        A[i] = 0
""",
    "yield": """
def f(A):
    for i in range(len(A)):
        yield A[i]
""",
    "print": """
def f(A):
    for i in range(len(A)):
        print(A[i])
""",
    "random": """

def f(A):
    for i in range(len(A)):
        A[i] = np.random.rand()
""",
    "module_array": """

W = np.array((1.0, 2.0, 1.0))

def f(A, B):
    for i in range(1, len(A) - 1):
        B[i] = W[0] * A[i - 1] + W[1] * A[i] + W[2] * A[i + 1]
""",
    "misspelt_name": """
import math

RADIUS = 2

def f(A):
    for i in range(RADIUS, len(A)):
        A[i] = A[i] * RADUIS
""",
    "misspelt_module_member": """
import math

def f(A):
    for i in range(len(A)):
        A[i] = math.sqr(A[i])
""",
    "misspelt_attribute": """
def f(A):
    for i in range(A.shpe[0]):
        A[i] = 0
""",
    "attribute_of_argument": """
def f(A, config):
    for i in range(config.n_rows):
        A[i] = 0
""",
    "recursion": """
def f(A, n):
    for i in range(n):
        A[i] = 0
    f(A, n - 1)
""",
    "helper_mistake": """
def clip(x):
    print(x)
    return max(x, 0.0)

def f(A):
    for i in range(len(A)):
        A[i] = clip(A[i])
""",
    "function_argument": """
def f(A, g):
    for i in range(len(A)):
        A[i] = g(A[i])
""",
    "reserved_parameter": """
def f(A, max):
    for i in range(len(A)):
        A[i] = max
""",
    "reserved_import": """
from numpy import maximum as max

def f(A):
    for i in range(len(A)):
        A[i] = max(A[i], 0)
""",
    "syntax": """
def f(A):
    for i in range(len(A))
        A[i] = 0
""",
    "declared_only": """
def f(A):
    s: float
    for i in range(len(A)):
        A[i] = s
""",
    "default": """

def f(A, weights=[1, 2, 1]):
    for i in range(len(A)):
        A[i] = weights[0]
""",
    "unknown_value": """
from mylib import WIDTH

def f(A):
    for i in range(WIDTH):
        A[i] = 0
""",
    "attribute_store": """
def f(A, state):
    for i in range(len(A)):
        state.total = A[i]
""",
    "loop_over_cells": """
def f(A, B):
    for A[0] in range(3):
        B[A[0]] = 1
""",
    "percent_format": """
def f(A, n):
    if n < 0:
        raise ValueError("bad size %d" % n)
    for i in range(n):
        A[i] = 0
""",
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_in_text(name: str, golden: Golden) -> None:
    with pytest.raises(SourceError) as caught:
        build_from_source(MISTAKES[name], "f")
    compare(f"{name}.txt", caught.value, golden)


def compare(name: str, error: SourceError, golden: Golden) -> None:
    text = str(error).replace(str(Path(mistakes.__file__).parent), "<tests>")
    assert len(text.splitlines()) <= 12
    assert "  help: " in text or error.code == "source.syntax"
    assert "astile/" not in text
    golden(f"errors/frontend/{name}", text)


# --- mistakes of functions in files -------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        mistakes.decorated,
        mistakes.array_of_module,
        mistakes.long_line,
        mistakes.non_ascii,
        mistakes.Filter().apply,
        lambda A: A,
    ],
    ids=["decorated", "array_of_module", "long_line", "non_ascii", "method", "lambda_as_kernel"],
)
def test_mistakes_in_files(
    function: Callable[..., Any], request: pytest.FixtureRequest, golden: Golden
) -> None:
    with pytest.raises(SourceError) as caught:
        build(function)
    compare(f"{request.node.callspec.id}.txt", caught.value, golden)


def test_edited_file(tmp_path: Path, golden: Golden) -> None:
    text = "def f(A):\n    for i in range(len(A)):\n        A[i] = 1\n"
    path = tmp_path / "kernel.py"
    path.write_text(text, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), space)
    path.write_text(text.replace("= 1", "= 25"), encoding="utf-8")
    with pytest.raises(SourceError) as caught:
        build(space["f"])
    golden("errors/frontend/edited_file.txt", str(caught.value).replace(str(tmp_path), "<folder>"))


def test_scratch(golden: Golden) -> None:
    with pytest.raises(SourceError) as caught:
        build(mistakes.blur, scratch=("tpm",))
    compare("scratch.txt", caught.value, golden)


def test_function_names(golden: Golden) -> None:
    with pytest.raises(SourceError) as caught:
        build_from_source(MISTAKES["helper_mistake"])
    compare("several_functions.txt", caught.value, golden)


def test_no_golden_file_is_left_over() -> None:
    files = {
        each.stem
        for each in (Path(__file__).parents[1] / "golden" / "errors" / "frontend").iterdir()
    }
    in_files = {"decorated", "array_of_module", "long_line", "non_ascii", "method"}
    others = {"lambda_as_kernel", "edited_file", "scratch", "several_functions"}
    assert files == set(MISTAKES) | in_files | others
