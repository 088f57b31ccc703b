"""Which kernels a generated host function launches, without launching them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np

from astile.runtime import load


@dataclass(frozen=True)
class Launch:
    """One launch.

    Args:
        kernel: the kernel as decorated in the text.
        name: of the kernel.
        block: threads along x, y, z.
        signature: numba's spelling of the type of each argument.
        shared: bytes of shared memory that the launch asks for.
    """

    kernel: Any
    name: str
    block: tuple[int, ...]
    signature: tuple[str, ...]
    shared: int = 0


class _Recorder:
    """Stands for a kernel in a host function."""

    def __init__(self, kernel: Any, name: str, launches: list[Launch]) -> None:
        self.kernel, self.name, self.launches = kernel, name, launches

    def __getitem__(self, configuration: Any) -> Any:
        block = configuration[1]
        shape = block if isinstance(block, tuple) else (block,)
        shared = configuration[3] if len(configuration) > 3 else 0

        def note(*arguments: object) -> None:
            types = tuple(map(_type_of, arguments))
            self.launches.append(Launch(self.kernel, self.name, (*shape, 1, 1)[:3], types, shared))

        return note


class _Memory:
    """Stands for `numba.cuda` in a host function: arrays are those of the host."""

    @staticmethod
    def device_array(shape: Any, dtype: Any = np.float64) -> Any:
        return np.empty(shape, dtype).view(_Array)

    @staticmethod
    def to_device(array: Any) -> Any:
        return np.array(array).view(_Array)


class _Array(np.ndarray[Any, np.dtype[Any]]):
    def copy_to_host(self) -> Any:
        return np.zeros(self.shape, self.dtype)


def launches(
    text: str, entry: str, positional: Sequence[object], keywords: Mapping[str, object]
) -> list[Launch]:
    """The launches of a CUDA text for some arguments, each kernel once for each signature.

    Args:
        text: the module.
        entry: its host function.
        positional: arguments in the host's memory.
        keywords: the same, by name.
    """
    host = load.load(text, entry, ("cuda",))
    assert isinstance(host, FunctionType)
    found: list[Launch] = []
    names = dict(host.__globals__)
    for name, value in names.items():
        if hasattr(value, "py_func") and not value.targetoptions.get("device"):
            names[name] = _Recorder(value, name, found)
        elif getattr(value, "__name__", "") == "numba.cuda":
            names[name] = _Memory()
    made = FunctionType(host.__code__, names, entry, host.__defaults__, host.__closure__)
    made.__kwdefaults__ = host.__kwdefaults__
    made(*positional, **keywords)
    return list({(each.name, each.signature): each for each in found}.values())


def _type_of(value: object) -> str:
    if isinstance(value, np.ndarray) and value.ndim:
        axes = [":"] * value.ndim
        if value.flags.c_contiguous:
            axes[-1] = "::1"
        elif value.flags.f_contiguous:
            axes[0] = "::1"
        name = "boolean" if value.dtype.kind == "b" else value.dtype.name
        return f"{name}[{', '.join(axes)}]"
    if isinstance(value, np.generic):
        return "boolean" if value.dtype.kind == "b" else value.dtype.name
    if isinstance(value, bool):
        return "boolean"
    return {int: "int64", float: "float64", complex: "complex128"}[type(value)]
