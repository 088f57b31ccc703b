"""What host code of an emulated module gets in place of `numba.cuda`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.fresh import DeviceArray, FreshMemory, fresh_array
from astile.runtime.emulator.kernels import Kernel, Program
from astile.runtime.emulator.words import DeviceFunction, DeviceWord, device_word


class Cuda:
    """Stands for ``numba.cuda``.

    Args:
        program: the module that uses it.
    """

    def __init__(self, program: Program) -> None:
        self._program = program

    def __getattr__(self, name: str) -> DeviceWord:
        return device_word(name)

    def jit(
        self,
        function: FunctionType | None = None,
        *,
        device: bool = False,
        launch_bounds: Any = None,
        **options: object,
    ) -> Any:
        """The decorator of kernels and device functions.

        Args:
            function: where used without parentheses.
            device: whether kernels call it.
            launch_bounds: the most threads of a block, or a tuple that begins with it.
            **options: have no meaning here.
        """
        bound = launch_bounds[0] if isinstance(launch_bounds, tuple) else launch_bounds

        def decorate(function: FunctionType) -> Kernel | DeviceFunction:
            return DeviceFunction(function) if device else Kernel(self._program, function, bound)

        return decorate if function is None else decorate(function)

    # --- memory ---------------------------------------------------------------------------------

    def device_array(
        self,
        shape: Any,
        dtype: Any = np.float64,
        strides: object = None,
        order: str = "C",
        stream: object = 0,
    ) -> DeviceArray:
        """An array whose cells hold no value yet.

        Args:
            shape: extents.
            dtype: of the elements.
            strides: must not be given.
            order: ``"C"`` or ``"F"``.
            stream: has no meaning here.

        Raises:
            EmulationError: strides are given.
        """
        if strides is not None:
            raise EmulationError("cuda.device_array with strides is not emulated")
        array, fresh = fresh_array(shape, dtype, order)
        self._program.remember(fresh)
        return array

    def device_array_like(self, ary: NDArray[Any], stream: object = 0) -> DeviceArray:
        """An array like another, whose cells hold no value yet."""
        is_f = ary.flags.f_contiguous and not ary.flags.c_contiguous
        return self.device_array(ary.shape, ary.dtype, order="F" if is_f else "C")

    def to_device(
        self, obj: Any, stream: object = 0, copy: bool = True, to: DeviceArray | None = None
    ) -> DeviceArray:
        """A copy on the device; device arrays are returned as they are."""
        if to is not None:
            to.copy_to_device(obj)
            return to
        return obj if isinstance(obj, DeviceArray) else np.array(obj).view(DeviceArray)

    def host_empty(self, *arguments: Any, **keywords: Any) -> NDArray[Any]:
        """`numpy.empty` of host code: reads of its unwritten cells are found too."""
        return self._fresh(np.empty(*arguments, **keywords))

    def host_empty_like(self, *arguments: Any, **keywords: Any) -> NDArray[Any]:
        """`numpy.empty_like` of host code: reads of its unwritten cells are found too."""
        return self._fresh(np.empty_like(*arguments, **keywords))

    def _fresh(self, array: NDArray[Any]) -> NDArray[Any]:
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        if type(array) is np.ndarray and contiguous and array.dtype.kind in "iufc":
            fresh = FreshMemory(array)
            if fresh.distinct:
                self._program.remember(fresh)
        return array

    # --- the rest of the host's words -----------------------------------------------------------

    def is_available(self) -> bool:
        """Whether kernels run."""
        return True

    def is_cuda_array(self, obj: object) -> bool:
        """Whether an object is on the device."""
        return isinstance(obj, DeviceArray)

    def as_cuda_array(self, obj: Any, sync: bool = True) -> Any:
        """An array of the device, as it is."""
        return obj

    def pinned_array(
        self, shape: Any, dtype: Any = np.float64, strides: object = None, order: str = "C"
    ) -> NDArray[Any]:
        """An array of the host."""
        return self.host_empty(shape, dtype, order)

    def synchronize(self) -> None:
        """Wait for launches, which are over when they return."""

    def stream(self) -> Stream:
        """A stream."""
        return Stream()

    default_stream = stream

    def external_stream(self, pointer: int) -> Stream:
        """A stream made elsewhere."""
        return Stream()


class Stream:
    """A stream; launches are over when they return."""

    def synchronize(self) -> None:
        """Wait for nothing."""

    def __bool__(self) -> bool:
        return True


def _with_shared_memory(size: int) -> Callable[[Kernel], Kernel]:
    return lambda kernel: replace(kernel, asked=size)


#: What a module gets for the names of `astile.intrinsics.shared_memory`.
SHARED_WORDS: Mapping[str, Any] = {
    "shared_array": DeviceWord("shared_array"),
    "with_shared_memory": _with_shared_memory,
}
