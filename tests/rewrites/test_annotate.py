from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.errors import ScheduleError
from astile.ir.module import module_text
from astile.rewrites.annotate import annotate
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
    rewritten,
    sizes,
)

Golden = Callable[[str, str], None]

ADD = """
def add(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] += x[i, j]
"""


def add(x, y):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            y[i, j] += x[i, j]


# --- rewrites -----------------------------------------------------------------------------------


def test_notes_are_printed_as_comments(golden: Golden) -> None:
    before = program(ADD)
    after = rewritten(annotate, before, loop(before, "i"), "pipeline.stages", 2)
    after = rewritten(annotate, after, loop(after, "j"), "prefetch", ["x", 1, None])
    after, made = applied(annotate, after, loop(after, "j"), "why", "rows are short")
    golden("rewrites/annotate/notes.py", module_text(after))
    assert made == (loop(before, "j"),)
    assert_proved(before, after)


def test_a_new_value_replaces_the_old() -> None:
    before = program(ADD)
    after = rewritten(annotate, before, loop(before, "i"), "depth", 2)
    after = rewritten(annotate, after, loop(after, "i"), "depth", np.int64(3))
    assert "# depth = 3\n" in module_text(after)
    assert "depth = 2" not in module_text(after)


def test_notes_stay_until_the_loop_is_replaced() -> None:
    schedule = Schedule(add)
    (handle,) = schedule.annotate("i", "whatever", True)
    schedule.reorder("j", "i")
    assert handle.annotations == {"whatever": True}
    assert "# whatever = True" in schedule.source()
    schedule.split("i", [None, 4])
    assert "whatever" not in schedule.source()


def test_the_kind_of_a_value_counts() -> None:
    schedule = Schedule(add)
    (handle,) = schedule.annotate("i", "on", 1)
    schedule.annotate("i", "on", True)
    assert handle.annotations == {"on": True}
    assert len(schedule.steps) == 2


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "code", "part"),
    [
        ("", 1, "schedule.bad-name", "the key '' is no name"),
        ("two words", 1, "schedule.bad-name", "'two words' is no name"),
        ("a..b", 1, "schedule.bad-name", "'a..b' is no name"),
        ("a\nimport os", 1, "schedule.bad-name", "is no name"),
        (3, 1, "schedule.bad-name", "3 is no name"),
        ("a", 0.5, "schedule.bad-value", "0.5 cannot be noted"),
        ("a", "line\nimport os", "schedule.bad-value", "cannot be noted"),
        ("a", "x" * 201, "schedule.bad-value", "cannot be noted"),
        ("a", [1, [2]], "schedule.bad-value", "[2] cannot be noted"),
        ("a", {}, "schedule.bad-value", "{} cannot be noted"),
    ],
)
def test_bad_arguments(key: object, value: object, code: str, part: str) -> None:
    before = program(ADD)
    error = refused(annotate, before, loop(before, "i"), key, value)
    assert error.code == code
    assert part in str(error)


def test_the_same_note_twice_changes_nothing() -> None:
    schedule = Schedule(add)
    schedule.annotate("i", "depth", [1, 2])
    with pytest.raises(ScheduleError, match="noted on this loop already") as caught:
        schedule.annotate("i", "depth", (1, 2))
    assert caught.value.code == "schedule.nothing-to-do"


def test_a_loop_that_is_gone_has_no_notes() -> None:
    schedule = Schedule(add)
    (handle,) = schedule.annotate("i", "depth", 1)
    schedule.split("i", [None, 4])
    with pytest.raises(ScheduleError) as caught:
        schedule.annotate(handle, "depth", 2)
    assert caught.value.code == "schedule.loop-gone"


# --- keeps meaning ------------------------------------------------------------------------------


def test_same_results() -> None:
    before = program(ADD)
    after = rewritten(annotate, before, loop(before, "i"), "depth", 2)
    assert_same_results(before, after, lambda n: (np.ones((n, 3)), np.zeros((n, 3))), sizes(4))


# --- trace --------------------------------------------------------------------------------------


def test_the_printed_script_replays() -> None:
    schedule = Schedule(add)
    schedule.annotate("i", "pipeline.stages", 2)
    schedule.annotate("j", "prefetch", ["x", "y"])
    assert_replays(schedule)
    twin = Schedule(add)
    twin.apply(schedule.trace.as_json())
    assert twin.source() == schedule.source()
