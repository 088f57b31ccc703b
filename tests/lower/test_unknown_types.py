"""What is made of arguments has a known type, or nothing is computed with it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from astile import from_source
from astile.errors import LoweringError


def made(body: str, target: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The plain function with a body, and its kernel."""
    text = f"import numpy as np\n\n\ndef f(x, out):\n{body}"
    space: dict[str, Any] = {}
    exec(text, space)
    return space["f"], from_source(text, target=target)


def compare(body: str, target: str, dtype: type) -> None:
    """Run both on numbers that wrap around when doubled, or that float32 rounds."""
    plain, kernel = made(body, target)
    x = (np.arange(7) * 0.3 + (1.5e9 if dtype is np.int32 else 0.1)).astype(dtype)
    wanted, got = np.zeros(7), np.zeros(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain(x.copy(), wanted)
        kernel(x.copy(), got)
    assert np.array_equal(wanted, got)


def doubled(value: str) -> str:
    return f"    t = {value}\n    for i in range(7):\n        out[i] = t[i] * 2 + x[i]\n"


KNOWN = (
    "x.view(np.int32)",
    "np.concatenate((x, x))",
    "np.hstack((x, x))",
    "np.append(x, x)",
    "np.partition(x, 2)",
    "np.broadcast_to(x, x.shape)",
    "np.frombuffer(x, np.int32)",
    "x.view()",
)


@pytest.mark.parametrize("value", KNOWN)
def test_arrays_made_of_others_wrap_as_they_do(value):
    compare(doubled(value), "emulate", np.int32)


def test_compiled_views_and_joined_arrays():
    parts = ", ".join(f"t{k}[i] * 2" for k in range(3))
    body = (
        "    t0 = x.view(np.int32)\n    t1 = np.concatenate((x, x))\n    t2 = x.view()\n"
        f"    for i in range(7):\n        a, b, c = {parts}\n        out[i] = a + 0.5 * b - c\n"
    )
    compare(body, "cpu", np.int32)


@pytest.mark.parametrize(
    "value",
    [
        'x.view("int32")',
        "x.view(dtype=np.int32)",
        'x.view("i4")',
        "x.view(np.dtype('int32'))",
        'np.zeros(7, "i4")',
        'np.full(7, 3, dtype="i4")',
        "np.ones(7, np.dtype(np.int32))",
        'x.astype("i4")',
        "x.astype(dtype=np.int32)",
    ],
)
@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_types_by_keyword_and_by_their_names(target, value):
    compare(doubled(value), target, np.int32)


TUPLES = """
    w = (0.1, 0.2, 0.3)
    sh = x.shape
    for i in range(5):
        s = np.float32(0)
        for k in range(3):
            s += w[k] * x[i + k]
        p = (0.1, x[i])
        q = divmod(i, 2)
        out[i] = s * p[0] + p[1] * q[1] - x[i] * sh[0] + np.iinfo(np.int32).max
"""


LIMITS = """
    big = np.finfo(x.dtype).max
    for i in range(5):
        m = big
        for k in range(3):
            m = min(m, x[i + k])
        out[i] = m + big * 0.25 + x[i] * np.finfo(np.float32).eps
"""


@pytest.mark.parametrize("target", ["cpu", "emulate"])
def test_limits_of_floating_point_types_are_of_these_types(target):
    compare(LIMITS, target, np.float32)


def test_parts_of_tuples_are_numbers_of_python():
    compare(TUPLES, "cpu", np.float32)


def test_parts_of_tuples_in_a_kernel():
    compare(TUPLES.replace("sh[0]", "0.1"), "emulate", np.float32)


@pytest.mark.parametrize("target", ["cpu", "emulate"])
@pytest.mark.parametrize(
    "use",
    [
        "out[i] = t[i] * 2",
        "out[i] = -t[i]",
        "out[i] = t[i] < 0.1",
        "out[i] = abs(t[i])",
        "v = t[i]\n        out[i] = v + 1",
        "t[i] += 1",
    ],
)
def test_nothing_is_computed_in_a_type_that_is_not_known(target, use):
    body = f"    t = np.roots(x)\n    for i in range(7):\n        {use}\n"
    _, kernel = made(body, target)
    with pytest.raises(LoweringError, match=r"computed with, is not known") as caught:
        kernel(np.ones(7, np.float32), np.zeros(7))
    assert "np.float64(...)" in str(caught.value)


def test_a_type_that_is_written_out_is_known():
    body = "    t = np.roots(x)\n    for i in range(7):\n        out[i] = np.float32(t[i]) * 2\n"
    _, kernel = made(body, "emulate")
    try:
        kernel(np.ones(7, np.float32), np.zeros(7))
    except Exception as error:  # the target may not have the function at all
        assert "is not known" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("target", ["emulate"])
def test_tuples_of_several_lengths_are_refused_in_a_kernel(target):
    body = (
        "    for i in range(7):\n        p = (1.0, 2.0)\n        out[i] = p[0] + x[i]\n"
        "        p = (3.0, 4.0, 5.0)\n        out[i] += p[2]\n"
    )
    _, kernel = made(body, target)
    with pytest.raises(LoweringError, match="p is a tuple"):
        kernel(np.ones(7, np.float32), np.zeros(7))
