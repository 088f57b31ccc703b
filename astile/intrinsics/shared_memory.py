"""More shared memory than 48 KiB for a block, for kernels of numba.cuda.

A GPU gives a block more than that only as one piece, whose size the launch says, and only to
kernels that asked for it: ``kernel[grid, block, 0, 98304]`` launches one that is decorated with
`with_shared_memory`. `shared_array(shape, dtype, offset)` is an array in that piece, `offset` bytes
behind its begin, which is a multiple of 16; all three are literal.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from llvmlite import ir
from numba.cuda import cgutils, types  # noqa: TID251
from numba.cuda.cudadrv import driver  # noqa: TID251
from numba.cuda.cudadrv.devices import get_context  # noqa: TID251
from numba.cuda.extending import intrinsic  # noqa: TID251
from numba.cuda.typing.npydecl import parse_dtype  # noqa: TID251
from numba.cuda.typing.templates import signature  # noqa: TID251

from astile.intrinsics.plain import SharedMemoryError

__all__ = ["SharedMemoryError", "shared_array", "with_shared_memory"]

#: What an intrinsic gives numba: its signature, and what writes its instructions.
Made = tuple[Any, Callable[..., Any]]
#: Address space of shared memory of LLVM for NVIDIA's GPUs.
_SHARED = 3
#: What every piece is aligned to: the bytes of the widest access.
_ALIGNMENT = 16
#: All external arrays in shared memory begin where the piece does.
_PIECE = "astile_shared"


def _piece(builder: Any) -> Any:
    """The piece of shared memory, as an array of bytes without a length."""
    module = builder.module
    known = module.globals.get(_PIECE)
    if known is not None:
        return known
    made = cgutils.add_global_variable(module, ir.ArrayType(ir.IntType(8), 0), _PIECE, _SHARED)
    made.linkage, made.align = "external", _ALIGNMENT
    return made


def _literal(kind: Any) -> int | None:
    return int(kind.literal_value) if isinstance(kind, types.IntegerLiteral) else None


def _shared_array(typing_context: Any, shape: Any, dtype: Any, offset: Any) -> Made | None:
    kinds = (shape,) if isinstance(shape, types.Integer) else tuple(shape)
    extents, begin, cell = [_literal(each) for each in kinds], _literal(offset), parse_dtype(dtype)
    if cell is None or begin is None or None in extents:
        return None  # numba asks again, with literal types
    made = types.Array(cell, len(extents), "C")

    def generate(context: Any, builder: Any, made: Any, values: Any) -> Any:
        held = context.make_array(made.return_type)(context, builder)
        inside = cgutils.gep_inbounds(builder, _piece(builder), 0, begin)
        first = builder.addrspacecast(inside, ir.PointerType(ir.IntType(8)))
        size = context.get_abi_sizeof(context.get_data_type(cell))
        whole = [int(each) for each in extents if each is not None]
        strides = [size * prod(whole[k + 1 :]) for k in range(len(whole))]
        context.populate_array(
            held,
            data=builder.bitcast(first, held.data.type),
            shape=[context.get_constant(types.intp, each) for each in whole],
            strides=[context.get_constant(types.intp, each) for each in strides],
            itemsize=context.get_constant(types.intp, size),
            meminfo=None,
        )
        return held._getvalue()

    return signature(made, shape, dtype, offset), generate


shared_array = intrinsic(_shared_array)


def with_shared_memory(size: int) -> Callable[[Any], Any]:
    """A decorator that lets launches of a kernel have more shared memory than 48 KiB.

    Args:
        size: bytes of one block.

    Returns:
        What asks for it, of each GPU on which a kernel decorated with `cuda.jit` is launched. A
        launch raises SharedMemoryError where the GPU has less.
    """

    def decorate(kernel: Any) -> Any:
        compile_kernel = kernel.compile

        def compiled(argument_types: Any) -> Any:
            made = compile_kernel(argument_types)
            launch, asked = made.launch, set()

            def launched(*arguments: Any) -> None:
                device = get_context().device
                if device.id not in asked:
                    _ask(made, device, size)
                    asked.add(device.id)
                launch(*arguments)

            made.launch = launched
            return made

        kernel.compile = compiled
        return kernel

    return decorate


def _ask(kernel: Any, device: Any, size: int) -> None:
    """Let a compiled kernel have shared memory on a GPU."""
    most = device.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    if size > most:
        raise SharedMemoryError(size, most)
    word = driver.binding.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    function = kernel._codelibrary.get_cufunc()
    driver.driver.cuKernelSetAttribute(word, size, function.handle, device.id)
