"""Arguments are checked before anything runs: what was found, what is expected, where it shows."""

import ast
import textwrap

import numpy as np
import pytest

from astile.errors import ArgumentError
from astile.ir.program import Program
from astile.lower.parameters.uses import uses
from astile.runtime.arguments import check
from astile.runtime.arrays import array_facts, overlaps, overlaps_itself
from astile.source import SourceFile

CONV = """
def conv(x, weights, out, n, scale):
    for i in range(n):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j] * weights[0] * scale
"""


def uses_of(text: str, **ranks: int):
    text = textwrap.dedent(text).lstrip()
    return uses(Program(ast.parse(text).body[0], SourceFile("kernels.py", text), ranks=ranks))


def arguments(**changed):
    values = {
        "x": np.zeros((4, 5)),
        "weights": np.zeros(3),
        "out": np.zeros((4, 5)),
        "n": 4,
        "scale": 2.0,
    }
    return values | changed


class OnDevice:
    """An array as a GPU library shows it; its memory is never touched."""

    def __init__(self, shape, dtype, address, strides=None, readonly=False):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (address, readonly),
            "strides": strides,
            "version": 3,
        }


class AtMost:
    """The condition ``argument n <= out.shape[0]``."""

    span = None
    lookups = (("n", None), ("out", 0))

    def holds(self, shapes, ints):
        return ints["n"] <= shapes["out"][0]

    def message(self, shapes, ints):
        return f"out[{ints['n'] - 1}] is outside of axis 0 of 'out', size {shapes['out'][0]}"


# --- accepts ------------------------------------------------------------------------------------


def test_values_types_and_arrays():
    checked = check(uses_of(CONV), [AtMost()], arguments(n=np.int32(4)), "cpu")
    arrays = {"x": "float64", "weights": "float64", "out": "float64"}
    assert checked.types == {**arrays, "n": "int", "scale": "float"}
    assert type(checked.values["n"]) is int
    assert list(checked.arrays) == ["x", "weights", "out"]
    assert checked.overlaps == ()


@pytest.mark.parametrize(
    "dtype",
    ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"],
)
def test_dtypes(dtype):
    found = check(uses_of(CONV), [], arguments(x=np.zeros((4, 5), dtype)), "cpu")
    assert found.types["x"] == {"bool": "bool_"}.get(dtype, np.dtype(dtype).name)


def test_numpy_scalars_keep_their_type():
    found = check(uses_of(CONV), [], arguments(scale=np.float32(2)), "cpu")
    assert isinstance(found.values["scale"], np.float32)


def test_strided_and_broadcast_inputs_and_empty_arrays():
    check(uses_of(CONV), [], arguments(x=np.zeros((8, 10))[::2, ::-2]), "cpu")
    check(uses_of(CONV), [], arguments(x=np.broadcast_to(np.float64(1), (4, 5))), "cpu")
    empty = np.zeros((0, 5))
    check(uses_of(CONV), [], arguments(x=empty, out=empty, n=0), "cpu")


def test_big_integers_in_plain_python():
    assert check(uses_of(CONV), [], arguments(n=1 << 70), "python").values["n"] == 1 << 70


# --- refuses ------------------------------------------------------------------------------------


REFUSED = {
    "list": ({"x": [[1.0]]}, "'x' is a list; expected a numpy.ndarray"),
    "none": ({"x": None}, "'x' is None"),
    "scalar for array": ({"x": 1.0}, "'x' is a float"),
    "object": ({"x": np.zeros((4, 5), object)}, "an array of object"),
    "structured": ({"x": np.zeros((4, 5), [("a", "f4")])}, "an array of"),
    "text": ({"x": np.zeros((4, 5), "U3")}, "an array of"),
    "dates": ({"x": np.zeros((4, 5), "M8[s]")}, "an array of datetime64"),
    "longdouble": ({"x": np.zeros((4, 5), np.longdouble)}, "an array of float128|longdouble"),
    "byte order": ({"x": np.zeros((4, 5), ">f8")}, "foreign byte order"),
    "masked": ({"x": np.ma.zeros((4, 5))}, "a MaskedArray; expected a plain numpy.ndarray"),
    "rank": ({"x": np.zeros(5)}, r"shape \(5,\), dtype float64; expected 2 axes"),
    "rank 1": ({"weights": np.zeros((3, 1))}, "expected 1 axis: the function uses 1 index"),
    "zero axes": ({"weights": np.zeros(())}, "an array without axes, dtype float64; expected 1"),
    "zero axes for number": ({"scale": np.array(2.0)}, "array without axes; expected a number"),
    "zero axes for integer": ({"n": np.array(2)}, "array without axes; expected a number"),
    "array for number": ({"scale": np.zeros(3)}, "expected a number"),
    "array for integer": ({"n": np.zeros(3, int)}, "expected an integer"),
    "text for number": ({"scale": "2"}, "'scale' is a str; expected a number"),
    "float for integer": ({"n": 4.0}, "'n' is 4.0; expected an integer"),
    "too wide": ({"n": 1 << 63}, "an integer of 64 bits on target 'cpu'"),
    "one cell many times": ({"out": np.lib.stride_tricks.as_strided(np.zeros(5), (4, 5), (0, 8))},
                            "several indices share one cell"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    changed, message = REFUSED[case]
    with pytest.raises(ArgumentError, match=message) as caught:
        check(uses_of(CONV, out=2), [], arguments(**changed), "cpu")
    (name,) = changed
    assert f"argument {name!r}" in str(caught.value)
    assert "kernels.py:" in str(caught.value)
    assert caught.value.diagnostic.hints
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "value",
    [
        [[1.0]],
        np.zeros((4, 5), object),
        np.zeros((4, 5), ">f8"),
        np.lib.stride_tricks.as_strided(np.zeros(5), (4, 5), (0, 8)),
    ],
    ids=["list", "object", "byte order", "one cell many times"],
)
def test_a_copy_to_be_written_is_where_the_result_is_read(value):
    for name in ("x", "out"):
        try:
            check(uses_of(CONV, out=2), [], arguments(**{name: value}), "cpu")
        except ArgumentError as error:
            [hint] = error.diagnostic.hints
            assert ("read the result there" in hint) == (name == "out")
        else:
            assert name == "x"  # cells that are one may be read


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (None, "pass an array, such as np.zeros((..., ...))"),
        (1.5, "pass an array that holds it, np.full((..., ...), x)"),
        ([[1.0]], "pass np.asarray(x)"),
    ],
    ids=["none", "number", "list"],
)
def test_what_to_pass_in_place_of_what_is_no_array(value, hint):
    with pytest.raises(ArgumentError) as caught:
        check(uses_of(CONV, out=2), [], arguments(x=value), "cpu")
    assert caught.value.diagnostic.hints == (hint,)


