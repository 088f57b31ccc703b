"""What values of the module become in printed programs."""

from __future__ import annotations

import cmath
import math

import numpy as np
import pytest

from astile import loops
from astile.frontend.values import (
    Frozen,
    Helper,
    Imported,
    Module,
    Word,
    fills_argument,
    is_builtin,
    meaning,
)


def plain(x):
    return x


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, Frozen(3)),
        (True, Frozen(True)),
        (-0.5, Frozen(-0.5)),
        (2j, Frozen(2j)),
        ("same", Frozen("same")),
        (np.float32(0.5), Frozen(np.float32(0.5))),
        (np.False_, Frozen(False)),
        (np.float32, Imported("numpy.float32")),
        (np.dtype("float64"), Imported("numpy.float64")),
        (np.sqrt, Imported("numpy.sqrt")),
        (np.zeros, Imported("numpy.zeros")),
        (math.sqrt, Imported("math.sqrt")),
        (cmath.exp, Imported("cmath.exp")),
        (int, Imported("builtins.int")),
        (abs, Imported("builtins.abs")),
        (plain, Helper(plain)),
        (math, Module(math)),
        (loops.block, Word("block")),
        (loops.parallel, Word("parallel")),
    ],
)
def test_meaning(value, expected):
    found = meaning(value)
    assert found == expected
    if isinstance(expected, Frozen):
        assert isinstance(found, Frozen)
        assert type(found.value) is type(expected.value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        [1],
        (1, 2),
        {},
        np.zeros(2),
        np.longdouble(1),
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "s"),
        object(),
        KeyError("x"),
        b"text",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_meaning(value):
    assert meaning(value) is None


def test_is_builtin():
    assert is_builtin("max", max)
    assert not is_builtin("max", np.maximum)
    assert not is_builtin("sqrt", math.sqrt)


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (np.sqrt, 1, False),
        (np.sqrt, 2, True),
        (np.add, 2, False),
        (np.add, 3, True),
        (np.cumsum, 2, False),
        (np.cumsum, 4, True),
        (np.clip, 3, False),
        (np.clip, 4, True),
        (np.where, 3, False),
        (np.zeros, 2, False),
        (max, 5, False),
        (math.hypot, 2, False),
        (plain, 3, False),
        (None, 2, False),
    ],
)
def test_fills_argument(function, given, expected):
    assert fills_argument(function, given) is expected
