def copy(x, y):
    n = len(x)
    y[0] = x[0] + 0
    for i in range(1, 3):
        y[i] = x[i] + i
