"""Graphs and sparse matrices: indirect indices, bounds read from arrays, `while`."""

from __future__ import annotations

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()


def csr(n, g):
    counts = g.integers(0, 4, n)
    indptr = np.zeros(n + 1, np.int64)
    indptr[1:] = np.cumsum(counts)
    indices = g.integers(0, max(n, 1), indptr[-1])
    return indptr, indices, g.random(indptr[-1])


@CASES.case(lambda n, g: (*csr(n, g), g.random(n), np.zeros(n)))
def spmv(indptr, indices, data, x, y):
    for i in range(len(indptr) - 1):
        total = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            total += data[k] * x[indices[k]]
        y[i] = total


@CASES.case(lambda n, g: (*csr(n, g), g.random((n, 3)), np.ones((n, 3))))
def spmm(indptr, indices, data, dense, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            column = indices[k]
            value = data[k]
            for j in range(out.shape[1]):
                out[i, j] += value * dense[column, j]


@CASES.case(lambda n, g: (*csr(n, g)[:2], np.zeros(n), 3, 0.85))
def pagerank(indptr, indices, rank, sweeps, damping=0.85):
    n = len(rank)
    new = np.empty(n)
    if n == 0:
        return 0.0
    for i in range(n):
        rank[i] = 1.0 / n
    change = 0.0
    for sweep in range(sweeps):
        for i in range(n):
            new[i] = (1.0 - damping) / n
        for i in range(n):
            degree = indptr[i + 1] - indptr[i]
            if degree > 0:
                share = damping * rank[i] / degree
                for k in range(indptr[i], indptr[i + 1]):
                    new[indices[k]] += share
        change = 0.0
        for i in range(n):
            change += abs(new[i] - rank[i])
            rank[i] = new[i]
    return change


@CASES.case(lambda n, g: (*csr(n, g)[:2], 0), sizes=(1, 2, 5, 11))
def bfs_levels(indptr, indices, source):
    n = len(indptr) - 1
    level = np.full(n, -1)
    queue = np.empty(n, np.int64)
    head, tail = 0, 1
    queue[0] = source
    level[source] = 0
    while head < tail:
        node = queue[head]
        head += 1
        for k in range(indptr[node], indptr[node + 1]):
            other = indices[k]
            if level[other] < 0:
                level[other] = level[node] + 1
                queue[tail] = other
                tail += 1
    return level


def _find(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@CASES.case(lambda n, g: (g.integers(0, max(n, 1), (n, 2)), np.arange(n)))
def connected(edges, parent):
    count = len(parent)
    for e in range(edges.shape[0]):
        a = _find(parent, edges[e, 0])
        b = _find(parent, edges[e, 1])
        if a != b:
            parent[a] = b
            count -= 1
    return count


@CASES.case(lambda n, g: (g.random((n, n)) * 10,))
def all_pairs_shortest(dist):
    n = dist.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = dist[i, k] + dist[k, j]
                if through < dist[i, j]:
                    dist[i, j] = through


@CASES.case(lambda n, g: ((g.random((n, n)) < 0.4).astype(np.int64),))
def triangles(adjacency):
    n = len(adjacency)
    count = 0
    for i in range(n):
        for j in range(i + 1, n):
            if adjacency[i, j] == 0:
                continue
            for k in range(j + 1, n):
                count += adjacency[i, k] & adjacency[j, k]
    return count


@CASES.case(lambda n, g: (*csr(n, g)[:2], np.zeros(n, np.int64)))
def transpose_counts(indptr, indices, counts):
    counts[:] = 0
    for k in range(len(indices)):
        counts[indices[k]] += 1
    total = 0
    for i in range(len(counts)):
        total, counts[i] = total + counts[i], total
    return total


@CASES.case(lambda n, g: (g.random((n, n)), np.zeros(n, np.int64)))
def prim_tree(weights, parent):
    n = len(weights)
    if n == 0:
        return 0.0
    done = np.zeros(n, np.bool_)
    best = np.full(n, np.inf)
    best[0] = 0.0
    parent[0] = -1
    total = 0.0
    for step in range(n):
        node = -1
        for i in range(n):
            if not done[i] and (node < 0 or best[i] < best[node]):
                node = i
        done[node] = True
        total += best[node]
        for i in range(n):
            if not done[i] and weights[node, i] < best[i]:
                best[i] = weights[node, i]
                parent[i] = node
    return total
