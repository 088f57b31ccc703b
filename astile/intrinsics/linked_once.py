"""Functions whose machine code stands in one place, for numba on the CPU.

numba copies what a function calls into the function, optimises both again and writes both as
machine code. For the body of a `prange` loop it does so in four places, one around the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core.compiler import CompileResult  # noqa: TID251
from numba.core.registry import cpu_target  # noqa: TID251
from numba.core.types.containers import StarArgTuple  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.quick_compiler import use_quick_compiler

__all__ = ["linked_once"]


def linked_once(function: Any) -> Any:
    """The same function for other compiled functions: they call its code and hold no copy of it.

    Args:
        function: compiled by numba; it comes back as it is where numba compiles nothing.

    Before:
        @njit
        def part(x, i): ...

    After:
        @linked_once
        @njit
        def part(x, i): ...
    """
    if not hasattr(function, "targetoptions"):  # with NUMBA_DISABLE_JIT
        return function
    use_quick_compiler(function)
    function.targetoptions.update(no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def called(typing_context: Any, *given: Any) -> tuple[Any, Callable[..., Any]]:
        function.compile(given)
        compiled = function.overloads[given]
        linked = _Linked(compiled)

        def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
            if compiled.library.has_dynamic_globals:  # addresses of this process: in no file
                context.add_linking_libs([compiled.library])
            else:
                context.active_code_library._reload_init.add(linked)
            parts = [builder.extract_value(values[0], number) for number in range(len(given))]
            return context.call_internal(builder, compiled.fndesc, compiled.signature, parts)

        result = compiled.signature.return_type
        return signature(result, StarArgTuple(given)), generate

    return intrinsic(called)


class _Linked:
    """A compiled function that is there for others: in their file, it stands in front of them.

    numba keeps it with all that leads to a call, and calls it when it has read their file.
    """

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def __call__(self) -> None:
        """Nothing is left to do."""

    def __reduce__(self) -> tuple[Callable[..., _Linked], tuple[Any, ...]]:
        # numba would write down the types of all lines too, which nobody reads here
        return _read, self._compiled._replace(type_annotation="")._reduce()


def _read(*parts: Any) -> _Linked:
    return _Linked(CompileResult._rebuild(cpu_target.target_context, *parts))
