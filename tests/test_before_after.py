"""docs/before_after.md: a program for each primitive, and what its schedule prints."""

from __future__ import annotations

import os
import re

import numpy as np
import pytest

from astile import Schedule
from tests.support.package import ROOT

PAGE = ROOT / "docs" / "before_after.md"
FLAGS = re.MULTILINE | re.DOTALL
SECTION = re.compile(r"^### (\w+)\n(.*?)(?=^##|\Z)", FLAGS)
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", FLAGS)
TABLE = ROOT / "docs" / "primitives.md"


def sections():
    """(primitive, program, what is printed) of each section."""
    for name, body in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        (_, program), (_, printed) = FENCE.findall(body)
        yield pytest.param(name, program, printed, id=name)


def write_printed(name, printed):
    text = PAGE.read_text(encoding="utf-8")
    start = rf"(^### {name}\n(?:(?!^##).)*?```text\n).*?(?=^```$)"
    new = re.sub(start, lambda found: f"{found[1]}{printed}", text, count=1, flags=FLAGS)
    PAGE.write_text(new, encoding="utf-8")


@pytest.mark.parametrize(("name", "program", "printed"), list(sections()))
def test_a_schedule_prints_what_is_shown(name, program, printed, tmp_path, request):
    path = tmp_path / "shown.py"
    path.write_text(program, encoding="utf-8")
    found = {"np": np, "Schedule": Schedule, "__name__": "shown"}
    exec(compile(program, str(path), "exec"), found)
    schedule = found["s"]
    assert schedule.steps[-1].call.startswith(f"{name}(") or name in ("tile", "shift")
    assert f"s.{name}(" in program
    if request.config.getoption("--update-golden") and not os.environ.get("CI"):
        write_printed(name, schedule.source())
    else:
        assert schedule.source() == printed


def test_each_primitive_has_a_section_in_the_order_of_the_table():
    rows = re.findall(r"^\| `(\w+)\(", TABLE.read_text(encoding="utf-8"), re.MULTILINE)
    shown = [each.id for each in sections()]
    assert sorted(shown) == sorted(rows)
    assert shown == [each for each in rows if each in shown]
