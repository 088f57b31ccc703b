"""CUDA modules that are right, as a code generator or a person would write them."""

from __future__ import annotations

MATMUL = """\
from numba import cuda, float32, uint32


@cuda.jit("void(float32[:, ::1], float32[:, ::1], float32[:, ::1])", lineinfo=True)
def matmul_kernel(a, b, c):
    a_shared = cuda.shared.array((16, 16), float32)
    b_shared = cuda.shared.array((16, 16), float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    row = uint32(cuda.blockIdx.y) * uint32(16) + y
    column = uint32(cuda.blockIdx.x) * uint32(16) + x
    m = uint32(a.shape[0])
    k = uint32(a.shape[1])
    n = uint32(b.shape[1])
    total = float32(0.0)
    for k_0 in range(uint32(0), k, uint32(16)):
        if row < m and k_0 + x < k:
            a_shared[y, x] = a[row, k_0 + x]
        else:
            a_shared[y, x] = float32(0.0)
        if k_0 + y < k and column < n:
            b_shared[y, x] = b[k_0 + y, column]
        else:
            b_shared[y, x] = float32(0.0)
        cuda.syncthreads()
        for k_1 in range(uint32(16)):
            total += a_shared[y, k_1] * b_shared[k_1, x]
        cuda.syncthreads()
    if row < m and column < n:
        c[row, column] = total


def matmul(a, b, c):
    m, n = c.shape
    grid = (n + 15) // 16, (m + 15) // 16
    matmul_kernel[grid, (16, 16)](a, b, c)
"""

CONV_ADD = """\
import numpy as np
from numba import cuda, float32, uint32


@cuda.jit(lineinfo=True)
def conv_add_kernel(image, weights, bias, out):
    image_shared = cuda.shared.array((10, 18), float32, alignment=16)
    conv_shared = cuda.shared.array((8, 16), float32)
    x = uint32(cuda.threadIdx.x)
    y = uint32(cuda.threadIdx.y)
    top = uint32(cuda.blockIdx.y) * uint32(8)
    left = uint32(cuda.blockIdx.x) * uint32(16)
    height = uint32(out.shape[0])
    width = uint32(out.shape[1])
    for flat in range(y * uint32(16) + x, uint32(180), uint32(128)):
        i = flat // uint32(18)
        j = flat % uint32(18)
        if top + i < height + uint32(2) and left + j < width + uint32(2):
            image_shared[i, j] = image[top + i, left + j]
    cuda.syncthreads()
    if top + y < height and left + x < width:
        total = float32(0)
        for p in range(uint32(3)):
            for q in range(uint32(3)):
                total += image_shared[y + p, x + q] * weights[p, q]
        conv_shared[y, x] = total
    cuda.syncthreads()
    y = uint32(7) - y
    if top + y < height and left + x < width:
        out[top + y, left + x] = conv_shared[y, x] + bias[top + y, left + x]


def conv_add(image, weights, bias):
    out = np.empty(bias.shape, np.float32)
    image, weights, bias = map(cuda.to_device, (image, weights, bias))
    on_device = cuda.device_array(out.shape, np.float32)
    grid = (out.shape[1] + 15) // 16, (out.shape[0] + 7) // 8
    conv_add_kernel[grid, (16, 8)](image, weights, bias, on_device)
    on_device.copy_to_host(out)
    return out
"""

REDUCTION = """\
import numpy as np
from numba import cuda, float32, uint32

FULL = 0xFFFFFFFF


@cuda.jit(device=True)
def warp_sum(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(FULL, value, step)
    return value


@cuda.jit
def sum_kernel(a, out):
    partial = cuda.shared.array(4, float32)
    i = cuda.grid(1)
    lane = cuda.threadIdx.x % cuda.warpsize
    warp = cuda.threadIdx.x // cuda.warpsize
    total = float32(0)
    for j in range(i, a.size, cuda.gridsize(1)):
        total += a[j]
    total = warp_sum(total)
    if lane == 0:
        partial[warp] = total
    cuda.syncthreads()
    if warp == 0:
        total = partial[lane] if lane < 4 else float32(0)
        total = warp_sum(total)
        if lane == 0:
            cuda.atomic.add(out, 0, total)


def reduction(a):
    out = np.zeros(1, np.float32)
    sum_kernel[3, 128](a, out)
    return out[0]
"""

HISTOGRAM = """\
from numba import cuda, int32, uint32


@cuda.jit
def histogram_kernel(image, counts):
    bins = cuda.shared.array(256, int32)
    x = uint32(cuda.threadIdx.x)
    for b in range(x, uint32(256), uint32(cuda.blockDim.x)):
        bins[b] = int32(0)
    cuda.syncthreads()
    i = uint32(cuda.blockIdx.x) * uint32(cuda.blockDim.x) + x
    if i < uint32(image.size):
        cuda.atomic.add(bins, image[i], int32(1))
    cuda.syncthreads()
    for b in range(x, uint32(256), uint32(cuda.blockDim.x)):
        if bins[b] > 0:
            cuda.atomic.add(counts, b, bins[b])


def histogram(image, counts):
    stream = cuda.stream()
    histogram_kernel[(image.size + 63) // 64, 64, stream](image, counts)
    stream.synchronize()
"""
