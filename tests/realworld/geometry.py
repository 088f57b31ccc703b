"""Geometry and rasters: polygons, lines on a grid, distances, bits."""

from __future__ import annotations

import math

import numpy as np

from tests.realworld.case import Cases

CASES = Cases()

EARTH_RADIUS = 6371.0


@CASES.case(lambda n, g: (g.random((n + 3, 2)), g.random((n, 2)), np.zeros(n, np.bool_)))
def inside_polygon(polygon, points, inside):
    corners = len(polygon)
    for p in range(len(points)):
        x, y = points[p, 0], points[p, 1]
        odd = False
        j = corners - 1
        for i in range(corners):
            yi, yj = polygon[i, 1], polygon[j, 1]
            if (yi > y) != (yj > y):
                cut = (polygon[j, 0] - polygon[i, 0]) * (y - yi) / (yj - yi) + polygon[i, 0]
                if x < cut:
                    odd = not odd
            j = i
        inside[p] = odd


@CASES.case(lambda n, g: (g.random((n, 2)),))
def shoelace(points):
    n = len(points)
    area = 0.0
    for i in range(n):
        k = (i + 1) % n
        area += points[i, 0] * points[k, 1] - points[k, 0] * points[i, 1]
    return abs(area) / 2.0


def haversine(lat1, lon1, lat2, lon2):
    a = math.sin((lat2 - lat1) / 2) ** 2
    b = math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(a + b))


@CASES.case(lambda n, g: (g.random((n, 2)), np.zeros((n, n))))
def distance_matrix(places, out):
    n = places.shape[0]
    for i in range(n):
        out[i, i] = 0.0
        for j in range(i):
            d = haversine(places[i, 0], places[i, 1], places[j, 0], places[j, 1])
            out[i, j] = d
            out[j, i] = d


@CASES.case(lambda n, g: (g.integers(0, 9, (n, 4)), np.zeros((9, 9), np.uint32)))
def draw_lines(segments, canvas):
    for s in range(segments.shape[0]):
        x0, y0, x1, y1 = segments[s, 0], segments[s, 1], segments[s, 2], segments[s, 3]
        dx = abs(x1 - x0)
        dy = -abs(y1 - y0)
        sx = 1 if x0 < x1 else -1
        sy = 1 if y0 < y1 else -1
        error = dx + dy
        while True:
            canvas[y0, x0] += 1
            if x0 == x1 and y0 == y1:
                break
            twice = 2 * error
            if twice >= dy:
                error += dy
                x0 += sx
            if twice <= dx:
                error += dx
                y0 += sy


@CASES.case(lambda n, g: (g.random(n), g.random(n), g.standard_normal(n), np.zeros((4, 4))))
def mean_of_points(xs, ys, values, agg):
    counts = np.zeros(agg.shape, np.uint32)
    h, w = agg.shape
    for i in range(len(xs)):
        x = xs[i]
        y = ys[i]
        if x < 0 or x >= 1 or y < 0 or y >= 1:
            continue
        col = int(x * w)
        row = int(y * h)
        if not np.isnan(values[i]):
            agg[row, col] += values[i]
            counts[row, col] += 1
    for r in range(h):
        for c in range(w):
            if counts[r, c] > 0:
                agg[r, c] /= counts[r, c]
            else:
                agg[r, c] = np.nan


@CASES.case(lambda n, g: (g.integers(0, 64, n), g.integers(0, 64, n), np.zeros(n, np.int64)))
def hilbert_index(xs, ys, out, order=6):
    for i in range(len(xs)):
        x, y = xs[i], ys[i]
        d = 0
        s = 1 << (order - 1)
        while s > 0:
            rx = 1 if (x & s) > 0 else 0
            ry = 1 if (y & s) > 0 else 0
            d += s * s * ((3 * rx) ^ ry)
            if ry == 0:
                if rx == 1:
                    x = s - 1 - x
                    y = s - 1 - y
                x, y = y, x
            s >>= 1
        out[i] = d


@CASES.case(lambda n, g: (g.integers(0, 2**31, n), np.zeros(n, np.int64)))
def count_bits(words, counts):
    for i in range(len(words)):
        w = words[i]
        c = 0
        for bit in range(32):
            c += (w >> bit) & 1
        counts[i] = c


@CASES.case(lambda n, g: (g.random((n, 6)),))
def clip_boxes(boxes):
    kept = 0
    for i in range(len(boxes)):
        box = boxes[i]
        for axis in range(3):
            low, high = box[axis], box[axis + 3]
            if low > high:
                box[axis], box[axis + 3] = high, low
        volume = 1.0
        for axis in range(3):
            volume *= box[axis + 3] - box[axis]
        if volume > 0.01:
            kept += 1
    return kept


@CASES.case(lambda n, g: (g.integers(0, 2, (n, n)).astype(np.uint8), np.zeros((n, n))))
def nearest_target(grid, out):
    assert grid.shape[0] == out.shape[0]
    h, w = grid.shape
    for y in range(h):
        for x in range(w):
            best = float(h + w)
            for ty in range(h):
                for tx in range(w):
                    if grid[ty, tx] != 0:
                        d = abs(ty - y) + abs(tx - x)
                        if d < best:
                            best = float(d)
            out[y, x] = best


@CASES.case(lambda n, g: (g.random((n, 4, 4)), g.random((n, 4)), np.zeros((n, 4))))
def transform_points(matrices, points, out):
    for i in range(points.shape[0]):
        m = matrices[i]
        p = points[i]
        for r in range(4):
            out[i, r] = m[r, 0] * p[0] + m[r, 1] * p[1] + m[r, 2] * p[2] + m[r, 3] * p[3]
