"""Between which integers a value lies: by its type and by what made it, whatever the data are."""

from __future__ import annotations

import ast

import pytest

from astile.ir import query
from astile.lower.types.value_ranges import ValueRanges
from tests.support.programs import program_from

INT64 = (-(2**63), 2**63 - 1)


def range_of(index: str, dtype: str = "int64", before: str = "") -> tuple[int, int] | None:
    """The range of the index of the one access of `c`."""
    text = f"import numpy as np\ndef f(x, c):\n    for i in range(len(x)):\n{before}"
    program = program_from(text + f"        c[{index}] = 0\n")
    [access] = [e for e in query.accesses(program.function) if isinstance(e.ctx, ast.Store)]
    return ValueRanges(program, {"x": dtype, "c": "int64"}).of(access.slice)


@pytest.mark.parametrize(
    ("dtype", "ends"),
    [
        ("uint8", (0, 255)),
        ("int8", (-128, 127)),
        ("uint16", (0, 65535)),
        ("int64", INT64),
        ("uint64", (0, 2**64 - 1)),
        ("float32", None),
        ("bool", None),  # a mask
    ],
)
def test_types(dtype: str, ends: tuple[int, int] | None) -> None:
    assert range_of("x[i]", dtype) == ends


@pytest.mark.parametrize(
    ("index", "dtype", "ends"),
    [
        ("x[i] % 7", "int64", (0, 6)),
        ("x[i] % -7", "int64", INT64),
        ("x[i] % 7 % 9", "int64", (0, 6)),
        ("x[i] & 15", "int64", (0, 15)),
        ("x[i] & -16", "int64", INT64),
        ("x[i] >> 2", "int8", (-32, 31)),
        ("x[i] // 3", "int8", (-43, 42)),
        ("x[i] // (i - 5)", "int64", INT64),
        ("(x[i] & 5) | 8", "int64", (0, 15)),
        ("(x[i] & 3) << 2", "int64", (0, 12)),
        ("(x[i] & 3) * 4 - (x[i] & 1)", "int64", (-1, 12)),
        ("min(x[i], 5)", "int64", (INT64[0], 5)),
        ("max(0, min(x[i], 5))", "int64", (0, 5)),
        ("-int(x[i])", "int8", (-127, 128)),
        ("abs(int(x[i]))", "int8", (0, 128)),
        ("int(x[i]) + 1", "uint8", (1, 256)),
        ("int(x[i] > 0) + int(x[i] > 5)", "int64", (0, 2)),
        ("int(x[i])", "float64", INT64),
        ("(x[i] & 3) if x[i] > 3 else 9", "int64", (0, 9)),
    ],
)
def test_what_is_computed(index: str, dtype: str, ends: tuple[int, int]) -> None:
    assert range_of(index, dtype) == ends


@pytest.mark.parametrize("index", ["x[i] + 1", "x[i] - 1", "x[i] * 2", "-x[i]", "x[i] << 1"])
def test_what_wraps_around_may_be_anything_of_its_type(index: str) -> None:
    assert range_of(index, "uint8") == (0, 255)
    assert range_of(index, "int8") == (-128, 127)


def test_names_hold_all_that_they_are_set_to() -> None:
    either = "        b = x[i] & 3\n        if x[i] > 4:\n            b = 9\n"
    assert range_of("b", before=either) == (0, 9)
    assert range_of("b", before="        b = x[i] & 3\n        b += 1\n") == INT64
    again = "        b = x[i]\n        b = min(max(b, 0), 5)\n"
    assert range_of("b", before=again) == (0, 5)
    kept = "        if i == 0:\n            b = 3\n        b = max(b - 1, 0)\n"
    assert range_of("b", before=kept) == (0, INT64[1])
    assert range_of("k", before="        for k in range(2, x[i] & 7):\n            pass\n") == (
        2,
        6,
    )
    assert range_of("k", before="        for k in range(7, 2, -1):\n            pass\n") == (
        3,
        7,
    )
