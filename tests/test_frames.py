"""Tracebacks end at the user's own code, unless all frames are asked for."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

from astile import AstileError, Schedule, tile
from astile.errors import InternalError
from astile.frames import FULL_VARIABLE, entry
from tests.support.package import PACKAGE


def plain(x, out):
    for i in range(len(x)):
        out[i] = x[i]


def own_frames(error):
    """Frames of astile in a traceback, from the outside in."""
    found = traceback.extract_tb(error.__traceback__)
    return [each.name for each in found if each.filename.startswith(str(PACKAGE))]


def scheduled(s):
    s.split("k", [None, 4])


MISTAKES = {
    "a step": lambda: Schedule(plain).split("k", [None, 4]),
    "a step of a schedule function": lambda: tile(schedule=scheduled)(plain),
    "a function that is not read": lambda: Schedule(lambda: None),
    "an option of the decorator": lambda: tile(target="cdua")(plain),
    "a text": lambda: tile(plain).source("cdua"),
    "a size": lambda: tile(plain).explain("x"),
    "a call": lambda: tile(target="python")(plain)(np.zeros(3), np.zeros(2)),
}


@pytest.mark.parametrize("make", MISTAKES.values(), ids=MISTAKES.keys())
def test_one_frame_of_each_call_is_left(make):
    with pytest.raises(AstileError) as caught:
        make()
    frames = own_frames(caught.value)
    assert len(frames) == 1, frames
    assert caught.value.__suppress_context__


def test_the_frames_of_a_schedule_function_stay():
    with pytest.raises(AstileError) as caught:
        tile(schedule=scheduled)(plain)
    assert "scheduled" in [each.name for each in traceback.extract_tb(caught.value.__traceback__)]


def test_all_frames_where_they_are_asked_for(monkeypatch):
    monkeypatch.setenv(FULL_VARIABLE, "1")
    with pytest.raises(AstileError) as caught:
        Schedule(plain).split("k", [None, 4])
    assert len(own_frames(caught.value)) > 2


def test_faults_of_astile_keep_their_frames():
    def deep():
        raise InternalError("impossible")

    with pytest.raises(InternalError) as caught:
        entry(deep)()
    assert "deep" in [each.name for each in traceback.extract_tb(caught.value.__traceback__)]


def test_a_misspelt_option_gets_a_suggestion():
    with pytest.raises(TypeError) as caught:
        Schedule(plain).split("i", factros=[None, 4])
    assert caught.value.__notes__ == ["'factros' is no option of split: did you mean 'factors'?"]


def test_type_errors_of_the_user_get_no_suggestion():
    def careless(s):
        len(3)

    with pytest.raises(TypeError) as caught:
        tile(schedule=careless)(plain)
    assert not hasattr(caught.value, "__notes__")
