"""Image processing: filters, thresholds, labels, look-up tables."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

KERNEL_RADIUS = 1
LUMA = (0.299, 0.587, 0.114)
MAX_LEVEL = 255
DELTAS = np.array([[-1, 0], [0, -1], [0, 1], [1, 0]])


def grey(n, g):
    return g.random((n, n + 2)), np.full((n, n + 2), np.nan)


def bytes_of(n, g, *shape):
    return g.integers(0, 256, (n, n + 1, *shape)).astype(np.uint8)


def _clamp(value, low, high):
    if value < low:
        return low
    if value > high:
        return high
    return value


@CASES.case(grey)
def mean_filter(image, out):
    rows, cols = image.shape
    for y in range(rows):
        for x in range(cols):
            total = 0.0
            count = 0
            for dy in range(-KERNEL_RADIUS, KERNEL_RADIUS + 1):
                for dx in range(-KERNEL_RADIUS, KERNEL_RADIUS + 1):
                    yy = y + dy
                    xx = x + dx
                    if yy >= 0 and yy < rows and xx >= 0 and xx < cols:
                        total += image[yy, xx]
                        count += 1
            out[y, x] = total / count


@CASES.case(grey)
def slope_degrees(data, out):
    cell = 2.0
    out[:, :] = np.nan
    rows, cols = data.shape
    for y in range(1, rows - 1):
        for x in range(1, cols - 1):
            a = data[y + 1, x - 1]
            b = data[y + 1, x]
            c = data[y + 1, x + 1]
            d = data[y, x - 1]
            f = data[y, x + 1]
            g = data[y - 1, x - 1]
            h = data[y - 1, x]
            i = data[y - 1, x + 1]
            dz_dx = ((c + 2 * f + i) - (a + 2 * d + g)) / (8 * cell)
            dz_dy = ((g + 2 * h + i) - (a + 2 * b + c)) / (8 * cell)
            p = (dz_dx * dz_dx + dz_dy * dz_dy) ** 0.5
            out[y, x] = math.atan(p) * 57.29578


@CASES.case(lambda n, g: (bytes_of(n, g, 3), np.zeros((n, n + 1), np.uint8)))
def luminance(rgb, out):
    for y in range(rgb.shape[0]):
        for x in range(rgb.shape[1]):
            r, g, b = rgb[y, x, 0], rgb[y, x, 1], rgb[y, x, 2]
            value = LUMA[0] * float(r) + LUMA[1] * float(g) + LUMA[2] * float(b)
            out[y, x] = np.uint8(_clamp(value, 0, MAX_LEVEL))


@CASES.case(lambda n, g: (bytes_of(n, g), np.zeros(256, np.int64)))
def histogram(image, counts):
    counts[:] = 0
    for row in image:
        for value in row:
            counts[value] += 1


@CASES.case(lambda n, g: (bytes_of(n, g),))
def otsu_level(image):
    counts = np.zeros(256, np.int64)
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            counts[image[y, x]] += 1
    total = image.size
    if total == 0:
        return -1, 0.0
    weighted = 0.0
    for level in range(256):
        weighted += level * counts[level]
    best, threshold = -1.0, 0
    below, below_weighted = 0, 0.0
    for level in range(256):
        below += counts[level]
        if below == 0:
            continue
        above = total - below
        if above == 0:
            break
        below_weighted += level * counts[level]
        left = below_weighted / below
        right = (weighted - below_weighted) / above
        between = below * above * (left - right) ** 2
        if between > best:
            best = between
            threshold = level
    return threshold, best


@CASES.case(lambda n, g: (bytes_of(n, g) > 90, np.zeros((n, n + 1), np.bool_)))
def erode(mask, out):
    rows, cols = mask.shape
    for y in range(rows):
        for x in range(cols):
            keep = mask[y, x]
            for k in range(len(DELTAS)):
                yy = y + DELTAS[k, 0]
                xx = x + DELTAS[k, 1]
                if not (0 <= yy < rows and 0 <= xx < cols):
                    continue
                if not mask[yy, xx]:
                    keep = False
                    break
            out[y, x] = keep


@CASES.case(lambda n, g: (g.random((n, n)), np.zeros((2 * n, 2 * n))))
def upsample_twice(small, big):
    for y in range(big.shape[0]):
        for x in range(big.shape[1]):
            big[y, x] = small[y // 2, x // 2] if (y + x) % 2 == 0 else 0.5 * small[y >> 1, x >> 1]


@CASES.case(lambda n, g: (g.random((n, n + 1)), np.zeros((n + 1, n + 2))))
def integral_image(image, table):
    table[0, :] = 0.0
    table[:, 0] = 0.0
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            above = table[y, x + 1]
            table[y + 1, x + 1] = image[y, x] + above + table[y + 1, x] - table[y, x]


@CASES.case(lambda n, g: (g.random((n, n)), 0.4, np.zeros((n, n), np.int32)))
def label_runs(image, threshold, labels):
    current = 0
    for y in range(image.shape[0]):
        inside = False
        for x in range(image.shape[1]):
            if image[y, x] > threshold:
                if not inside:
                    current += 1
                    inside = True
                labels[y, x] = current
            else:
                inside = False
                labels[y, x] = 0
    return current


@CASES.case(lambda n, g: (g.random((n, n + 1)), g.random((n + 1, n)), np.zeros((n, n + 1))))
def flip_and_blend(one, other, out):
    h, w = one.shape
    turned = other.T
    for y in range(h - 1, -1, -1):
        for x in range(w):
            out[y, x] = 0.25 * one[h - 1 - y, w - 1 - x] + 0.75 * turned[y, x]
