"""Softmax of rows for a GPU: a thread block for each row, whose threads share all loops over it."""

import numpy as np

from astile import Schedule
from astile.schedule import recipes


def softmax(x, out):
    N, M = x.shape
    for i in range(N):
        largest = -np.inf
        for j in range(M):
            largest = max(largest, x[i, j])
        total = 0.0
        for j in range(M):
            out[i, j] = np.exp(x[i, j] - largest)
            total += out[i, j]
        for j in range(M):
            out[i, j] = out[i, j] / total


s = Schedule(softmax)
recipes.row_reduction(s, "i", threads=32)
print(s.source())
print(s.source("cuda"))

x = np.random.default_rng(0).normal(size=(5, 77)).astype(np.float32)
out = np.zeros_like(x)
s.build("emulate")(x, out)
powers = np.exp(x - x.max(axis=1, keepdims=True))
expected = powers / powers.sum(axis=1, keepdims=True)
print(f"differs from NumPy by at most {abs(out - expected).max():.1e}")
