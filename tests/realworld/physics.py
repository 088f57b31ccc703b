"""Physics: stencils, time steps, particles, columns of the atmosphere."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

SOFTENING = 1e-3
GRAVITY = 9.81


def square(n, g, count):
    return tuple(g.random((n, n)) for _ in range(count))


@CASES.case(lambda n, g: (3, *square(n, g, 2)))
def heat_2d(steps, A, B):
    n = A.shape[0]
    for t in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = A[i, j] + 0.1 * (
                    A[i + 1, j] + A[i - 1, j] + A[i, j + 1] + A[i, j - 1] - 4 * A[i, j]
                )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = B[i, j]


@CASES.case(lambda n, g: (2, *square(n, g, 2)), sizes=(2, 3, 5, 8))
def cavity_pressure(nit, p, b):
    pn = np.empty_like(p)
    for q in range(nit):
        pn[:] = p[:]
        p[1:-1, 1:-1] = (
            (pn[1:-1, 2:] + pn[1:-1, :-2]) * 0.25
            + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * 0.25
            - b[1:-1, 1:-1]
        )
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


@CASES.case(lambda n, g: (g.random((n, 3)), g.random(n), np.zeros((n, 3))))
def accelerations(pos, mass, acc):
    n = pos.shape[0]
    for i in range(n):
        ax = ay = az = 0.0
        for j in range(n):
            if i == j:
                continue
            dx = pos[j, 0] - pos[i, 0]
            dy = pos[j, 1] - pos[i, 1]
            dz = pos[j, 2] - pos[i, 2]
            inv = (dx**2 + dy**2 + dz**2 + SOFTENING**2) ** (-1.5)
            ax += mass[j] * dx * inv
            ay += mass[j] * dy * inv
            az += mass[j] * dz * inv
        acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az


@CASES.case(lambda n, g: tuple(g.random((2, n, 3)) + 2 for _ in range(4)))
def thomas_columns(a, b, c, d):
    ni, nj, nk = a.shape
    for i in range(ni):
        for j in range(nj):
            c[i, j, 0] = c[i, j, 0] / b[i, j, 0]
            d[i, j, 0] = d[i, j, 0] / b[i, j, 0]
            for k in range(1, nk):
                denominator = b[i, j, k] - a[i, j, k] * c[i, j, k - 1]
                c[i, j, k] = c[i, j, k] / denominator
                d[i, j, k] = (d[i, j, k] - a[i, j, k] * d[i, j, k - 1]) / denominator
            for k in range(nk - 2, -1, -1):
                d[i, j, k] = d[i, j, k] - c[i, j, k] * d[i, j, k + 1]


def _density(salt, temp, pressure):
    t2 = temp * temp
    base = 999.842594 + 6.793952e-2 * temp - 9.09529e-3 * t2
    return base + salt * (0.824493 - 4.0899e-3 * temp) + pressure * 4.5e-3


@CASES.case(lambda n, g: (g.random((n, n, 2)) * 35, g.random((n, n, 2)) * 20, np.zeros((n, n, 2))))
def equation_of_state(sa, ct, rho):
    for i in range(sa.shape[0]):
        for j in range(sa.shape[1]):
            for k in range(sa.shape[2]):
                rho[i, j, k] = _density(sa[i, j, k], ct[i, j, k], 10.0 * k)


@CASES.case(lambda n, g: (g.random(n), g.random(n + 1) - 0.5, np.zeros(n), 0.1))
def upwind_step(q, wind, out, dt=0.5):
    n = len(q)
    for i in range(n):
        left = q[i - 1] if i > 0 else q[n - 1]
        right = q[i + 1] if i < n - 1 else q[0]
        flux_in = max(wind[i], 0.0) * left + min(wind[i], 0.0) * q[i]
        flux_out = max(wind[i + 1], 0.0) * q[i] + min(wind[i + 1], 0.0) * right
        out[i] = q[i] + dt * (flux_in - flux_out)


@CASES.case(lambda n, g: (g.choice(np.array([-1, 1]), (n, n)), g.random((n, n)), 0.8))
def ising_sweep(spins, chance, beta):
    n, m = spins.shape
    flips = 0
    for i in range(n):
        for j in range(m):
            near = (
                spins[(i + 1) % n, j]
                + spins[(i - 1) % n, j]
                + spins[i, (j + 1) % m]
                + spins[i, (j - 1) % m]
            )
            cost = 2 * spins[i, j] * near
            if cost <= 0 or chance[i, j] < math.exp(-beta * cost):
                spins[i, j] = -spins[i, j]
                flips += 1
    return flips


@CASES.case(lambda n, g: (g.random((n, n, n)), np.zeros((n, n, n))), sizes=(0, 1, 3, 6))
def laplacian_3d(u, out):
    n = u.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            for k in range(1, n - 1):
                out[i, j, k] = (
                    u[i - 1, j, k]
                    + u[i + 1, j, k]
                    + u[i, j - 1, k]
                    + u[i, j + 1, k]
                    + u[i, j, k - 1]
                    + u[i, j, k + 1]
                    - 6.0 * u[i, j, k]
                )


@CASES.case(lambda n, g: (g.random(n) + 1.0, g.random(n) - 0.5, 4))
def shallow_water_1d(h, hu, steps):
    n = len(h)
    fh = np.zeros(n + 1)
    fu = np.zeros(n + 1)
    for step in range(steps):
        for i in range(1, n):
            ul = hu[i - 1] / h[i - 1]
            ur = hu[i] / h[i]
            speed = max(
                abs(ul) + math.sqrt(GRAVITY * h[i - 1]), abs(ur) + math.sqrt(GRAVITY * h[i])
            )
            fh[i] = 0.5 * (hu[i - 1] + hu[i]) - 0.5 * speed * (h[i] - h[i - 1])
            pl = hu[i - 1] * ul + 0.5 * GRAVITY * h[i - 1] ** 2
            pr = hu[i] * ur + 0.5 * GRAVITY * h[i] ** 2
            fu[i] = 0.5 * (pl + pr) - 0.5 * speed * (hu[i] - hu[i - 1])
        for i in range(n):
            h[i] -= 0.01 * (fh[i + 1] - fh[i])
            hu[i] -= 0.01 * (fu[i + 1] - fu[i])


@CASES.case(lambda n, g: (g.random((n, 2)), g.random((n, 2)) - 0.5, 3))
def bounce_in_box(pos, vel, steps):
    for _ in range(steps):
        for i in range(pos.shape[0]):
            for axis in range(2):
                pos[i, axis] += 0.1 * vel[i, axis]
                if pos[i, axis] < 0.0:
                    pos[i, axis] = -pos[i, axis]
                    vel[i, axis] *= -1.0
                elif pos[i, axis] > 1.0:
                    pos[i, axis] = 2.0 - pos[i, axis]
                    vel[i, axis] *= -1.0
