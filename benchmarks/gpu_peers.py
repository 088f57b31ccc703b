"""The same programs by other libraries, for a GPU; those that are missing are left out."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from numba import cuda, float32, uint32

Call = Callable[[], Any]
_TILE = 32


def peers(function: str, arrays: Sequence[Any], tell: Callable[[str], None]) -> Iterator[
    tuple[str, Call]
]:  # fmt: skip
    """The name of each peer that has a program, and a call of it.

    Args:
        function: the name of the program.
        arrays: its arguments on the GPU.
        tell: told of peers that are missing.
    """
    by_hand = _BY_HAND.get(function)
    if by_hand is not None:
        yield "numba.cuda by hand", by_hand(arrays)
    torch = _module("torch", tell)
    program = _TORCH.get(function)
    if torch is not None and program is not None:
        tensors = [torch.as_tensor(each, device="cuda") for each in arrays]
        yield "torch", lambda: program(torch, *tensors)
        fused = torch.compile(lambda *each: program(torch, *each))
        yield "torch.compile", lambda: fused(*tensors)
    if torch is not None and _module("triton", tell) is not None:
        found = importlib.import_module("benchmarks.gpu_triton").PROGRAMS.get(function)
        if found is not None:
            yield "triton", found([torch.as_tensor(each, device="cuda") for each in arrays])


def matrix_rate(dtype: str, seconds: Callable[[Call], float]) -> float | None:
    """Tera floating-point operations in a second, of a product by torch; None where it is missing.

    Args:
        dtype: of the matrices.
        seconds: measures a call.
    """
    torch = _module("torch", lambda _: None)
    if torch is None:
        return None
    n = 4096
    a = torch.randn(n, n, device="cuda", dtype=getattr(torch, dtype))
    return float(2 * n**3 / seconds(lambda: a @ a) / 1e12)


def _module(name: str, tell: Callable[[str], None]) -> Any:
    try:
        return importlib.import_module(name)
    except (ImportError, OSError, RuntimeError) as error:
        tell(f"{name} is left out: {error}")
        return None


#: Name of a program -> the same with torch, of its arguments.
_TORCH: Mapping[str, Callable[..., Any]] = {
    "matmul": lambda torch, a, b, c: torch.matmul(a, b, out=c),
    "softmax": lambda torch, x, out: torch.softmax(x, 1),
    "layernorm": lambda torch, x, gain, bias, out: torch.nn.functional.layer_norm(
        x, x.shape[1:], gain, bias, 1e-5
    ),
    "transpose": lambda torch, a, b: b.copy_(a.T),
    "conv_add": lambda torch, x, w, bias, out: (
        torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0] + bias
    ),
}


@cuda.jit
def _product(a, b, c):  # type: ignore[no-untyped-def]
    """The tiled product that numba's manual has, right for all sizes."""
    tile_a = cuda.shared.array((_TILE, _TILE), float32)
    tile_b = cuda.shared.array((_TILE, _TILE), float32)
    x, y = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    i = uint32(cuda.blockIdx.y) * uint32(_TILE) + y
    j = uint32(cuda.blockIdx.x) * uint32(_TILE) + x
    total = float32(0)
    for k_0 in range((uint32(a.shape[1]) + uint32(_TILE - 1)) // uint32(_TILE)):
        k = k_0 * uint32(_TILE)
        inside_a = i < a.shape[0] and k + x < a.shape[1]
        inside_b = k + y < b.shape[0] and j < b.shape[1]
        tile_a[y, x] = a[i, k + x] if inside_a else float32(0)
        tile_b[y, x] = b[k + y, j] if inside_b else float32(0)
        cuda.syncthreads()
        for step in range(uint32(_TILE)):
            total += tile_a[y, step] * tile_b[step, x]
        cuda.syncthreads()
    if i < c.shape[0] and j < c.shape[1]:
        c[i, j] = total


def _product_by_hand(arrays: Sequence[Any]) -> Call:
    rows, columns = arrays[2].shape
    grid = (-(-columns // _TILE), -(-rows // _TILE))
    return lambda: _product[grid, (_TILE, _TILE)](*arrays)


#: Name of a program -> a call of a kernel for it that was written by hand.
_BY_HAND: Mapping[str, Callable[[Sequence[Any]], Call]] = {"matmul": _product_by_hand}
