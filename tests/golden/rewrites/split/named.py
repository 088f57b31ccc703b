def copy(x, y):
    n = len(x)
    for outer in range((n + 15) // 16):
        for lane in range(16):
            if outer * 16 + lane < n:
                y[outer * 16 + lane] = x[outer * 16 + lane] + (outer * 16 + lane)
