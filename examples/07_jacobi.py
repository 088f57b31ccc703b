"""Ten time steps of a stencil, tiled in time as well: a tile of cells makes five steps while it is
in a cache. Tiling time and space at once is refused; skewed, it is proved."""

import numpy as np

from astile import IllegalSchedule, Schedule
from astile.schedule import recipes


def jacobi(a, b):
    N, M = a.shape
    for t in range(10):
        for i in range(1, N - 1):
            for j in range(1, M - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i in range(1, N - 1):
            for j in range(1, M - 1):
                a[i, j] = b[i, j]


s = Schedule(jacobi)
try:
    s.merge("i#0", "i#1")
except IllegalSchedule as error:
    print(error)

recipes.time_tiled(s, "t", [5, 32, 32])
for step in s.steps:
    print(f"s.{step.call}  # {step.proof.kind}")
print(s.source())

a = np.random.default_rng(0).random((70, 50))
b = np.zeros_like(a)
expected = a.copy()
s.build("cpu")(a, b)
for _ in range(10):
    neighbours = expected[:-2, 1:-1] + expected[2:, 1:-1] + expected[1:-1, :-2]
    expected[1:-1, 1:-1] = 0.25 * (neighbours + expected[1:-1, 2:])
print(f"differs from NumPy by at most {abs(a - expected).max():.1e}")
