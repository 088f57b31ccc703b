"""numba's compiler without work that changes nothing for long functions of vectors.

Two passes go over all statements several times to find that there is nothing to do. Four find where
each name is used last, which only generators make use of; the pass that ends names finds it anew.
One goes over a block for each use of a name that is set several times. And numba finds the type of
each sum and each product among all kinds of sums and products that it knows, first when it infers
types and again when it writes the code: of a function of vectors they are thousands, of few types.
What it compiles is the same to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np
from numba.core import ir, transforms  # noqa: TID251
from numba.core.compiler import CompilerBase, DefaultPassBuilder  # noqa: TID251
from numba.core.compiler_machinery import register_pass  # noqa: TID251
from numba.core.extending import _Intrinsic  # noqa: TID251
from numba.core.postproc import PostProcessor, VariableLifetime  # noqa: TID251
from numba.core.ssa import _FixSSAVars  # noqa: TID251
from numba.core.typed_passes import (  # noqa: TID251
    NativeLowering,
    NopythonRewrites,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.types.functions import Function  # noqa: TID251
from numba.core.types.misc import StringLiteral  # noqa: TID251
from numba.core.types.npytypes import Array  # noqa: TID251
from numba.core.untyped_passes import (  # noqa: TID251
    GenericRewrites,
    InlineClosureLikes,
    IRProcessing,
    ReconstructSSA,
)

from astile.intrinsics.quick_steps import instead, quicker

#: Functions that numba expands where they are called, by the last part of their names.
_EXPANDED = ("array", "reduce", "stencil")
#: Expressions that come from closures, and from lists that may become arrays.
_HELD = ("make_function", "build_list")
#: Array operators are joined into one loop, as NumPy's own functions are; these make arrays.
_MAKING = (np.empty, np.zeros)
#: Expressions whose types are looked for again where their code is written.
_OPERATIONS = ("binop", "inplace_binop", "unary")


def use_quick_compiler(function: Any) -> None:
    """Let a function be compiled without what changes nothing for it.

    Args:
        function: decorated with `njit`, and not compiled so far.
    """
    function.compile = quicker()(function.compile)
    if not function.targetoptions.get("parallel"):
        function._compiler.pipeline_class = _Compiler


class _Compiler(CompilerBase):  # type: ignore[misc]
    def define_pipelines(self) -> list[Any]:
        """The passes of numba in their order, some of them in a quicker form."""
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
        with _remembering(state.typingctx, "resolve_function_type", _is_pure):
            return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):  # type: ignore[misc]
    def run_pass(self, state: Any) -> bool:
        values = [value for _, value in _assigned(state.func_ir) if isinstance(value, ir.Expr)]
        used = {each.fn for each in values if each.op in _OPERATIONS}
        with ExitStack() as stack:
            stack.enter_context(_remembering(state.targetctx, "get_function", _is_pure))
            for each in map(state.typingctx.resolve_value_type, used):
                if isinstance(each, Function):
                    stack.enter_context(_remembering(each, "get_call_type"))
            return bool(super().run_pass(state))


def _without_last_uses(kind: Any) -> Any:
    """A pass of numba that does not find where each name is used last."""

    class Quick(kind):  # type: ignore[misc]
        def run_pass(self, state: Any) -> bool:
            with instead(PostProcessor, "run", _order_blocks):
                return bool(super().run_pass(state))

    return register_pass(mutates_CFG=True, analysis_only=False)(Quick)


@register_pass(mutates_CFG=False, analysis_only=False)
class _Renaming(_without_last_uses(ReconstructSSA)):  # type: ignore[misc]
    def run_pass(self, state: Any) -> bool:
        with instead(_FixSSAVars, "_stmt_index", _position):
            return bool(super().run_pass(state))


def _position(handler: Any, statement: Any, block: Any, stop: int = -1) -> int:
    """Where a statement stands before an end; behind all of them where it does not stand there.

    numba would go over the block once for each use of a name that is set more than once.
    """
    held, positions = vars(handler).get("positions", (None, {}))
    if held is not block:
        positions = {id(each): number for number, each in enumerate(block.body)}
        handler.positions = block, positions
    length = len(block.body)
    found: int = positions.get(id(statement), length)
    return found if found in range(length)[:stop] else length


_find_last_uses = PostProcessor.run


def _order_blocks(processor: Any, *given: Any, **named: Any) -> None:
    """What passes need of `PostProcessor.run`, unless they ask for more, or for a generator."""
    function = processor.func_ir
    if function.is_generator or any(given) or any(named.values()):
        _find_last_uses(processor, *given, **named)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = VariableLifetime(function.blocks)  # found when it is asked
    function.generator_info = None


_INSTEAD = {
    InlineClosureLikes: _Inlining,
    NopythonRewrites: _Rewriting,
    NopythonTypeInference: _Typing,
    NativeLowering: _Lowering,
} | {each: _without_last_uses(each) for each in (IRProcessing, GenericRewrites, PreLowerStripPhis)}
_INSTEAD[ReconstructSSA] = _Renaming


def _remembering(
    owner: Any, name: str, is_pure: Callable[[Any], bool] = lambda _: True
) -> AbstractContextManager[None]:
    """For a while, a method of two arguments is asked once, where what it says depends on them.

    Args:
        owner: has the method.
        name: of the method.
        is_pure: whether it always says the same of a first argument and the second one.
    """
    ask = getattr(owner, name)
    known: dict[tuple[Any, Any], Any] = {}

    def remembered(first: Any, second: Any, *more: Any, **named: Any) -> Any:
        if any(more) or named or not is_pure(first):
            return ask(first, second, *more, **named)
        found = known.get((first, second))
        if found is None:
            found = known[first, second] = ask(first, second, *more)
        return found

    return instead(owner, name, remembered)


def _is_pure(function: Any) -> bool:
    """Whether types, and code, of a function are the same each time: operators and intrinsics."""
    key = getattr(function, "typing_key", function)
    return isinstance(key, _Intrinsic) or getattr(key, "__module__", "") == "_operator"


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
        key = getattr(kinds[value.func.name], "typing_key", None)
        return not isinstance(key, _Intrinsic) and key not in _MAKING
    return True
