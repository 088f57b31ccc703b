"""Tracebacks end at the user's own code, unless all frames are asked for."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import astile
from astile import AstileError, Schedule, tile
from astile.errors import InternalError
from astile.frames import FULL_VARIABLE, entry
from astile.schedule import recipes
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


def test_an_error_without_a_place_is_told_at_the_call_of_the_user():
    größe = 4
    with pytest.raises(AstileError) as caught:
        Schedule(plain).split("größe", [None, größe])
    place = caught.value.diagnostic.span
    assert place is not None
    assert place.file.name == __file__
    line = place.file.line(place.line)
    assert line is not None
    shown = line[place.column - 1 : place.end_column - 1]
    assert shown == 'Schedule(plain).split("größe", [None, größe])'


def test_a_call_inside_a_schedule_function_is_the_place():
    with pytest.raises(AstileError) as caught:
        tile(schedule=scheduled)(plain)
    place = caught.value.diagnostic.span
    assert place is not None
    assert place.file.line(place.line) == '    s.split("k", [None, 4])'


def test_text_that_is_not_known_has_no_place():
    with pytest.raises(AstileError) as caught:
        exec('Schedule(plain).split("k", [None, 4])', {"Schedule": Schedule, "plain": plain})
    assert caught.value.diagnostic.span is None


MISSPELT = {
    "a primitive": (lambda: Schedule(plain).splt, "'split'"),
    "a primitive as it is called elsewhere": (lambda: Schedule(plain).divide_loop, "'split'"),
    "a method of a kernel": (lambda: tile(plain).souce, "'source'"),
    "a name of the package": (lambda: astile.Scheduel, "'Schedule'"),
}


@pytest.mark.parametrize(("look_up", "meant"), MISSPELT.values(), ids=MISSPELT.keys())
def test_a_misspelt_attribute_gets_one_suggestion(look_up, meant):
    with pytest.raises(AttributeError) as caught:
        look_up()
    printed = "".join(traceback.format_exception(caught.value)).lower()
    assert printed.count("did you mean") == 1
    assert f"did you mean {meant.lower()}" in printed
    assert "did you mean" in str(caught.value)


def test_attributes_that_others_look_for_are_not_there():
    assert not hasattr(Schedule(plain), "__array__")
    assert getattr(tile(plain), "_private", None) is None


@pytest.mark.parametrize("call", [tile(plain), tile(plain).explain], ids=["call", "explain"])
def test_a_misspelt_argument_gets_a_suggestion(call):
    with pytest.raises(TypeError) as caught:
        call(x=np.zeros(3), otu=np.zeros(3))
    assert "'otu' is no option" in caught.value.__notes__[0]
    assert "did you mean 'out'?" in caught.value.__notes__[0]


def chain(x, out):
    n = len(out)
    half = np.empty(n + 1, x.dtype)
    for i in range(n + 1):
        half[i] = x[i] / 2
    for i in range(n):
        out[i] = half[i] + half[i + 1]


def test_a_refused_recipe_takes_its_steps_back_and_hides_its_frames():
    s = Schedule(chain)
    before = s.source()
    with pytest.raises(AstileError, match="did you mean 'x'") as caught:
        recipes.stencil_chain(s, "out", (8,), ("xx",))
    assert s.source() == before
    assert s.steps == ()
    assert len(own_frames(caught.value)) == 1
    with pytest.raises(TypeError) as misspelt:
        recipes.stencil_chain(s, "out", tiel=(8,))
    assert "did you mean 'tile'?" in misspelt.value.__notes__[0]


def test_type_errors_of_the_user_get_no_suggestion():
    def careless(s):
        len(3)

    with pytest.raises(TypeError) as caught:
        tile(schedule=careless)(plain)
    assert not hasattr(caught.value, "__notes__")
