"""Long lines: broken where a formatter would break them, or left alone."""

from __future__ import annotations

import ast

import pytest

from astile.ir.wrapping import wrap


def wrapped(text: str, width: int = 40) -> list[str]:
    result = wrap(text, width)
    assert ast.dump(ast.parse(result)) == ast.dump(ast.parse(text))
    return result.split("\n")


@pytest.mark.parametrize(
    "text",
    [
        "short = 1",
        "a_name_that_is_too_long_to_stand_on_one_line_of_text",
        "x = 'a string that is too long to stand on one line'",
        "import a_module_with_a_long_name.and_a_submodule",
        "x = lambda first_argument, second_argument: first_argument",
        "x = (not_closed_before_the_end_of_the_line, and_more",
    ],
)
def test_unchanged(text):
    assert wrap(text, 40) == text


def test_sums_break_before_operators():
    assert wrapped("result = first_value + second_value + third_value - fourth_value") == [
        "result = (",
        "    first_value",
        "    + second_value",
        "    + third_value",
        "    - fourth_value",
        ")",
    ]


def test_a_value_that_fits_in_brackets_stays_on_one_line():
    assert wrapped("a_target_of_some_length = first_value + second") == [
        "a_target_of_some_length = (",
        "    first_value + second",
        ")",
    ]


def test_calls_break_inside():
    assert wrapped("result = function(first_argument, second)") == [
        "result = function(",
        "    first_argument, second",
        ")",
    ]
    assert wrapped("result = function(first_argument, second_argument, third)") == [
        "result = function(",
        "    first_argument,",
        "    second_argument,",
        "    third,",
        ")",
    ]


def test_a_subscript_of_one_index_gets_no_comma():
    assert wrapped("x = array[first_value_of_all + second_value + third]") == [
        "x = array[",
        "    first_value_of_all",
        "    + second_value",
        "    + third",
        "]",
    ]


def test_brackets_that_are_there_are_used():
    assert wrapped("x = (first_value + second_value + third) / 9.0") == [
        "x = (",
        "    first_value + second_value + third",
        ") / 9.0",
    ]


def test_the_lowest_precedence_breaks_first():
    assert wrapped("x = a_value * b_value + c_val * d_value < e_value * f_value") == [
        "x = (",
        "    a_value * b_value + c_val * d_value",
        "    < e_value * f_value",
        ")",
    ]


def test_conditions():
    text = "if first_one < limit and not second_one < limit:\n    x = 1"
    assert wrapped(text) == [
        "if (",
        "    first_one < limit",
        "    and not second_one < limit",
        "):",
        "    x = 1",
    ]


def test_loops_and_headers():
    assert wrapped("for i in range(first_bound, second_bound, 16):\n    x = 1")[:3] == [
        "for i in range(",
        "    first_bound, second_bound, 16",
        "):",
    ]
    assert wrapped("def function(first_argument, second=1.0):\n    x = 1")[:3] == [
        "def function(",
        "    first_argument, second=1.0",
        "):",
    ]


def test_a_long_target_breaks_too():
    assert wrapped("array[first_index * 16 + second_ind, third] = value_one + value_two") == [
        "array[",
        "    first_index * 16 + second_ind, third",
        "] = value_one + value_two",
    ]
    assert wrapped("array[first_index * 16 + second_ind, third] += 1") == [
        "array[",
        "    first_index * 16 + second_ind, third",
        "] += 1",
    ]


def test_unary_minus_is_no_place_to_break():
    assert wrapped("result = first_value * -second_value * -third_one") == [
        "result = (",
        "    first_value",
        "    * -second_value",
        "    * -third_one",
        ")",
    ]


def test_two_words_that_are_one_operator_stay_together():
    lines = wrapped("result = first_value_here not in second_value_here")
    assert lines == ["result = (", "    first_value_here", "    not in second_value_here", ")"]


def test_indented_lines_keep_their_indentation():
    text = "if a:\n    result = function(first_argument, second)"
    assert wrapped(text)[1:] == [
        "    result = function(",
        "        first_argument, second",
        "    )",
    ]


def test_lines_of_a_string_are_left_alone():
    text = 'x = """\nresult = function(first_argument, second_argument)\n"""\ny = 1'
    assert wrap(text, 40) == text


def test_a_string_in_brackets_becomes_several():
    text = r'raise ValueError("the first of many \\ words, and \"quoted\" ones, of a message")'
    assert wrapped(text) == [
        "raise ValueError(",
        r'    "the first of many \\ words, and "',
        r'    "\"quoted\" ones, of a message"',
        ")",
    ]


def test_nested_brackets_break_from_outside_to_inside():
    assert wrapped("x = outer(inner(first_argument, second_argument), third_argument_here)") == [
        "x = outer(",
        "    inner(",
        "        first_argument, second_argument",
        "    ),",
        "    third_argument_here,",
        ")",
    ]


def test_imports():
    assert wrapped("from a_module_name import first_name_of_all, second_name_of_all") == [
        "from a_module_name import (",
        "    first_name_of_all,",
        "    second_name_of_all,",
        ")",
    ]


def test_assertions_keep_their_message_outside():
    assert wrapped("assert first_value < second_value, 'a message'") == [
        "assert (",
        "    first_value < second_value",
        "), 'a message'",
    ]


def test_branches():
    text = "if a:\n    x = 1\nelif first_value < limit and second_value < limit:\n    x = 2"
    assert wrapped(text)[2:] == [
        "elif (",
        "    first_value < limit",
        "    and second_value < limit",
        "):",
        "    x = 2",
    ]
