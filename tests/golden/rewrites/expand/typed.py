import numpy as np


def f(x, y):
    t_tile = np.empty(len(x), np.float32)
    for i in range(len(x)):
        t_tile[i] = np.float32(x[i])
        y[i] = t_tile[i]
