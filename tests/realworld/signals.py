"""Signals: filters, transforms, matrix profiles, peaks."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

TWO_PI = 2.0 * np.pi


@CASES.case(lambda n, g: (g.random(n), g.random(3), np.zeros(n)))
def fir_filter(x, taps, y):
    for i in range(len(x)):
        acc = 0.0
        for k in range(min(len(taps), i + 1)):
            acc += taps[k] * x[i - k]
        y[i] = acc


@CASES.case(lambda n, g: (g.random((n, 2)), np.zeros((n, 2))))
def recursive_smooth(img, out):
    alpha = 0.3
    w, h = img.shape
    forward = np.empty_like(img)
    for j in range(h):
        previous = 0.0
        for i in range(w):
            forward[i, j] = alpha * img[i, j] + (1 - alpha) * previous
            previous = forward[i, j]
    for j in range(h):
        following = 0.0
        for i in range(w - 1, -1, -1):
            out[i, j] = alpha * forward[i, j] + (1 - alpha) * following
            following = out[i, j]


@CASES.case(lambda n, g: (g.random(n), np.zeros(n), np.zeros(n)))
def slow_dft(x, real, imag):
    n = len(x)
    for k in range(n):
        re, im = 0.0, 0.0
        for t in range(n):
            angle = TWO_PI * k * t / n
            re += x[t] * math.cos(angle)
            im -= x[t] * math.sin(angle)
        real[k] = re
        imag[k] = im


@CASES.case(lambda n, g: (g.random(n + 3), 3, np.zeros(n + 1), np.zeros(n + 1, np.int64)))
def matrix_profile(series, m, profile, where):
    k = len(series) - m + 1
    for i in range(k):
        profile[i] = np.inf
        where[i] = -1
    for diagonal in range(1, k):
        for i in range(0, k - diagonal):
            j = i + diagonal
            d = 0.0
            for t in range(m):
                d += (series[i + t] - series[j + t]) ** 2
            if d < profile[i]:
                profile[i] = d
                where[i] = j
            if d < profile[j]:
                profile[j] = d
                where[j] = i
    for i in range(k):
        profile[i] = math.sqrt(profile[i])


@CASES.case(lambda n, g: (g.random(n), np.zeros(n, np.bool_)))
def local_peaks(x, peaks):
    n = len(x)
    for i in range(n):
        peaks[i] = False
    for i in range(1, n - 1):
        peaks[i] = x[i - 1] < x[i] and x[i] >= x[i + 1]
    if n > 1:
        peaks[-1] = x[-1] > x[-2]


@CASES.case(lambda n, g: (g.random(n).astype(np.float32), np.zeros(n, np.float32)))
def envelope(x, out, attack=0.9, release=0.5):
    level = np.float32(0.0)
    for i in range(len(x)):
        value = abs(x[i])
        if value > level:
            level = np.float32(attack) * value + np.float32(1.0 - attack) * level
        else:
            level = np.float32(release) * level
        out[i] = level


@CASES.case(lambda n, g: (g.random(2 * n), np.zeros(n)))
def decimate_pairs(x, out):
    for i in range(len(out)):
        out[i] = 0.5 * (x[2 * i] + x[2 * i + 1])


@CASES.case(lambda n, g: (g.standard_normal(n),))
def zero_crossings(x):
    count = 0
    for a, b in zip(x[:-1], x[1:]):  # noqa: B905, RUF007
        if (a < 0) != (b < 0):
            count += 1
    return count


@CASES.case(lambda n, g: (g.random(n), 4))
def autocorrelation(x, lags):
    out = np.zeros(lags)
    n = len(x)
    mean = np.sum(x) / max(n, 1)
    for lag in range(lags):
        for i in range(n - lag):
            out[lag] += (x[i] - mean) * (x[i + lag] - mean)
    return out


@CASES.case(lambda n, g: (g.random((n, n + 1)), np.zeros((n + 3, n + 4)), g.random((4, 4))))
def correlate_full(image, out, taps):
    kh, kw = taps.shape
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            total = 0.0
            for i in range(max(0, y - kh + 1), min(image.shape[0], y + 1)):
                for j in range(max(0, x - kw + 1), min(image.shape[1], x + 1)):
                    total += image[i, j] * taps[y - i, x - j]
            out[y, x] = total


@CASES.case(lambda n, g: (g.random(2**n), g.random(2**n)), sizes=(0, 1, 2, 4))
def stockham(real, imag):
    n = len(real)
    re = real.copy()
    im = imag.copy()
    half = n // 2
    stride = 1
    while half >= 1:
        for p in range(half):
            angle = -np.pi * p / half
            c = math.cos(angle)
            s = math.sin(angle)
            for q in range(stride):
                ar, ai = real[q + stride * p], imag[q + stride * p]
                br, bi = real[q + stride * (p + half)], imag[q + stride * (p + half)]
                re[q + stride * 2 * p] = ar + br
                im[q + stride * 2 * p] = ai + bi
                dr, di = ar - br, ai - bi
                re[q + stride * (2 * p + 1)] = dr * c - di * s
                im[q + stride * (2 * p + 1)] = dr * s + di * c
        for i in range(n):
            real[i] = re[i]
            imag[i] = im[i]
        half //= 2
        stride *= 2
