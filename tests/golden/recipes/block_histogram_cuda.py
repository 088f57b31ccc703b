import numpy as np
from numba import cuda
from numpy import int64, uint32, uint64, uint8


@cuda.jit(device=True, inline="always")
def inside(index, size, failed):
    index = int64(index)
    if index < 0:
        index += size
    if index < 0 or index >= size:
        cuda.atomic.max(failed, 0, 1)
        index = 0
    return uint64(index)


@cuda.jit
def histogram_counts_rf_rf_shared_kernel(x, counts_rf, failed):
    counts_rf_rf_shared = cuda.shared.array((32, 64), np.int32)
    i_block = uint32(cuda.blockIdx.x)
    counts_0 = uint32(cuda.threadIdx.x)
    if counts_0 < uint32(32):
        counts_rf[i_block, counts_0] = 0
    i_lane = uint32(cuda.threadIdx.x)
    for counts_rf_1 in range(uint32(32)):
        counts_rf_rf_shared[counts_rf_1, i_lane] = 0

    for i_turn in range((len(x) + 8191) // 8192):
        if i_turn * 8192 + int64(i_block) * 64 + int64(i_lane) < len(x):
            counts_rf_rf_shared[
                inside(
                    uint8(x[uint64(i_turn) * uint32(8192) + i_block * uint32(64) + i_lane] // 8),
                    32,
                    failed,
                ),
                i_lane,
            ] += 1

    # counts_rf_rf_shared, written by thread (i_lane) above, is read by other threads below
    cuda.syncthreads()
    if cuda.threadIdx.x < 32:
        counts_rf_1 = uint32(cuda.threadIdx.x)
        for i_lane in range(uint32(64)):
            counts_rf[i_block, counts_rf_1] += counts_rf_rf_shared[counts_rf_1, i_lane]


@cuda.jit
def histogram_counts_kernel(counts, counts_rf):
    counts_block = uint32(cuda.blockIdx.x)
    counts_lane = uint32(cuda.threadIdx.x)
    if counts_block * uint32(64) + counts_lane < uint32(32):
        for i_block in range(uint32(128)):
            counts[counts_block * uint32(64) + counts_lane] += counts_rf[
                i_block, counts_block * uint32(64) + counts_lane
            ]


@cuda.jit
def histogram_out_kernel(out, counts):
    # no loop here is bound to blocks or threads: one thread runs it
    for c in range(32):
        out[c] = counts[c]


def histogram(x, out):
    counts = cuda.to_device(np.zeros(32, np.int32))
    counts_rf = cuda.device_array((128, 32), np.int32)
    failed = cuda.to_device(np.zeros(1, np.int32))
    histogram_counts_rf_rf_shared_kernel[128, 64](x, counts_rf, failed)
    if failed.copy_to_host()[0]:
        raise IndexError("an index of counts_rf_rf_shared is out of bounds")
    histogram_counts_kernel[1, 64](counts, counts_rf)
    histogram_out_kernel[1, 1](out, counts)
