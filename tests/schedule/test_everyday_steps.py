"""Steps that users of other schedulers take for granted, on ordinary kernels: all are accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import load

# mypy: disable-error-code="no-untyped-def"


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = 0.0
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


def batched(A, B, C):
    for b in range(C.shape[0]):
        for i in range(C.shape[1]):
            for j in range(C.shape[2]):
                acc = 0.0
                for k in range(A.shape[2]):
                    acc += A[b, i, k] * B[b, k, j]
                C[b, i, j] = acc


def strided_conv(x, w, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = 0.0
            for p in range(3):
                for q in range(3):
                    y[i, j] += x[2 * i + p, 2 * j + q] * w[p, q]


def dilated_conv(x, w, y, d):
    for i in range(y.shape[0]):
        y[i] = 0.0
        for p in range(3):
            y[i] += x[i + p * d] * w[p]


def padded_conv(x, w, y):
    n = y.shape[0]
    for i in range(n):
        acc = 0.0
        for p in range(3):
            if 0 <= i + p - 1 < n:
                acc += x[i + p - 1] * w[p]
        y[i] = acc


def max_pool(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            m = x[2 * i, 2 * j]
            for p in range(2):
                for q in range(2):
                    if x[2 * i + p, 2 * j + q] > m:
                        m = x[2 * i + p, 2 * j + q]
            y[i, j] = m


def heat(u, v):
    for i in range(1, u.shape[0] - 1):
        v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]


def heat_steps(u, v, T):
    for t in range(T):
        for i in range(1, u.shape[0] - 1):
            v[i] = 0.25 * u[i - 1] + 0.5 * u[i] + 0.25 * u[i + 1]
        for i in range(1, u.shape[0] - 1):
            u[i] = v[i]


def relaxation(u, T):
    for t in range(T):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            for k in range(1, a.shape[2] - 1):
                b[i, j, k] = a[i - 1, j, k] + a[i + 1, j, k] + a[i, j - 1, k] + a[i, j, k + 1]


def triangular_solve(L, B):
    for c in range(B.shape[1]):
        for i in range(B.shape[0]):
            for j in range(i):
                B[i, c] -= L[i, j] * B[j, c]
            B[i, c] /= L[i, i]


def cholesky(A):
    n = A.shape[0]
    for k in range(n):
        A[k, k] = np.sqrt(A[k, k])
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                A[i, j] -= A[i, k] * A[j, k]


def prefix_sums(x, y):
    for r in range(x.shape[0]):
        y[r, 0] = x[r, 0]
        for i in range(1, x.shape[1]):
            y[r, i] = y[r, i - 1] + x[r, i]


def histogram(x, h):
    for i in range(x.shape[0]):
        h[x[i]] += 1


def histograms(x, h, part):
    for b in range(4):
        for i in range(x.shape[1]):
            part[b, x[b, i]] += 1
    for b in range(4):
        for v in range(h.shape[0]):
            h[v] += part[b, v]


def transpose(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def attention(q, k, v, s, o):
    n, d = q.shape
    m = k.shape[0]
    for i in range(n):
        for j in range(m):
            acc = 0.0
            for c in range(d):
                acc += q[i, c] * k[j, c]
            s[i, j] = acc
        mx = s[i, 0]
        for j in range(m):
            mx = max(mx, s[i, j])
        z = 0.0
        for j in range(m):
            s[i, j] = np.exp(s[i, j] - mx)
            z += s[i, j]
        for c in range(v.shape[1]):
            out = 0.0
            for j in range(m):
                out += s[i, j] * v[j, c]
            o[i, c] = out / z


def layernorm(x, g, y):
    n, m = x.shape
    for i in range(n):
        s = 0.0
        for j in range(m):
            s += x[i, j]
        mean = s / m
        v = 0.0
        for j in range(m):
            v += (x[i, j] - mean) * (x[i, j] - mean)
        r = 1.0 / np.sqrt(v / m + 1e-5)
        for j in range(m):
            y[i, j] = (x[i, j] - mean) * r * g[j]


def separable(x, w, y):
    H, W = y.shape
    tmp = np.empty((H + 2, W), np.float64)
    for i in range(H + 2):
        for j in range(W):
            tmp[i, j] = w[0] * x[i, j] + w[1] * x[i, j + 1] + w[2] * x[i, j + 2]
    for i in range(H):
        for j in range(W):
            y[i, j] = w[0] * tmp[i, j] + w[1] * tmp[i + 1, j] + w[2] * tmp[i + 2, j]


def up(x, y):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            y[i, j] = x[i // 2, j // 2]


def details(x, y, n):
    d = np.empty(n, x.dtype)
    for i in range(n):
        d[i] = 0.5 * (x[2 * i] + x[2 * i + 1])
    for i in range(2 * n):
        y[i] = x[i] - d[i // 2]


def interleave(x, y):
    for i in range(x.shape[0]):
        y[2 * i] = x[i]
        y[2 * i + 1] = -x[i]


def argmax(x, where, best):
    for r in range(x.shape[0]):
        m = x[r, 0]
        w = 0
        for i in range(x.shape[1]):
            if x[r, i] > m:
                m = x[r, i]
                w = i
        where[r] = w
        best[r] = m


def extremes(x, low, high):
    for i in range(x.shape[0]):
        if x[i] < low[0]:
            low[0] = x[i]
        if x[i] > high[0]:
            high[0] = x[i]


def escape(x0, y0, out):
    for i in range(out.shape[0]):
        ci = y0 + i / out.shape[0]
        for j in range(out.shape[1]):
            cr = x0 + j / out.shape[1]
            out[i, j] = cr * cr + ci * ci


def conv_relu(x, w, y):
    n = y.shape[0]
    t = np.empty(n, x.dtype)
    for i in range(n):
        t[i] = 0.0
        for p in range(3):
            t[i] += x[i + p] * w[p]
    for i in range(n):
        y[i] = max(t[i], 0.0)


def saxpy(x, y):
    for i in range(x.shape[0]):
        y[i] = 3 * x[i] + y[i]


def spd(n: int) -> np.ndarray:
    made: np.ndarray = values(n, n)
    result: np.ndarray = made @ made.T + 100 * np.eye(n)
    return result


def values(*shape: int) -> np.ndarray:
    """Small whole numbers, so that sums are exact in any order."""
    return np.random.default_rng(1).integers(-4, 5, shape).astype(float)


def counts(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 5, shape)


ARGUMENTS: dict[Callable[..., None], Callable[[], tuple[Any, ...]]] = {
    matmul: lambda: (values(7, 9), values(9, 5), np.zeros((7, 5))),
    batched: lambda: (values(3, 7, 4), values(3, 4, 9), np.zeros((3, 7, 9))),
    strided_conv: lambda: (values(15, 17), values(3, 3), np.zeros((7, 8))),
    dilated_conv: lambda: (values(17), values(3), np.zeros(9), 4),
    padded_conv: lambda: (values(11), values(3), np.zeros(11)),
    max_pool: lambda: (values(10, 14), np.zeros((5, 7))),
    heat: lambda: (values(19), np.zeros(19)),
    heat_steps: lambda: (values(13), np.zeros(13), 4),
    relaxation: lambda: (values(13), 5),
    stencil: lambda: (values(6, 7, 9), np.zeros((6, 7, 9))),
    triangular_solve: lambda: (spd(9), values(9, 5)),
    cholesky: lambda: (spd(9),),
    prefix_sums: lambda: (values(5, 9), np.zeros((5, 9))),
    histogram: lambda: (counts(37), np.zeros(6, int)),
    histograms: lambda: (counts(4, 9), np.zeros(6, int), np.zeros((4, 6), int)),
    transpose: lambda: (values(7, 10), np.zeros((10, 7))),
    attention: lambda: (
        *(values(5, 3), values(6, 3), values(6, 4)),
        *(np.zeros((5, 6)), np.zeros((5, 4))),
    ),
    layernorm: lambda: (values(5, 8), values(8), np.zeros((5, 8))),
    separable: lambda: (values(9, 12), values(3), np.zeros((7, 10))),
    up: lambda: (values(5, 6), np.zeros((9, 12))),
    details: lambda: (values(14), np.zeros(14), 7),
    interleave: lambda: (values(7), np.zeros(14)),
    argmax: lambda: (values(5, 9), np.zeros(5, int), np.zeros(5)),
    extremes: lambda: (values(21), np.zeros(1), np.zeros(1)),
    escape: lambda: (0.5, 2.0, np.zeros((5, 7))),
    conv_relu: lambda: (values(15), values(3), np.zeros(13)),
    saxpy: lambda: (values(41), values(41)),
}

#: What is done to each kernel: names of steps with their arguments, in rows of their own.
STEPS: list[tuple[Callable[..., None], str]] = [
    (
        matmul,
        "tile(['i', 'j'], [4, 4]); split('k', [None, 4]); reorder('k_0', 'i_1', 'j_1', 'k_1')",
    ),
    (matmul, "decompose_reduction('C', 'j'); reorder('k', 'j#1')"),
    (matmul, "split('k', [None, 4]); rfactor('C', 'k_1')"),
    (matmul, "tile(['i', 'j', 'k'], [4, 4, 4]); cache_read('B', 'shared', 'k_0')"),
    (matmul, "tile(['i', 'j'], [4, 4]); cache_write('C', 'local', 'j_0')"),
    (matmul, "fuse('i', 'j'); split('i_j_fused', [None, 8]); bind('i_j_fused_1', 'threadIdx.x')"),
    (batched, "fuse('b', 'i'); parallel('b_i_fused')"),
    (batched, "reorder('k', 'j')"),
    (batched, "bind('b', 'blockIdx.z'); bind('i', 'blockIdx.y'); bind('j', 'threadIdx.x')"),
    (strided_conv, "tile(['i', 'j'], [4, 4]); cache_read('x', 'shared', 'j_0')"),
    (strided_conv, "reorder('p', 'q', 'i', 'j')"),
    (strided_conv, "unroll('q'); unroll('p'); parallel('i')"),
    (dilated_conv, "split('i', [None, 4]); reorder('i_0', 'p', 'i_1')"),
    (dilated_conv, "unroll('p'); vectorize('i')"),
    (padded_conv, "peel('i', first=1, last=1)"),
    (padded_conv, "split('i', [None, 4], tail='cut'); unroll('p#0')"),
    (max_pool, "tile(['i', 'j'], [2, 4]); parallel('i_0')"),
    (max_pool, "reorder('p', 'q', 'j')"),
    (max_pool, "fuse('p', 'q')"),
    (heat, "split('i', [None, 8]); vectorize('i_1')"),
    (heat, "peel('i', first=1); reverse('i')"),
    (heat, "split('i', [2, None, 4]); parallel('i_0')"),
    (heat_steps, "shift('i#1', 1); merge('i#0', 'i#1')"),
    (heat_steps, "parallel('i#0'); parallel('i#1')"),
    (relaxation, "skew('t', 'i', 2); tile(['t', 'i'], [2, 4])"),
    (relaxation, "skew('t', 'i', 1); reorder('i', 't')"),
    (stencil, "fuse('i', 'j'); parallel('i_j_fused')"),
    (stencil, "tile(['j', 'k'], [4, 4]); cache_read('a', 'local', 'k_0')"),
    (triangular_solve, "reorder('i', 'c')"),
    (triangular_solve, "split('c', [None, 4]); parallel('c_0')"),
    (cholesky, "reorder('j', 'i#1')"),
    (cholesky, "parallel('i#0'); parallel('i#1')"),
    (prefix_sums, "split('r', [None, 4]); bind('r_0', 'blockIdx.x'); bind('r_1', 'threadIdx.x')"),
    (prefix_sums, "distribute('r', 'i')"),
    (histogram, "split('i', [None, 8]); reorder('i_1', 'i_0')"),
    (histograms, "parallel('b#0'); reorder('v', 'b#1'); parallel('v')"),
    (transpose, "tile(['i', 'j'], [4, 4]); cache_read('a', 'shared', 'j_0')"),
    (transpose, "split('j', [None, 8]); reorder('j_0', 'i', 'j_1')"),
    (attention, "parallel('i')"),
    (attention, "split('j#0', [None, 4]); split('c#0', [None, 2])"),
    (layernorm, "split('j#2', [None, 4]); vectorize('j_1')"),
    (layernorm, "bind('i', 'blockIdx.x')"),
    (separable, "compute_at('tmp', 'i#1'); rolling_buffer('tmp', 'i')"),
    (
        separable,
        "tile(['i#1', 'j#1'], [4, 4]); compute_at('tmp', 'j_0'); set_scope('tmp', 'shared')",
    ),
    (separable, "compute_inline('tmp')"),
    (separable, "compute_at('tmp', 'i#1'); compute_root('tmp')"),
    (separable, "shift('i#1', 2); merge('i#0', 'i#1')"),
    (up, "tile(['i', 'j'], [4, 4]); cache_read('x', 'shared', 'j_0')"),
    (details, "compute_at('d', 'i#1')"),
    (details, "split('i#1', [None, 4]); compute_at('d', 'i_0'); set_scope('d', 'local')"),
    (details, "split('i#1', [None, 2]); merge('i', 'i_0')"),
    (interleave, "parallel('i')"),
    (argmax, "parallel('r')"),
    (argmax, "split('i', [None, 4])"),
    (argmax, "peel('i', first=1)"),
    (extremes, "distribute('i', 'high')"),
    (extremes, "split('i', [None, 4]); reorder('i_1', 'i_0')"),
    (escape, "tile(['i', 'j'], [4, 4])"),
    (escape, "reorder('j', 'i')"),
    (conv_relu, "reverse_compute_at('y', 'i#0')"),
    (conv_relu, "merge('i#0', 'i#1')"),
    (conv_relu, "compute_at('t', 'i#1'); set_scope('t', 'local')"),
    (saxpy, "split('i', [None, 2, 8]); bind('i_0', 'blockIdx.x'); bind('i_2', 'threadIdx.x')"),
    (saxpy, "split('i', [4, None]); bind('i_0', 'threadIdx.x')"),
    (saxpy, "specialize('x.shape[0] % 8 == 0')"),
]


@pytest.mark.parametrize(
    ("kernel", "steps"), STEPS, ids=[f"{kernel.__name__}: {steps}" for kernel, steps in STEPS]
)
def test_everyday_steps(kernel: Callable[..., None], steps: str) -> None:
    s = Schedule(kernel)
    for step in steps.split("; "):
        eval(f"s.{step}", {"s": s})
    wanted, got = ARGUMENTS[kernel](), ARGUMENTS[kernel]()
    kernel(*wanted)
    load(s.program)(*got)
    for one, other in zip(wanted, got, strict=True):
        assert np.allclose(one, other, rtol=1e-12, atol=0)
