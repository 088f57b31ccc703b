"""Calls that a type checker refuses, on exactly the lines that say so."""

import numpy as np
import numpy.typing as npt

from astile import Schedule, tile

Image = npt.NDArray[np.float32]


@tile
def bare(x: Image, out: Image, scale: float = 1.0) -> None:
    for i in range(x.shape[0]):
        out[i] = x[i] * scale


@tile(i=16)
def sized(x: Image, *, count: int) -> float:
    total = 0.0
    for i in range(count):
        total += x[i]
    return total


def not_a_schedule(s: Schedule, more: int) -> None: ...


def use(x: Image) -> None:
    bare(x)  # error: an argument is missing
    bare(x, x, "2")  # error: a number is expected
    bare(x, x, size=3)  # error: no such parameter
    bare("x", x)  # error: an array is expected
    sized(x, 3)  # error: count is given by name
    sized(x, count=2.5)  # error: an integer is expected
    text: str = sized(x, count=3)  # error: it returns a float
    sized.check(x)  # error: count is missing
    sized.source(target=3)  # error: a target is a word
    print(text)


tile(target="gpu")  # error: no such target
tile(i="16")  # error: a size is an integer
tile(schedule=not_a_schedule)  # error: a schedule takes one argument
tile(3)  # error: not a function
