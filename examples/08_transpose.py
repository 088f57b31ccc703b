"""A transposition for a GPU: by way of a padded tile in shared memory, neighbouring threads read
neighbouring cells and write neighbouring cells."""

import numpy as np

from astile import Schedule
from astile.schedule import recipes


def transpose(A, B):
    N, M = A.shape
    for i in range(N):
        for j in range(M):
            B[j, i] = A[i, j]


s = Schedule(transpose)
recipes.transposed(s, tile=16, rows=4)
print(s.source())
print(s.source("cuda"))

A = np.random.default_rng(0).random((40, 23), np.float32)
B = np.zeros((23, 40), np.float32)
kernel = s.build("emulate")
kernel(A, B)
print(kernel.explain(A, B))
print(f"differs from NumPy by at most {abs(B - A.T).max():.1e}")
