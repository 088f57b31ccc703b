"""Notebooks show kernels, schedules, steps and reports by themselves."""

from __future__ import annotations

import re

import pytest

from astile import Schedule, tile
from astile.highlight import DARK, LIGHT, contrast


def double(x, out):
    for i in range(len(out)):
        out[i] = 2 * x[i]


@pytest.fixture(scope="module")
def held():
    s = Schedule(double)
    s.split("i", [None, 8])
    kernel = tile(target="python")(double)
    return {
        "schedule": (s, ["Schedule of double; split(", "for i_0 in"]),
        "step": (s.steps[0], ["# proved equal", "+    for i_0 in"]),
        "kernel": (kernel, ["<Kernel double", "def double"]),
        "report": (kernel.explain((9,), (9,)), ["x read", "operations"]),
    }


def test_a_schedule_says_what_it_is_of_and_how_many_steps_it_has(held):
    s, _ = held["schedule"]
    assert repr(s) == "<Schedule of double, 1 step>"
    assert repr(Schedule(double)) == "<Schedule of double, 0 steps>"


@pytest.mark.parametrize("name", ["schedule", "step", "kernel", "report"])
def test_shows_itself(held, name):
    shown, words = held[name]
    found = shown._repr_mimebundle_(include=None, exclude=None)
    assert set(found) == {"text/plain", "text/html"}
    assert all(each in found["text/plain"] for each in words)
    assert "<script" not in found["text/html"]
    assert "<span" in found["text/html"] or name == "report"


def test_names_are_escaped():
    found = tile(target="python")(double)._repr_mimebundle_()
    assert "<Kernel" not in found["text/html"]
    assert "&lt;Kernel" in found["text/html"]


def test_text_has_its_own_background_in_bright_and_dark_notebooks(held):
    for shown, _ in held.values():
        text = shown._repr_mimebundle_()["text/html"]
        assert '[data-jp-theme-light="false"]' in text
        assert re.search(r"div\.astile \{[^}]*; background: light-dark\(", text)
        assert re.search(r"div\.astile pre \{[^}]*monospace", text)  # tables have columns
        used = set(re.findall(r'<span class="(\w+)"', text))
        coloured = set(re.findall(r"div\.astile \.(\w+) \{ color", text))
        assert coloured <= used
        for light, dark in re.findall(r" color: light-dark\((#\w+), (#\w+)\)", text):
            assert contrast(light, LIGHT.colours["soft"]) >= 4.5
            assert contrast(dark, DARK.colours["soft"]) >= 4.5
