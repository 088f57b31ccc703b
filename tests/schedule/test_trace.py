"""A trace replays to the same text, as a script and as JSON; nothing in it is trusted."""

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.schedule.schedule import Schedule
from astile.schedule.trace import trace_from_json
from tests.support.assert_rewrite import assert_replays


def scale_add(x, out):
    n, m = x.shape
    tmp = np.empty((n, m), np.float64)
    for i in range(n):
        for j in range(m):
            tmp[i, j] = x[i, j] * 2.0
    for i in range(n):
        for j in range(m):
            out[i, j] = tmp[i, j] + 1.0


def tiled():
    s = Schedule(scale_add)
    _, j_0, _, _ = s.tile(["out.i", "out.j"], [4, 8])
    s.compute_at("tmp", j_0)
    s.set_scope("tmp", "local")
    return s


def test_the_script_prints_the_same_program(tmp_path):
    s = tiled()
    script = tmp_path / "replay.py"
    script.write_text(s.trace.as_python())
    printed = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == s.source().strip()


def test_replay_on_a_fresh_schedule_gives_the_same_text():
    s, fresh = tiled(), Schedule(scale_add)
    s.trace.apply_to_schedule(fresh)
    assert fresh.source() == s.source()
    assert [each.proof.kind for each in fresh.steps] == ["equal"] * len(fresh.steps)


def test_json_replays_to_the_same_text():
    s, fresh = tiled(), Schedule(scale_add)
    fresh.apply(s.trace.as_json())
    assert fresh.source() == s.source()


def test_replay_proves_again():
    def backwards(x):
        for m in range(3):
            for i in range(len(x) - 1):
                x[i] = x[i + 1] + 1

    def forwards(x):
        for m in range(3):
            for i in range(len(x) - 1):
                x[i] = x[i] + 1

    s = Schedule(forwards)
    s.reorder("i", "m")
    with pytest.raises(IllegalSchedule):
        s.trace.apply_to_schedule(Schedule(backwards))


CALL = {"primitive": "split", "arguments": ["i"], "options": {}}


def planted(call: object = CALL, **fields: object) -> str:
    return json.dumps({"version": 1, "source": "", "calls": [call], **fields})


def test_what_is_planted_below_differs_from_a_trace_in_one_place():
    assert len(trace_from_json(planted(), "f", ["split"]).calls) == 1


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        "[" * 100000,
        planted(version=2),
        planted(more=1),
        planted(source=7),
        planted(calls={}),
        '{"version": 1, "calls": []}',
        planted([]),
        planted({**CALL, "primitive": "exec"}),
        planted({**CALL, "primitive": "__class__"}),
        planted({**CALL, "arguments": [float("nan")]}),
        planted({**CALL, "arguments": ["i\nj"]}),
        planted({**CALL, "arguments": [[[["i"]]]]}),
        planted({**CALL, "options": {"a b": 1}}),
        planted({**CALL, "options": {"if": 1}}),
    ],
)
def test_a_planted_trace_is_refused(text):
    with pytest.raises(ScheduleError) as caught:
        trace_from_json(text, "f", ["split"])
    assert caught.value.code == "schedule.bad-trace"


def test_a_trace_that_is_too_long_is_refused():
    with pytest.raises(ScheduleError, match="1 MiB"):
        trace_from_json(planted(calls=[CALL] * 100000), "f", ["split"])


# --- another program ----------------------------------------------------------------------------


def renamed(x, out):
    n, m = x.shape
    tmp = np.empty((n, m), np.float64)
    for i in range(n):
        for j in range(m):
            tmp[i, j] = x[i, j] * 2.0
    for i in range(n):
        for k in range(m):
            out[i, k] = tmp[i, k] + 1.0


@pytest.mark.parametrize("as_text", [False, True])
def test_a_call_that_no_longer_fits_names_the_lines_that_differ(as_text):
    s, other = tiled(), Schedule(renamed)
    with pytest.raises(ScheduleError) as caught:
        other.apply(s.trace.as_json() if as_text else s.trace)
    text = str(caught.value)
    assert "no loop named 'j#1'" in text
    assert "this is call 2 of 5 of a trace" in text
    assert "`for j in range(m): / out[i, j] = tmp[i, j] + 1.0` was there" in text
    assert "now it is `for k in range(m): / out[i, k] = tmp[i, k] + 1.0`" in text
    assert len(other.steps) == 1


def test_on_the_same_program_no_line_differs():
    s, fresh = tiled(), Schedule(scale_add)
    fresh.compute_inline("tmp")
    with pytest.raises(ScheduleError) as caught:
        fresh.apply(s.trace)
    assert "was there when the trace was made" not in str(caught.value)


# --- what a script needs ------------------------------------------------------------------------

WIDTH = 3


def doubled(a):
    return a * 2.0


def with_all(x, tmp, out):
    '''A docstring with """, and \\.'''
    n = len(x)
    for i in range(n):
        tmp[i] = doubled(x[i]) * WIDTH + math.sqrt(2)
    for i in range(n):
        out[i] = tmp[i]


def test_the_script_brings_constants_helpers_imports_and_options():
    s = Schedule(with_all, scratch=("tmp",), exact=True)
    i_0, _ = s.split("out.i", [None, 4])
    s.compute_at("tmp", i_0)
    s.set_scope("tmp", "local")
    assert_replays(s)


def test_calls_of_a_users_own_step_are_those_of_primitives():
    def my_tile(s, size):
        """A step of one's own is an ordinary function."""
        outer, inner = s.split("out.i", [None, size])
        s.parallel(outer)
        return inner

    s = Schedule(scale_add)
    s.unroll(my_tile(s, 4))
    assert [each.primitive for each in s.trace.calls] == ["split", "parallel", "unroll"]
    assert_replays(s)
