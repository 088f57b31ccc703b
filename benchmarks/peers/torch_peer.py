"""PyTorch: its own operations in each layout that it is fast in, into given arrays where it can."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from benchmarks.peer import Variant
from benchmarks.workload import Workload

_Calls = Mapping[str, Callable[[], Any]]


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """Every form that PyTorch has for the workload."""
    make = _CALLS.get(workload.name)
    if make is None:
        return {}
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    tensors = [torch.from_numpy(e) if isinstance(e, np.ndarray) else e for e in arguments]
    shape = arguments[workload.result].shape

    def variant(call: Callable[[], Any]) -> Variant:
        last: list[Any] = [None]

        def run() -> None:
            last[0] = call()

        return Variant(run, lambda: last[0].contiguous().numpy().reshape(shape))

    return {name: variant(call) for name, call in make(*tensors).items()}


def _matmul(a: Any, b: Any, c: Any) -> _Calls:
    return {"out=": lambda: torch.mm(a, b, out=c)}


def _conv1(x: Any, w: Any, residual: Any, out: Any) -> _Calls:
    image, kernel, added = (each[None, None] for each in (x, w, residual))
    return {"conv2d": lambda: torch.relu_(functional.conv2d(image, kernel).add_(added))}


def _conv32(x: Any, w: Any, residual: Any, out: Any) -> _Calls:
    plain = (x[None], w, residual[None])
    last = [each.contiguous(memory_format=torch.channels_last) for each in plain]
    return {
        "conv2d": lambda: torch.relu_(functional.conv2d(*plain[:2]).add_(plain[2])),
        "channels last": lambda: torch.relu_(functional.conv2d(*last[:2]).add_(last[2])),
    }


def _blur(x: Any, out: Any) -> _Calls:
    def call() -> Any:
        across = (x[:, :-2] + x[:, 1:-1] + x[:, 2:]) * (1 / 3)
        return (across[:-2] + across[1:-1] + across[2:]) * (1 / 3)

    return {"slices": call}


def _harris(x: Any, out: Any) -> _Calls:
    def box(p: Any) -> Any:
        rows = p[:-2] + p[1:-1] + p[2:]
        return rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]

    def call() -> Any:
        d = x[:, 2:] - x[:, :-2]
        dx = (d[:-2] + 2 * d[1:-1] + d[2:]) * (1 / 12)
        d = x[2:] - x[:-2]
        dy = (d[:, :-2] + 2 * d[:, 1:-1] + d[:, 2:]) * (1 / 12)
        a, b, c = box(dx * dx), box(dy * dy), box(dx * dy)
        return a * b - c * c - 0.04 * (a + b) ** 2

    return {"slices": call}


def _jacobi(steps: int, a: Any, b: Any) -> _Calls:
    def sweep(x: Any, y: Any) -> None:
        y[1:-1, 1:-1] = 0.2 * (
            x[1:-1, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]
        )

    def call() -> Any:
        b.copy_(a)
        for _ in range(steps):
            sweep(a, b)
            sweep(b, a)
        return a

    return {"slices": call}


def _layernorm(x: Any, gain: Any, bias: Any, out: Any) -> _Calls:
    mean, scale = torch.empty(x.shape[0], 1), torch.empty(x.shape[0], 1)
    into = {"out0": out, "out1": mean, "out2": scale}
    size = [x.shape[1]]
    call = torch.ops.aten.native_layer_norm.out
    return {"out=": lambda: call(x, size, gain, bias, 1e-5, **into)[0]}


def _attention(q: Any, k: Any, v: Any, out: Any) -> _Calls:
    heads = [each[None, None] for each in (q, k, v)]
    return {
        "fused": lambda: functional.scaled_dot_product_attention(*heads),
        "steps": lambda: torch.softmax(q @ k.t() * 0.125, 1) @ v,
    }


_CALLS: dict[str, Callable[..., _Calls]] = {
    "matmul1024": _matmul,
    "matmul2048": _matmul,
    "conv1": _conv1,
    "conv32": _conv32,
    "blur": _blur,
    "harris": _harris,
    "jacobi": _jacobi,
    "softmax": lambda x, out: {"out=": lambda: torch.softmax(x, 1, out=out)},
    "layernorm": _layernorm,
    "transpose": lambda x, out: {"copy": lambda: out.copy_(x.t())},
    "attention": _attention,
}
