"""The type of vectors in numba, and how its values and the places of arrays look to LLVM."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types  # noqa: TID251
from numba.core.errors import TypingError  # noqa: TID251
from numba.extending import models, register_model  # noqa: TID251

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)


class Vector(types.Type):  # type: ignore[misc]
    """The type of `lanes` values of one number type.

    Args:
        dtype: numba's type of a lane; `boolean` for masks.
        lanes: how many.
    """

    def __init__(self, dtype: Any, lanes: int) -> None:
        self.dtype = dtype
        self.lanes = lanes
        super().__init__(name=f"Vector({dtype}, {lanes})")

    @property
    def is_mask(self) -> bool:
        """Whether the lanes are truth values."""
        return bool(self.dtype == types.boolean)

    @property
    def is_float(self) -> bool:
        """Whether the lanes are floats."""
        return isinstance(self.dtype, types.Float)

    @property
    def is_signed(self) -> bool:
        """Whether the lanes are integers with a sign."""
        return bool(getattr(self.dtype, "signed", False))

    @property
    def mask(self) -> Vector:
        """The type of a mask for these lanes."""
        return Vector(types.boolean, self.lanes)

    @property
    def in_memory(self) -> Vector:
        """What the lanes are in memory: truth values are bytes there."""
        return Vector(types.uint8, self.lanes) if self.is_mask else self

    @property
    def lane_bytes(self) -> int:
        """Size of a lane in memory, and its alignment, which every array of numba's has."""
        return int(self.in_memory.dtype.bitwidth) // 8


def lane_type(dtype: Any) -> Any:
    """LLVM's type of one lane.

    Args:
        dtype: numba's type.

    Raises:
        TypingError: for a type that vectors do not hold.
    """
    if dtype == types.boolean:
        return I1
    if isinstance(dtype, types.Integer):
        return ir.IntType(dtype.bitwidth)
    if dtype == types.float32:
        return ir.FloatType()
    if dtype == types.float64:
        return ir.DoubleType()
    raise TypingError(f"vectors do not hold values of {dtype}")


def llvm_type(vector: Vector) -> Any:
    """LLVM's type of a vector."""
    return ir.VectorType(lane_type(vector.dtype), vector.lanes)


def suffix(vector: Vector) -> str:
    """How LLVM's functions call a type of vector: ``v16f32``."""
    letter = "f" if vector.is_float else "i"
    width = 1 if vector.is_mask else vector.dtype.bitwidth
    return f"v{vector.lanes}{letter}{width}"


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]
    """A vector is one value of LLVM."""

    def __init__(self, manager: Any, vector: Vector) -> None:
        super().__init__(manager, vector, llvm_type(vector))


def shuffled(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    """The lanes that are listed, counted through both vectors."""
    wanted = ir.Constant(ir.VectorType(I32, len(lanes)), lanes)
    return builder.shuffle_vector(first, second, wanted)


def splatted(builder: Any, value: Any, lanes: int) -> Any:
    """One value in all lanes."""
    empty = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, value, I32(0))
    return shuffled(builder, first, empty, [0] * lanes)


def unforeseen(builder: Any, mask: Any, lanes: int) -> Any:
    """A mask of the same lanes that LLVM cannot tell in advance.

    LLVM 22 stores a narrowed integer in the width that it had before, over its neighbours, where
    it knows that one lane of a masked store runs and which.
    """
    every = builder.trunc(hidden(builder, I64(-1)), I1)
    return builder.and_(mask, splatted(builder, every, lanes))


def hidden(builder: Any, value: Any) -> Any:
    """An integer of 64 bits of which LLVM forgets what it knows."""
    return builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [value], False)


def transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """The columns of a square of vectors: as many of them as each has lanes, a power of 2.

    Each step swaps one bit of the number of a vector with one of the number of a lane.
    """
    count = len(rows)
    step = count // 2
    while step:
        low = [count + k - step if k & step else k for k in range(count)]
        high = [count + k if k & step else k + step for k in range(count)]
        made = list(rows)
        for k in range(count):
            if not k & step:
                made[k] = shuffled(builder, rows[k], rows[k + step], low)
                made[k + step] = shuffled(builder, rows[k], rows[k + step], high)
        rows, step = made, step // 2
    return rows


# --- places of arrays ---------------------------------------------------------------------------


def index_type(array: Any, index: Any) -> Any:
    """The type that an index is cast to: one integer, or one for each axis.

    Args:
        array: numba's type of the array.
        index: numba's type of the index.

    Raises:
        TypingError: for an index of another form.
    """
    if not isinstance(array, types.Array):
        raise TypingError(f"{array} is no array")
    if isinstance(index, types.BaseTuple):
        if len(index) != array.ndim or not all(isinstance(e, types.Integer) for e in index.types):
            raise TypingError(f"{array} takes {array.ndim} integers as index, not {index}")
        return types.UniTuple(types.intp, array.ndim)
    if not isinstance(index, types.Integer):
        raise TypingError(f"{index} is no index")
    if array.ndim != 1 and array.layout != "C":
        raise TypingError(f"the cells of {array} are not numbered one after the other")
    return types.intp


def pointer(context: Any, builder: Any, array: Any, value: Any, index: Any, place: Any) -> Any:
    """The address of a cell.

    Args:
        context: numba's.
        builder: LLVM's.
        array: numba's type of the array.
        value: the array.
        index: numba's type of the index.
        place: the index.
    """
    data = _field(context, builder, array, value, "data")
    if not isinstance(index, types.BaseTuple):
        if array.layout == "C":
            return builder.gep(data, [place])
        parts = [place]
    else:
        parts = [builder.extract_value(place, k) for k in range(array.ndim)]
    if array.layout == "C" and array.ndim == 1:
        return builder.gep(data, parts)
    every = _field(context, builder, array, value, "strides")
    is_packed = array.layout == "C"
    strides = [builder.extract_value(every, k) for k in range(array.ndim - is_packed)]
    if is_packed:
        strides.append(I64(context.get_abi_sizeof(context.get_data_type(array.dtype))))
    offset = I64(0)
    for part, stride in zip(parts, strides, strict=True):
        offset = builder.add(offset, builder.mul(part, stride))
    start = builder.bitcast(data, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(start, [offset]), data.type)


def _field(context: Any, builder: Any, array: Any, value: Any, name: str) -> Any:
    """A field of an array, taken from where it is: a copy in memory would have to be seen through.

    Each access of a text asks for fields, and the compiler takes its time for each copy.
    """
    position = context.data_model_manager[array].get_field_position(name)
    return builder.extract_value(value, position)


def lane_pointers(
    context: Any, builder: Any, array: Any, value: Any, first: Any, axis: int, lanes: int
) -> list[Any]:
    """The addresses of cells along an axis, from the address of the first."""
    step = builder.extract_value(_field(context, builder, array, value, "strides"), axis)
    start = builder.bitcast(first, ir.IntType(8).as_pointer())
    found = []
    for lane in range(lanes):
        at = builder.gep(start, [builder.mul(step, I64(lane))])
        found.append(builder.bitcast(at, first.type))
    return found
