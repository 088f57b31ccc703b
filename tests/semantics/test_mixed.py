"""Types that depend on the data: the plain program's values, or a refusal that says which types."""

from __future__ import annotations

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import LoweringError
from tests.semantics import mixed
from tests.semantics.agreement import agrees, array, outcome

WIDE = (1e10, 0.1, 5.0, 0.3, 0.9)
NARROW = (1 / 3, 0.7, 3.3, 0.1, 0.1)


def cells():
    """A float64 array, a float32 array that holds 0.1 too, and place for results."""
    return array("float64", *WIDE), array("float32", *NARROW), np.zeros(5)


def test_13_types_that_do_not_depend_on_what_the_data_choose():
    d, s, _ = cells()
    tests = np.zeros((5, 4), bool)
    agrees(mixed.known_everywhere, d, s, np.zeros((5, 7)), np.zeros(5, "float32"), tests)


def test_13_a_name_may_have_another_type_later():
    d, s, _ = cells()
    agrees(mixed.names_used_again, d, s, np.zeros((5, 3)))


@pytest.mark.parametrize("values", [NARROW, ()])
def test_13_literals_that_every_use_rounds(values):
    s, kernel = array("float32", *values), tile(target="cpu")(mixed.largest)
    out, wanted = np.zeros(len(s)), np.zeros(len(s))
    assert kernel(s, out) == mixed.largest(s, wanted)
    assert out.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("function", "types"),
    [
        (mixed.least_of_two_types, "m depends on the data: float32 or float64"),
        (mixed.literal_or_cell, "y depends on the data: float or float32"),
        (mixed.literal_at_first, "y depends on the data: float or float32"),
        (mixed.wide_or_literal, "y depends on the data: float or float64"),
        (mixed.products_of_both, "y depends on the data: float or float32"),
        (mixed.updated, "m depends on the data: float32 or float64"),
        (mixed.roots, "else 0.1 depends on the data: float or float32"),
        (mixed.compared, "y depends on the data: float or float32"),
        (mixed.limited, r"max\(.*\) depends on the data: float or float32"),
        (mixed.bounded, r"max\(.*\) depends on the data: float or float64"),
        (mixed.bounded_by_name, "m depends on the data: float64 or int"),
        (mixed.handed_over, "else 0.1 depends on the data: float or float32"),
        (mixed.handed_back, r"_picked\(.*\) depends on the data: float or float32"),
    ],
)
def test_13_types_that_depend_on_the_data(function, types):
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match=types) as caught:
            tile(target=target)(function)(*cells())
        assert caught.value.diagnostic.span is not None
    agrees(function, *cells(), targets=("python",))


def test_13_integers_of_python_that_narrow_what_is_beside_them():
    wide, narrow = array("int64", 1, 9), array("int8", 100, 100)
    with pytest.raises(LoweringError, match="depends on the data: int or int64"):
        tile(target="cpu")(mixed.bounded_integer)(wide, narrow, np.zeros(2, "int64"))


def test_13_automatic_targets_keep_the_type():
    plain = outcome(mixed.literal_or_cell, cells())
    kernel = tile(target="auto")(mixed.literal_or_cell)
    with pytest.warns(Warning, match="y depends on the data"):
        kernel(*cells())
    assert outcome(kernel, cells()) == plain


def test_13_numbers_of_python_that_the_data_choose():
    s = array("float32", 2.3, 0.0)
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match="y depends on the data") as caught:
            tile(target=target)(mixed.exact_literal)(s, np.zeros(2))
        assert caught.value.diagnostic.hints[0].startswith("write np.float32(0.5)")
    agrees(mixed.exact_literal, s, np.zeros(2), targets=("python",))
    agrees(mixed.exact_literal_beside_float32, s, np.zeros(2))


def refused(function, *arguments, match):
    """Both kinds of targets refuse the types, and Python runs them."""
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match=match):
            tile(target=target)(function)(*arguments)
    agrees(function, *arguments, targets=("python",))


def test_13_integers_of_python_that_the_data_choose():
    x, k = array("int8", 100, 100), array("int64", 3, 9)
    refused(mixed.integer_or_long, x, k, np.zeros(2, "int64"), match="m depends .* int or int64")
    agrees(mixed.integer_or_long_kept, x, k, np.zeros(2, "int64"))
    refused(mixed.magnitudes, x, k, np.zeros(2, "int64"), match="depends .* int64 or int8")


def test_13_loops_that_may_have_no_iteration():
    p, s, out = array("int64", 0, 0, 2, 3), array("float32", 0.7, 0.1, 1 / 3), np.zeros(3)
    refused(mixed.shifted_sums, p, s, out, match="total depends on the data: float or float32")
    agrees(mixed.scaled_sums, p, s, out)
    agrees(mixed.shifted_sums, p, s, np.zeros(3, "float32"))
    agrees(mixed.shifted_sums_of_two, p, s, 0.1, np.zeros(3, "float32"))
    args = (p, s, 0.1, out)
    refused(mixed.shifted_sums_of_two, *args, match="depends on the data: float or float32")


def test_13_integers_of_python_beside_real_numbers():
    d, out = array("float64", 0.5, 1e300), np.zeros(2, "int64")
    agrees(mixed.limited_by_argument, d, 255, out)
    agrees(mixed.limited_by_argument, d, 2**53 + 1, out, targets=("python",))
    tile(target="cpu")(mixed.limited_by_argument)(d, 2**53 + 1, out)
    assert out.tolist() == [0, 2**53]


def test_13_names_that_would_round_integers():
    k = array("int64", 2**53 + 1, 3)
    refused(mixed.largest_by_condition, k, np.zeros(1, "int64"), match="m depends on the data")
    agrees(mixed.replaced_by_half, k, np.zeros(2))


@pytest.mark.parametrize(
    "function",
    [
        mixed.largest_of_integers_and_reals,
        mixed.integer_or_real,
        mixed.integer_or_real_by_name,
    ],
)
def test_13_integers_that_a_real_number_would_round(function):
    k, s, out = np.full(2, 2**53 + 1), array("float32", 0.5, 2.0), np.zeros(2, np.int64)
    for target in ("cpu", "emulate"):
        with pytest.raises(LoweringError, match="depends on the data: float32 or int64"):
            tile(target=target)(function)(k, s, out)
    agrees(function, k, s, out, targets=("python",))


def test_13_what_a_device_computes_in_more_bits():
    h, g = array("float16", 1.5, 7.3, 9.1), array("float16", 0.7, 0.3, 2.3)
    agrees(mixed.rests_of_half, h, g, np.zeros((3, 4)), targets=("emulate",))


def test_truth_values_as_indices():
    x, counts = array("float32", 1.5, -2.0), np.zeros(2, "int64")
    refused(mixed.cells_of_truth_values, x, counts, match="the index is_large is a truth value")
    flags, table = np.array([True, False, True]), array("float64", 0.5, 0.25)
    agrees(mixed.cells_of_flags, flags, table, np.zeros(3))


def test_comparisons_of_rows_are_masks():
    x = np.arange(-5.0, 7.0).reshape(3, 4)
    agrees(mixed.rows_cut_off_at_zero, x, np.zeros((3, 4)), targets=("cpu",))


def test_whole_parts_are_integers():
    values = -0.0, -0.3, 2.5, 7.0
    agrees(mixed.whole_parts, array("float64", *values), np.ones(4))
    for dtype in ("float64", "float32"):
        agrees(mixed.below, array(dtype, *values), np.ones(4, dtype))
