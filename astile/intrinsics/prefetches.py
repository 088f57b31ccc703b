"""Lines of memory that are asked for before they are needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core import cgutils  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.vector_types import I32, I64, index_type, pointer


def ask(builder: Any, at: Any, ahead: int, *, to_write: bool, locality: int) -> None:
    """Ask for the line of the cache some bytes ahead of an address, which may be any.

    Args:
        builder: of the code.
        at: the address.
        ahead: bytes.
        to_write: whether cells of it will be stored to.
        locality: 3 for all caches, 2 for all but the first.
    """
    place = builder.gep(builder.bitcast(at, ir.IntType(8).as_pointer()), [I64(ahead)])
    arguments = [place, I32(int(to_write)), I32(locality), I32(1)]  # data, not code
    form = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
    known = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0")
    builder.call(known, arguments)


def _prefetch_into(locality: int) -> Any:
    """An intrinsic that asks for a line of the cache.

    Args:
        locality: 3 for all caches, 2 for all but the first.
    """

    def typed(typing: Any, array: Any, index: Any) -> Any:
        wanted = index_type(array, index)

        def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
            at = pointer(context, builder, array, values[0], wanted, values[1])
            ask(builder, at, 0, to_write=False, locality=locality)
            return context.get_dummy_value()

        return signature(types.void, array, wanted), generate

    return intrinsic(typed)


prefetch = _prefetch_into(3)
prefetch_second = _prefetch_into(2)