def test_the_number_in_an_array_without_axes_is_what_to_pass():
    for value, hint in ((np.array(2.0), "scale[()]"), (OnDevice((), "f8", 64), "scale.item()")):
        with pytest.raises(ArgumentError, match="without axes") as caught:
            check(uses_of(CONV), [], arguments(scale=value), "cpu")
        assert hint in caught.value.diagnostic.hints[0]


def test_read_only_array_is_refused_only_where_it_is_written():
    frozen = np.zeros((4, 5))
    frozen.flags.writeable = False
    check(uses_of(CONV), [], arguments(x=frozen), "cpu")
    with pytest.raises(ArgumentError) as caught:
        check(uses_of(CONV), [], arguments(out=frozen), "cpu")
    assert str(caught.value) == (
        "argument 'out' is a read-only array; expected one that the function can write to"
        " [argument.mismatch]\n"
        "  --> kernels.py:4:13\n"
        "  4 |             out[i, j] = x[i, j] * weights[0] * scale\n"
        "    |             ^^^^^^^^^ 'out' is used here\n"
        "  help: pass out.copy(), and read the result there"
    )


SIZE = "def f(out, n):\n    m = n - 1\n    for i in range(m):\n        out[i] = 1\n"
PLAIN = "def f(out, n):\n    for i in range(n):\n        out[i] = 1\n"
VALUE = "def f(out, n):\n    for i in range(n):\n        out[i] = out[i] * n\n"


@pytest.mark.parametrize(
    ("text", "n"),
    [(SIZE, np.uint8(4)), (SIZE, np.uint64(4)), (VALUE, np.int32(4)), (VALUE, True)],
)
def test_sizes_of_a_type_that_decides_values_are_refused(text, n):
    with pytest.raises(ArgumentError, match=r"expected an int: it sets[^$]*pass int\(n\)"):
        check(uses_of(text), [], {"out": np.zeros(4), "n": n}, "python")


@pytest.mark.parametrize(
    ("text", "n", "kind"),
    [
        (SIZE, np.int32(4), int),
        (PLAIN, np.uint8(4), int),
        (SIZE, True, int),
        (VALUE, np.int64(4), np.int64),
        (VALUE, 4, int),
    ],
)
def test_sizes_keep_a_type_that_decides_values(text, n, kind):
    checked = check(uses_of(text), [], {"out": np.zeros(4), "n": n}, "python")
    assert type(checked.values["n"]) is kind


def test_bounds_condition_is_told_in_its_own_words():
    with pytest.raises(ArgumentError, match=r"out\[4\] is outside of axis 0 of 'out', size 4"):
        check(uses_of(CONV), [AtMost()], arguments(n=5), "cpu")


def test_bounds_condition_of_what_is_no_integer():
    loose = uses_of(
        "def f(out, n):\n    m = int(n) - 1\n    for i in range(m):\n        out[i, 0] = 1\n"
    )
    out = np.zeros((4, 5))
    assert check(loose, [AtMost()], {"out": out, "n": np.int32(4)}, "cpu").values["n"] == 4
    with pytest.raises(ArgumentError, match="'n' is not an integer, which the bounds"):
        check(loose, [AtMost()], {"out": out, "n": 4.0}, "cpu")


