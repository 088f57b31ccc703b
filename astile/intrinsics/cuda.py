"""Accesses of several neighbouring elements at once, for kernels of numba.cuda.

`load4(array, (i, j))` gives the elements ``array[i, j]`` to ``array[i, j + 3]`` as a tuple, and
`store4(array, (i, j), values)` writes them, each with one access of 8 or 16 bytes. The address
must be a multiple of that: `is_aligned` says so of the rows of arrays, and the last index is a
multiple of the number of elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import cgutils, types  # noqa: TID251
from numba.cuda.extending import intrinsic  # noqa: TID251
from numba.cuda.typing.templates import signature  # noqa: TID251

from astile.intrinsics.plain import is_aligned

__all__ = ["is_aligned", "load2", "load4", "load8", "store2", "store4", "store8"]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]


def _vector_pointer(
    context: Any, builder: Any, kinds: tuple[Any, Any], values: tuple[Any, Any], count: int
) -> Any:
    """The address of the first element, as that of a vector of `count` of them."""
    array, index = kinds
    held = context.make_array(array)(context, builder, values[0])
    indices = cgutils.unpack_tuple(builder, values[1], len(index))
    pointer = cgutils.get_item_pointer2(
        context,
        builder,
        data=held.data,
        shape=cgutils.unpack_tuple(builder, held.shape, array.ndim),
        strides=cgutils.unpack_tuple(builder, held.strides, array.ndim),
        layout=array.layout,
        inds=[
            context.cast(builder, each, kind, types.uint64)
            for kind, each in zip(index, indices, strict=True)
        ],
        wraparound=False,
    )
    element = context.get_data_type(array.dtype)
    return builder.bitcast(pointer, ir.VectorType(element, count).as_pointer())


def _lane(position: int) -> Any:
    return ir.Constant(ir.IntType(32), position)


def _load(count: int) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        pointer = _vector_pointer(context, builder, made.args, values, count)
        vector = builder.load(pointer)
        vector.align = count * made.args[0].dtype.bitwidth // 8
        lanes = [builder.extract_element(vector, _lane(k)) for k in range(count)]
        return context.make_tuple(builder, made.return_type, lanes)

    def load(typing_context: Any, array: Any, index: Any) -> Made:
        return signature(types.UniTuple(array.dtype, count), array, index), generate

    return intrinsic(load)


def _store(count: int) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        array, _, lanes = made.args
        pointer = _vector_pointer(context, builder, made.args[:2], values[:2], count)
        vector = ir.Constant(pointer.type.pointee, ir.Undefined)
        for k, kind in enumerate(lanes):
            lane = builder.extract_value(values[2], k)
            lane = context.cast(builder, lane, kind, array.dtype)
            vector = builder.insert_element(vector, lane, _lane(k))
        builder.store(vector, pointer).align = count * array.dtype.bitwidth // 8
        return context.get_dummy_value()

    def store(typing_context: Any, array: Any, index: Any, values: Any) -> Made:
        return signature(types.none, array, index, values), generate

    return intrinsic(store)


load2, load4, load8 = _load(2), _load(4), _load(8)
store2, store4, store8 = _store(2), _store(4), _store(8)
