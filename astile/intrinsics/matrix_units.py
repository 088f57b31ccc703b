"""Products of matrices by the matrix units of a GPU, for kernels of numba.cuda.

The 32 threads of a warp call these together; what each of them holds is laid out as the
instructions ``ldmatrix`` and ``mma.sync`` want it ("PTX ISA", NVIDIA), for GPUs of compute
capability 8.0 and newer.

`load_rows4(array, (i, j))` reads four matrices of 8 x 8 cells of 16 bits from shared memory: the
thread of lane ``8 * m + r`` names the first cell of row ``r`` of matrix ``m``, and each gets two
neighbours of a row of every matrix in one register. `load_columns4` gives neighbours of a column.
With `load_rows2` and `load_columns2` lanes from 16 on only need to name some row.
Rows of float32 have 4 cells, of which each thread gets one.
`multiply_add_f16(a, b, c)` is ``a @ b + c`` of parts of matrices of 16 x 16, 16 x 8 and 16 x 8.

`tf32_parts(values)` and `bf16_parts(values)` round float32 to what `multiply_add_tf32`, of 16 x 8
and 8 x 8, and `multiply_add_bf16` take: one number in each register, or two neighbours. `tf32` and
`bf16` are those of `astile.loops`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.cuda import cgutils, types  # noqa: TID251
from numba.cuda.extending import intrinsic  # noqa: TID251
from numba.cuda.typing.templates import signature  # noqa: TID251

from astile.intrinsics import rounding_code

__all__ = [
    "bf16",
    "bf16_parts",
    "load_columns2",
    "load_columns4",
    "load_rows2",
    "load_rows4",
    "multiply_add_bf16",
    "multiply_add_f16",
    "multiply_add_tf32",
    "tf32",
    "tf32_parts",
]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]
#: Address space of shared memory of LLVM for NVIDIA's GPUs.
_SHARED = 3
_WORD, _SINGLE = ir.IntType(32), ir.FloatType()


def _address(context: Any, builder: Any, kinds: tuple[Any, Any], values: tuple[Any, Any]) -> Any:
    """The address of a cell in shared memory, which has 32 bits, as has all its arithmetic."""
    array, index = kinds
    held = context.make_array(array)(context, builder, values[0])
    inside = builder.addrspacecast(held.data, ir.PointerType(held.data.type.pointee, _SHARED))
    address = builder.ptrtoint(inside, _WORD)
    strides = cgutils.unpack_tuple(builder, held.strides, array.ndim)
    indices = cgutils.unpack_tuple(builder, values[1])
    for kind, each, stride in zip(index, indices, strides, strict=True):
        place = context.cast(builder, each, kind, types.uint32)
        step = builder.trunc(stride, _WORD)
        address = builder.add(address, builder.mul(place, step))
    return address


def _results(
    context: Any,
    builder: Any,
    made: Any,
    call: tuple[Any, str, str],
    values: list[Any],
    reads: bool,
) -> Any:
    """The tuple of what an instruction of the assembler gives.

    Args:
        context: of numba.
        builder: of instructions.
        made: the signature.
        call: type of a result, text, constraints.
        values: operands.
        reads: whether it reads memory that others write.
    """
    kind, text, constraints = call
    count = len(made.return_type)
    function = ir.FunctionType(ir.LiteralStructType([kind] * count), [each.type for each in values])
    assembly = ir.InlineAsm(function, text, constraints, side_effect=reads)
    found = builder.call(assembly, values)
    parts = [builder.extract_value(found, k) for k in range(count)]
    return context.make_tuple(builder, made.return_type, parts)


def _load(count: int, *, columns: bool) -> Any:
    names = ", ".join(f"${k}" for k in range(count))
    kind = ".trans" if columns else ""
    text = f"ldmatrix.sync.aligned.m8n8.x{count}{kind}.shared.b16 {{{names}}}, [${count}];"

    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        address = _address(context, builder, made.args, values)
        is_single = made.return_type.dtype == types.float32
        held, kind = ("=f", _SINGLE) if is_single else ("=r", _WORD)
        constraints = ",".join([*[held] * count, "r", "~{memory}"])
        return _results(context, builder, made, (kind, text, constraints), [address], reads=True)

    def load(typing_context: Any, array: Any, index: Any) -> Made:
        kind = types.float32 if array.dtype == types.float32 else types.uint32
        return signature(types.UniTuple(kind, count), array, index), generate

    return intrinsic(load)


def _multiply_add(shape: str, operands: str) -> Any:
    text = (
        f"mma.sync.aligned.{shape}.row.col.f32.{operands}.{operands}.f32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};"
    )
    constraints = ",".join([*["=f"] * 4, *["r"] * 6, *["f"] * 4])

    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        parts = [each for value in values for each in cgutils.unpack_tuple(builder, value)]
        return _results(context, builder, made, (_SINGLE, text, constraints), parts, reads=False)

    def multiply_add(typing_context: Any, a: Any, b: Any, c: Any) -> Made:
        wanted = (
            types.UniTuple(types.uint32, 4),
            types.UniTuple(types.uint32, 2),
            types.UniTuple(types.float32, 4),
        )
        return signature(wanted[2], *wanted), generate

    return intrinsic(multiply_add)


def _parts(text: str, each: int) -> Any:
    """Registers for float32, `each` of them in one; the first of two goes to its lower half."""
    kind = ir.FunctionType(_WORD, [_SINGLE] * each)
    constraints = ",".join(["=r", *["f"] * each])

    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        numbers = cgutils.unpack_tuple(builder, values[0])
        found = [
            builder.call(ir.InlineAsm(kind, text, constraints), numbers[k : k + each][::-1])
            for k in range(0, len(numbers), each)
        ]
        return context.make_tuple(builder, made.return_type, found)

    def parts(typing_context: Any, values: Any) -> Made:
        wanted = types.UniTuple(types.float32, len(values))
        return signature(types.UniTuple(types.uint32, len(values) // each), wanted), generate

    return intrinsic(parts)


def _rounding(code: Callable[[Any, Any], Any]) -> Any:
    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        return code(builder, context.cast(builder, values[0], made.args[0], types.float32))

    def rounded(typing_context: Any, value: Any) -> Made | None:
        if not isinstance(value, (types.Float, types.Integer, types.Boolean)):
            return None
        return signature(types.float32, value), generate

    return intrinsic(rounded)


load_rows2, load_rows4 = _load(2, columns=False), _load(4, columns=False)
load_columns2, load_columns4 = _load(2, columns=True), _load(4, columns=True)
multiply_add_f16 = _multiply_add("m16n8k16", "f16")
multiply_add_bf16 = _multiply_add("m16n8k16", "bf16")
multiply_add_tf32 = _multiply_add("m16n8k8", "tf32")
tf32_parts = _parts("cvt.rna.tf32.f32 $0, $1;", 1)
bf16_parts = _parts("cvt.rn.bf16x2.f32 $0, $1, $2;", 2)
bf16, tf32 = _rounding(rounding_code.bf16), _rounding(rounding_code.tf32)
