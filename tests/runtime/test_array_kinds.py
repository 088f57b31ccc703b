"""Every kind of array: memory layouts, types of elements, numbers of axes, on each target."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from astile.decorator import tile
from astile.errors import ArgumentError

TARGETS = ("python", "cpu", "emulate")
TYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip


def smoothed(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j] + x[i, j + 1] + x[i + 1, j]


def tiled(s):
    s.tile(["i", "j"], [4, 4])


def deep(x, out):
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            for c in range(x.shape[2]):
                for d in range(x.shape[3]):
                    for e in range(x.shape[4]):
                        out[a, b, c, d, e] = x[a, b, c, d, e] * 2 + a


def one_number(x, factor, out):
    for i in range(len(x)):
        out[i] = x[i] * factor[()]


def frozen(array):
    array.flags.writeable = False
    return array


#: Kind -> an array of a shape and type, whose memory is laid out so.
LAYOUTS = {
    "contiguous": lambda shape, dtype: filled(shape, dtype),
    "Fortran order": lambda shape, dtype: np.asfortranarray(filled(shape, dtype)),
    "transposed": lambda shape, dtype: filled(shape[::-1], dtype).T,
    "every other cell": lambda shape, dtype: filled([2 * n for n in shape], dtype)[::2, 1::2],
    "backwards": lambda shape, dtype: filled(shape, dtype)[::-1, ::-1],
    "a column in a wider array": lambda shape, dtype: filled((*shape, 3), dtype)[..., 1],
    "not aligned": lambda shape, dtype: unaligned(shape, dtype),
}
READ_ONLY_LAYOUTS = {
    "read-only": lambda shape, dtype: frozen(filled(shape, dtype)),
    "one row for all": lambda shape, dtype: np.broadcast_to(filled(shape[1:], dtype), shape),
}


def filled(shape, dtype):
    count = int(np.prod(shape))
    return ((np.arange(count) * 7919 + 13) % 101).reshape(shape).astype(dtype)


def unaligned(shape, dtype):
    kind = np.dtype(dtype)
    memory = np.zeros(int(np.prod(shape)) * kind.itemsize + 1, "uint8")
    made = np.ndarray(tuple(shape), kind, memory, offset=1)
    made[...] = filled(shape, dtype)
    return made


def same(kernel, plain, *arguments):
    """A kernel leaves the bits in its last argument that the plain function leaves there."""
    *inputs, out = arguments
    wanted = out.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain(*inputs, wanted)
        kernel(*inputs, out)
    np.testing.assert_array_equal(out, wanted)
    assert out.dtype == wanted.dtype


@pytest.fixture(scope="module")
def kernels():
    """Target -> the kernel that astile schedules, and one with tiles; numba is slow to compile."""
    bare = {target: [tile(target=target)(smoothed)] for target in TARGETS}
    also = {target: [tile(target=target, schedule=tiled)(smoothed)] for target in TARGETS}
    return {**{target: [*bare[target], *also[target]] for target in TARGETS}, "cpu": bare["cpu"]}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("target", TARGETS)
def test_types_of_elements(kernels, target, dtype):
    if (target, dtype) == ("cpu", "float16"):
        pytest.skip("numba has no float16 on the CPU; see the next test")
    for kernel in kernels[target]:
        same(kernel, smoothed, filled((7, 10), dtype), np.zeros((6, 9), dtype))


def test_float16_runs_as_plain_python_unless_a_target_is_named():
    x, out = filled((7, 10), "float16"), np.zeros((6, 9), "float16")
    with pytest.warns(RuntimeWarning, match="float16, which numba does not have on the CPU"):
        tile(smoothed)(x, out)
    wanted = np.zeros((6, 9), "float16")
    smoothed(x, wanted)
    np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("layout", [*LAYOUTS, *READ_ONLY_LAYOUTS])
@pytest.mark.parametrize("target", TARGETS)
def test_layouts_that_are_read(kernels, target, layout):
    x = {**LAYOUTS, **READ_ONLY_LAYOUTS}[layout]([7, 10], "float32")
    for kernel in kernels[target]:
        same(kernel, smoothed, x, np.zeros((6, 9), "float32"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", TARGETS)
def test_layouts_that_are_written(kernels, target, layout):
    for kernel in kernels[target]:
        out = LAYOUTS[layout]([6, 9], "float32")
        wanted = out.copy()
        x = filled((7, 10), "float32")
        smoothed(x, wanted)
        kernel(x, out)
        np.testing.assert_array_equal(out, wanted)


@pytest.mark.parametrize("shape", [(0, 0), (0, 9), (6, 0), (1, 1), (4, 4), (5, 3)])
@pytest.mark.parametrize("target", TARGETS)
def test_small_and_empty_arrays(kernels, target, shape):
    n, m = shape
    for kernel in kernels[target]:
        same(kernel, smoothed, filled((n + 1, m + 1), "float32"), np.zeros(shape, "float32"))


def test_tiles_on_the_cpu():
    kernel = tile(target="cpu", schedule=tiled)(smoothed)
    for n, m in ((0, 9), (4, 4), (6, 9)):
        same(kernel, smoothed, filled((n + 1, m + 1), "float32"), np.zeros((n, m), "float32"))


@pytest.mark.parametrize("target", TARGETS)
def test_five_axes(target):
    x = filled((2, 3, 2, 4, 5), "float64").transpose(0, 2, 1, 3, 4)
    same(tile(target=target)(deep), deep, x, np.zeros(x.shape))


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_without_axes(target):
    factor = np.full((), 3, "float32")
    arguments = filled((4,), "float32"), factor, np.zeros(4, "float32")
    same(tile(target=target)(one_number), one_number, *arguments)


@pytest.mark.parametrize("dtype", ["O", [("a", "f4")], "U3", "M8[s]"])
@pytest.mark.parametrize("target", TARGETS)
def test_other_elements_are_refused(kernels, target, dtype):
    x = np.zeros((7, 10), dtype)
    with pytest.raises(ArgumentError, match="'x' is an array of") as caught:
        kernels[target][0](x, np.zeros((6, 9)))
    assert caught.value.diagnostic.hints
