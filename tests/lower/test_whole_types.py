"""Arithmetic on whole arrays that are no loops: computed in NumPy's types, not in numba's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from astile import LoweringError
from astile.frontend.build import as_written
from astile.frontend.text import function_of
from astile.lower.parameters.uses import uses
from astile.runtime import arguments
from astile.runtime.specialize import Specializer


def compiled(value: str, x: Any, y: Any) -> tuple[Any, Any]:
    """What the plain function gives, and the same compiled as it is written."""
    plain = function_of(f"import numpy as np\ndef f(x, y):\n    return {value}\n", "f")
    program = replace(as_written(plain), ranks={"x": 1, "y": 1})
    known = uses(program)
    checked = arguments.check(known, (), {"x": x, "y": y}, "cpu")
    made = Specializer(program, lambda: program, "cpu", known)
    return plain(x, y), made.launcher(checked.types)(checked)


@pytest.mark.parametrize(
    ("value", "first", "second"),
    [
        ("x + y", "int64", "float32"),
        ("x - y", "int32", "float32"),
        ("x * y", "uint8", "int8"),
        ("x / y", "int16", "int16"),
        ("x // y", "float32", "int16"),
        ("x % y", "float32", "int64"),
        ("x / 2", "int16", "int16"),
        ("x * 0.5", "int64", "int64"),
        ("x * 2 + 1 - y", "bool", "float32"),
        ("np.maximum(x, y)", "float32", "int64"),
        ("np.where(x > 1, x, y)", "int64", "float32"),
        ("x < y", "int64", "float32"),
        ("x < 300", "uint8", "uint8"),
        ("x > -1", "uint16", "uint8"),
        ("x != 1.5", "float32", "uint8"),
        ("x < y", "int8", "uint8"),
        ("np.sqrt(x)", "int64", "int64"),
        ("x + 1", "uint8", "uint8"),
    ],
)
def test_types_are_those_of_numpy(value, first, second):
    big = 2.0**24 if first == "int64" else 1.0
    x = (np.array([1, 3, 2, 0]) * big + (big > 1)).astype(first)
    wanted, found = compiled(value, x, np.array([2, 1, 3, 5]).astype(second))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("value", "first"), [("x ** 2", "bool"), ("x < y", "uint64")])
def test_what_numba_computes_otherwise_is_refused(value, first):
    with pytest.raises(LoweringError, match="as NumPy does it"):
        compiled(value, np.ones(3, first), np.ones(3, np.int64))


def test_a_type_that_is_not_known_is_refused():
    with pytest.raises(LoweringError, match="computed with, is not known"):
        compiled("x + np.roll(y, 1)[1:]", np.ones(1), np.ones(2))
