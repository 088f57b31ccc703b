"""Kernels with the lines of their text, for profilers, or without where NVIDIA's compilers fail.

With lines they refuse what they link with code of CUDA's own, as arithmetic of float16 ("linking
module flags 'Debug Info Version'"), and some nests of loops ("Symbol name with unsupported
characters"). Functions that numba.cuda compiled on the way have lines too, and are forgotten.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar

#: Errors of NVIDIA's compilers and linkers, which numba.cuda passes on as they are.
_OF_COMPILERS = ("nvJitLinkError", "nvvmError")

_Made = TypeVar("_Made")


def is_of_compilers(error: Exception) -> bool:
    """Whether NVIDIA's compilers raised an error.

    Args:
        error: any.
    """
    return type(error).__name__ in _OF_COMPILERS


def with_or_without(compiled: Callable[[bool], _Made]) -> _Made:
    """What the compilers make of a kernel, with the lines of its text where they can.

    Args:
        compiled: compiles it, with lines or without.
    """
    try:
        return compiled(True)
    except Exception as error:
        if not is_of_compilers(error):
            raise
    _forget_functions()
    return compiled(False)


def _forget_functions() -> None:
    """Let numba.cuda compile what it has in place of operators anew, for the next kernel."""
    target = importlib.import_module("numba.cuda.descriptor").cuda_target
    target.target_context.cached_internal_func.clear()


def kept_where_possible(kernel: Any) -> None:
    """Let a kernel be compiled with the lines of its text, or without where it has to.

    Args:
        kernel: decorated with `cuda.jit` and not launched so far.
    """
    compile_kernel = kernel.compile

    def compiled(signature: Any) -> Any:
        def made(has_lines: bool) -> Any:
            kernel.targetoptions["lineinfo"] = has_lines
            return compile_kernel(signature)

        return with_or_without(made)

    kernel.compile = compiled
