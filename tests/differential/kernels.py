"""Kernels of several stages, as a user writes them."""

from __future__ import annotations

import numpy as np


def conv_add(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            out[i, j] = conv[i, j] + bias[i, j]


def conv_add_relu(x, w, bias, out):
    H, W = out.shape
    conv = np.empty((H, W), np.float32)
    total = np.empty((H, W), np.float32)
    for i in range(H):
        for j in range(W):
            acc = np.float32(0)
            for a in range(3):
                for b in range(3):
                    acc += x[i + a, j + b] * w[a, b]
            conv[i, j] = acc
    for i in range(H):
        for j in range(W):
            total[i, j] = conv[i, j] + bias[i, j]
    for i in range(H):
        for j in range(W):
            out[i, j] = max(total[i, j], np.float32(0))


def blur(x, out):
    H, W = out.shape
    rows = np.empty((H + 2, W), np.float32)
    for i in range(H + 2):
        for j in range(W):
            rows[i, j] = x[i, j] + x[i, j + 1] + x[i, j + 2]
    for i in range(H):
        for j in range(W):
            out[i, j] = rows[i, j] + rows[i + 1, j] + rows[i + 2, j]


def staged_matmul(A, B, C):
    """The tiled matrix product with both operands staged by hand-written copy loops."""
    M, N = C.shape
    K = A.shape[1]
    for i_0 in range((M + 7) // 8):
        for j_0 in range((N + 7) // 8):
            acc = np.zeros((8, 8), np.float32)
            a = np.zeros((8, 8), np.float32)
            b = np.zeros((8, 8), np.float32)
            for k_0 in range((K + 7) // 8):
                for p in range(8):
                    for q in range(8):
                        if i_0 * 8 + p < M and k_0 * 8 + q < K:
                            a[p, q] = A[i_0 * 8 + p, k_0 * 8 + q]
                for r in range(8):
                    for s in range(8):
                        if k_0 * 8 + r < K and j_0 * 8 + s < N:
                            b[r, s] = B[k_0 * 8 + r, j_0 * 8 + s]
                for i_1 in range(8):
                    for j_1 in range(8):
                        for k_1 in range(8):
                            if k_0 * 8 + k_1 < K:
                                acc[i_1, j_1] += a[i_1, k_1] * b[k_1, j_1]
            for i_2 in range(8):
                for j_2 in range(8):
                    if i_0 * 8 + i_2 < M and j_0 * 8 + j_2 < N:
                        C[i_0 * 8 + i_2, j_0 * 8 + j_2] = acc[i_2, j_2]


def matmul(A, B, C):
    M, N = C.shape
    K = A.shape[1]
    for i in range(M):
        for j in range(N):
            acc = np.float32(0)
            for k in range(K):
                acc += A[i, k] * B[k, j]
            C[i, j] = acc
