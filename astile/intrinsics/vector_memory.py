"""Loads and stores of vectors and of single cells, without checks of the index."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core import cgutils  # noqa: TID251
from numba.core.errors import TypingError  # noqa: TID251
from numba.core.typing import signature  # noqa: TID251
from numba.extending import intrinsic  # noqa: TID251

from astile.intrinsics.prefetches import ask
from astile.intrinsics.vector_types import (
    I32,
    I64,
    Vector,
    index_type,
    lane_pointers,
    llvm_type,
    pointer,
    shuffled,
    suffix,
    transposed,
    unforeseen,
)

#: The smallest part of a vector that is stored around the caches.
_PART_BYTES = 16
#: Arrays of so many bytes or more are in no cache when they are used again.
_LARGE_BYTES = 1 << 25
#: So many bytes ahead the lines of later stores are asked for.
_AHEAD_BYTES = 256


def _lanes(value: Any) -> int:
    if not isinstance(value, types.IntegerLiteral):
        raise TypingError("the number of lanes, and an axis, have to be literal")
    return int(value.literal_value)


def _element(array: Any) -> Any:
    if not isinstance(array, types.Array):
        raise TypingError(f"{array} is no array")
    return array.dtype


def _last(array: Any) -> int:
    return int(array.ndim) - 1


def _wide(builder: Any, at: Any, vector: Vector) -> Any:
    """An address as one of a whole vector."""
    return builder.bitcast(at, llvm_type(vector.in_memory).as_pointer())


def _read(builder: Any, at: Any, vector: Vector) -> Any:
    found = builder.load(_wide(builder, at, vector), align=vector.lane_bytes)
    return _from_memory(builder, found, vector)


def _from_memory(builder: Any, found: Any, vector: Vector) -> Any:
    return builder.icmp_unsigned("!=", found, found.type(None)) if vector.is_mask else found


def _for_memory(builder: Any, value: Any, vector: Vector) -> Any:
    return builder.zext(value, llvm_type(vector.in_memory)) if vector.is_mask else value


def _lane_value(context: Any, builder: Any, vector: Vector, at: Any) -> Any:
    return context.unpack_value(builder, vector.dtype, at)


def _gathered(context: Any, builder: Any, vector: Vector, places: list[Any]) -> Any:
    made = ir.Constant(llvm_type(vector), ir.Undefined)
    for lane, at in enumerate(places):
        value = _lane_value(context, builder, vector, at)
        made = builder.insert_element(made, value, I32(lane))
    return made


def _scattered(context: Any, builder: Any, vector: Vector, places: list[Any], value: Any) -> None:
    for lane, at in enumerate(places):
        part = builder.extract_element(value, I32(lane))
        context.pack_value(builder, vector.dtype, part, at)


def _is_straight(array: Any) -> bool:
    return bool(array.layout == "C")


# --- vectors ------------------------------------------------------------------------------------


def _load(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    vector = Vector(_element(array), _lanes(lanes))
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        if _is_straight(array):
            return _read(builder, at, vector)
        ends = (array, values[0], at, _last(array), vector.lanes)
        return _gathered(context, builder, vector, lane_pointers(context, builder, *ends))

    return signature(vector, array, wanted, lanes), generate


def _load_along(typing: Any, array: Any, index: Any, axis: Any, lanes: Any) -> Any:
    vector = Vector(_element(array), _lanes(lanes))
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        ends = (array, values[0], at, _lanes(axis), vector.lanes)
        return _gathered(context, builder, vector, lane_pointers(context, builder, *ends))

    return signature(vector, array, wanted, axis, lanes), generate


def _columns(typing: Any, array: Any, index: Any, lanes: Any) -> Any:
    count = _lanes(lanes)
    vector = Vector(_element(array), count)
    wanted = index_type(array, index)
    if not isinstance(wanted, types.BaseTuple) or array.ndim < 2 or count & (count - 1):
        raise TypingError(f"{array} has no columns of {count} cells")
    made = types.UniTuple(vector, count)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        ends = (array, values[0], at, _last(array) - 1, count)
        rows = []
        for place in lane_pointers(context, builder, *ends):
            if _is_straight(array):
                rows.append(_read(builder, place, vector))
                continue
            cells = (array, values[0], place, _last(array), count)
            rows.append(
                _gathered(context, builder, vector, lane_pointers(context, builder, *cells))
            )
        return context.make_tuple(builder, made, transposed(builder, rows))

    return signature(made, array, wanted, lanes), generate


def _load_where(typing: Any, mask: Any, array: Any, index: Any) -> Any:
    _require_mask(mask)
    vector = Vector(_element(array), mask.lanes)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[1], wanted, values[2])
        if _is_straight(array):
            kind = llvm_type(vector.in_memory)
            place = _wide(builder, at, vector)
            arguments = [place, I32(vector.lane_bytes), values[0], ir.Constant(kind, None)]
            form = ir.FunctionType(kind, [each.type for each in arguments])
            name = f"llvm.masked.load.{suffix(vector.in_memory)}.p0"
            known = cgutils.get_or_insert_function(builder.module, form, name)
            return _from_memory(builder, builder.call(known, arguments), vector)
        ends = (array, values[1], at, _last(array), vector.lanes)
        places = lane_pointers(context, builder, *ends)
        return _gathered_where(context, builder, vector, places, values[0])

    return signature(vector, mask, array, wanted), generate


def _gathered_where(
    context: Any, builder: Any, vector: Vector, places: list[Any], mask: Any
) -> Any:
    kind = llvm_type(vector)
    made = cgutils.alloca_once_value(builder, ir.Constant(kind, None))
    for lane, at in enumerate(places):
        with builder.if_then(builder.extract_element(mask, I32(lane))):
            value = _lane_value(context, builder, vector, at)
            builder.store(builder.insert_element(builder.load(made), value, I32(lane)), made)
    return builder.load(made)


def _require_vector(value: Any) -> None:
    if not isinstance(value, Vector):
        raise TypingError(f"{value} is no vector")


def _require_mask(value: Any) -> None:
    _require_vector(value)
    if not value.is_mask:
        raise TypingError(f"{value} is no mask")


def _require_same(array: Any, vector: Any) -> None:
    _require_vector(vector)
    if _element(array) != vector.dtype:
        raise TypingError(f"{vector} is not stored in {array} without a conversion")


def _store(typing: Any, array: Any, index: Any, vector: Any) -> Any:
    _require_same(array, vector)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        if _is_straight(array):
            value = _for_memory(builder, values[2], vector)
            builder.store(value, _wide(builder, at, vector), align=vector.lane_bytes)
        else:
            ends = (array, values[0], at, _last(array), vector.lanes)
            places = lane_pointers(context, builder, *ends)
            _scattered(context, builder, vector, places, values[2])
        return context.get_dummy_value()

    return signature(types.void, array, wanted, vector), generate


def _store_along(typing: Any, array: Any, index: Any, axis: Any, vector: Any) -> Any:
    _require_same(array, vector)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        ends = (array, values[0], at, _lanes(axis), vector.lanes)
        _scattered(context, builder, vector, lane_pointers(context, builder, *ends), values[3])
        return context.get_dummy_value()

    return signature(types.void, array, wanted, axis, vector), generate


def _store_where(typing: Any, mask: Any, array: Any, index: Any, vector: Any) -> Any:
    _require_mask(mask)
    _require_same(array, vector)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[1], wanted, values[2])
        if _is_straight(array):
            place = _wide(builder, at, vector)
            value = _for_memory(builder, values[3], vector)
            some = values[0]
            if not vector.is_float and vector.lane_bytes < 8:
                some = unforeseen(builder, some, vector.lanes)
            arguments = [value, place, I32(vector.lane_bytes), some]
            form = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
            name = f"llvm.masked.store.{suffix(vector.in_memory)}.p0"
            known = cgutils.get_or_insert_function(builder.module, form, name)
            builder.call(known, arguments)
        else:
            ends = (array, values[1], at, _last(array), vector.lanes)
            for lane, cell in enumerate(lane_pointers(context, builder, *ends)):
                with builder.if_then(builder.extract_element(values[0], I32(lane))):
                    part = builder.extract_element(values[3], I32(lane))
                    context.pack_value(builder, vector.dtype, part, cell)
        return context.get_dummy_value()

    return signature(types.void, mask, array, wanted, vector), generate


def _store_around(least: int | None) -> Any:
    """An intrinsic that stores around the caches, in arrays of so many bytes or more; None: never.

    Whole vectors, or their parts of 16 bytes: NumPy aligns arrays to no more than that. In smaller
    arrays lines of later stores are asked for.
    """

    def typed(typing: Any, array: Any, index: Any, vector: Any) -> Any:
        _require_same(array, vector)
        wanted = index_type(array, index)
        if vector.is_mask or not _is_straight(array):
            return _store(typing, array, index, vector)
        whole = vector.lanes * vector.lane_bytes
        sizes = [whole, _PART_BYTES] if whole > _PART_BYTES else [whole]
        sizes = [] if whole & (whole - 1) else sizes

        def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
            at = pointer(context, builder, array, values[0], wanted, values[1])
            if least is None:
                _stored_ahead(builder, values[2], at, vector)
                return context.get_dummy_value()
            cells = context.make_array(array)(context, builder, values[0]).nitems
            enough = cells.type(-(-least // vector.lane_bytes))
            with builder.if_else(builder.icmp_signed(">=", cells, enough)) as (then, otherwise):
                with then:
                    _streamed(builder, values[2], at, vector, sizes)
                with otherwise:
                    _stored_ahead(builder, values[2], at, vector)
            return context.get_dummy_value()

        return signature(types.void, array, wanted, vector), generate

    return intrinsic(typed)


def _stored_ahead(builder: Any, value: Any, at: Any, vector: Vector) -> None:
    """Store, and ask for a line that a later store of the same row takes.

    Where several rows are stored side by side, processors see too late which lines come next.
    """
    ask(builder, at, _AHEAD_BYTES, to_write=True, locality=3)
    builder.store(value, _wide(builder, at, vector), align=vector.lane_bytes)


def _streamed(builder: Any, value: Any, at: Any, vector: Vector, sizes: list[int]) -> None:
    """Store in parts of the first size that the address is a multiple of; else by the caches.

    The instruction faults at any other address.
    """
    if not sizes:
        builder.store(value, _wide(builder, at, vector), align=vector.lane_bytes)
        return
    rest = builder.and_(builder.ptrtoint(at, I64), I64(sizes[0] - 1))
    aligned = builder.icmp_unsigned("==", rest, I64(0))
    with builder.if_else(aligned, likely=True) as (then, otherwise):
        with then:
            count = sizes[0] // vector.lane_bytes
            place = builder.bitcast(at, ir.VectorType(value.type.element, count).as_pointer())
            for number, first in enumerate(range(0, vector.lanes, count)):
                part = shuffled(builder, value, value, list(range(first, first + count)))
                target = builder.gep(place, [I64(number)])
                made = builder.store(part, target, align=sizes[0])
                made.set_metadata("nontemporal", builder.module.add_metadata([I32(1)]))
        with otherwise:
            _streamed(builder, value, at, vector, sizes[1:])


# --- cells --------------------------------------------------------------------------------------


def _get(typing: Any, array: Any, index: Any) -> Any:
    element = _element(array)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        return context.unpack_value(builder, element, at)

    return signature(element, array, wanted), generate


def _put(typing: Any, array: Any, index: Any, value: Any) -> Any:
    element = _element(array)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[0], wanted, values[1])
        context.pack_value(builder, element, values[2], at)
        return context.get_dummy_value()

    return signature(types.void, array, wanted, element), generate


def _get_where(typing: Any, mask: Any, array: Any, index: Any) -> Any:
    _require_mask(mask)
    element = _element(array)
    wanted = index_type(array, index)

    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        at = pointer(context, builder, array, values[1], wanted, values[2])
        bits = builder.bitcast(values[0], ir.IntType(mask.lanes))
        some = builder.icmp_unsigned("!=", bits, bits.type(0))
        zero = context.get_constant_null(element)
        data = context.get_data_type(element)
        nowhere = cgutils.alloca_once(builder, data)  # a place that can be read, for no lane
        context.pack_value(builder, element, zero, nowhere)
        return context.unpack_value(builder, element, builder.select(some, at, nowhere))

    return signature(element, mask, array, wanted), generate


def _fence(typing: Any) -> Any:
    def generate(context: Any, builder: Any, call: Any, values: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return signature(types.void), generate


load = intrinsic(prefer_literal=True)(_load)
load_along = intrinsic(prefer_literal=True)(_load_along)
columns = intrinsic(prefer_literal=True)(_columns)
load_where = intrinsic(_load_where)
store = intrinsic(_store)
store_along = intrinsic(prefer_literal=True)(_store_along)
store_where = intrinsic(_store_where)
store_streaming = _store_around(0)
store_large = _store_around(_LARGE_BYTES)
store_ahead = _store_around(None)
get = intrinsic(_get)
get_where = intrinsic(_get_where)
put = intrinsic(_put)
fence = intrinsic(_fence)
