"""Arrays on a GPU that only DLPack tells of. NumPy's stand for them: no GPU is needed to look."""

from __future__ import annotations

import numpy as np
import pytest

from astile import tile
from astile.runtime import dlpack
from astile.runtime.arrays import array_facts, is_on_device
from astile.runtime.dlpack import View, viewed


class OnGpu:
    """An array of another library."""

    def __init__(self, array: np.ndarray, device: int = 2, versions: bool = True) -> None:
        self.array, self.device, self.versions = array, device, versions

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(self, *, stream: int, **options: object) -> object:
        assert stream == 1  # the default one, on which kernels run
        if options and not self.versions:
            raise TypeError("an unexpected keyword argument 'max_version'")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize("versions", [True, False])
@pytest.mark.parametrize(
    "array",
    [
        np.arange(24, dtype=np.float32).reshape(4, 6),
        np.arange(24, dtype=np.float64).reshape(4, 6).T,
        np.arange(24, dtype=np.int16)[3::2],
        np.arange(24, dtype=np.uint8).reshape(2, 3, 4)[:, ::-1, 1:],
        np.zeros((0, 3), np.complex64),
        np.array(2.5),
        np.ones(4, np.bool_),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_a_view_is_where_the_array_is(array: np.ndarray, versions: bool) -> None:
    facts = array_facts("x", View(OnGpu(array, versions=versions)))
    own = array_facts("x", array)
    assert facts is not None
    assert own is not None
    assert (facts.shape, facts.dtype, facts.on_device) == (own.shape, own.dtype, True)
    if array.size:
        assert (facts.strides, facts.address) == (own.strides, own.address)


def test_what_may_only_be_read_is_known() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    facts = array_facts("x", View(OnGpu(array)))
    assert facts is not None
    assert facts.readonly


def test_only_arrays_without_another_description_are_viewed() -> None:
    class Described(OnGpu):
        __cuda_array_interface__ = {"shape": (3,)}  # noqa: RUF012

    array = np.arange(3.0)
    values = {"a": array, "b": 3, "c": Described(array), "d": OnGpu(array, device=1), "e": None}
    assert viewed(values) == values
    [view] = viewed({"x": OnGpu(array)}).values()
    assert isinstance(view, View)
    assert is_on_device(view)


def test_types_that_numpy_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(dlpack._LETTERS, 2)
    with pytest.raises(TypeError, match=r"elements of DLPack's type \(2, 64\) are not read"):
        View(OnGpu(np.zeros(3)))


def test_a_kernel_knows_where_it_is() -> None:
    @tile(target="python")
    def double(x):
        for i in range(len(x)):
            x[i] *= 2

    with pytest.raises(ValueError, match="'x' is in the memory of a GPU"):
        double(OnGpu(np.arange(3.0)))
