"""A trace replays to the same text, as a script and as JSON; nothing in it is trusted."""

import json
import subprocess
import sys

import numpy as np
import pytest

from astile.errors import IllegalSchedule, ScheduleError
from astile.schedule.schedule import Schedule
from astile.schedule.trace import calls_from_json


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


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"version": 2, "calls": []}',
        '{"version": 1, "calls": [], "more": 1}',
        '{"version": 1, "calls": [{"primitive": "exec", "arguments": ["os"], "options": {}}]}',
        '{"version": 1, "calls": [{"primitive": "split", "arguments": [NaN], "options": {}}]}',
        '{"version": 1, "calls": [{"primitive": "split", "arguments": ["i\\nj"], "options": {}}]}',
        '{"version": 1, "calls": [{"primitive": "split", "arguments": [], "options": {"a b": 1}}]}',
        "[" * 100000,
    ],
)
def test_a_planted_trace_is_refused(text):
    with pytest.raises(ScheduleError) as caught:
        calls_from_json(text, ["split"])
    assert caught.value.code == "schedule.bad-trace"


def test_a_trace_that_is_too_long_is_refused():
    call = {"primitive": "split", "arguments": ["i"], "options": {}}
    with pytest.raises(ScheduleError, match="1 MiB"):
        calls_from_json(json.dumps({"version": 1, "calls": [call] * 100000}), ["split"])
