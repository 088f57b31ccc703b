"""docs/errors.md: a section for each code, whose program gets this code and this message."""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys

import pytest

from astile.errors import AstileError
from tests.support.package import PACKAGE, ROOT, modules, tree

PAGE = ROOT / "docs" / "errors.md"
FLAGS = re.MULTILINE | re.DOTALL
SECTION = re.compile(r"^### (\S+)\n(.*?)(?=^##|\Z)", FLAGS)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", FLAGS)
#: Lines of a message, however much there is to say.
LONGEST = 12


def sections():
    """Code -> what its section holds."""
    return dict(SECTION.findall(PAGE.read_text(encoding="utf-8")))


def examples():
    """(code, program, message) of the sections that show one."""
    for code, body in sections().items():
        found = FENCE.findall(body)
        if found:
            (_, program), (_, message) = found
            yield pytest.param(code, program, message, id=code)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What the first program of the page defines."""
    path = tmp_path_factory.mktemp("errors") / "kernels.py"
    path.write_text(FENCE.search(PAGE.read_text(encoding="utf-8"))[2], encoding="utf-8")
    spec = importlib.util.spec_from_file_location("kernels_of_errors", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield {k: v for k, v in vars(module).items() if not k.startswith("__")}
    del sys.modules[spec.name]


def raised(program, names, path):
    """The error that a program ends with."""
    path.write_text(program, encoding="utf-8")
    with pytest.raises(AstileError) as caught:
        exec(compile(program, str(path), "exec"), {**names, "__name__": "shown"})
    return caught.value


def told(error):
    """The text of an error, with the names of files alone."""
    return re.sub(r"(--> )\S*/", r"\1", f"{type(error).__name__}: {error}")


def write_message(code, message):
    text = PAGE.read_text(encoding="utf-8")
    start = rf"(^### {re.escape(code)}\n(?:(?!^##).)*?```text\n).*?(?=^```$)"
    PAGE.write_text(
        re.sub(start, lambda found: f"{found[1]}{message}\n", text, count=1, flags=FLAGS),
        encoding="utf-8",
    )


@pytest.mark.parametrize(("code", "program", "message"), list(examples()))
def test_the_program_of_a_section_gets_its_message(
    code, program, message, names, tmp_path, request, monkeypatch
):
    monkeypatch.setenv("ASTILE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NUMBA_DISABLE_CUDA", "0")  # a program may change it: undone afterwards
    error = raised(program, names, tmp_path / "shown.py")
    assert error.code == code, error
    text = told(error)
    assert len(text.splitlines()) <= LONGEST, text
    assert error.diagnostic.span is not None or error.diagnostic.hints, "it helps nobody"
    if request.config.getoption("--update-golden") and not os.environ.get("CI"):
        write_message(code, text)
    else:
        assert text == message.rstrip("\n")


#: Codes about a name that is not known; the programs of the page misspell one.
MISSPELT = (
    "source.unknown-name",
    "source.unknown-attribute",
    "source.no-function",
    "source.scratch",
    "schedule.no-such-loop",
    "schedule.no-such-stage",
    "schedule.no-such-array",
    "schedule.no-such-scalar",
    "schedule.bad-scope",
    "schedule.bad-axis",
    "schedule.bad-tail",
    "schedule.bad-target",
    "schedule.bad-options",
    "argument.bad-dtype",
)


@pytest.mark.parametrize("code", MISSPELT)
def test_a_misspelt_name_gets_a_suggestion(code):
    assert "help: did you mean '" in sections()[code]


#: Told of an option of the command line, and by generated text without a line of the user's.
NOWHERE = {"argument.bad-dtype", "emulation.limit"}


def test_each_message_names_a_file_a_line_and_a_column():
    place = r"--> (\S+|<.*>):\d+:\d+"
    bare = {each.id for each in examples() if not re.search(place, each.values[2])}
    assert bare == NOWHERE


def codes_of_source():
    """The codes that the package spells: ``code="..."``, and default codes of classes."""
    found = set()
    for path in modules(PACKAGE):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "code":
                found |= _codes(node.value)
            elif isinstance(node, ast.Call) and _is_error_method(node) and node.args:
                found |= _codes(node.args[0])
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = {each.id for each in targets if isinstance(each, ast.Name)}
                if names & {"CODE", "default_code"} and node.value is not None:
                    found |= _codes(node.value)
            elif isinstance(node, ast.arguments):
                pairs = zip(node.kwonlyargs, node.kw_defaults, strict=True)
                found |= {c for name, value in pairs if name.arg == "code" for c in _codes(value)}
    return found


def _is_error_method(call):
    return isinstance(call.func, ast.Attribute) and call.func.attr == "_error"


def _codes(value):
    return {
        each.value
        for each in (ast.walk(value) if value is not None else ())
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value
    }


#: Codes of base classes, which every raise replaces by its own; kinds of witnesses.
BASES = {"error", "source", "schedule", "illegal", "lowering", "argument"}
KINDS = {f"illegal.{each}" for each in ("flow", "anti", "output", "missing", "statement")}


def test_each_code_has_a_section_and_no_other_has():
    spelled = codes_of_source()
    assert {each for each in spelled if each.endswith(".")} == {"illegal."}  # kinds of witnesses
    assert set(sections()) == (spelled - BASES - {"illegal."}) | KINDS


def test_codes_have_one_form():
    assert all(re.fullmatch(r"[a-z]+(\.[a-z]+(-[a-z]+)*)?", each) for each in sections())


#: Errors about what a user wrote; they say what to write instead.
TOLD = {"SourceError", "ScheduleError", "LoweringError", "ArgumentError"}


def test_errors_say_what_to_do_instead():
    bare = [
        f"{path.name}:{node.lineno}"
        for path in modules(PACKAGE)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in TOLD
        and "hints" not in {each.arg for each in node.keywords}
    ]
    assert not bare
