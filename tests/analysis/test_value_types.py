from __future__ import annotations

import numpy as np
import pytest

from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.verdicts import Proved
from astile.errors import ScheduleError
from astile.schedule.schedule import Schedule
from tests.support.hints import hinted
from tests.support.programs import program_from

ORIGINAL = """
def f(x, y, z, out):
    n = len(out)
    for i in range(n):
        s = {start}
        for k in range(3):
            s {update}
        out[i] = s
"""
EXPANDED = """
def f(x, y, z, out):
    n = len(out)  # 0:
    for i in range(n):
        t = local.empty(1, {dtype})
        t[0] = {start}  # 1: i
        for k in range(3):
            t[0] {update}  # 2: i, k
        out[i] = t[0]  # 3: i
"""


def accepted(start: str, update: str, dtype: str) -> bool:
    original = program_from(ORIGINAL.format(start=start, update=update))
    new = hinted(EXPANDED.format(start=start, update=update.replace("s ", "t[0] "), dtype=dtype))
    return isinstance(compare(original, new), Proved)


@pytest.mark.parametrize(
    ("start", "update", "dtype"),
    [
        ("0.0", "+= x[i, k] * y[k]", "np.result_type(0.0, x, y)"),
        ("0.0", "+= x[i, k] * y[k]", "np.result_type(y, x, 0.0)"),
        ("x[i, 0]", "+= x[i, k]", "x.dtype"),
        ("np.float64(0)", "+= np.float64(x[i, k])", "np.float64"),
        ("-np.inf", "= max(s , x[i, k])", "np.result_type(0.0, x)"),
        ("0.0", "+= x[i, k] * 0.1 + y[k]", "np.result_type(0.0, np.result_type(0.0, x), y)"),
        ("0.0", "= s * x[i, k] + y[k]", "np.result_type(0.0, np.result_type(x, 0.0), y)"),
        ("0", "+= x[i, k] * y[k] + z[k]", "np.result_type(0, np.result_type(x, y), z)"),
        ("np.float32(0)", "+= x[i, k] * 0.5", "np.result_type(np.float32, np.result_type(0.0, x))"),
        ("0.0", "+= np.exp(x[i, k])", "np.result_type(0.0, x, np.float16)"),
        ("0.0", "+= np.sqrt(x[i, k] * 0.5)", "np.result_type(0.0, x)"),
    ],
)
def test_a_cell_of_the_type_that_the_scalar_has(start, update, dtype):
    assert accepted(start, update, dtype)


@pytest.mark.parametrize(
    ("start", "update", "dtype"),
    [
        ("0.0", "+= x[i, k] * y[k]", "np.float32"),
        ("0.0", "+= x[i, k] * y[k]", "x.dtype"),
        ("0.0", "+= x[i, k] * y[k]", "np.result_type(0.0, x)"),
        ("0.0", "+= x[i, k]", "np.result_type(0, x)"),
        ("0.1", "+= x[i, k] * y[k]", "np.float64"),
        ("x[i, 0]", "+= y[k]", "np.result_type(x, y)"),  # the start is only of x's type
        ("x[i, 0]", "+= x[i, k] / 2", "x.dtype"),
        ("-1", "+= x[i, k]", "np.result_type(0, x)"),  # no unsigned type holds -1
        ("100.015625", "+= x[i, k]", "np.result_type(0.0, x)"),  # float16 does not hold it
        ("g(x[i, 0])", "+= x[i, k]", "x.dtype"),
        ("np.inf", "= min(s , x[i, k])", "x.dtype"),  # no integer type holds it
        ("0.058823529411764705", "+= x[i, k]", "np.result_type(0.0, x)"),
        ("max(x[i, 0], y[0])", "+= x[i, k]", "np.result_type(x, y)"),  # it is one of the two
        ("0.0", "+= x[i, k] * 0.1 + y[k]", "np.result_type(0.0, x, y)"),  # uint8, then float32
        ("0.0", "= s * x[i, k] + y[k]", "np.result_type(0.0, x, y)"),
        ("0", "+= x[i, k] * y[k] + z[k]", "np.result_type(0, x, y, z)"),  # int16, uint16, float32
        ("np.float32(0)", "+= x[i, k] * 0.5", "np.result_type(0.0, np.float32, x)"),
        ("0.0", "+= np.exp(x[i, k])", "x.dtype"),  # of uint8 it is a float16
        ("0.0", "+= np.floor(x[i, k])", "np.result_type(0.0, x)"),
        ("0.0", "+= math.exp(x[i, k])", "np.float64"),  # one of NumPy's is no number of Python
    ],
)
def test_a_cell_of_another_type_is_refused(start, update, dtype):
    assert not accepted(start, update, dtype)


def test_a_typed_start_shows_only_where_the_sum_is_computed_with():
    start, update, dtype = "np.float32(0)", "+= x[i, k]", "np.result_type(np.float32, x)"
    assert accepted(start, update, dtype)
    original = ORIGINAL.format(start=start, update=update)
    new = EXPANDED.format(start=start, update=update, dtype=dtype)
    for used in ("{} * z[i]", "{} + {}", "-{}"):
        first = original.replace("= s\n", f"= {used.format('s', 's')}\n")
        second = new.replace("= t[0]  #", f"= {used.format('t[0]', 't[0]')}  #")
        found = compare(program_from(first), hinted(second))
        assert not isinstance(found, Proved)


SCALED = """
def f(x, y):
    n, m = x.shape
    w = {weight}
    for i in range(n):
        s = x[i, 0] * {factor}
        y[i] = s
"""


@pytest.mark.parametrize(("weight", "factor"), [("2", "w"), ("0.5", "w"), ("2", "m")])
def test_numbers_of_python_by_name_are_weak(weight, factor):
    s = Schedule(program_from(SCALED.format(weight=weight, factor=factor)))
    s.expand("s", "i")
    number = "0.0" if weight == "0.5" else "0"
    assert f"np.result_type({number}, x)" in s.source()


def test_a_name_of_two_kinds_of_numbers_has_no_type():
    text = SCALED.format(weight="2", factor="w").replace("    for i", "    w = 0.5 * n\n    for i")
    with pytest.raises(ScheduleError) as caught:
        Schedule(program_from(text)).expand("s", "i")
    assert caught.value.code == "schedule.unknown-type"


def test_types_are_joined_in_the_order_of_the_arithmetic():
    text = """
def f(x, y, out):
    for i in range(len(out)):
        t = x[i] * 0.1 + y[i]
        out[i] = t * 3
"""
    s = Schedule(program_from(text))
    s.expand("t", "i")
    x, y = np.arange(200, 204, dtype=np.uint8), np.float32(1) / np.arange(1, 5, dtype=np.float32)
    wanted, got = np.zeros(4), np.zeros(4)
    Schedule(program_from(text)).build(target="python")(x, y, wanted)
    for target in ("python", "emulate"):
        s.build(target=target)(x, y, got)
        assert np.array_equal(wanted, got), target
