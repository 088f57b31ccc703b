"""TVM, with schedules written by hand for these workloads; not tuned by its experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from llvmlite import binding
from tvm import te
from tvm.s_tir import Schedule

from benchmarks.peer import Variant
from benchmarks.workload import Workload

_LANES = 16


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """Several schedules, compiled; outermost loops are parallel with more threads."""
    make = _SCHEDULES.get(workload.name)
    if make is None:
        return {}
    device = tvm.cpu()
    arrays = [tvm.runtime.tensor(e, device) for e in arguments if isinstance(e, np.ndarray)]
    result = arrays[workload.result]
    target = tvm.target.Target(
        {"kind": "llvm", "mcpu": binding.get_host_cpu_name(), "num-cores": threads}
    )

    def variant(schedule: Any) -> Variant:
        function = tvm.compile(schedule.mod, target=target)["main"]
        return Variant(lambda: function(*arrays), lambda: result.numpy())

    shapes = [e.shape for e in arguments if isinstance(e, np.ndarray)]
    return {name: variant(each) for name, each in make(shapes, threads > 1).items()}


def _schedule(*tensors: Any) -> Any:
    return Schedule(tvm.IRModule({"main": te.create_prim_func(list(tensors))}))


def _inputs(shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """All arrays but the last one, which is the result."""
    return [te.placeholder(each, "float32") for each in shapes[:-1]]


def _matmul(shapes: Sequence[tuple[int, ...]], parallel: bool) -> dict[str, Any]:
    a, b = _inputs(shapes)
    n = a.shape[0]
    k = te.reduce_axis((0, n), "k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")

    def packed(rows: int, columns: int) -> Any:
        s = _schedule(a, b, c)
        block = s.get_sblock("C")
        panel, written = s.cache_read(block, 1, "global"), s.cache_write(block, 0, "global")
        i, j, summed = s.get_loops(block)
        i_0, i_1 = s.split(i, [None, rows])
        j_0, j_1 = s.split(j, [None, columns])
        k_0, k_1 = s.split(summed, [None, 256])
        strip, tile = s.split(i_0, [None, 64 // rows])
        s.reorder(strip, j_0, tile, k_0, k_1, i_1, j_1)
        s.transform_layout(panel, ("write", 0), lambda k, j: (j // columns, k, j % columns))
        s.reverse_compute_at(written, tile)
        s.vectorize(j_1)
        s.unroll(i_1)
        if parallel:
            s.parallel(strip)
        first = s.decompose_reduction(block, k_0)
        *_, last = s.get_loops(panel)
        s.vectorize(s.split(last, [None, _LANES])[1])
        s.vectorize(s.get_loops(written)[-1])
        *_, row, column = s.get_loops(first)
        s.vectorize(column)
        s.unroll(row)
        if parallel:
            s.parallel(s.get_loops(panel)[0])
        return s

    return {f"packed {m} x {n}": packed(m, n) for m, n in ((4, 64), (8, 32), (8, 16))}


def _conv32(shapes: Sequence[tuple[int, ...]], parallel: bool) -> dict[str, Any]:
    x, w, residual = _inputs(shapes)
    channels, size = shapes[0][0], shapes[-1]
    c, p, q = (te.reduce_axis((0, n)) for n in (channels, 3, 3))

    def total(m: Any, i: Any, j: Any) -> Any:
        return te.sum(w[m, c, p, q] * x[c, i + p, j + q], axis=[c, p, q])

    y = te.compute(size, total, name="Y")

    def rectified(m: Any, i: Any, j: Any) -> Any:
        return te.max(y[m, i, j] + residual[m, i, j], tvm.tirx.const(0, "float32"))

    out = te.compute(size, rectified, name="O")

    def tiled(maps: int, columns: int) -> Any:
        s = _schedule(x, w, residual, out)
        sums, last = s.get_sblock("Y"), s.get_sblock("O")
        m, i, j = s.get_loops(last)
        m_0, m_1 = s.split(m, [None, maps])
        j_0, j_1 = s.split(j, [None, columns])
        s.reorder(i, m_0, j_0, m_1, j_1)
        s.vectorize(j_1)
        s.unroll(m_1)
        s.compute_at(sums, j_0)
        *_, m_2, j_2, c_2, p_2, q_2 = s.get_loops(sums)
        s.reorder(c_2, p_2, q_2, m_2, j_2)
        s.vectorize(j_2)
        s.unroll(m_2)
        s.unroll(q_2)
        if parallel:
            s.parallel(i)
        *_, row, column = s.get_loops(s.decompose_reduction(sums, c_2))
        s.vectorize(column)
        s.unroll(row)
        return s

    return {f"tiles {m} x {n}": tiled(m, n) for m, n in ((8, 16), (8, 32), (16, 16))}


_SCHEDULES: dict[str, Callable[[Sequence[tuple[int, ...]], bool], dict[str, Any]]] = {
    "matmul1024": _matmul,
    "matmul2048": _matmul,
    "conv32": _conv32,
}
