"""Functions that astile refuses; golden messages quote their lines by number."""

import functools

import numpy as np

WEIGHTS = np.array((1.0, 2.0, 1.0))
LOW, HIGH = None, {"value": 1.0}


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@logged
def decorated(A):
    for i in range(len(A)):
        A[i] = 0


def array_of_module(A, B):
    for i in range(1, len(A) - 1):
        B[i] = WEIGHTS[0] * A[i - 1] + WEIGHTS[1] * A[i] + WEIGHTS[2] * A[i + 1]


# fmt: off
def long_line(A, B):
    for i in range(1, len(A) - 1):
        B[i] = A[i - 1] * 0.25 + A[i] * 0.5 + A[i + 1] * 0.25 + A[i] * A[i] * A[i] * 5.0 + LOW + A[i - 1] * 2.0 + A[i + 2] * 4.0  # noqa: E501
# fmt: on


def non_ascii(größe, A):
    for i in range(größe):
        A[i] = größe * größe + HIGH


class Filter:
    def apply(self, A):
        A[0] = 1


def blur(image, tmp, out):
    for i in range(len(out)):
        tmp[i] = image[i]
        out[i] = tmp[i]
