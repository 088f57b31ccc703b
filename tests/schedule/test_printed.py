"""Printed texts for numba compute in the types of NumPy, and refuse arguments of others."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from astile import ArgumentError, LoweringError, Schedule, tile
from astile.runtime import emulate

SIZE = 40


def joined(x, y, out):
    for i in range(out.shape[0]):
        out[i] = x[i] * 3 + y[i]


def scaled(x, out, factor):
    for i in range(out.shape[0]):
        out[i] = factor * x[i] + 0.1


def total(x):
    found = x[0]
    for i in range(1, x.shape[0]):
        found = found + x[i]
    return found, x.shape[0]


def last(x):
    """Of all cells."""
    found = x[0]
    for i in range(x.shape[0]):
        found = x[i]
    return (found,)


def tripled(x, n, out):
    for i in range(out.shape[0]):
        out[i] = x[i] * 3


def gather(x, index, out):
    for i in range(out.shape[0]):
        out[i] = x[index[i]]


def doubled_rows(x, out, rows=2):
    for i in range(rows):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j] + x[i, j]


def added(x, out):
    out[0] = np.sum(x)


def cut(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[0] += x[i, j]


def values(dtype, seed=0):
    """Numbers that fill the range of integers, so that sums of them leave it."""
    random = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return (random.random(SIZE) * 100).astype(kind)
    info = np.iinfo(kind)
    return random.integers(info.max // 3, info.max, SIZE, dtype=kind)


def loaded(text, name, target):
    """The function of a text; that for a GPU runs in the emulator."""
    if target == "cuda":
        return emulate.load(text, name)
    space = {}
    exec(compile(text, "<printed>", "exec"), space)
    return space[name]


def printed(function, target, dtypes=None):
    return loaded(tile(function).source(target, dtypes), function.__name__, target)


TARGETS = pytest.mark.parametrize("target", ["cpu", "cuda"])


@TARGETS
@pytest.mark.parametrize(
    ("x", "y", "out"),
    [
        ("uint8", "uint8", "int64"),
        ("int8", "int8", "int64"),
        ("int16", "int8", "int64"),
        ("uint64", "int64", "float64"),
        ("float32", "float32", "float64"),
        ("float32", "float64", "float64"),
        ("float32", "int16", "float64"),
    ],
)
def test_operators_compute_in_the_types_of_numpy(target, x, y, out):
    dtypes = {"x": x, "y": y, "out": out}
    one, other = values(x), values(y, 1)
    expected, found = np.zeros(SIZE, out), np.zeros(SIZE, out)
    with np.errstate(over="ignore"):
        joined(one, other, expected)
    printed(joined, target, dtypes)(one, other, found)
    np.testing.assert_array_max_ulp(found, expected, 0 if np.dtype(x).kind in "iu" else 1)


@TARGETS
@pytest.mark.parametrize("factor", [3, 0.3, np.float64(0.3)], ids=lambda each: type(each).__name__)
def test_numbers_take_the_types_of_numpy(target, factor):
    x = values("float32")
    expected, found = np.zeros(SIZE), np.zeros(SIZE)
    scaled(x, expected, factor)
    dtypes = {"out": "float64", "factor": type(factor)}
    printed(scaled, target, dtypes)(x, found, factor)
    kind = "float64" if isinstance(factor, np.float64) else "float32"
    rounding = np.spacing(np.abs(expected).astype(kind))
    assert (np.abs(found - expected) <= rounding).all()


@TARGETS
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "uint64"])
def test_returned_numbers_have_the_types_of_numpy(target, dtype):
    x = values(dtype)
    with np.errstate(over="ignore"):
        expected = total(x)
    found = printed(total, target, {"x": dtype})(x)
    assert [type(each) for each in found] == [type(each) for each in expected]
    assert found == expected


@TARGETS
def test_tuples_of_one_number_and_docstrings_are_kept(target):
    function = printed(last, target, {"x": "int16"})
    assert function(np.arange(5, dtype=np.int16)) == (np.int16(4),)
    assert function.__doc__ == last.__doc__


@TARGETS
def test_types_that_nobody_names_are_assumed_and_checked(target):
    function = printed(joined, target)
    arrays = {each: values(each) for each in ("float32", "float64", "uint8")}
    out = np.zeros(SIZE, np.float32)
    function(arrays["float32"], arrays["float32"], out)
    assert out.any()
    for one, other in itertools.permutations(arrays.values(), 2):
        with pytest.raises(TypeError, match=r"for x: float32 of 1 axis.* emit it with dtypes="):
            function(one, other, out)


@TARGETS
@pytest.mark.parametrize("factor", [2, True, np.float32(2), np.float64(2), np.full((), 2.0)])
def test_numbers_of_other_types_are_refused(target, factor):
    x, out = values("float32"), np.zeros(SIZE, np.float32)
    with pytest.raises(TypeError, match="factor: float; emit"):
        printed(scaled, target)(x, out, factor)


@TARGETS
def test_arrays_with_other_axes_and_orders_of_bytes_are_refused(target):
    x, out = values("float32"), np.zeros(SIZE, np.float32)
    function = printed(joined, target)
    for other in (x.reshape(SIZE, 1), x.astype(x.dtype.newbyteorder())):
        with pytest.raises(TypeError, match="made for x: float32 of 1 axis"):
            function(x, other, out)


@TARGETS
def test_integers_and_default_values_have_their_own_types(target):
    x, out = np.ones((2, SIZE), np.float32), np.zeros((2, SIZE), np.float32)
    function = printed(doubled_rows, target)
    function(x, out)
    assert (out == 2).all()
    function(x, out, 1)
    with pytest.raises(TypeError, match="rows: int; emit"):
        function(x, out, 2.0)


def test_cells_that_are_indices_are_assumed_to_be_integers_and_checked():
    function = printed(gather, "cpu")
    x, out = values("float32"), np.zeros(3, np.float32)
    function(x, np.array([2, 0, -1]), out)
    assert (out == x[[2, 0, -1]]).all()
    with pytest.raises(IndexError):
        function(x, np.array([0, 1, SIZE]), out)


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_sums_of_arrays_have_the_loops_of_a_call(dtype):
    x = values(dtype)
    expected, found = np.zeros(1, dtype), np.zeros(1, dtype)
    added(x // 2, expected)
    printed(added, "cpu", {"x": dtype, "out": dtype})(x // 2, found)
    np.testing.assert_allclose(found, expected, 1e-12)


def reordered():
    s = Schedule(cut)
    s.reorder("j", "i")
    return s


def test_loops_whose_order_shows_stay_as_they_are_written():
    x, found = np.arange(27.0).reshape(9, 3) - 13.3, np.zeros(1, np.int64)
    expected = 0
    for each in x.flat:
        expected = int(expected + each)
    types = {"x": "float64", "out": "int64"}
    s = reordered()
    text = s.source("cpu", types)
    assert text.index("for i in") < text.index("for j in")
    assert [each.text for each in s.line_table("cpu", types)] == text.splitlines()
    loaded(text, "cut", "cpu")(x, found)
    assert found[0] == expected
    kept = s.source("cpu", {"x": "float64", "out": "float64"})
    assert kept.index("for j in") < kept.index("for i in")
    with pytest.raises(LoweringError, match="a step changed their order"):
        s.source("cuda", types)


def test_the_text_is_that_of_a_call():
    kernel = tile(target="cpu")(joined)
    arrays = [values("uint8"), values("uint8"), np.zeros(SIZE, np.int64)]
    forms = kernel._forms
    types = {"x": "uint8", "y": "uint8", "out": "int64"}
    called = forms.specializer("cpu", dict(zip(types, arrays, strict=True))).launcher(types).text
    start = called.index("@njit")
    own = called[start:].replace("def joined(", "def joined_compiled(")
    assert own in kernel.source("cpu", types)


def test_plain_python_takes_all_types():
    text = tile(joined).source("python", {"x": "uint8"})
    assert text == tile(joined).source()


@pytest.mark.parametrize(
    ("dtypes", "code", "hint"),
    [
        ({"z": "uint8"}, "argument.unknown-name", "there are x, out, rows"),
        ({"oot": "uint8"}, "argument.unknown-name", "did you mean 'out'?"),
        ({"x": "flaot32"}, "argument.bad-dtype", "did you mean 'float32'?"),
        ({"x": ">f4"}, "argument.bad-dtype", "name bool, integers"),
        ({"x": object}, "argument.bad-dtype", "name bool, integers"),
        ({"rows": "float32"}, "argument.bad-dtype", "name no type for rows"),
    ],
)
def test_names_and_types_that_there_are_not(dtypes, code, hint):
    with pytest.raises(ArgumentError) as caught:
        tile(doubled_rows).source("cpu", dtypes)
    assert caught.value.code == code
    assert caught.value.diagnostic.hints[0].startswith(hint)


def test_a_type_that_the_target_has_not_is_refused():
    with pytest.raises(LoweringError, match="float16, which numba does not have on the CPU"):
        tile(joined).source("cpu", {"x": "float16"})


def counted_down(x, n):
    n = n - 1
    for i in range(n):
        x[i] = 2 * x[i]


@TARGETS
def test_a_name_that_stands_for_several_integers_is_one(target):
    x = np.ones(4, np.float32)
    printed(counted_down, target)(x, 3)
    assert x.tolist() == [2, 2, 1, 1]


def shifted(x, out, n):
    for i in range(n):
        out[i] = x[i + 2]


@TARGETS
def test_sizes_for_which_an_index_leaves_its_array_are_refused(target):
    function = printed(shifted, target)
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    function(x, out, 6)
    assert (out[:6] == x[2:]).all()
    with pytest.raises(IndexError, match=r"x\[i \+ 2\] leaves x along axis 0"):
        function(x, out, 7)
    with pytest.raises(IndexError, match=r"out\[i\] leaves out along axis 0"):
        function(np.zeros(99, np.float32), out, 9)


@TARGETS
@pytest.mark.parametrize("n", [SIZE, 0.5, np.zeros(3)], ids=lambda each: type(each).__name__)
def test_what_is_never_read_may_be_anything(target, n):
    x, found = values("float32"), np.zeros(SIZE, np.float32)
    printed(tripled, target)(x, n, found)
    np.testing.assert_array_equal(found, x * 3)
    with pytest.raises(TypeError, match="made for x: float32 of 1 axis, out: float32 of 1 axis;"):
        printed(tripled, target)(x.astype(np.float64), n, found)


def test_arrays_that_meet_in_memory_are_refused_where_steps_were_taken():
    s = Schedule(shifted)
    plain = loaded(s.source("cpu"), "shifted", "cpu")
    s.split("i", [None, 4])
    split = loaded(s.source("cpu"), "shifted", "cpu")
    for apart in (np.arange(12, dtype=np.float32), np.arange(24, dtype=np.float32)[::2]):
        split(apart[:6], apart[6:], 4)
    x = np.arange(12, dtype=np.float32)
    with pytest.raises(ValueError, match="arrays meet in memory, and one of them is written"):
        split(x, x[1:], 4)
    assert (x == np.arange(12)).all()
    plain(x, x[1:], 4)
    assert (x[1:5] == [2, 3, 4, 5]).all()
