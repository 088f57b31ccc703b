"""The page about a kernel: what is in it, what its animation shows, and that a browser runs it."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import subprocess
import zlib

import numpy as np
import pytest

from astile import Schedule, tile
from astile.highlight import DARK, LIGHT, contrast, readable
from astile.page.steps import boxes, side_by_side
from astile.page.watch import live, watch
from tests.differential import kernels, schedules

BROWSER = next(
    (e for e in ("chromium", "chromium-browser", "google-chrome") if shutil.which(e)), ""
)


def arguments(rows=9, columns=7):
    g = np.random.default_rng(0)
    image, bias = g.random((rows + 2, columns + 2)), g.random((rows, columns))
    return {"x": image, "w": g.random((3, 3)), "bias": bias, "out": np.zeros((rows, columns))}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "conv_add.html"
    tile(i=8, j=8, target="python")(kernels.conv_add).report(made)
    return made


def data_of(text):
    """What the script of the page draws; events as lists of (array, cell, is_write)."""
    coded = re.search(r'<script id="data" type="text/plain">(.*?)</script>', text)[1]
    data = json.loads(zlib.decompress(base64.b64decode(coded)))
    for run in data["runs"]:
        run["events"] = list(events(iter(run["events"])))
    return data


def events(coded):
    last = {}
    for length in coded:
        event = []
        for _ in range(length):
            key = next(coded)
            last[key] = last.get(key, 0) + next(coded)
            event.append((key // 2, last[key], key % 2 == 1))
        yield event


def test_the_page_needs_no_other_file(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)=|@import|url\(|https?://(?!www\.w3\.org)", text)
    for heading in ("What runs when", "Loop nests", "Steps", "What it moves and computes"):
        assert heading in text
    assert text.count("<details") == len(tile(i=8, j=8)(kernels.conv_add).steps)
    assert "4*(H + 2)*(W + 2)" in text
    assert "proved equal, for all out.shape[0], out.shape[1]" in text


def test_the_animation_has_every_cell(path):
    before, after = data_of(path.read_text(encoding="utf-8"))["runs"]
    for run in (before, after):
        number = [each["name"] for each in run["arrays"]].index("out")
        shape = run["arrays"][number]
        written = {cell for event in run["events"] for a, cell, w in event if a == number and w}
        assert written == set(range(shape["rows"] * shape["columns"]))
        assert len(run["live"]) == len(run["events"])
    assert max(before["live"]) == 24 * 24
    assert max(after["live"]) == 8 * 8


def test_the_events_are_those_of_the_run(path):
    after = data_of(path.read_text(encoding="utf-8"))["runs"][1]
    kernel = tile(i=8, j=8, target="python")(kernels.conv_add)
    given = {"x": (26, 26), "w": (3, 3), "bias": (24, 24), "out": (24, 24)}
    arrays = {name: np.zeros(shape) for name, shape in given.items()}
    assert after["events"] == watch(kernel.schedule.program, arrays, 30_000).events


def test_a_page_has_every_line_once(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 40_000
    data = data_of(text)
    assert len(set(data["lines"])) == len(data["lines"])
    steps = tile(i=8, j=8, target="python")(kernels.conv_add).steps
    for rows, step in zip(data["steps"], steps, strict=True):
        added = [row[1] for row in rows if not isinstance(row, int) and row[2] and row[1] >= 0]
        shown = {html.unescape(re.sub("<.*?>", "", data["lines"][each])) for each in added}
        assert shown
        assert shown <= set(step.source.splitlines())


def test_runs_are_watched_in_order():
    found = watch(Schedule(kernels.conv_add).program, arguments(2, 2), 1000)
    assert list(found.arrays) == ["x", "w", "bias", "out", "conv"]
    assert found.events[0] == [(0, 0, False), (1, 0, False)]
    assert found.events[9] == [(4, 0, True)]
    assert found.events[-1] == [(4, 3, False), (2, 3, False), (3, 3, True)]
    assert watch(Schedule(kernels.conv_add).program, arguments(2, 2), 10) is None


def test_values_are_alive_from_their_write_to_their_last_read():
    def f(x, out):
        t = np.empty(2, x.dtype)
        t[0] = x[0]
        t[1] = x[0]
        out[0] = t[0]
        t[0] = x[0]
        out[1] = t[0]

    found = watch(Schedule(f).program, {"x": np.ones(1), "out": np.zeros(2)}, 100)
    assert live(found, lambda name: name == "t") == [1, 1, 1, 1, 1]  # t[1] is read by nobody
    assert live(found, lambda name: name == "out") == [0] * 5


def test_changed_lines_stand_side_by_side():
    lines = side_by_side("a = 1\nb = 2\n", "a = 1\nb = 3\nc = 4\n")
    texts = [
        tuple(None if e is None else re.sub("<.*?>", "", e) for e in (each.left, each.right))
        for each in lines
    ]
    assert texts == [("a = 1", "a = 1"), ("b = 2", "b = 3"), (None, "c = 4")]
    assert [each.is_changed for each in lines] == [False, True, True]


def test_loops_are_boxes():
    s = Schedule(kernels.conv_add)
    schedules.on_blocks(s, ("conv",), (4, 4))
    [outer] = boxes(s.program)
    assert (outer.kind, outer.inner[0].kind) == ("block", "block")
    assert {each.kind for each in outer.inner[0].inner} == {"thread"}


def test_a_program_that_cannot_be_shown_still_has_a_page(tmp_path):
    def pick(table, index, out):
        for i in range(len(out)):
            out[i] = table[index[i]]

    path = tmp_path / "pick.html"
    shapes = {"table": (9,), "index": (5,), "out": (5,)}
    tile(target="python")(pick).report(path, **shapes)  # random float32 indices are none
    assert "The run is too long to be shown" in path.read_text(encoding="utf-8")


@pytest.mark.skipif(not BROWSER, reason="no Chromium is installed")
@pytest.mark.parametrize("width", [1300, 400])
def test_a_browser_draws_it(path, tmp_path, width):
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-sync", "--disable-gpu"]
    found = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", *quiet, f"--user-data-dir={tmp_path}",
         f"--window-size={width},900", "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    assert found.stdout.count("<canvas") == 10
    assert found.stdout.count("cells alive now") == 3  # of both runs, and in the script
    assert "CONSOLE" not in found.stderr
    assert "text-indent: -2ch" in found.stdout  # what wraps stays indented, on a phone by half
    assert ("text-indent: -4ch" in found.stdout) == (width < 800)
    assert 'aria-valuetext="statement 48 of' in found.stdout


def test_long_runs_of_unchanged_lines_are_left_out():
    same = [f"a{number} = 0" for number in range(20)]
    before, after = "\n".join([*same, "x = 1"]), "\n".join([*same, "x = 2"])
    lines = side_by_side(before, after)
    assert [each.skipped for each in lines] == [16, 0, 0, 0, 0, 0]
    assert [each.is_changed for each in lines][-1]


def test_sizes_that_are_small_enough_are_shown(tmp_path):
    kernel = tile(i=8, j=8, target="python")(kernels.conv_add)
    for rows in (12, 500):
        path = tmp_path / "page.html"
        shapes = {"x": (rows + 2, 14), "w": (3, 3), "bias": (rows, 12), "out": (rows, 12)}
        kernel.report(path, **shapes)
        shown = data_of(path.read_text(encoding="utf-8"))["runs"][0]["arrays"]
        sizes = {each["name"]: (each["rows"], each["columns"]) for each in shown}
        assert sizes["w"] == (3, 3)
        assert (sizes["out"] == (12, 12)) == (rows == 12)


def test_controls_are_native_and_have_names(path):
    text = path.read_text(encoding="utf-8")
    body = text[text.index("<body>") : text.index("<script")]
    assert set(re.findall(r"<(\w+)[^>]* (?:onclick|role|tabindex)=", body)) == set()
    controls = re.findall(r"<(?:button|input)[^>]*>", body)
    assert len(controls) == 3
    for control in controls:
        around = body[: body.index(control)]
        in_label = around.rfind("<label>") > around.rfind("</label>")
        assert control.startswith("<button") or "aria-label=" in control or in_label
    assert body.count("<summary>") == body.count("<details") > 0
    assert re.search(r"^:focus-visible \{ outline: 2px", text, re.MULTILINE)
    assert "outline: none" not in text
    assert "prefers-reduced-motion" in text


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_every_background(path, theme):
    text = path.read_text(encoding="utf-8")
    for name in ("text", "quiet"):
        colour, backgrounds = theme.colours[name], theme.backgrounds
        on = backgrounds if name == "text" else backgrounds[:2]
        assert min(contrast(colour, each) for each in on) >= 4.5
    rules = theme.tokens()
    assert {"k", "nb", "ow", "c1"} <= set(rules)
    for name, look in rules.items():
        assert f".code .{name} {{ {look} }}" in text
        for colour in re.findall(r"color: (#\w{6})", look):
            assert min(contrast(colour, each) for each in theme.backgrounds) >= 4.5
    assert contrast(theme.colours["accent"], theme.colours["back"]) >= 3  # the ring of the focus


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert readable("#123456", ("#ffffff",)) == "#123456"  # is enough as it is
    assert readable("#ffffff", ("#ffffff",)) != "#ffffff"
