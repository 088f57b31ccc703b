"""Calls that a type checker accepts: parameters and return type survive the decorator."""

from collections.abc import Mapping
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

from astile import Kernel, Schedule, from_source, tile
from astile.errors import IllegalSchedule

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


@tile(tiles={"i": 16}, target="cpu", exact=True, scratch=("x",))
def mapped(x: Image) -> Image:
    return x


def my_schedule(s: Schedule) -> None:
    s.split("i", [None, 16])


@tile(schedule=my_schedule)
def scheduled(x: Image, n: int) -> int:
    return n


def plain(x: Image) -> Image:
    return x


def use(x: Image, options: Mapping[str, int]) -> None:
    assert_type(bare(x, x), None)
    assert_type(bare(x, out=x, scale=2.0), None)
    assert_type(sized(x, count=3), float)
    assert_type(mapped(x), Image)
    assert_type(scheduled(x, 3), int)
    assert_type(tile(plain)(x), Image)
    assert_type(bare.schedule, Schedule)
    assert_type(bare.source("cuda"), str)
    assert_type(sized.check(x, count=3).rows[0].label, str)
    kernel: Kernel[..., Any] = from_source("def f(x): ...")
    kernel(x, options)
    assert_type(sized.__wrapped__(x, count=3), float)
    try:
        bare(x, x)
    except IllegalSchedule as error:
        assert_type(error.kind, str)
