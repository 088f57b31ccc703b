"""Files and functions stay small."""

import ast

import pytest

from tests.support.package import PACKAGE, ROOT, code_lines, functions, modules, place, tree

FILE_LINES = 400
FUNCTION_LINES = 60
EXAMPLE_LINES = 60


def test_files_are_small():
    sizes = {path: len(path.read_text().splitlines()) for path in modules(PACKAGE)}
    large = [f"{place(path)}: {size} lines" for path, size in sizes.items() if size > FILE_LINES]
    assert not large, "\n".join(large)


def test_functions_are_small():
    large = [
        f"{place(path, each)}: {each.name} has {code_lines(each)} lines"
        for path in modules(PACKAGE)
        for each in functions(tree(path))
        if code_lines(each) > FUNCTION_LINES
    ]
    assert not large, "\n".join(large)


@pytest.mark.parametrize("path", modules(ROOT / "examples"), ids=lambda each: each.name)
def test_examples_are_short(path):
    assert len(path.read_text().splitlines()) <= EXAMPLE_LINES


def test_docstrings_do_not_count():
    function = ast.parse('def f():\n    """One.\n\n    Two.\n    """\n    return 1\n').body[0]
    assert code_lines(function) == 2
