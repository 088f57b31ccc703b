"""Calls a generated function: on the host, in the emulator, or on a GPU with copies if need be."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, cast

import numpy.typing as npt

from astile.errors import ArgumentError, LoweringError
from astile.ir.program import Program
from astile.lower.types import promotion
from astile.lower.types.promotion import Kind
from astile.runtime import compile as compiling
from astile.runtime import streams, traced
from astile.runtime.arguments import Checked
from astile.runtime.traced import PlaceOf

#: Targets that compute in the host's memory.
HOST_TARGETS = ("python", "cpu", "emulate")


@dataclass(frozen=True)
class Launcher:
    """A generated function and how to call it.

    Args:
        function: has the name and the parameters of the kernel.
        target: where it runs.
        positional: parameters handed over by position.
        keywords: parameters handed over by name.
        may_write: array parameters whose contents may change.
        text: the generated module, for errors of numba's compiler at the first call.
        program: what it was lowered from.
        returned: kinds of the numbers that it returns, see `promotion`; None where unknown.
        place_of: lines of the text in the user's file, for errors of the user's statements.
    """

    function: Callable[..., object]
    target: str
    positional: Sequence[str]
    keywords: Sequence[str]
    may_write: Collection[str]
    text: str = field(default="", repr=False)
    program: Program | None = field(default=None, repr=False)
    returned: Sequence[Kind] = ()
    place_of: PlaceOf = field(default=traced.nowhere, repr=False)

    def __call__(self, checked: Checked) -> object:
        """Run it.

        Args:
            checked: the arguments.

        Raises:
            ArgumentError: when an array lies where the target cannot reach it.
            LoweringError: when numba cannot compile the text for these arguments.
        """
        try:
            with self._retelling():
                return self._retyped(self._run(checked))
        except Exception as error:
            self._note(error)
            raise

    def again(self, arguments: Sequence[object]) -> Any:
        """Run it on the host, with arguments like those of a call before.

        Args:
            arguments: all of them, by position.
        """
        try:
            result: Any = self.function(*arguments)
        except Exception:
            try:
                with self._retelling():
                    raise
            except Exception as error:
                self._note(error)
                raise
        return self._retyped(result) if self.returned else result

    def _retelling(self) -> AbstractContextManager[None]:
        return compiling.retelling(self.target, self.text, self.program, self.place_of)

    def _note(self, error: Exception) -> None:
        traced.note(error, self.text, self.place_of, is_compiled=self.target == "cpu")

    def _retyped(self, result: object) -> object:
        """Numbers that are returned have the type that they have in the plain program.

        numba returns numbers of Python, a GPU those of NumPy.
        """
        if isinstance(result, tuple) and len(result) == len(self.returned):
            return tuple(map(promotion.as_kind, result, self.returned))
        return promotion.as_kind(result, self.returned[0]) if len(self.returned) == 1 else result

    def _run(self, checked: Checked) -> object:
        if self.target in HOST_TARGETS:
            _require_host(checked, self.target)
            return self._call(checked.values)
        if any(each.on_device for each in checked.arrays.values()):
            with compiling.in_order_with(streams.of_callers(checked.arrays.values())):
                return self._call(checked.values)
        return self._call_with_copies(checked)

    def _call(self, values: Mapping[str, object]) -> object:
        positional = [values[name] for name in self.positional]
        return self.function(*positional, **{name: values[name] for name in self.keywords})

    def _call_with_copies(self, checked: Checked) -> object:
        """Copy arrays to the GPU, run there, and copy back what may have been written."""
        values = dict(checked.values)
        placed: list[tuple[Any, npt.NDArray[Any]]] = []
        for name, facts in checked.arrays.items():
            host = cast("npt.NDArray[Any]", facts.value)
            values[name] = compiling.to_device(host)
            placed.append((values[name], host))
        result = self._call(values)
        for (device, host), facts in zip(placed, checked.arrays.values(), strict=True):
            if facts.name in self.may_write and not facts.readonly:
                host[...] = compiling.to_host(device)
        return _returned(result, placed)


def _require_host(checked: Checked, target: str) -> None:
    for name, facts in checked.arrays.items():
        if facts.on_device:
            raise ArgumentError(
                f"argument {name!r} is in the memory of a GPU; target {target!r} reads the host's",
                code="argument.device",
                hints=("use target='cuda', or copy it to the host",),
            )


def _returned(result: object, placed: Sequence[tuple[Any, npt.NDArray[Any]]]) -> object:
    """The result in host memory; an argument that is returned is the array that was passed."""
    if isinstance(result, tuple):
        return tuple(_returned(each, placed) for each in result)
    for device, host in placed:
        if result is device:
            return host
    return compiling.to_host(result)


def warn_of_copies(name: str) -> None:
    """Say that every call copies its arrays to the GPU and back.

    Args:
        name: of the kernel.
    """
    warnings.warn(
        f"{name}: NumPy arrays are copied to the GPU and back at every call; "
        "pass device arrays (CuPy, PyTorch, numba) to avoid it",
        RuntimeWarning,
        stacklevel=6,  # of the caller of the kernel
    )


def warn_of_plain_python(name: str, error: LoweringError) -> None:
    """Say that a kernel runs as plain Python, which is slow, and why.

    Args:
        name: of the kernel.
        error: why it cannot be compiled.
    """
    reason = "; ".join((error.diagnostic.message, *error.diagnostic.notes[:1]))
    warnings.warn(
        f"{name} runs as plain Python: {reason}; "
        "target='python' runs it so without this warning, target='cpu' makes it an error",
        RuntimeWarning,
        stacklevel=4,
    )
