# the whole function
def f(A, B):
    n = len(A)
    # first loop
    for i in range(n):
        for j in range(n):
            A[i, j] = 0
        A[i, 0] = 1

    # a comment of many words a comment of many words a comment of many words a comment of many
    # words a comment of many words a comment of many words a comment of many words a comment of
    # many words
    # and another
    for i in range(n):
        if i:
            # inside
            B[i] = A[i, 0]

    s = 0
    while s < 3:
        s += 1

    t = s
    return t
