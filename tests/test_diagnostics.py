"""Messages as text, and places in files."""

from __future__ import annotations

import ast
import json

import pytest

from astile.diagnostics import Diagnostic, Related, did_you_mean, render
from astile.errors import (
    ArgumentError,
    AstileError,
    IllegalSchedule,
    InternalError,
    LoweringError,
    ScheduleError,
    SourceError,
)
from astile.source import SourceFile, Span

TEXT = "def f(A):\n    for i in range(3):\n        A[i] = 0\n"
FILE = SourceFile("kernel.py", TEXT, 10)


def at(line: int, column: int, end: int, file: SourceFile = FILE) -> Span:
    return Span(file, line, column, line, end)


def rendered(text: str, node: type[ast.AST], label: str = "") -> list[str]:
    file = SourceFile("k.py", text)
    found = next(each for each in ast.walk(ast.parse(text)) if isinstance(each, node))
    return render(Diagnostic("code", "wrong", file.span(found), label)).splitlines()


def test_all_parts_in_order():
    text = render(
        Diagnostic(
            code="illegal",
            message="would change the result",
            span=at(12, 9, 13),
            label="written here",
            related=(Related(at(11, 5, 22), "in this loop"),),
            notes=("a note",),
            hints=("first", "second"),
            operation="reorder('i', 'j')",
        )
    )
    assert text.splitlines() == [
        "reorder('i', 'j'): would change the result [illegal]",
        "  --> kernel.py:12:9",
        "  12 |         A[i] = 0",
        "     |         ^^^^ written here",
        "  --> kernel.py:11:5",
        "  11 |     for i in range(3):",
        "     |     ^^^^^^^^^^^^^^^^^ in this loop",
        "  note: a note",
        "  help: first",
        "  help: second",
    ]


def test_a_message_alone():
    assert render(Diagnostic("code", "wrong")) == "wrong [code]"


def test_a_line_that_is_not_known():
    assert render(Diagnostic("code", "wrong", at(99, 1, 2), "here")).splitlines() == [
        "wrong [code]",
        "  --> kernel.py:99:1",
        "      here",
    ]


def test_statements_of_several_lines_are_marked_to_the_end_of_the_first():
    assert rendered("while x:\n    y = 1\n", ast.While)[-1] == "    | ^^^^^^^^"


def test_columns_are_characters_and_not_bytes():
    lines = rendered("größe = ä + wert", ast.BinOp)
    assert lines[1:] == ["  --> k.py:1:9", "  1 | größe = ä + wert", "    |         ^^^^^^^^"]


def test_wide_characters_and_tabs_keep_the_caret_in_place():
    assert rendered("x = 面積 + b", ast.BinOp)[-1] == "    |     ^^^^^^^^"
    assert rendered("if x:\n\ty = 1 + z", ast.BinOp)[-1] == "    | \t    ^^^^^"


@pytest.mark.parametrize("position", [0, 3, 9, 15, 19])
def test_long_lines_are_cut_around_the_caret(position):
    names = [f"name_number_{number}" for number in range(20)]
    names[position] = "target"
    text = "    result = " + " + ".join(names)
    file = SourceFile("k.py", text)
    column = text.index("target") + 1
    lines = render(Diagnostic("code", "wrong", at(1, column, column + 6, file))).splitlines()
    assert all(len(line) <= 110 for line in lines)
    start = lines[3].index("^")
    assert lines[2][start : start + 6] == "target"
    assert lines[3].count("^") == 6


def test_a_long_span_on_a_long_line():
    text = "value = " + " + ".join(["abcdefgh"] * 30)
    lines = rendered(text, ast.BinOp)
    assert all(len(line) <= 110 for line in lines)
    assert lines[2].endswith("...")


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("cnov", ["conv", "add"], "did you mean 'conv'?"),
        ("i", ["i_0", "j"], "did you mean 'i_0'?"),
        ("zzz", ["conv"], None),
        ("conv", [], None),
    ],
)
def test_did_you_mean(word, known, expected):
    assert did_you_mean(word, known) == expected


# --- source files --------------------------------------------------------------------------------


def test_lines_are_numbered_as_in_the_file():
    assert FILE.line(10) == "def f(A):"
    assert FILE.line(12) == "        A[i] = 0"
    assert FILE.line(9) is None
    assert FILE.line(14) is None


def test_only_line_ends_of_python_count():
    file = SourceFile("k.py", "a = '\x0c\u2028'\r\nb = 2\rc = 3\n")
    assert [file.line(number) for number in (1, 2, 3)] == ["a = '\x0c\u2028'", "b = 2", "c = 3"]


def test_nodes_that_astile_made_have_no_span():
    assert FILE.span(ast.Name("x")) is None
    assert FILE.span(ast.Name("x", lineno=0, col_offset=0)) is None


def test_spans_name_their_place():
    assert str(at(12, 9, 13)) == "kernel.py:12:9"


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (AstileError, "error"),
        (SourceError, "source"),
        (ScheduleError, "schedule"),
        (IllegalSchedule, "illegal"),
        (LoweringError, "lowering"),
        (ArgumentError, "argument"),
        (InternalError, "internal"),
    ],
)
def test_errors_have_a_code_and_render_themselves(kind, code):
    error = kind("wrong", span=at(12, 9, 13), hints=["do this"])
    assert error.code == code
    assert kind("wrong", code="own").code == "own"
    assert isinstance(error, AstileError)
    assert str(error).startswith(f"wrong [{code}]\n  --> kernel.py:12:9\n")
    assert str(error).endswith("\n  help: do this")


def test_families():
    assert issubclass(IllegalSchedule, ScheduleError)
    assert issubclass(ArgumentError, ValueError)


def test_illegal_schedules_carry_what_was_found():
    error = IllegalSchedule("wrong", witness=((0, 1), (1, 0)), array="A", kind="flow")
    assert (error.witness, error.array, error.kind) == (((0, 1), (1, 0)), "A", "flow")


def test_errors_as_data():
    place = Related(at(11, 5, 22), "in this loop")
    error = IllegalSchedule(
        "wrong", code="illegal.flow", array="A", kind="flow", span=at(12, 9, 13), related=[place]
    )
    error.named("reorder('j', 'i')")
    found = json.loads(json.dumps(error.to_dict()))
    assert found["schema"] == 1
    told = found["error"]
    assert (told["type"], told["code"], told["kind"]) == ("IllegalSchedule", "illegal.flow", "flow")
    assert told["operation"] == "reorder('j', 'i')"
    assert told["place"]["file"] == "kernel.py"
    assert (told["place"]["line"], told["place"]["column"]) == (12, 9)
    assert told["related"][0]["label"] == "in this loop"
