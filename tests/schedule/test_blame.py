"""From lines of generated text to schedule calls, and to the user's lines."""

from __future__ import annotations

import ast
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from astile import ArgumentError, AstileError, Schedule, tile
from astile.ir import query
from tests.differential import kernels
from tests.support.recipes import RECIPES, small

HERE = Path(__file__)


@pytest.fixture(scope="module")
def conv_add():
    return tile(i=16, j=16, target="cuda")(kernels.conv_add)


def line_of(text, part):
    return next(k for k, each in enumerate(text.splitlines(), 1) if part in each)


@cache
def lines(kernel, target):
    return kernel.line_table(target)


def blamed(kernel, part, target):
    found = next(each for each in lines(kernel, target) if part in each.text)
    assert found.text == kernel.source(target).splitlines()[found.line - 1]
    return found


@pytest.mark.parametrize(
    ("target", "part", "call", "statement"),
    [
        ("python", "acc += ", "compute_at", "acc += x[i + a, j + b] * w[a, b]"),
        ("python", "for a in range", None, "for a in range(3):"),
        ("python", "conv_shared = ", "set_scope", None),
        ("cuda", "i_0 = uint32(cuda.blockIdx.y)", "bind('i_0', 'blockIdx.y')", None),
        ("cuda", "acc += ", "compute_at", "acc += x[i + a, j + b] * w[a, b]"),
        ("cuda", "conv_shared = ", "set_scope", None),
        ("cuda", "import numpy", None, None),
    ],
)
def test_lines_of_conv_and_add(conv_add, target, part, call, statement):
    found = blamed(conv_add, part, target)
    assert part in found.text
    assert (found.call is None) == (call is None)
    assert call is None or call in found.call
    if found.step is not None and target == "cuda":  # the target of its own steps
        assert conv_add.steps[found.step - 1].call == found.call
    if statement is None:
        assert found.place is None
    else:
        assert found.place.file.line(found.place.line).strip().startswith(statement)
        assert found.place.file.name == kernels.__file__


def test_a_line_as_text_and_as_data(conv_add):
    found = blamed(conv_add, "acc += ", "cpu")
    told = str(found)
    assert told.startswith(f"cpu:{found.line}: acc += ")
    assert f"made by step {found.step}: s.compute_at(" in told
    assert "^^^" in told
    assert json.loads(json.dumps(found.to_dict()))["place"]["line"] == found.place.line


def test_a_line_that_is_not_there(conv_add):
    with pytest.raises(ArgumentError, match="the text has no line 400") as caught:
        conv_add.blame(400)
    assert "1 to" in caught.value.diagnostic.hints[0]


@pytest.mark.parametrize("name", ["blur", "softmax"])
def test_every_statement_of_the_user_is_found_in_a_recipe(name):
    recipe = next(each for each in RECIPES if each.name == name)
    s = small(recipe)
    table = s.line_table()
    assert [each.text for each in table] == s.source().splitlines()
    assert {each.call for each in table} <= {None, *(each.call for each in s.steps)}
    leaves = {
        each.lineno
        for loop in query.loops(s.original.function)
        for each in query.statements(loop)
        if isinstance(each, (ast.Assign, ast.AugAssign))
    }
    assert leaves <= {each.place.line for each in table if each.place is not None}


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_a_step_blames_the_lines_of_its_own_text(conv_add, target):
    step = next(e for e in conv_add.steps if e.call.startswith("compute_at"))
    number = conv_add.steps.index(step) + 1
    table = step.line_table(target)
    assert max(each.step for each in table if each.step) == number
    line = next(each.line for each in table if "acc += " in each.text)
    found = step.blame(line, target)
    assert (found.call, found.target) == (step.call, target)
    assert found.place.file.line(found.place.line).strip() == "acc += x[i + a, j + b] * w[a, b]"
    if target == "python":
        assert [each.text for each in table] == step.source.splitlines()


def test_the_last_step_blames_as_the_kernel_does(conv_add):
    assert conv_add.steps[-1].line_table("cuda") == lines(conv_add, "cuda")


def test_a_step_taken_on_trust_and_its_text_for_a_gpu():
    s = Schedule(summed)
    s.bind("i", "blockIdx.x", unsafe=True)
    [step] = s.steps
    line = next(each for each in step.line_table("cuda") if "blockIdx" in each.text)
    assert step.blame(line.line, "cuda").call == step.call
    with pytest.raises(ArgumentError, match="the text has no line 0"):
        step.blame(0)


def test_without_a_step_nothing_is_blamed():
    table = Schedule(kernels.conv_add).line_table("cpu")
    assert {each.step for each in table} == {None}


# --- errors of the user's own statements ----------------------------------------------------------


def pick(x, idx, out):
    for i in range(len(out)):
        out[i] = x[idx[i]]


def positive(x, out):
    for i in range(len(out)):
        if x[i] < 0:
            raise ValueError("negative")
        out[i] = x[i]


def test_an_index_error_is_told_at_the_users_line():
    kernel = tile(i=2, target="python")(pick)
    for _ in range(2):  # a call like one before is told alike
        with pytest.raises(IndexError) as caught:
            kernel(np.arange(3.0), np.array([7, 0]), np.zeros(2))
        [told] = caught.value.__notes__
        line = line_of(HERE.read_text(encoding="utf-8"), "out[i] = x[idx[i]]")
        assert f"--> {HERE}:{line}:9" in told


def test_an_error_that_compiled_code_raises_is_told_at_the_users_line():
    kernel = tile(target="cpu")(positive)
    with pytest.raises(ValueError, match="negative") as caught:
        kernel(np.full(3, -1.0), np.zeros(3))
    [told] = caught.value.__notes__
    assert 'raise ValueError("negative")' in told


def summed(x):
    for i in range(1, 8):
        x[i] += x[i - 1]


def test_a_fault_that_the_emulator_finds_is_told_at_the_users_line():
    s = Schedule(summed)
    s.bind("i", "blockIdx.x", unsafe=True)
    with pytest.raises(AstileError) as caught:
        s.build("emulate")(np.ones(8))
    assert caught.value.code == "emulation.race"
    line = line_of(HERE.read_text(encoding="utf-8"), "x[i] += x[i - 1]")
    assert f"this line is made from {HERE}:{line}:9" in str(caught.value)
