"""A product of matrices for a GPU: shared tiles of both operands, sums in registers. It runs here
without a GPU, thread by thread, in the emulator."""

import numpy as np

from astile import Schedule
from astile.schedule import recipes


def matmul(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    for i in range(M):
        for j in range(N):
            C[i, j] = np.float32(0)
            for k in range(K):
                C[i, j] += A[i, k] * B[k, j]


s = Schedule(matmul)
recipes.tiled_matmul(s, tile=(16, 16), depth=8, cells=(2, 2))
for step in s.steps:
    print(f"s.{step.call}")
print(s.source("cuda"))

g = np.random.default_rng(0)
A, B = g.random((37, 21), np.float32), g.random((21, 50), np.float32)
C = np.zeros((37, 50), np.float32)
product = s.build("emulate")
product(A, B, C)
print(product.explain(A, B, C))
print(f"differs from NumPy by at most {abs(C - A @ B).max():.1e}")
