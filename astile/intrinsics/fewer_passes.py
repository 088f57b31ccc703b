"""numba's compiler without two passes, where these would change nothing.

Both go over all statements several times to find out: a tenth of what numba takes for long
functions of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.core import ir  # noqa: TID251
from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: TID251
from numba.core.compiler_machinery import register_pass  # noqa: TID251
from numba.core.typed_passes import NopythonRewrites  # noqa: TID251
from numba.core.types.misc import StringLiteral  # noqa: TID251
from numba.core.types.npytypes import Array  # noqa: TID251
from numba.core.untyped_passes import InlineClosureLikes  # noqa: TID251

#: Functions that numba expands where they are called, by the last part of their names.
_EXPANDED = ("array", "reduce", "stencil")
#: Expressions that come from closures, and from lists that may become arrays.
_HELD = ("make_function", "build_list")
#: Array operators are joined into one loop, as NumPy's own functions are; these make arrays.
_MAKING = (np.empty, np.zeros)


def with_fewer_passes(function: Any) -> None:
    """Let a function skip what does nothing to it when it is compiled.

    Args:
        function: decorated with `njit`, and not compiled so far.
    """
    if not function.targetoptions.get("parallel"):
        function._compiler.pipeline_class = _Compiler


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        """The passes of numba in their order, two with a look beforehand."""
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


_INSTEAD = {InlineClosureLikes: _Inlining, NopythonRewrites: _Rewriting}


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
