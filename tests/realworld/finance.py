"""Finance and economics: options, trees, simulations, solvers."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

A1, A2, A3, A4, A5 = 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429


def _normal_cdf(d):
    K = 1.0 / (1.0 + 0.2316419 * math.fabs(d))
    value = (
        math.exp(-0.5 * d * d)
        * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))))
        / math.sqrt(2 * math.pi)
    )
    if d > 0:
        value = 1.0 - value
    return value


@CASES.case(
    lambda n, g: (np.zeros(n), np.zeros(n), g.random(n) + 5, g.random(n) + 5, g.random(n) + 0.2)
)
def black_scholes(call, put, price, strike, years, rate=0.02, volatility=0.3):
    for i in range(len(price)):
        root = math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (rate + 0.5 * volatility**2) * years[i]) / (
            volatility * root
        )
        d2 = d1 - volatility * root
        discount = math.exp(-rate * years[i])
        call[i] = price[i] * _normal_cdf(d1) - strike[i] * discount * _normal_cdf(d2)
        put[i] = strike[i] * discount * (1.0 - _normal_cdf(d2)) - price[i] * (1.0 - _normal_cdf(d1))


@CASES.case(lambda n, g: (100.0, 95.0, n, 1.05, 0.96, 0.5))
def binomial_tree(spot, strike, steps, up, down, chance):
    values = np.empty(steps + 1)
    for i in range(steps + 1):
        values[i] = max(spot * up**i * down ** (steps - i) - strike, 0.0)
    for step in range(steps - 1, -1, -1):
        for i in range(step + 1):
            values[i] = chance * values[i + 1] + (1 - chance) * values[i]
    return values[0]


@CASES.case(
    lambda n, g: (
        np.array([[0.5, 0.5, 0], [0.2, 0.5, 0.3], [0, 0.4, 0.6]]).cumsum(1),
        g.random(n),
        1,
    )
)
def markov_path(cdf, draws, start):
    path = np.empty(len(draws) + 1, np.int64)
    path[0] = start
    for t in range(len(draws)):
        state = path[t]
        nxt = 0
        while nxt < cdf.shape[1] - 1 and cdf[state, nxt] <= draws[t]:
            nxt += 1
        path[t + 1] = nxt
    return path


@CASES.case(lambda n, g: (g.random((n, n)) + 0.1,), sizes=(1, 2, 5, 9))
def gth_solve(A):
    n = A.shape[0]
    x = np.zeros(n)
    for k in range(n - 1):
        scale = np.sum(A[k, k + 1 : n])
        if scale <= 0:
            n = k + 1
            break
        for i in range(k + 1, n):
            A[i, k] /= scale
            for j in range(k + 1, n):
                A[i, j] += A[i, k] * A[k, j]
    x[n - 1] = 1
    for k in range(n - 2, -1, -1):
        for i in range(k + 1, n):
            x[k] += x[i] * A[i, k]
    norm = np.sum(x)
    for k in range(n):
        x[k] /= norm
    return x


@CASES.case(lambda n, g: (g.random((n, n + 2)), 0, n), sizes=(1, 2, 5, 8))
def pivot(tableau, column, row):
    if row >= tableau.shape[0]:
        row = tableau.shape[0] - 1
    element = tableau[row, column]
    for j in range(tableau.shape[1]):
        tableau[row, j] /= element
    for i in range(tableau.shape[0]):
        if i == row:
            continue
        multiplier = tableau[i, column]
        if multiplier == 0:
            continue
        for j in range(tableau.shape[1]):
            tableau[i, j] -= tableau[row, j] * multiplier


@CASES.case(lambda n, g: (g.random(n) * 3,))
def newton_roots(targets):
    roots = np.zeros_like(targets)
    for i in range(len(targets)):
        x = 1.0
        converged = False
        for iteration in range(40):
            step = (x * x - targets[i]) / (2 * x)
            x -= step
            if abs(step) < 1e-10:
                converged = True
                break
        if converged:
            roots[i] = x
        else:
            roots[i] = np.nan
    return roots


@CASES.case(lambda n, g: (g.random(n) + 0.5, np.zeros((n, 2))))
def running_drawdown(prices, out):
    peak = -np.inf
    worst = 0.0
    for i in range(len(prices)):
        price = prices[i]
        peak = price if price > peak else peak
        drop = (peak - price) / peak
        if drop > worst:
            worst = drop
        out[i, 0] = drop
        out[i, 1] = worst
    return worst


@CASES.case(lambda n, g: (g.random((3, 4)), g.random(4), g.dirichlet(np.ones(4), 4), n))
def value_iteration(reward, start, transition, sweeps, beta=0.95):
    actions, states = reward.shape
    v = start.copy()
    policy = np.zeros(states, np.int64)
    for sweep in range(sweeps):
        new = np.empty(states)
        for s in range(states):
            best = -np.inf
            for a in range(actions):
                expected = 0.0
                for t in range(states):
                    expected += transition[s, t] * v[t]
                value = reward[a, s] + beta * expected
                if value > best:
                    best = value
                    policy[s] = a
            new[s] = best
        v = new
    return v, policy


@CASES.case(lambda n, g: (np.sort(g.random(n)), g.random(n), g.random(5) * 1.2 - 0.1))
def interpolate(xs, ys, points):
    out = np.full(len(points), np.nan)
    for i in range(len(points)):
        p = points[i]
        for k in range(len(xs) - 1):
            if xs[k] <= p and p < xs[k + 1]:
                w = (p - xs[k]) / (xs[k + 1] - xs[k])
                out[i] = (1 - w) * ys[k] + w * ys[k + 1]
                break
    return out
