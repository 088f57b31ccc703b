"""Iterations of loops that LLVM writes out one after the other."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.vector_types import I32


class _Last(ir.Block):  # type: ignore[misc]
    """The last part of the body of a loop: the jump that ends it says how often to write it out."""

    times: int
    _jump: Any

    @property
    def terminator(self) -> Any:
        """The jump back to the head of the loop, once it is there."""
        return self._jump

    @terminator.setter
    def terminator(self, jump: Any) -> None:
        self._jump = jump
        if jump is not None:
            module = self.parent.module
            count = module.add_metadata([_COUNT, I32(self.times)])
            # LLVM tells loops apart by nodes that begin with themselves
            loop = ir.MDValue(module, [count], name=str(len(module.metadata)))
            loop.operands = (loop, count)
            jump.set_metadata("llvm.loop", loop)


_COUNT = "llvm.loop.unroll.count"


@intrinsic(prefer_literal=True)  # type: ignore[untyped-decorator]
def unrolled(typing: Any, times: Any) -> Any:
    """At the end of the body of a loop: LLVM writes out so many iterations one after the other."""
    if not isinstance(times, types.IntegerLiteral):
        return None

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        block = builder.block
        del block.terminator  # of the object itself; from now on it is that of the class
        block.__class__ = _Last
        block.times, block._jump = times.literal_value, None
        return context.get_dummy_value()

    return signature(types.void, times), generate
