def add(x, y):
    n, m = x.shape
    # pipeline.stages = 2
    for i in range(n):
        # prefetch = ['x', 1, None]
        # why = 'rows are short'
        for j in range(m):
            y[i, j] += x[i, j]
