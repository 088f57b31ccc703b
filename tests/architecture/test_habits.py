"""Habits that no linter checks: lazy imports, shared state, file names, unfinished work."""

import ast
import re
from pathlib import Path

from tests.support.package import PACKAGE, ROOT, functions, modules, place, tree

#: Module -> what its functions may import when they run.
LAZY = {"astile/runtime/compile.py": ("numba",)}

VAGUE_NAMES = {"utils", "util", "misc", "common", "helpers", "tools", "base"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
BARE = re.compile(r"#\s*noqa(?!: [A-Z]+\d)|#\s*type:\s*ignore(?!\[)")


def lazy_imports(path):
    """Import statements inside functions, with the modules that they name."""
    for function in functions(tree(path)):
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield node, [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom):
                yield node, [node.module or "."]


def test_no_imports_inside_functions():
    found = [
        f"{place(path, node)}: {', '.join(names)}"
        for path in modules(PACKAGE)
        for node, names in lazy_imports(path)
        if any(each.partition(".")[0] not in LAZY.get(place(path), ()) for each in names)
    ]
    assert not found, "\n".join(found)


def test_allowed_lazy_imports_are_there():
    for name, allowed in LAZY.items():
        found = {each.partition(".")[0] for _, names in lazy_imports(ROOT / name) for each in names}
        assert found == set(allowed)


def test_no_global_statements():
    found = [
        place(path, node)
        for path in modules(PACKAGE)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Global)
    ]
    assert not found, "\n".join(found)


def test_file_names_say_what_is_inside():
    assert not [place(path) for path in modules(PACKAGE) if path.stem in VAGUE_NAMES]


def test_every_folder_is_a_package():
    folders = {path.parent for path in modules(PACKAGE)}
    assert all((folder / "__init__.py").exists() for folder in folders)


def test_tests_are_no_package():
    assert not list((ROOT / "tests").rglob("__init__.py"))


def lines_with(pattern):
    """Places in Python files of the project whose line matches."""
    for folder in ("astile", "tests", "examples"):
        for path in modules(ROOT / folder):
            if path == Path(__file__).resolve():
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if pattern.search(line):
                    yield f"{place(path, number)}: {line.strip()}"


def test_nothing_is_left_unfinished():
    assert not list(lines_with(UNFINISHED))


def test_suppressions_name_their_rule():
    assert not list(lines_with(BARE))
