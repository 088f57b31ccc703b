"""Machine code is kept from process to process, and only what this user sealed is run."""

import numpy as np
import pytest

from astile import tile
from astile.cache.files import CACHE_VARIABLE

pytest.importorskip("numba")


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
