"""`tf32` and `bf16`: their values, and the same ones on every target."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from astile import loops, tile
from astile.errors import LoweringError
from astile.loops import bf16, tf32
from astile.runtime import compile as compiling

#: Bits after the point that are left.
KEPT = {"tf32": 10, "bf16": 7}
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4028235e38, -3.4028235e38, 1e-45, -1.1754942e-38]
TIES = [1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-11, -1 - 2**-8]


def both(x, y, z):
    for i in range(len(x)):
        y[i] = tf32(x[i])
        z[i] = bf16(x[i])


def numbers() -> np.ndarray:
    bits = np.random.default_rng(0).integers(0, 2**32, 3000, np.uint64).astype(np.uint32)
    some = bits.view(np.float32)
    return np.concatenate([some[~np.isnan(some)], np.array(EDGES + TIES, np.float32)])


@pytest.mark.parametrize("word", KEPT)
def test_the_nearest_number_with_fewer_bits(word: str) -> None:
    for number in (*np.random.default_rng(1).standard_normal(200).astype(np.float32), *TIES):
        exact = Fraction(float(np.float32(number)))
        found = Fraction(float(getattr(loops, word)(np.float32(number))))
        unit = Fraction(2) ** (int(np.frexp(float(number))[1]) - 1 - KEPT[word])
        assert (found / unit).denominator == 1
        assert abs(found - exact) <= unit / 2


def test_the_middle_between_two() -> None:
    assert tf32(1 + 2**-11) == 1 + 2**-10
    assert tf32(-1 - 2**-11) == -1 - 2**-10
    assert bf16(1 + 2**-8) == 1
    assert bf16(1 + 3 * 2**-8) == 1 + 2**-6


@pytest.mark.parametrize("word", KEPT)
def test_what_is_no_usual_number(word: str) -> None:
    rounded = getattr(loops, word)
    assert np.isnan(rounded(np.float32(np.nan)))
    assert rounded(np.inf) == np.inf
    assert rounded(np.float32(3.4028235e38)) == np.inf
    assert type(rounded(1)) is np.float32


def computed(target: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y, z = np.zeros_like(x), np.zeros_like(x)
    with np.errstate(all="ignore"):
        tile(target=target)(both)(x, y, z)
    return y, z


@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_every_target_gives_the_same_bits(target: str) -> None:
    if compiling.why_not(target):
        pytest.skip(str(compiling.why_not(target)))
    x = numbers()
    for wanted, found in zip(computed("python", x), computed(target, x), strict=True):
        same = wanted.view(np.uint32) == found.view(np.uint32)
        assert (same | np.isnan(wanted)).all(), x[~same]


def test_it_compiles_for_a_gpu() -> None:
    x = np.zeros(100, np.float32)
    try:
        [code] = tile(target="cuda")(both).sass(x, x.copy(), x.copy()).kernels
    except LoweringError as error:
        pytest.skip(str(error.diagnostic.notes))
    assert code.stack == 0
