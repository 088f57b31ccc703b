"""Halide, with schedules written by hand for these workloads; not tuned by its experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import halide as hl
import numpy as np

from benchmarks.peer import Variant
from benchmarks.workload import Array, Workload

_LANES = 16
x, y, u, c = (hl.Var(each) for each in "xyuc")
xi, yi, xo, yo, yii, ci, co = (hl.Var(e) for e in ("xi", "yi", "xo", "yo", "yii", "ci", "co"))


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """One pipeline, compiled before it is timed; outermost loops are parallel with more threads."""
    make = _PIPELINES.get(workload.name)
    if make is None:
        return {}
    result: Array = arguments[workload.result]
    buffers = [hl.Buffer(e) for e in arguments if isinstance(e, np.ndarray)]
    call = make(buffers, result, threads > 1)
    return {"schedule": Variant(_holding(call, arguments), lambda: result)}


def _holding(call: Callable[[], object], arguments: Sequence[Any]) -> Callable[[], object]:
    """A call that keeps the arrays alive: buffers of Halide do not."""
    return lambda: (call(), arguments)[0]


def _f(value: float) -> Any:
    return hl.f32(float(np.float32(value)))


def _run(func: Any, result: Array) -> Callable[[], object]:
    func.compile_jit(hl.get_jit_target_from_environment())
    target = hl.Buffer(result)
    return lambda: func.realize(target)


def _matmul(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    a, b = buffers[:2]
    n = out.shape[0]
    k = hl.RDom([(0, n)])
    product, func, panel = hl.Func("product"), hl.Func("out"), hl.Func("panel")
    j, kk, jo = hl.Var("j"), hl.Var("kk"), hl.Var("jo")
    panel[j, kk, jo] = b[jo * 64 + j, kk]
    product[x, y] = _f(0)
    product[x, y] += a[k.x, y] * panel[x % 64, k.x, x // 64]
    func[x, y] = product[x, y]
    func.bound(x, 0, n).bound(y, 0, n)
    func.tile(x, y, xo, yo, xi, yi, 64, 64).split(yi, yi, yii, 4)
    func.vectorize(xi, _LANES).unroll(xi).unroll(yii).reorder(xi, yii, yi, xo, yo)
    product.compute_at(func, yi).vectorize(x, _LANES).unroll(x).unroll(y)
    product.update().reorder(x, y, k.x).vectorize(x, _LANES).unroll(x).unroll(y)
    panel.compute_root().bound(j, 0, 64).vectorize(j, _LANES).unroll(j)
    if parallel:
        func.parallel(yo)
        panel.parallel(jo)
    return _run(func, out)


def _conv1(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image, w, residual = buffers[:3]
    k = hl.RDom([(0, 3), (0, 3)])
    total, func = hl.Func("total"), hl.Func("out")
    total[x, y] = _f(0)
    total[x, y] += w[k.x, k.y] * image[x + k.x, y + k.y]
    func[x, y] = hl.max(total[x, y] + residual[x, y], _f(0))
    func.bound(x, 0, 224).bound(y, 0, 224).split(y, yo, yi, 4).vectorize(x, _LANES)
    func.unroll(yi).reorder(yi, x, yo)  # too small for several cores
    total.compute_at(func, x).vectorize(x).unroll(y)
    total.update().unroll(k.x).unroll(k.y).vectorize(x).unroll(y)
    return _run(func, out)


def _conv32(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image, w, residual = buffers[:3]
    k = hl.RDom([(0, 3), (0, 3), (0, 16)])
    total, func = hl.Func("total"), hl.Func("out")
    total[x, y, c] = _f(0)
    total[x, y, c] += w[k.x, k.y, k.z, c] * image[x + k.x, y + k.y, k.z]
    func[x, y, c] = hl.max(total[x, y, c] + residual[x, y, c], _f(0))
    func.bound(x, 0, 224).bound(y, 0, 224).bound(c, 0, 32)
    func.split(c, co, ci, 8).split(x, xo, xi, _LANES).reorder(xi, ci, xo, co, y)
    func.vectorize(xi, _LANES).unroll(xi).unroll(ci)
    total.compute_at(func, xo).vectorize(x, _LANES).unroll(x).unroll(c)
    update = total.update().reorder(x, c, k.x, k.y, k.z)
    update.vectorize(x, _LANES).unroll(x).unroll(c).unroll(k.x)
    if parallel:
        func.parallel(y)
    return _run(func, out)


def _blur(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image = buffers[0]
    across, func = hl.Func("across"), hl.Func("out")
    third = _f(1 / 3)
    across[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) * third
    func[x, y] = (across[x, y] + across[x, y + 1] + across[x, y + 2]) * third
    func.bound(x, 0, out.shape[1]).bound(y, 0, out.shape[0])
    func.vectorize(x, _LANES).split(y, yo, yi, 8).reorder(yi, x, yo).unroll(yi)
    across.compute_at(func, x).vectorize(x, _LANES).unroll(y)
    if parallel:
        func.parallel(yo)
    return _run(func, out)


def _harris(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image = buffers[0]
    dx, dy, xx, yy, xy, func = (hl.Func(e) for e in ("dx", "dy", "xx", "yy", "xy", "out"))

    def rises(at: Callable[[int, int], Any]) -> Any:
        ends = ((at(2, k) - at(0, k)) * _f(1 + k % 2) for k in range(3))
        return sum(ends, _f(0)) * _f(1 / 12)

    def box(p: Any) -> Any:
        return sum((p[x + i, y + j] for j in range(3) for i in range(3)), _f(0))

    dx[x, y] = rises(lambda along, k: image[x + along, y + k])
    dy[x, y] = rises(lambda along, k: image[x + k, y + along])
    xx[x, y], yy[x, y] = dx[x, y] * dx[x, y], dy[x, y] * dy[x, y]
    xy[x, y] = dx[x, y] * dy[x, y]
    a, b, d = box(xx), box(yy), box(xy)
    func[x, y] = a * b - d * d - _f(0.04) * (a + b) * (a + b)
    func.bound(x, 0, out.shape[1]).bound(y, 0, out.shape[0])
    func.split(y, y, yi, 32).vectorize(x, _LANES)
    for each in (dx, dy):
        each.store_at(func, y).compute_at(func, yi).vectorize(x, _LANES)
    dx.compute_with(dy, x)
    if parallel:
        func.parallel(y)
    return _run(func, out)


def _jacobi(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    """One step for each pipeline: Halide has no tiles in time."""
    source, func = hl.ImageParam(hl.Float(32), 2), hl.Func("out")
    around = source[x - 1, y] + source[x + 1, y] + source[x, y - 1] + source[x, y + 1]
    func[x, y] = _f(0.2) * (source[x, y] + around)
    guarded = hl.TailStrategy.GuardWithIf
    func.split(y, yo, yi, 128, guarded).vectorize(x, _LANES, guarded)
    if parallel:
        func.parallel(yo)
    func.compile_jit(hl.get_jit_target_from_environment())
    first = hl.Buffer(out)
    spare = out.copy()
    second = hl.Buffer(spare)
    size = out.shape[0] - 2

    def window(whole: Any) -> Any:
        cropped = hl.Buffer(whole)
        cropped.crop(0, 1, size)
        cropped.crop(1, 1, size)
        return cropped

    inside = [window(spare), window(out)]

    def call() -> None:
        spare[...] = out
        for _ in range(50):
            for source_of, target in ((first, inside[0]), (second, inside[1])):
                source.set(source_of)
                func.realize(target)

    return call


def _row_sums(name: str, start: Any, joined: Callable[[Any, Any], Any], ends: Any) -> Any:
    """A reduction of a row in as many parts as a vector has lanes, and the parts joined."""
    parts, whole = hl.Func(f"{name}_parts"), hl.Func(name)
    strips, lane = hl.RDom([(0, 4096 // _LANES)]), hl.RDom([(0, _LANES)])
    parts[u, y] = start
    parts[u, y] = joined(parts[u, y], u + _LANES * strips.x)
    whole[y] = ends(parts[lane.x, y])
    return parts, whole


def _by_rows(func: Any, stages: Sequence[Any], out: Array, parallel: bool) -> Any:
    func.bound(x, 0, 4096).bound(y, 0, 4096).vectorize(x, _LANES)
    level = yi if parallel else y
    if parallel:
        func.split(y, y, yi, 64).parallel(y)
    for stage in stages:
        stage.compute_at(func, level)
        if stage.has_update_definition():
            stage.bound(u, 0, _LANES).vectorize(u, _LANES).update().vectorize(u, _LANES)
        elif stage.dimensions() == 2:
            stage.vectorize(x, _LANES)
    return _run(func, out)


def _softmax(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image = buffers[0]
    power, inverse, func = hl.Func("power"), hl.Func("inverse"), hl.Func("out")
    least = _f(-3e38)
    tops, top = _row_sums("top", least, lambda a, i: hl.max(a, image[i, y]), hl.maximum)
    power[x, y] = hl.fast_exp(image[x, y] - top[y])
    sums, total = _row_sums("total", _f(0), lambda a, i: a + power[i, y], hl.sum)
    inverse[y] = _f(1) / total[y]
    func[x, y] = power[x, y] * inverse[y]
    return _by_rows(func, [tops, top, power, sums, total, inverse], out, parallel)


def _layernorm(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    image, gain, bias = buffers[:3]
    mean, scale, func = hl.Func("mean"), hl.Func("scale"), hl.Func("out")
    sums, total = _row_sums("total", _f(0), lambda a, i: a + image[i, y], hl.sum)
    mean[y] = total[y] / _f(4096)

    def square(a: Any, i: Any) -> Any:
        return a + (image[i, y] - mean[y]) * (image[i, y] - mean[y])

    squares, spread = _row_sums("spread", _f(0), square, hl.sum)
    scale[y] = _f(1) / hl.sqrt(spread[y] / _f(4096) + _f(1e-5))
    func[x, y] = (image[x, y] - mean[y]) * scale[y] * gain[x] + bias[x]
    return _by_rows(func, [sums, total, mean, squares, spread, scale], out, parallel)


def _transpose(buffers: Sequence[Any], out: Array, parallel: bool) -> Callable[[], object]:
    block, func = hl.Func("block"), hl.Func("out")
    block[x, y] = buffers[0][x, y]
    func[x, y] = block[y, x]
    func.bound(x, 0, out.shape[1]).bound(y, 0, out.shape[0])
    func.tile(x, y, xi, yi, _LANES, _LANES).vectorize(xi).unroll(yi)
    block.compute_at(func, x).vectorize(x).unroll(y)
    if parallel:
        func.parallel(y)
    return _run(func, out)


_PIPELINES: dict[str, Callable[[Sequence[Any], Array, bool], Callable[[], object]]] = {
    "matmul1024": _matmul,
    "matmul2048": _matmul,
    "conv1": _conv1,
    "conv32": _conv32,
    "blur": _blur,
    "harris": _harris,
    "jacobi": _jacobi,
    "softmax": _softmax,
    "layernorm": _layernorm,
    "transpose": _transpose,
}
