"""The list in docs/semantics.md and the tests of this folder are the same."""

from __future__ import annotations

import re

from tests.support.package import ROOT

FOLDER = ROOT / "tests" / "semantics"


def test_each_line_names_tests_and_each_test_is_named():
    text = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    found = text.split("\n## Corners", 1)[1].split("\n## ", 1)[0]
    lines = re.split(r"\n- ", found)[1:]
    unnamed = [line for line in lines if "`test_" not in line]
    assert not unnamed
    listed = re.findall(r"`(test_\w+)`", found)
    assert len(listed) == len(set(listed))
    written = {
        name
        for path in FOLDER.glob("test_*.py")
        if path.name != "test_listed.py"
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(listed) == written