def test_bounds_condition_of_an_array_without_that_axis():
    loose = uses_of("def f(out, n):\n    g(out, n)\n")
    with pytest.raises(ArgumentError, match="'out' is not an array of at least 1 axes"):
        check(loose, [AtMost()], {"out": 3.0, "n": 4}, "cpu")


def test_host_and_device_do_not_mix():
    device = OnDevice((4, 5), "f8", 4096)
    with pytest.raises(ArgumentError, match="'x' is on a GPU and argument 'weights' is not"):
        check(uses_of(CONV), [], arguments(x=device), "cuda")


class Spoken:
    """An array that only DLPack tells of."""

    def __init__(self, device):
        self.device = device

    def __dlpack_device__(self):
        return (self.device, 0)


@pytest.mark.parametrize(
    ("device", "hint"), [(1, "pass np.from_dlpack(x)"), (2, "pass cupy.from_dlpack(x)")]
)
def test_arrays_that_only_dlpack_tells_of(device, hint):
    with pytest.raises(ArgumentError, match="'x' is a Spoken; expected") as caught:
        check(uses_of(CONV), [], arguments(x=Spoken(device)), "cpu")
    assert caught.value.diagnostic.hints == (hint,)


# --- memory -------------------------------------------------------------------------------------


def pairs(values, written):
    facts = [array_facts(name, value) for name, value in values.items()]
    return [(each.first, each.second, each.exact) for each in overlaps(facts, written)]


def test_pairs_that_meet():
    base = np.zeros(100)
    values = {"a": base[:60], "b": base[50:], "c": base[10:20], "d": np.zeros(3)}
    assert pairs(values, {"c"}) == [("a", "c", True)]
    assert pairs(values, {"a"}) == [("a", "b", True), ("a", "c", True)]
    assert pairs(values, ()) == []
    assert pairs({"a": base, "b": base}, {"b"}) == [("a", "b", True)]


def test_interleaved_columns_are_apart():
    base = np.zeros((50, 2))
    assert pairs({"a": base[:, 0], "b": base[:, 1]}, {"a"}) == []
    assert pairs({"a": base[:, 0], "b": base[::-1, 0]}, {"a"}) == [("a", "b", True)]


def test_views_of_another_dtype_meet():
    base = np.zeros(10)
    assert pairs({"a": base, "b": base.view(np.int32)[3:]}, {"a"}) == [("a", "b", True)]


def test_empty_arrays_never_meet():
    base = np.zeros(10)
    assert pairs({"a": base[3:3], "b": base}, {"a", "b"}) == []


def test_too_hard_counts_as_meeting(monkeypatch):
    base = np.zeros(10**6, np.uint8)
    shape, strides = (9, 9, 9, 9, 9), (12011, 12101, 12203, 12301, 12401)
    first = np.lib.stride_tricks.as_strided(base, shape, strides)
    second = np.lib.stride_tricks.as_strided(base[7:], shape, strides)
    monkeypatch.setattr("astile.runtime.arrays._OVERLAP_WORK", 1)
    assert pairs({"a": first, "b": second}, {"a"}) == [("a", "b", False)]


def test_device_arrays_meet_by_address():
    values = {
        "a": OnDevice((10,), "f4", 4096),
        "b": OnDevice((10,), "f4", 4096 + 36),
        "c": OnDevice((10,), "f4", 4096 + 40),
        "even": OnDevice((5,), "f4", 1 << 20, strides=(8,)),
        "odd": OnDevice((5,), "f4", (1 << 20) + 4, strides=(8,)),
    }
    assert pairs(values, set(values)) == [("a", "b", True), ("b", "c", True)]


def test_null_device_pointer_of_an_empty_array():
    values = {"a": OnDevice((0,), "f4", None), "b": OnDevice((0,), "f4", 0)}
    assert pairs(values, {"a"}) == []


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((4, 5), (40, 8), False),
        ((4, 5), (8, 32), False),
        ((4, 5), (-40, 8), False),
        ((4, 5), (0, 8), True),
        ((4, 5), (8, 8), True),
        ((4, 3), (16, 24), True),
        ((2, 3), (24, 16), False),
        ((4, 1), (8, 0), False),
        ((0, 5), (0, 0), False),
        ((5,), (4,), True),
        ((1, 1), (0, 0), False),
    ],
)
def test_arrays_that_meet_themselves(shape, strides, expected):
    base = np.zeros(100)[50:]
    array = np.lib.stride_tricks.as_strided(base, shape, strides)
    assert overlaps_itself(array_facts("a", array)) is expected
    offsets = np.zeros(1, int)
    for size, stride in zip(shape, strides, strict=True):
        offsets = np.add.outer(offsets, stride * np.arange(size)).ravel()
    touched = (offsets[:, None] + np.arange(8)).ravel()
    assert (len(np.unique(touched)) < len(touched)) is expected


def test_an_array_with_more_axes_may_be_meant_by_rows():
    with pytest.raises(ArgumentError) as caught:
        check(uses_of(CONV), [], arguments(weights=np.zeros((3, 1))), "cpu")
    assert "where whole rows are meant, write weights[i, :]" in str(caught.value)
