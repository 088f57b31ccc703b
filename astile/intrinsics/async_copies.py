"""Copies from global to shared memory that run beside the computation, for kernels of numba.cuda.

`start_copy4(tile, (i, j), array, (k, n))` starts to copy ``array[k, n]`` to ``array[k, n + 3]``
to the cells from ``tile[i, j]`` on. What a thread started before `close_group` is one group; its
cells hold their values once the thread has waited for the group, and for other threads after a
barrier. These are the instructions ``cp.async`` of GPUs of compute capability 8.0 and newer; both
addresses must be multiples of the bytes of one copy, which are 4, 8 or 16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import cgutils, types  # noqa: TID251
from numba.cuda.extending import intrinsic  # noqa: TID251
from numba.cuda.typing.templates import signature  # noqa: TID251

__all__ = [
    "close_group",
    "start_copy1",
    "start_copy2",
    "start_copy4",
    "start_copy8",
    "wait_all",
    "wait_all_but_1",
    "wait_all_but_2",
]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]
#: Address spaces of LLVM for NVIDIA's GPUs.
_GLOBAL, _SHARED = 1, 3
#: Copies of 16 bytes pass by the first cache, which others need for what is read again.
_TEXTS = {
    4: "cp.async.ca.shared.global [$0], [$1], 4;",
    8: "cp.async.ca.shared.global [$0], [$1], 8;",
    16: "cp.async.cg.shared.global [$0], [$1], 16;",
}


def _address(
    context: Any, builder: Any, kinds: tuple[Any, Any], values: tuple[Any, Any], space: int
) -> Any:
    """The address of a cell in the memory it lies in, as an integer."""
    array, index = kinds
    held = context.make_array(array)(context, builder, values[0])
    pointer = cgutils.get_item_pointer2(
        context,
        builder,
        data=held.data,
        shape=cgutils.unpack_tuple(builder, held.shape, array.ndim),
        strides=cgutils.unpack_tuple(builder, held.strides, array.ndim),
        layout=array.layout,
        inds=[
            context.cast(builder, each, kind, types.uint64)
            for kind, each in zip(index, cgutils.unpack_tuple(builder, values[1]), strict=True)
        ],
        wraparound=False,
    )
    inside = builder.addrspacecast(pointer, ir.PointerType(pointer.type.pointee, space))
    return builder.ptrtoint(inside, ir.IntType(32 if space == _SHARED else 64))


def _instruction(builder: Any, text: str, constraints: str, values: list[Any]) -> None:
    kind = ir.FunctionType(ir.VoidType(), [each.type for each in values])
    builder.call(ir.InlineAsm(kind, text, constraints, side_effect=True), values)


def _start(count: int) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        size = count * made.args[0].dtype.bitwidth // 8
        tile = _address(context, builder, made.args[:2], values[:2], _SHARED)
        source = _address(context, builder, made.args[2:], values[2:], _GLOBAL)
        _instruction(builder, _TEXTS[size], "r,l,~{memory}", [tile, source])
        return context.get_dummy_value()

    def start(typing_context: Any, tile: Any, index: Any, array: Any, source: Any) -> Made:
        return signature(types.none, tile, index, array, source), generate

    return intrinsic(start)


def _word(text: str) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        _instruction(builder, text, "~{memory}", [])
        return context.get_dummy_value()

    def word(typing_context: Any) -> Made:
        return signature(types.none), generate

    return intrinsic(word)


start_copy1, start_copy2, start_copy4, start_copy8 = _start(1), _start(2), _start(4), _start(8)
close_group = _word("cp.async.commit_group;")
wait_all = _word("cp.async.wait_all;")
wait_all_but_1 = _word("cp.async.wait_group 1;")
wait_all_but_2 = _word("cp.async.wait_group 2;")
