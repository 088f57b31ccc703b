"""Machine code is kept from process to process, and only what this user sealed is run."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from astile import tile
from astile.cache.files import CACHE_VARIABLE
from astile.runtime import kept, load

pytest.importorskip("numba")

ROOT = Path(__file__).parents[2]


def add(a, out, *, c=2):
    for i in range(out.shape[0]):
        out[i] = a[i] * c


class Compiled(Exception):
    """numba was asked to compile."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A cache folder and a secret, with the machine code of `add` for float32."""
    found = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        _live_in(patch, found)
        called()
    return found


@pytest.fixture
def at_place(place, monkeypatch):
    """As in a second process, in which numba cannot compile."""
    _live_in(monkeypatch, place)

    def refuse(*_):
        raise Compiled

    monkeypatch.setattr("numba.core.dispatcher._FunctionCompiler.compile", refuse)
    return place / "cache"


def _live_in(patch, place):
    patch.setenv(CACHE_VARIABLE, str(place / "cache"))
    patch.setattr("platformdirs.user_data_dir", lambda name: str(place / name))


def called(dtype=np.float32):
    out = np.zeros(3, dtype)
    tile(add, target="cpu", schedule=lambda s: None)(np.arange(3, dtype=dtype), out)
    return list(out)


def test_second_process_does_not_compile(at_place):
    assert called() == [0, 2, 4]


def test_other_types_are_compiled(at_place):
    with pytest.raises(Compiled):
        called(np.float64)


def test_other_settings_of_numba_are_compiled_for(at_place, monkeypatch):
    monkeypatch.setenv("NUMBA_OPT", "1")
    with pytest.raises(Compiled):
        called()


def test_other_operations_are_compiled_in(at_place, monkeypatch):
    monkeypatch.setattr("astile.runtime.kept._intrinsics_digest", lambda: "changed")
    with pytest.raises(Compiled):
        called()


def test_changed_machine_code_is_not_run(at_place):
    [path] = at_place.glob("*.sealed")
    sealed = path.read_bytes()
    path.write_bytes(sealed[:-1] + bytes([sealed[-1] ^ 1]))
    try:
        with pytest.raises(Compiled):
            called()
    finally:
        path.write_bytes(sealed)


APART = """
from numba import njit

from astile.intrinsics.linked_once import linked_once


@linked_once
@njit
def part(x, i):
    x[i] += 1.0


@njit
def whole(x):
    for i in range(x.shape[0]):
        part(x, i)
"""

SECOND = """
import sys
import numba.core.dispatcher, platformdirs
from tests.runtime.test_kept import called_apart

platformdirs.user_data_dir = lambda name: f"{sys.argv[1]}/{name}"
del numba.core.dispatcher._FunctionCompiler.compile
print(called_apart())
"""


def called_apart():
    function = load.load(APART, "whole")
    kept.keep(function, load.content_key(APART, "whole"))
    x = np.zeros(3)
    function(x)
    return x.tolist()


def test_second_process_finds_what_is_linked_once(place, monkeypatch):
    _live_in(monkeypatch, place)
    called_apart()
    command = [sys.executable, "-c", SECOND, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == f"{[1.0] * 3}\n", done.stderr
