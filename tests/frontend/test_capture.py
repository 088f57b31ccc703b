"""Functions -> text: found, placed, and shown to be the text of the code that runs."""

from __future__ import annotations

import ast
import functools
import importlib.util
import linecache
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astile.errors import SourceError
from astile.frontend.capture import SOURCE_ATTRIBUTE, capture, parse_in_place
from astile.source import SourceFile

SCALE = 2.0


def at_module_level(a, out, n=3, *, scale=1.5):
    """A docstring
    of two lines.
    """
    for i in range(n):
        out[i] = a[i] * scale * SCALE
        if a[i] > 0.0 and i < 2:
            continue
        out[i] = np.sqrt(a[i])  # a call of a member of an imported module


def module_from(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def from_file(tmp_path: Path) -> Callable[[str], types.ModuleType]:
    def load(text: str) -> types.ModuleType:
        path = tmp_path / "kernels.py"
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
        try:
            return module_from(path)
        finally:
            sys.dont_write_bytecode = before

    return load


def as_registered_text(text: str, name: str) -> types.FunctionType:
    """A function as a notebook makes it: no file, the text in `linecache`."""
    filename = f"<cell of {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space: dict[str, Any] = {}
    exec(compile(text, filename, "exec"), space)
    return space[name]


# --- reads ---------------------------------------------------------------------------------------


def test_function_of_a_module():
    found = capture(at_module_level)
    code = at_module_level.__code__
    assert found.function.name == "at_module_level"
    assert found.source.name == code.co_filename
    assert found.function.lineno == code.co_firstlineno == found.source.first_line
    assert found.defaults == {"n": 3, "scale": 1.5}
    assert found.module["SCALE"] == 2.0
    assert found.code is code


def test_nested_function_keeps_columns_and_closure():
    offset = 4
    unused = 5

    def nested(a):
        for i in range(3):
            a[i] = offset

    found = capture(nested)
    assert unused == 5
    assert dict(found.closure) == {"offset": 4}
    assert found.function.col_offset == 4
    store = found.function.body[0].body[0]
    line = found.source.line(store.lineno)
    assert line is not None
    assert line[store.col_offset : store.end_col_offset] == "a[i] = offset"


def test_positions_are_those_of_the_file(from_file):
    module = from_file("""
        import numpy as np


        def outer():
            if True:

                def inner(a, größe):
                    \"\"\"Text
                in column 0.\"\"\"
                    for i in range(größe):
            # a comment to the left of the code
                        a[i] = (1.0 +
                  2.0)
                return inner
    """)
    found = capture(module.outer())
    lines = Path(module.__file__).read_text(encoding="utf-8").splitlines()
    for node in ast.walk(found.function):
        if isinstance(node, ast.Name):
            text = lines[node.lineno - 1].encode()
            assert text[node.col_offset : node.end_col_offset].decode() == node.id
    assert ast.get_docstring(found.function) == "Text\nin column 0."


def test_indentation_by_tabs(from_file):
    module = from_file(
        "def outer():\n\tdef f(a):\n\t\tfor i in range(3):\n\t\t\ta[i] = 0\n\treturn f\n"
    )
    assert capture(module.outer()).function.col_offset == 1


def test_decorators_that_return_the_function_do_not_matter(from_file):
    module = from_file("""
        def mark(*args, **kwargs):
            return lambda f: f

        def factory():
            @mark((1, 2), key=lambda x: (x + 1))
            @mark()
            def kernel(a, out):
                # a comment, then a blank line

                for i in range(len(a)):
                    out[i] = a[i] + 1   # trailing
            return kernel
    """)
    found = capture(module.factory())
    assert found.function.name == "kernel"
    assert len(found.function.decorator_list) == 2


def test_cell_of_a_notebook():
    # numpy was imported in another cell: CPython then calls np.sqrt by other instructions
    text = "def cell_kernel(a):\n    for i in range(len(a)):\n        a[i] = np.sqrt(a[i])\n"
    function = as_registered_text(text, "cell_kernel")
    found = capture(function)
    assert found.source.name == "<cell of cell_kernel>"
    assert found.function.lineno == 1


def test_module_imported_in_the_same_cell_and_another_object_with_methods():
    text = (
        "import numpy as np\n"
        "from types import SimpleNamespace\n"
        "other = SimpleNamespace(run=abs)\n"
        "def mixed(a):\n"
        "    for i in range(len(a)):\n"
        "        a[i] = np.sqrt(other.run(a[i])) + SimpleNamespace.run(a[i])\n"
    )
    assert capture(as_registered_text(text, "mixed")).function.name == "mixed"


def test_future_imports_are_part_of_the_code(from_file):
    module = from_file("""
        from __future__ import annotations

        def f(a: Unknown, n: int = 2) -> None:
            count: int = 0
            for i in range(n):
                a[i] = count
    """)
    assert capture(module.f).defaults == {"n": 2}


def test_text_carried_by_the_function():
    text = "\n\ndef carried(a):\n    for i in range(3):\n        a[i] = 0\n"
    space: dict[str, Any] = {}
    exec(compile(text, "<anywhere>", "exec"), space)
    setattr(space["carried"], SOURCE_ATTRIBUTE, SourceFile("<source>", text))
    found = capture(space["carried"])
    assert (found.source.name, found.function.lineno) == ("<source>", 3)


def test_functions_of_the_same_name_in_one_file(from_file):
    module = from_file("""
        def make(first):
            if first:
                def f(a):
                    a[0] = 1
            else:
                def f(a):
                    a[0] = 2
            return f
    """)
    values = [capture(module.make(first)).function.body[0].value.value for first in (True, False)]
    assert values == [1, 2]


def test_parse_in_place_counts_from_the_first_line():
    tree = parse_in_place(SourceFile("f.py", "    x = 1\n    y = 2\n", 40))
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    assert [(node.lineno, node.col_offset) for node in assigned] == [(40, 4), (41, 4)]


# --- refuses -------------------------------------------------------------------------------------


def refusal(function: object) -> SourceError:
    with pytest.raises(SourceError) as caught:
        capture(function)
    return caught.value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a[i] + 1", "a[i] + 2"),
        ("a[i] + 1", "a[i] + 1.0"),
        ("a[i] + 1", "a[i] - 1"),
        ("0.0", "-0.0"),
        ("0.0", "0"),
        ("range(n)", "range(m)"),
        ("def f", "def g"),
        ("# comment\n", "# comment\n\n\n"),
        ("out[i] =", "out[i] +="),
        ("def f(a, out, n, m)", "def f(a, out, m, n)"),
        ("def f(a, out, n, m)", "def f(a, out, n, *, m)"),
    ],
)
def test_a_file_edited_after_import_is_refused(from_file, old, new):
    text = """
        # comment
        def f(a, out, n, m):
            for i in range(n):
                out[i] = a[i] + 1
            a[m] = 0.0
    """
    module = from_file(text)
    capture(module.f)
    path = Path(module.__file__)
    edited = path.read_text(encoding="utf-8").replace(old, new)
    path.write_text(edited + "# longer, so that the cache of lines sees it\n", encoding="utf-8")
    error = refusal(module.f)
    assert error.code in ("source.other-text", "source.no-text")
    assert "astile.from_source" in str(error)


