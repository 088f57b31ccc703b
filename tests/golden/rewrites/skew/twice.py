def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(t * 2 + 1, n + t * 2 - 1):
            y[i - t * 2] = y[i - t * 2 - 1] + y[i - t * 2] + y[i - t * 2 + 1]
