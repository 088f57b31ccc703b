def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(1 - t, n - t - 1):
            y[i + t] = y[i + t - 1] + y[i + t] + y[i + t + 1]