def test_an_edit_that_changes_no_code_is_read(from_file):
    module = from_file("""
        def f(a):
            for i in range(3):
                a[i] = 1
    """)
    path = Path(module.__file__)
    edited = path.read_text(encoding="utf-8").replace("a[i] = 1", "a[i] = 1  # one")
    path.write_text(edited, encoding="utf-8")
    assert capture(module.f).function.name == "f"


def test_a_function_made_by_exec_is_refused():
    space: dict[str, Any] = {}
    exec("def made(a):\n    a[0] = 1\n", space)
    error = refusal(space["made"])
    assert error.code in ("source.no-text", "source.other-text")
    assert "astile.from_source" in str(error)


def test_a_function_made_by_exec_under_the_name_of_a_real_file_is_refused():
    space: dict[str, Any] = {}
    exec(compile("def at_module_level(a):\n    a[0] = 1\n", __file__, "exec"), space)
    assert refusal(space["at_module_level"]).code == "source.other-text"


def test_exec_inside_a_command_line_program():
    # Python 3.13 finds the text of the `-c` program here, which is the wrong one
    program = """
        from astile.errors import SourceError
        from astile.frontend.capture import capture
        space = {}
        exec("def f(a):\\n    a[0] = 1\\n", space)
        try:
            capture(space["f"])
        except SourceError as error:
            print(error.code)
    """
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        cwd=root,
        check=True,
    )
    assert done.stdout.strip() in ("source.no-text", "source.other-text")


def test_lambda():
    error = refusal(lambda a: a)
    assert error.code == "source.not-a-function"
    assert "write it with `def`" in str(error)


class Holder:
    def method(self, a):
        a[0] = 1


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (Holder().method, "is a method"),
        (Holder.method, "method is a method: it takes self"),
        (Holder, "Holder is of type type, not a plain Python function"),
        (len, "of type builtin_function_or_method, not a plain Python function"),
        (np.add, "add is of type ufunc, not a plain Python function"),
        (functools.partial(at_module_level, 1), "functools.partial"),
        ("def f(a): ...", "astile.from_source"),
        (3, "made of a function, not of type int"),
        (staticmethod(at_module_level), "put @staticmethod above @tile"),
        (Holder, "outside of the class"),
        (functools.lru_cache(at_module_level), "which is at_module_level.__wrapped__"),
    ],
    ids=[
        "method",
        "function of a class",
        "class",
        "builtin",
        "ufunc",
        "partial",
        "text",
        "number",
        "static method",
        "class, and what to do",
        "made of a function",
    ],
)
def test_what_is_no_function(value, says):
    assert says in str(refusal(value))


def test_compiled_by_numba():
    class Dispatcher:
        __name__ = "kernel"
        py_func = at_module_level

    error = refusal(Dispatcher())
    assert "already compiled by numba" in str(error)
    assert "@tile in the place of" in str(error)


def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


def tile(function):
    return function


@tile
@timed
def below_tile(a):
    a[0] = 1


@timed
def alone(a):
    a[0] = 1


@pytest.mark.parametrize("function", [below_tile, alone])
def test_wrapping_decorators_are_named(function):
    error = refusal(function)
    assert error.code == "source.decorator"
    assert "wrapped by the decorator timed" in str(error)
    assert f"directly above `def {function.__name__}`" in str(error)
    span = error.diagnostic.span
    assert span is not None
    assert span.file.line(span.line) == "@timed"


def test_async_function(from_file):
    module = from_file("async def f(a):\n    a[0] = 1\n")
    assert "`def`" in str(refusal(module.f))


def test_a_member_of_a_class_with_private_names_is_refused_and_not_misread(from_file):
    module = from_file("""
        class Box:
            def f(a):
                __x = 1
                a[0] = __x
    """)
    assert refusal(module.Box.f).code == "source.other-text"


def test_assert_that_pytest_rewrote():
    def checked(a):
        assert len(a) > 0
        a[0] = 1

    assert "pytest rewrites" in str(refusal(checked))
