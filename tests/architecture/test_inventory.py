"""A primitive is a file, a method of `Schedule`, a row of the documentation and a test file."""

import ast
import re

import pytest

from astile.schedule import recipes
from astile.schedule.schedule import PRIMITIVES
from tests.support.package import PACKAGE, ROOT, functions, modules, tree

METHOD_FILES = sorted((PACKAGE / "schedule").glob("*_methods.py"))
RECIPES_FILE = PACKAGE / "schedule" / "compose.py"
DOCUMENT = ROOT / "docs" / "primitives.md"
SECTIONS = ("Args", "Raises", "Before", "After")


def own_function(path):
    """The function named like its file that rewrites a program, or None."""
    for each in tree(path).body:
        if isinstance(each, ast.FunctionDef) and each.name == path.stem and each.returns:
            return each if ast.unparse(each.returns) == "Rewritten" else None  # noqa: TID251
    return None


REWRITES = {
    path.stem: function
    for path in modules(PACKAGE / "rewrites")
    if (function := own_function(path)) is not None
}
METHODS = {
    each.name: each
    for path in METHOD_FILES
    for node in tree(path).body
    if isinstance(node, ast.ClassDef)
    for each in functions(node)
    if any(argument.arg == "unsafe" for argument in each.args.kwonlyargs)
}
#: Methods that are made of other primitives: they add no trust and have no rewrite.
RECIPES = {
    each.name
    for each in functions(tree(RECIPES_FILE))
    if any(argument.arg == "unsafe" for argument in each.args.kwonlyargs)
}
ROWS = re.findall(r"^\| `(\w+)\(", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)


def test_there_are_primitives():
    assert {"split", "reorder", "compute_at", "bind"} <= set(REWRITES)
    assert "tile" in RECIPES


def test_a_file_is_a_primitive_or_a_part():
    """What primitives share is in `parts`, and knows none of them."""
    places = {path.relative_to(PACKAGE / "rewrites") for path in modules(PACKAGE / "rewrites")}
    assert {each.stem for each in places if len(each.parts) == 1} - {"__init__"} == set(REWRITES)
    for path in modules(PACKAGE / "rewrites" / "parts"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"astile\.rewrites\.(\w+)", text)) <= {"parts"}, path.name


def test_methods_of_schedule():
    assert set(METHODS) == set(REWRITES) | RECIPES


def test_rows_of_the_documentation():
    assert sorted(ROWS) == sorted(METHODS)


def test_rows_show_the_parameters_of_the_methods():
    text = DOCUMENT.read_text(encoding="utf-8")
    for name, method in METHODS.items():
        row = re.search(rf"^\| `{name}\((.*?)\)`", text, re.MULTILINE)
        shown = re.findall(r"(?:^|, )\*?(\w+)", re.sub(r"\[.*?\]|\".*?\"", "", row[1]))
        positional = [each.arg for each in method.args.args if each.arg != "self"]
        starred = [method.args.vararg.arg] if method.args.vararg else []
        assert shown == positional + starred, name


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_has_a_test_file(name):
    assert (ROOT / "tests" / "rewrites" / f"test_{name}.py").exists()


def test_no_test_file_of_a_rewrite_that_is_gone():
    files = {path.stem for path in modules(PACKAGE / "rewrites")}
    tested = {each.stem.removeprefix("test_") for each in modules(ROOT / "tests" / "rewrites")}
    assert {each for each in tested if each.isidentifier()} <= files | RECIPES | {"conftest"}


def cases(function):
    """How many cases a test has, as far as its parameters are literal."""
    count = 1
    for each in function.decorator_list:
        match each:
            case ast.Call(
                func=ast.Attribute(attr="parametrize"), args=[_, ast.List(elts=values), *_]
            ):
                count *= len(values)
    return count


def cases_by_section(path):
    """Heading in a test file -> how many cases the tests below it have."""
    headings = [
        (number, found[1])
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := re.match(r"# --- ([a-z ]+?) -+$", line))
    ]
    counts = {}
    for each in functions(tree(path)):
        above = [name for number, name in headings if number < each.lineno]
        if each.name.startswith("test_") and above:
            counts[above[-1]] = counts.get(above[-1], 0) + cases(each)
    return counts


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_has_at_least_as_many_refusals_as_rewrites(name):
    counts = cases_by_section(ROOT / "tests" / "rewrites" / f"test_{name}.py")
    assert counts["refuses"] >= counts["rewrites"] > 0, counts
    assert counts["keeps meaning"] > 0
    assert counts["trace"] > 0


def test_a_trace_may_call_each_primitive_and_nothing_else():
    assert sorted(PRIMITIVES) == sorted(REWRITES)


def test_each_recipe_has_a_row_and_a_place_in_the_table_of_recipes():
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `recipes\.(\w+)\(", text, re.MULTILINE)
    assert sorted(rows) == sorted(recipes.__all__)
    table = (ROOT / "tests" / "support" / "recipes.py").read_text(encoding="utf-8")
    tabled = set(re.findall(r"recipes\.(\w+)\(", table))
    assert tabled == set(recipes.__all__) - {"cooperate", "row_vectors"}  # parts of others


def sections(docstring):
    """Headings of a docstring at its left edge -> the text below."""
    parts = re.split(r"^(Args|Raises|Before|After)\b(.*):\n", docstring, flags=re.MULTILINE)
    return {parts[k]: parts[k + 2] for k in range(1, len(parts), 3)}


@pytest.mark.parametrize("name", sorted(REWRITES))
def test_docstring_shows_before_and_after(name):
    found = sections(ast.get_docstring(REWRITES[name]) or "")
    assert set(SECTIONS) <= set(found)
    before, after = (_shown(found[each]) for each in SECTIONS[2:])
    assert before != after


def _shown(text):
    """The tree of an example, and its comments."""
    lines = [line.removeprefix("    ") for line in text.splitlines()]
    comments = [each.strip() for each in lines if each.strip().startswith("#")]
    return ast.dump(ast.parse("\n".join(lines))), comments
