"""What names stand for, and what has to be an argument."""

from __future__ import annotations

import enum
import math
import math as m
import types
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.random import rand

from astile import loops as words
from astile.errors import SourceError
from astile.frontend.build import as_written as build
from astile.ir.module import module_text
from astile.ir.printer import print_module
from astile.ir.program import Program
from astile.loops import block, parallel
from astile.loops import parallel as in_parallel

N = 4
HALF = 0.5
NAME = "same"
FLAG = True
TURN = 1 + 2j
WIDE = np.float64(0.1)
NARROW = np.float32(0.1)
RADIUS = np.int32(3)
SMALL = np.uint8(200)
TRUTH = np.True_
WEIGHTS = np.array((1.0, 2.0))
LIST = [1, 2]
PAIR = (1, 2)
NOTHING = None
TABLE = {"a": 1}
single = np.float32
KIND = np.dtype("int16")
NUMBER = float


class Mode(enum.IntEnum):
    FAST = 2


class Colour(enum.Enum):
    RED = 1


class Config:
    n = 3


FAST = Mode.FAST
RED = Colour.RED
config = Config()
other = types.SimpleNamespace(n=1)
settings = types.ModuleType("settings")
settings.STEPS = 7  # type: ignore[attr-defined]
settings.N = 9  # type: ignore[attr-defined]


def doubled(x):
    return x * 2


settings.doubled = doubled  # type: ignore[attr-defined]


class OwnError(Exception):
    pass


def text_of(function: Callable[..., Any]) -> str:
    return print_module([build(function).function])


# --- reads ---------------------------------------------------------------------------------------


def test_constants():
    def f(A, mode):
        if FLAG and mode == NAME:
            A[0] = N * HALF + TURN * FAST

    assert dict(build(f).constants) == {
        "FLAG": True,
        "NAME": "same",
        "N": 4,
        "HALF": 0.5,
        "TURN": 1 + 2j,
        "FAST": 2,
    }
    assert type(build(f).constants["FAST"]) is int


def test_numpy_scalars_keep_their_type_where_it_matters():
    def f(A):
        for i in range(RADIUS, len(A)):
            A[i - RADIUS] = A[i] * NARROW + WIDE + SMALL + TRUTH

    constants = build(f).constants
    assert constants["RADIUS"] == 3
    assert type(constants["RADIUS"]) is int
    assert type(constants["NARROW"]) is np.float32
    assert type(constants["WIDE"]) is np.float64
    assert type(constants["SMALL"]) is np.uint8
    assert constants["TRUTH"] is True
    text = module_text(build(f))
    assert "NARROW = np.float32(0.1)\n" in text
    assert "WIDE = np.float64(0.1)\n" in text
    assert "SMALL = np.uint8(200)\n" in text
    assert "RADIUS = 3\n" in text


def test_an_integer_used_as_a_value_keeps_its_type():
    def f(A):
        for i in range(RADIUS):
            A[i] = A[i] + RADIUS

    assert type(build(f).constants["RADIUS"]) is np.int32


def test_a_short_integer_used_as_an_index_keeps_its_type():
    def f(A):
        for i in range(len(A)):
            A[i + SMALL] = 0

    assert type(build(f).constants["SMALL"]) is np.uint8


def test_closure_goes_before_module():
    N = 100  # noqa: F841

    def make(N):
        def f(A):
            for i in range(N):
                A[i] = 0

        return f

    assert build(make(7)).constants == {"N": 7}


def test_imports():
    def f(A, B):
        C = np.zeros(len(A), single)
        D = np.zeros(len(A), KIND)
        E = np.zeros(len(A), NUMBER)
        for i in range(len(A)):
            A[i] = math.sin(B[i]) + m.pi + sqrt(B[i]) + np.sqrt(B[i]) + np.inf + C[i] + D[i] + E[i]

    assert build(f).imports == {
        "np": "numpy",
        "single": "numpy.float32",
        "KIND": "numpy.int16",
        "NUMBER": "builtins.float",
        "math": "math",
        "m": "math",
        "sqrt": "math.sqrt",
    }


