def sweep(y, steps):
    n = len(y)
    for t in range(steps):
        for i in range(t + 1, n + t - 1):
            y[i - t] = y[i - t - 1] + y[i - t] + y[i - t + 1]
