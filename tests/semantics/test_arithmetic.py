"""Rows 1 to 13, and those without a number: what is computed, and in which type."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import ArgumentError, LoweringError
from astile.runtime.emulate import EmulationError
from tests.semantics import corners
from tests.semantics.agreement import TARGETS, agrees, array, outcome

zeros = np.zeros


def refused(function, *arguments, target="cpu", match):
    """A target refuses types before anything runs."""
    with pytest.raises(LoweringError, match=match) as caught:
        tile(target=target)(function)(*arguments)
    assert caught.value.diagnostic.span is not None
    return caught.value


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float32"])
def test_01_whole_division_floors(dtype):
    signed = dtype[0] != "u"
    a = array(dtype, -7, 7, -7, 6) if signed else array(dtype, 7, 7, 100, 6)
    b = array(dtype, 2, -3, -2, 4) if signed else array(dtype, 2, 3, 7, 9)
    agrees(corners.quotients, a, b, zeros(4, dtype), zeros(4, dtype))


def test_02_least_integer_divided_by_minus_one():
    least = np.iinfo(np.int32).min
    a, b = array("int32", least), array("int32", -1)
    agrees(corners.quotients, a, b, zeros(1, "int32"), zeros(1, "int32"))
    a, b = array("int64", np.iinfo(np.int64).min), array("int64", -1)
    q = zeros(1, "int64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tile(target="python")(corners.quotients)(a, b, q, q.copy())
    assert q[0] == a[0]
    tile(target="cpu")(corners.quotients)(a, b, q, q.copy())
    assert q[0] == 0  # numba's error model of NumPy has it so


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_03_whole_division_by_zero(dtype):
    agrees(
        corners.quotients, array(dtype, 1, 5, 0), zeros(3, dtype), zeros(3, dtype), zeros(3, dtype)
    )


@pytest.mark.parametrize("function", [corners.shares_of_argument, corners.remainders_by_argument])
def test_03_numbers_of_python_raise(function):
    agrees(function, 0, zeros(3), targets=("python", "cpu"))
    agrees(function, 2, zeros(3))
    agrees(function, 0, zeros(0))
    with pytest.raises(ArgumentError, match="divides by zero"):
        tile(target="emulate")(function)(0, zeros(3))


def test_03_stores_before_a_division_that_raises():
    def merged(s):
        s.merge("i#0", "i#1")

    found = [outcome(corners.filled_and_divided, [4, k, zeros(4), zeros(4)]) for k in (0, 2)]
    assert found[0].raised is ZeroDivisionError
    for target in ("python", "cpu"):
        kernel = tile(target=target, schedule=merged)(corners.filled_and_divided)
        assert [outcome(kernel, [4, k, zeros(4), zeros(4)]) for k in (0, 2)] == found


def test_03_divisors_that_data_decide():
    x, out = zeros(3), zeros(1)
    agrees(corners.shares_of_count, x, out, targets=("python", "cpu"))
    tile(target="emulate")(corners.shares_of_count)(x, out)
    assert np.isinf(out[0])
    assert outcome(tile(target="emulate")(corners.parts_of_count), [x, out]).raised is (
        EmulationError
    )


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex64"])
def test_04_division_by_zero(dtype):
    out = zeros(3, "complex64" if dtype == "complex64" else "float64")
    agrees(corners.shares, array(dtype, 1, 0, 3), array(dtype, 0, 0, 2), out)


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_05_06_narrow_integers_wrap(dtype):
    most = np.iinfo(dtype).max
    a, b = array(dtype, most, 1), array(dtype, most, 2)
    wide = [zeros(2, "uint64" if dtype[0] == "u" else "int64") for _ in range(3)]
    agrees(corners.arithmetic, a, b, *wide)


def test_07_uint64_and_signed_integers():
    a, b = array("uint64", 1, 3), array("int64", 3, 1)
    agrees(corners.differences, a, b, zeros(2))
    refused(
        corners.extremes, a, b, zeros(2), zeros(2), match="depends on the data: int64 or uint64"
    )


def test_08_integers_beyond_64_bits():
    agrees(corners.squares_of_argument, 2**40, zeros(2), targets=("python",))
    out = zeros(2)
    tile(target="cpu")(corners.squares_of_argument)(2**40, out)
    assert out.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [corners.beyond_64_bits, corners.beyond_64_bits_by_name])
def test_08_numbers_of_the_text_beyond_64_bits(function, dtype):
    low = array("uint64", 0, 5, 2**64 - 1)
    agrees(function, array(dtype, 1, -3, 2.5), low, zeros(3, dtype))
    a = array("int64", 1, 2)
    for target in ("cpu", "emulate"):
        match = "int64 does not hold 18446744073709551616"
        refused(corners.with_a_number_beyond_64_bits, a, zeros(2), target=target, match=match)


@pytest.mark.parametrize(
    "function",
    [
        corners.beside_300,
        corners.beside_minus_one,
        corners.cast_300,
        corners.store_300,
        corners.fill_300,
    ],
)
def test_08_numbers_that_a_type_does_not_hold(function):
    a = array("uint8", 1, 2, 3)
    agrees(function, a, zeros(3), targets=("python",))
    assert outcome(function, [a, zeros(3)]).raised is OverflowError
    for target in ("cpu", "emulate"):
        refused(function, a, zeros(3), target=target, match="uint8 does not hold (300|-1)")
    if function in (corners.beside_300, corners.beside_minus_one):
        agrees(function, a.astype("int16"), zeros(3))


def test_09_indices_beyond_32_bits():
    agrees(corners.far_apart, zeros(6, "int64"))


@pytest.mark.parametrize("dtype", ["int64", "uint8"])
def test_10_negative_exponents_of_integers(dtype):
    a = array(dtype, 2, 3, 100)
    for target in ("cpu", "emulate"):
        refused(
            corners.powers_by_argument, a, 3, zeros(3), target=target, match="that may be negative"
        )
    agrees(corners.powers_by_argument, a.astype("float32"), -1, zeros(3, "float32"))


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_11_squares_keep_their_type(dtype):
    agrees(corners.powers, array(dtype, 2, 3, 100), zeros(3))


@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64"])
def test_12_constants_take_the_type_beside_them(dtype):
    out = zeros(3, "complex128" if dtype == "complex64" else "float64")
    agrees(corners.scaled, array(dtype, 3, 1, 2), out)


def test_12_roots_of_small_integers():
    agrees(corners.roots, array("int16", 2, 7), zeros(2))
    agrees(corners.roots, array("int8", 2, 7), zeros(2), targets=("python", "emulate"))
    refused(corners.roots, array("int8", 2, 7), zeros(2), match="float16")


def test_12_numbers_in_where():
    x, a = array("float32", 0.3, -0.7, 2.1), array("int8", -3, 100, 7)
    agrees(corners.chosen, x, a, zeros((3, 5)))
    agrees(corners.chosen_array, x, a, zeros((3, 1)))
    for target in ("cpu", "emulate"):
        refused(corners.chosen_by_data, x, a, zeros((3, 1)), target=target, match="type of m")
        refused(corners.chosen_300, x, a, zeros((3, 1)), target=target, match="int8 does not hold")


def test_12_numbers_that_are_chosen_or_clipped():
    x, a = array("float32", 0.3, -0.7, 2.1), array("int8", -3, 100, 7)
    agrees(corners.chosen_and_clipped, x, a, zeros((3, 4)))
    agrees(corners.chosen_and_returned, x, a, zeros((3, 4)))


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("uint8", -1, 2),
        ("uint8", 1, 300),
        ("int8", -500, 300),
        ("uint64", -1, 5),
        ("float32", 0, 1),
    ],
)
def test_12_bounds_that_no_cell_reaches(dtype, low, high):
    a = np.array([[0, 1, 2], [5, 100, 127]], dtype)
    agrees(corners.clipped_between, a, low, high, zeros((2, 3)))


@pytest.mark.parametrize("function", [corners.chosen_and_changed, corners.chosen_and_widened])
@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_12_arrays_without_axes_that_are_changed_in_place(function, target):
    x, a = array("float32", 0.3, -0.7, 2.1), array("int8", -3, 1, 7)
    refused(function, x, a, zeros((3, 4)), target=target, match="array without axes")


@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_12_divisions_by_call(dtype):
    x, a = array("float32", 0.3, -0.7, 2.1), array(dtype, 9, 100, 7) - np.array(8, dtype)
    agrees(corners.divided_by_call, x, a, zeros((3, 4)), targets=["python", "cpu"])
    agrees(corners.divided_by_call, x, -a, zeros((3, 4)), targets=["python", "cpu"])


@pytest.mark.parametrize("function", [corners.divided_by_call, corners.remainders_of_rows])
def test_12_remainders_that_numba_does_not_have(function):
    x, a = array("float32", 0.3, -0.7, 2.1), array("int8", 9, 100, 7)
    refused(function, x, a, zeros((3, 4)), target="emulate", match="fmod")


def test_12_remainders_of_whole_arrays():
    x, a = array("float32", 0.3, -0.7, 2.1), array("int8", 9, 100, 7)
    agrees(corners.remainders_of_rows, x, a, zeros((3, 4)), targets=["python", "cpu"])


def test_07_uint64_compared_with_signed_integers():
    a, k = array("uint64", 2**53 + 1, 2**64 - 1, 0), array("int64", 2**53, -1, 2**53 + 2, 0)
    for n in (2**53 + 1, -5):
        agrees(corners.compared_with_signed, a, k, n, np.zeros((3, 4), np.int64))


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "float32"])
def test_08_comparisons_by_call(dtype):
    agrees(corners.compared_by_call, array(dtype, 9, 250, 0), np.zeros((3, 3)))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int16"])
def test_12_whole_numbers_that_are_rounded(dtype):
    a = array(dtype, 2**53 + 1, 2**62 + 3, 51) if dtype != "int16" else array(dtype, 51, -7, 300)
    agrees(corners.whole_numbers_rounded, a, np.zeros((3, 2), dtype), targets=["python", "cpu"])


def test_12_functions_of_narrow_numbers():
    x, a = array("float32", 0.32, -0.79, 2.11), array("int8", -128, 100, 7)
    agrees(corners.functions_of_narrow_numbers, x, a, zeros((3, 4)))
    agrees(corners.powers_and_remainders_by_call, x, a, zeros((3, 4)))
    for target in ("cpu", "emulate"):
        refused(corners.sign_of_truth_value, x, a, zeros(3), target=target, match="TypeError")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_12_numbers_spelled_as_strings(dtype):
    x, letters = array(dtype, 0.32, -0.79, 2.11), array("uint8", *b"aZz")
    agrees(corners.numbers_spelled_as_strings, x, letters, zeros((3, 3)))


@pytest.mark.parametrize("dtype", ["int16", "int32"])
def test_12_float32_and_integers(dtype):
    agrees(corners.sums, array("float32", 3, 0.1), array(dtype, 7, 1), zeros(2))


@pytest.mark.parametrize("factor", [0.1, np.float64(0.1)])
def test_12_numbers_that_are_arguments(factor):
    agrees(corners.scaled_by_argument, array("float32", 3, 0.1), factor, zeros(2))


def test_13_accumulators_have_the_type_of_what_is_added():
    x = np.random.default_rng(0).random(40).astype("float32")
    agrees(corners.total, x)
    agrees(corners.whole_total, array("uint8", 200, 200, 200), zeros(1))


def test_13_integers_of_python_are_not_squeezed():
    small = array("uint8", 1, 0, 2)
    agrees(corners.last_large, small, zeros(1))
    agrees(corners.replaced, small, -5, zeros(3))
    refused(corners.replaced_and_doubled, small, 5, zeros(3), match="depends on the data: int or u")


def test_13_a_name_has_one_type():
    empty = zeros(0, "float32")
    assert outcome(corners.total, [empty]).returned == ("float", "0.0")
    kernel = tile(target="cpu")(corners.total)
    assert outcome(kernel, [empty]).returned == ("float32", "np.float32(0.0)")


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_13_numbers_that_are_returned(dtype):
    agrees(corners.several_results, array(dtype, 1, 0, 4))
    agrees(corners.first_large, array(dtype, 1, 0, 4), targets=("python",))
    plain = corners.first_large(array(dtype, 1, 0, 4))
    found = tile(target="cpu")(corners.first_large)(array(dtype, 1, 0, 4))
    assert found == plain


@pytest.mark.parametrize(
    ("source", "kind"), [("int64", "uint8"), ("float64", "int32"), ("float64", "bool")]
)
def test_stores_into_other_types(source, kind):
    agrees(corners.stored, array(source, 300, 0, 1, -5), zeros(4, kind))


@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_floating_point_numbers_wrap_in_integers(target):
    a = array("float64", -1.5, -7, -300, 3, 255, 300, 70000, -70000, 5e8, -5e8, 9, 8, 7, 6, 5, -3)
    kinds = ("uint8", "int16", "uint32", "uint64", "int64")
    arguments = [a, *(zeros(len(a), each) for each in kinds)]
    agrees(corners.wrapped, *arguments, targets=(target,))
    if target == "cpu":
        agrees(corners.wrapped, *arguments, targets=("cpu",), schedule=lambda s: s.vectorize("i"))


def test_truncation():
    agrees(corners.truncated, array("float32", -1.7, 1.7), zeros(2, "int64"))
    agrees(corners.converted, array("uint8", 7, 200), zeros(2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_stored_into_integers(value):
    a, out = array("float64", value), zeros(1, "int32")
    assert outcome(corners.stored, [a, out]).raised in (ValueError, OverflowError)
    agrees(corners.stored, a, out, targets=("python",))
    assert re.search("Error in thread", _message(corners.stored, a, out))
    tile(target="cpu")(corners.stored)(a, out)
    assert out[0] == np.iinfo("int32").min  # the machine's choice


@pytest.mark.parametrize("schedule", [None, lambda s: s.vectorize("i")])
@pytest.mark.parametrize(("function", "wanted"), [(corners.moved, 49), (corners.filled, 44)])
def test_integers_of_python_that_are_not_held(function, wanted, schedule):
    a, out = array("uint8", 5), zeros(1, "uint8")
    assert outcome(function, [a, 300, out]).raised is OverflowError
    agrees(function, a, 300, out, targets=("python",))
    agrees(function, a, 30, out, schedule=schedule)
    for target in ("cpu", "emulate"):
        tile(target=target, schedule=schedule)(function)(a, 300, out)
        assert out[0] == wanted


@pytest.mark.parametrize("schedule", [None, lambda s: s.vectorize("i")])
@pytest.mark.parametrize(
    ("function", "value", "wanted"),
    [
        (corners.logarithms, -1.0, np.nan),
        (corners.exponentials, 1e3, np.inf),
        (corners.roots_by_math, -1.0, np.nan),
    ],
)
def test_functions_of_math_that_raise(function, value, wanted, schedule):
    a = array("float64", value)
    assert outcome(function, [a, zeros(1)]).raised in (ValueError, OverflowError)
    agrees(function, a, zeros(1), targets=("python",))
    for target in ("cpu", "emulate"):
        out = zeros(1)
        tile(target=target, schedule=schedule)(function)(a, out)
        np.testing.assert_array_equal(out, [wanted])


def test_extremes_of_empty_arrays():
    agrees(corners.extreme_cells, array("float64", 1, 3, 2), zeros(1), targets=("python", "cpu"))
    agrees(corners.extreme_cells, zeros(0), zeros(1), targets=("python", "cpu"))
    with pytest.raises(EmulationError, match="max"):
        tile(target="emulate")(corners.extreme_cells)(zeros(0), zeros(1))


def test_means_of_nothing_that_are_counted():
    agrees(corners.mean_of_counted, array("float64", 1, 3, 2), zeros(1))
    agrees(corners.mean_of_counted, zeros(0), zeros(1), targets=("python",))
    for target in ("cpu", "emulate"):
        out = zeros(1)
        tile(target=target)(corners.mean_of_counted)(zeros(0), out)
        assert np.isnan(out[0])


def _message(function, *arguments):
    with pytest.raises(Exception, match="cannot convert") as caught:
        tile(target="emulate")(function)(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_shifts_by_more_than_the_width(dtype):
    a, b = array(dtype, 1, 5, 100), array(dtype, 70, 2, 33)
    agrees(corners.shifted, a, b, zeros(3, dtype), zeros(3, dtype))


def test_shifts_by_negative_counts():
    for plain in (corners.shifted_by_argument, tile(target="python")(corners.shifted_by_argument)):
        with pytest.raises(ValueError, match="negative shift count"):
            plain(-1, zeros(3))
    for target in ("cpu", "emulate"):
        out = np.ones(3)
        tile(target=target)(corners.shifted_by_argument)(-1, out)
        assert not out.any()


def test_powers_of_nothing():
    out = zeros(2)
    for target in ("python", "emulate"):
        with pytest.raises(ZeroDivisionError):
            tile(target=target)(corners.powers_of_nothing)(-1.0, out)
    tile(target="cpu")(corners.powers_of_nothing)(-1.0, out)
    assert np.isinf(out).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_whole_numbers_of_what_has_none(value):
    function, x = corners.whole_numbers, np.array([value])
    for plain in (function, tile(target="python")(function)):
        with pytest.raises((ValueError, OverflowError)):
            plain(x, zeros(1), zeros(1), zeros(1))
    with pytest.raises(EmulationError):
        tile(target="emulate")(function)(x, zeros(1), zeros(1), zeros(1))
    agrees(function, np.array([1e300]), zeros(1), zeros(1), zeros(1), targets=("python",))
    tile(target="cpu")(function)(x, zeros(1), zeros(1), zeros(1))  # any integer, and no exception


def test_negative_numbers_shifted():
    a, b = array("int64", -8, 5, -1), array("int64", 70, -1, 3)
    agrees(corners.shifted, a, b, zeros(3, "int64"), zeros(3, "int64"))


def test_sums_of_truth_values():
    a, b = array("bool", 1, 0, 1), array("bool", 1, 0, 0)
    agrees(corners.sums, a, b, zeros(3, "int64"))
    agrees(corners.comparisons, array("int8", 1, 0, 1), array("int8", 1, 0, 0), zeros(3, "int64"))


@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_what_numpy_does_not_define(target):
    flags, out = array("bool", 1, 0), zeros(2)
    cases = [
        (corners.negatives, (flags, out)),
        (corners.differences, (flags, flags, out)),
        (corners.complements, (zeros(2), out)),
        (corners.shifted, (zeros(2, "uint64"), zeros(2, "int64"), out, out.copy())),
    ]
    for function, arguments in cases:
        assert outcome(function, arguments).raised is TypeError
        refused(function, *arguments, target=target, match="raises a TypeError")


def test_read_only_arrays():
    frozen = array("float64", 1, 2)
    frozen.flags.writeable = False
    agrees(corners.stored, frozen, zeros(2))
    out = zeros(2)
    for target in TARGETS:
        with pytest.raises(ValueError, match="read-only") as caught:
            tile(target=target)(corners.stored)(out, frozen)
        assert type(caught.value).__name__ == "ArgumentError"


def test_step_zero():
    x = array("float64", 1, 2, 3)
    agrees(corners.stepped, x, 0, zeros(3), targets=("python", "cpu"))
    with pytest.raises(Exception, match="must not be zero"):
        tile(target="emulate")(corners.stepped)(x, 0, zeros(3))
    for step in (1, 2, -1):
        agrees(corners.stepped, x, step, zeros(3), targets=("python", "emulate"))


def test_04_numbers_of_numpy_do_not_raise():
    agrees(corners.scaled_by_reciprocal, array("float32", 1, 0), np.float32(0), zeros(2))