def test_members_of_other_modules_become_names():
    def f(A):
        for i in range(settings.STEPS):
            A[i] = settings.doubled(settings.STEPS)

    program = build(f)
    assert program.constants == {"STEPS": 7}
    assert program.helpers == {"doubled": doubled}
    assert "doubled(STEPS)" in print_module([program.function])


def test_members_that_clash_get_a_number():
    def f(A):
        for i in range(N):
            A[i] = settings.N

    program = build(f)
    assert program.constants == {"N": 4, "N_1": 9}
    assert "A[i] = N_1" in print_module([program.function])


def test_helpers_are_read():
    def f(A):
        for i in range(len(A)):
            A[i] = doubled(A[i])

    program = build(f)
    assert program.helpers == {"doubled": doubled}
    assert isinstance(program.helper_programs["doubled"], Program)


def test_helpers_compiled_by_numba():
    class Dispatcher:
        py_func = staticmethod(doubled)

    fast_doubled = Dispatcher()

    def f(A):
        for i in range(len(A)):
            A[i] = fast_doubled(A[i])

    assert build(f).helpers == {"fast_doubled": doubled}


def test_words_of_astile():
    def f(A):
        for i in parallel(4):
            for j in block.x(4):
                A[i, j] = 0

    program = build(f)
    assert not program.imports
    assert not program.helpers
    assert "parallel(4)" in print_module([program.function])


def test_words_under_other_names_get_their_own():
    def f(A):
        for i in in_parallel(4):
            for j in words.thread.x(4):
                for k in words.unroll(2):
                    A[i, j, k] = 0

    text = text_of(f)
    assert "in parallel(4)" in text
    assert "in thread.x(4)" in text
    assert "in unroll(2)" in text


def test_locals_that_hide_words_are_renamed():
    def f(A, max_):
        max = 0.0
        len = 3
        for thread in range(len):
            max = max + A[thread]
        return max + max_

    text = text_of(f)
    assert "for thread_ in range(len_):" in text
    assert "max_1 = max_1 + A[thread_]" in text
    assert "return max_1 + max_" in text


def test_renamed_locals_keep_the_meaning():
    def f(A):
        max = A[0]
        for i in range(4):
            if A[i] > max:
                max = A[i]
        return max

    space: dict[str, Any] = {}
    exec(module_text(build(f)), space)
    values = np.array([3, 9, 2, 1])
    assert space["f"](values) == f(values) == 9


def test_sum_may_be_a_local_name():
    def f(A):
        sum = 0.0
        for i in range(len(A)):
            sum += A[i]
        return sum

    assert "sum += A[i]" in text_of(f)


def test_exceptions_of_python():
    def f(A):
        if len(A) == 0:
            raise ValueError("no values")

    assert build(f).imports == {}


# --- refuses -------------------------------------------------------------------------------------


def refusal(function: Callable[..., Any]) -> SourceError:
    with pytest.raises(SourceError) as caught:
        build(function)
    error = caught.value
    assert error.diagnostic.span is not None
    assert error.diagnostic.hints
    return error


def outside_array(A):
    A[0] = WEIGHTS[0]


def outside_list(A):
    A[0] = LIST[0]


def outside_tuple(A):
    for i in range(2):
        A[i] = PAIR[i]


def outside_none(A):
    A[0] = NOTHING


def outside_dict(A):
    A[0] = TABLE["a"]


def outside_object(A):
    A[0] = config.n


def outside_namespace(A):
    A[0] = other.n


def outside_class(A):
    A[0] = Config.n


def outside_enum(A):
    A[0] = RED


def outside_function(A):
    A[0] = pytest.approx(1)


def outside_exception(A):
    raise OwnError("x")


def outside_module(A):
    A[0] = math


