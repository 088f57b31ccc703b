"""Layer normalisation: each sum of a row in parts, one for each thread, and the parts joined."""

import numpy as np

from astile import Schedule
from astile.schedule import recipes


def layernorm(x, gain, bias, out):
    N, M = x.shape
    for i in range(N):
        total = 0.0
        for j in range(M):
            total += x[i, j]
        mean = total / np.float32(M)
        squares = 0.0
        for j in range(M):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / np.sqrt(squares / np.float32(M) + np.float32(1e-5))
        for j in range(M):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


s = Schedule(layernorm)
recipes.row_reduction(s, "i", threads=32)
for step in s.steps:
    print(f"s.{step.call}  # {step.proof.kind}")
print(s.source())

g = np.random.default_rng(0)
x, gain, bias = (g.random(size, np.float32) for size in ((5, 77), 77, 77))
out = np.zeros_like(x)
s.build("emulate")(x, gain, bias, out)
centred = x - x.mean(axis=1, keepdims=True)
expected = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * gain + bias
print(f"differs from NumPy by at most {abs(out - expected).max():.1e}")
