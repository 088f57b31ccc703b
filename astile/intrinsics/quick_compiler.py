"""numba's compiler without work that changes nothing for long functions of vectors.

Two passes go over all statements several times to find that there is nothing to do. And numba finds
the type of each sum and each product anew, among all kinds of sums and products that it knows: in a
function of vectors they are thousands, of a few types. What it compiles is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numba.core import ir  # noqa: TID251
from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: TID251
from numba.core.compiler_machinery import register_pass  # noqa: TID251
from numba.core.extending import _Intrinsic  # noqa: TID251
from numba.core.typed_passes import NopythonRewrites, NopythonTypeInference  # noqa: TID251
from numba.core.types.misc import StringLiteral  # noqa: TID251
from numba.core.types.npytypes import Array  # noqa: TID251
from numba.core.untyped_passes import InlineClosureLikes  # noqa: TID251

#: Functions that numba expands where they are called, by the last part of their names.
_EXPANDED = ("array", "reduce", "stencil")
#: Expressions that come from closures, and from lists that may become arrays.
_HELD = ("make_function", "build_list")
#: Array operators are joined into one loop, as NumPy's own functions are; these make arrays.
_MAKING = (np.empty, np.zeros)
#: Of a typing context: gives the signature of a function for types of arguments.
_RESOLVE = "resolve_function_type"


def use_quick_compiler(function: Any) -> None:
    """Let a function be compiled without what changes nothing for it.

    Args:
        function: decorated with `njit`, and not compiled so far.
    """
    if not function.targetoptions.get("parallel"):
        function._compiler.pipeline_class = _Compiler


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        """The passes of numba in their order, three of them in a quicker form."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_INSTEAD.get(each, each), told) for each, told in passes.passes]
        passes.finalize()
        return [passes]


@register_pass(mutates_CFG=True, analysis_only=False)
class _Inlining(InlineClosureLikes):  # type: ignore[misc]
    def run_pass(self, state: Any) -> bool:
        if any(_is_expanded(value) for _, value in _assigned(state.func_ir)):
            return bool(super().run_pass(state))
        return False


@register_pass(mutates_CFG=True, analysis_only=False)
class _Rewriting(NopythonRewrites):  # type: ignore[misc]
    def run_pass(self, state: Any) -> bool:
        kinds = state.typemap
        if any(isinstance(each, StringLiteral) for each in kinds.values()) or any(
            _may_be_rewritten(name, value, kinds) for name, value in _assigned(state.func_ir)
        ):
            return bool(super().run_pass(state))
        return False


@register_pass(mutates_CFG=True, analysis_only=False)
class _Typing(NopythonTypeInference):  # type: ignore[misc]
    def run_pass(self, state: Any) -> bool:
        # numba holds its lock: nothing else is compiled meanwhile, except for this function
        held = vars(state.typingctx)
        outer = held.get(_RESOLVE)
        held[_RESOLVE] = _remembering(getattr(state.typingctx, _RESOLVE))
        try:
            return bool(super().run_pass(state))
        finally:
            del held[_RESOLVE]
            if outer is not None:
                held[_RESOLVE] = outer


_INSTEAD = {
    InlineClosureLikes: _Inlining,
    NopythonRewrites: _Rewriting,
    NopythonTypeInference: _Typing,
}


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """What resolves functions for types of arguments, once for operators and intrinsics."""
    known: dict[tuple[Any, Any], Any] = {}

    def resolved(function: Any, given: Any, named: Any) -> Any:
        key = getattr(function, "typing_key", function)
        is_pure = isinstance(key, _Intrinsic) or getattr(key, "__module__", "") == "_operator"
        if named or not is_pure:
            return resolve(function, given, named)
        found = known.get((function, given))
        if found is None:
            found = known[function, given] = resolve(function, given, named)
        return found

    return resolved


def _assigned(function: Any) -> Iterator[tuple[str, Any]]:
    for block in function.blocks.values():
        for each in block.find_insts(ir.Assign):
            yield each.target.name, each.value


def _is_expanded(value: Any) -> bool:
    if isinstance(value, (ir.Global, ir.FreeVar)):
        name = getattr(value.value, "__name__", "")
        return name in _EXPANDED or type(value.value).__name__ == "StencilFunc"
    if not isinstance(value, ir.Expr):
        return False
    return value.op in _HELD or (value.op == "getattr" and value.attr in _EXPANDED)


def _may_be_rewritten(name: str, value: Any, kinds: Any) -> bool:
    if not isinstance(value, ir.Expr):
        return False
    if value.op == "build_list":
        return True
    if not isinstance(kinds.get(name), Array):
        return False
    if value.op == "call":
        return getattr(kinds[value.func.name], "typing_key", None) not in _MAKING
    return True