@pytest.mark.parametrize(
    ("function", "says", "hint"),
    [
        (outside_array, "WEIGHTS is an array", "pass WEIGHTS as an argument"),
        (outside_list, "LIST is a list", "pass LIST as an argument"),
        (outside_tuple, "PAIR is a tuple", "pass PAIR as an argument"),
        (outside_none, "NOTHING is None", "pass NOTHING as an argument"),
        (outside_dict, "TABLE is a dict", "pass the numbers and arrays"),
        (outside_object, "config is a Config", "pass the numbers and arrays"),
        (outside_namespace, "other is a SimpleNamespace", "pass the numbers and arrays"),
        (outside_class, "Config is a class", "plain Python functions"),
        (outside_enum, "RED is a Colour", "pass the numbers and arrays"),
        (outside_exception, "OwnError is a class", "raise one of Python's own"),
        (outside_module, "math is a module", "pass the numbers and arrays"),
    ],
)
def test_values_that_must_be_arguments(function, says, hint):
    error = refusal(function)
    assert error.code == "source.outside-value"
    assert f"{says} from outside the kernel" in str(error)
    assert hint in str(error)


def elements_of_a_tuple(A):
    first, second = PAIR
    A[0] = PAIR[0] + len(PAIR)
    A[1] = PAIR[-1] * first + second


def test_elements_of_a_tuple_outside_are_constants():
    program = build(elements_of_a_tuple)
    assert program.constants == {"PAIR_0": 1, "PAIR_1": 2}
    assert "A[0] = PAIR_0 + 2" in module_text(program)
    assert "A[1] = PAIR_1 * first + second" in module_text(program)


def test_functions_of_other_packages():
    assert "does not read" in str(refusal(outside_function))  # its text holds what is refused


def test_recursion():
    def f(A, n):
        f(A, n - 1)

    assert refusal(f).code == "source.recursion"


def first(x):
    return second(x)


def second(x):
    return first(x)


def test_recursion_between_helpers():
    def f(A):
        A[0] = first(A[1])

    assert refusal(f).code == "source.recursion"


def test_a_helper_with_a_mistake_names_both_places():
    def helper(x):
        return WEIGHTS[x]

    def f(A):
        A[0] = helper(1)

    error = refusal(f)
    assert error.code == "source.outside-value"
    assert [place.label for place in error.diagnostic.related] == ["called here"]


def test_attributes_of_arguments():
    def f(A, state):
        A[0] = state.total

    def g(A):
        A[0] = A.sahpe[0]

    assert "pass state.total as an argument" in str(refusal(f))
    assert "did you mean 'shape'?" in str(refusal(g))


def test_misspelt_names():
    def f(A):
        A[0] = math.sqr(A[1])

    def g(AREA):
        AREA[0] = AREAS  # noqa: F821

    assert "did you mean 'sqrt'?" in str(refusal(f))
    assert "did you mean 'AREA'?" in str(refusal(g))


def test_a_name_without_any_near_one():
    def f(A):
        A[0] = zzyzx  # noqa: F821

    assert "define it above the kernel, or pass it as an argument" in str(refusal(f))


def test_reserved_parameters():
    def f(A, thread):
        A[0] = thread

    assert "call it thread_" in str(refusal(f))


def make_with_other_min(min):
    def f(A):
        A[0] = min(A[1], 2)

    return f


def test_reserved_names_of_the_module():
    assert "'min' is numpy.minimum here" in str(refusal(make_with_other_min(np.minimum)))


def test_random_numbers():
    def f(A):
        A[0] = np.random.rand()

    def g(A):
        A[0] = rand()

    assert "pass them as an array" in str(refusal(f))
    assert "pass them as an array" in str(refusal(g))


def test_functions_that_store_into_an_argument():
    def f(A, B):
        C = np.sqrt(A, B)
        B[0] = C[1]

    error = refusal(f)
    assert error.code == "source.hidden-store"
    assert "np.sqrt stores into its last argument" in str(error)


def test_a_name_that_is_declared_only():
    def f(A):
        N: int
        A[0] = N  # noqa: F821

    assert "never assigned" in str(refusal(f))


def test_a_closure_without_a_value_yet():
    def f(A):
        A[0] = later

    error = refusal(f)
    assert "'later' is not defined" in str(error)
    later = 1
    assert build(f).constants == {"later": later}
