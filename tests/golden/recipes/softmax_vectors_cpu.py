import math

import numpy as np
from numba import njit, prange
from numpy import float32, float64, shares_memory, uint64

from astile.intrinsics.linked_once import linked_once
from astile.intrinsics.vectors import (
    below, convert, exponential, lane, larger, load, load_where, splat, store, store_where
)


@linked_once
@njit(error_model="numpy")
def softmax_part(n, i_0, m, x, out):
    for i_1 in range(min(16, n - i_0 * 16)):
        top = float32(-np.inf)
        top_rf_local_0 = splat(top, 16)
        top_rf_local_1_1 = splat(top, 16)
        top_rf_local_2 = splat(top, 16)
        top_rf_local_3 = splat(top, 16)
        row = i_0 * 16 + i_1
        for j_strip in range(m // 64):
            top_rf_local_0 = larger(top_rf_local_0, load(x, (row, j_strip * 64), 16))
            top_rf_local_1_1 = larger(top_rf_local_1_1, load(x, (row, j_strip * 64 + 16), 16))
            top_rf_local_2 = larger(top_rf_local_2, load(x, (row, j_strip * 64 + 32), 16))
            top_rf_local_3 = larger(top_rf_local_3, load(x, (row, j_strip * 64 + 48), 16))
        top_rf_local_1_0 = splat(top, 16)
        top_rf_local_1_0 = larger(top_rf_local_1_0, top_rf_local_0)
        top_rf_local_1_0 = larger(top_rf_local_1_0, top_rf_local_1_1)
        top_rf_local_1_0 = larger(top_rf_local_1_0, top_rf_local_2)
        top_rf_local_1_0 = larger(top_rf_local_1_0, top_rf_local_3)
        top = max(top, lane(top_rf_local_1_0, 0))
        top = max(top, lane(top_rf_local_1_0, 1))
        top = max(top, lane(top_rf_local_1_0, 2))
        top = max(top, lane(top_rf_local_1_0, 3))
        top = max(top, lane(top_rf_local_1_0, 4))
        top = max(top, lane(top_rf_local_1_0, 5))
        top = max(top, lane(top_rf_local_1_0, 6))
        top = max(top, lane(top_rf_local_1_0, 7))
        top = max(top, lane(top_rf_local_1_0, 8))
        top = max(top, lane(top_rf_local_1_0, 9))
        top = max(top, lane(top_rf_local_1_0, 10))
        top = max(top, lane(top_rf_local_1_0, 11))
        top = max(top, lane(top_rf_local_1_0, 12))
        top = max(top, lane(top_rf_local_1_0, 13))
        top = max(top, lane(top_rf_local_1_0, 14))
        top = max(top, lane(top_rf_local_1_0, 15))
        for j in range(m // 64 * 64, m):
            top = max(top, x[i_0 * 16 + i_1, uint64(j)])
        total = np.float32(0.0)
        total_rf_local_0 = splat(float32(0), 16)
        total_rf_local_1_1 = splat(float32(0), 16)
        total_rf_local_2 = splat(float32(0), 16)
        total_rf_local_3 = splat(float32(0), 16)
        row_1 = i_0 * 16 + i_1
        for j_strip_1 in range(m // 64):
            top_s = splat(top, 16)
            e_lanes = convert(
                exponential(convert(load(x, (row_1, j_strip_1 * 64), 16) - top_s, float64)), float32
            )
            store(out, (row_1, j_strip_1 * 64), e_lanes)
            total_rf_local_0 = total_rf_local_0 + e_lanes
            e_lanes = convert(
                exponential(convert(load(x, (row_1, j_strip_1 * 64 + 16), 16) - top_s, float64)),
                float32,
            )
            store(out, (row_1, j_strip_1 * 64 + 16), e_lanes)
            total_rf_local_1_1 = total_rf_local_1_1 + e_lanes
            e_lanes = convert(
                exponential(convert(load(x, (row_1, j_strip_1 * 64 + 32), 16) - top_s, float64)),
                float32,
            )
            store(out, (row_1, j_strip_1 * 64 + 32), e_lanes)
            total_rf_local_2 = total_rf_local_2 + e_lanes
            e_lanes = convert(
                exponential(convert(load(x, (row_1, j_strip_1 * 64 + 48), 16) - top_s, float64)),
                float32,
            )
            store(out, (row_1, j_strip_1 * 64 + 48), e_lanes)
            total_rf_local_3 = total_rf_local_3 + e_lanes
        total_rf_local_1_0 = splat(float32(0), 16)
        total_rf_local_1_0 = total_rf_local_1_0 + total_rf_local_0
        total_rf_local_1_0 = total_rf_local_1_0 + total_rf_local_1_1
        total_rf_local_1_0 = total_rf_local_1_0 + total_rf_local_2
        total_rf_local_1_0 = total_rf_local_1_0 + total_rf_local_3
        total += lane(total_rf_local_1_0, 0)
        total += lane(total_rf_local_1_0, 1)
        total += lane(total_rf_local_1_0, 2)
        total += lane(total_rf_local_1_0, 3)
        total += lane(total_rf_local_1_0, 4)
        total += lane(total_rf_local_1_0, 5)
        total += lane(total_rf_local_1_0, 6)
        total += lane(total_rf_local_1_0, 7)
        total += lane(total_rf_local_1_0, 8)
        total += lane(total_rf_local_1_0, 9)
        total += lane(total_rf_local_1_0, 10)
        total += lane(total_rf_local_1_0, 11)
        total += lane(total_rf_local_1_0, 12)
        total += lane(total_rf_local_1_0, 13)
        total += lane(total_rf_local_1_0, 14)
        total += lane(total_rf_local_1_0, 15)
        for j in range(m // 64 * 64, m):
            e = np.float32(math.exp(float64(x[i_0 * 16 + i_1, uint64(j)] - top)))
            out[i_0 * 16 + i_1, uint64(j)] = e
            total += e
        j_end = m // 16 * 16
        row_2 = i_0 * 16 + i_1
        for j in range(0, j_end, 16):
            store(out, (row_2, j), load(out, (row_2, j), 16) / splat(total, 16))
        if j_end < m:
            inside = below(j_end, m, 16)
            store_where(
                inside,
                out,
                (i_0 * 16 + i_1, j_end),
                load_where(inside, out, (i_0 * 16 + i_1, j_end)) / splat(total, 16),
            )


@njit(error_model="numpy", parallel={"fusion": False})
def softmax_compiled(x, out):
    n, m = x.shape
    for i_0 in prange((n + 15) // 16):
        softmax_part(n, uint64(i_0), m, x, out)


def softmax(x, out):
    types = x.dtype, x.ndim, out.dtype, out.ndim
    if types != (float32, 2, float32, 2):
        raise TypeError(
            "made for x: float32 of 2 axes, out: float32 of 2 axes; emit it with dtypes= for "
            "others; given "
            + str(types)
        )
    if shares_memory(x, out):
        raise ValueError("arrays meet in memory, and one of them is written: pass copies")
    if x.shape[0] >= out.shape[0] + 1 and x.shape[1] >= 1:
        raise IndexError("out[i, j] leaves out along axis 0")
    if x.shape[0] >= 1 and x.shape[1] >= out.shape[1] + 1:
        raise IndexError("out[i, j] leaves out along axis 1")
    return softmax_compiled(x, out)
