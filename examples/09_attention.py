"""Attention: scores, softmax and the weighted sum of one block of queries at a time, so that the
matrix of scores, queries x keys, never exists as a whole."""

import numpy as np

from astile import Schedule


def attention(Q, K, V, out):
    N, D = Q.shape
    M = K.shape[0]
    S = np.empty((N, M), np.float32)
    total = np.empty(N, np.float32)
    for i in range(N):
        for j in range(M):
            S[i, j] = np.float32(0)
            for d in range(D):
                S[i, j] += Q[i, d] * K[j, d]
    for i in range(N):
        largest = np.float32(-np.inf)
        for j in range(M):
            largest = max(largest, S[i, j])
        total[i] = np.float32(0)
        for j in range(M):
            S[i, j] = np.exp((S[i, j] - largest) / np.sqrt(np.float32(D)))
            total[i] += S[i, j]
    for i in range(N):
        for d in range(D):
            out[i, d] = np.float32(0)
            for j in range(M):
                out[i, d] += S[i, j] * V[j, d]
            out[i, d] = out[i, d] / total[i]


s = Schedule(attention)
first, second, third = (each for each in s.loops() if each.var == "i")
i = s.merge(s.merge(first, second)[0], third)[0]
s.set_scope("S", "local")  # one row of scores for each query
s.set_scope("total", "local")
i_0, _ = s.split(i, [None, 16])
s.parallel(i_0)
print(s.source())

g = np.random.default_rng(0)
Q, K, V = (g.normal(size=(n, 16)).astype(np.float32) for n in (50, 33, 33))
out = np.zeros_like(Q)
kernel = s.build("cpu")
kernel(Q, K, V, out)
print(kernel.explain(Q, K, V, out))
powers = np.exp((Q @ K.T) / np.sqrt(16))
expected = powers / powers.sum(axis=1, keepdims=True) @ V
print(f"differs from NumPy by at most {abs(out - expected).max():.1e}")
