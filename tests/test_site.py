"""The pages of docs/ become a site without a warning, where Sphinx is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.support.package import ROOT


def test_the_site_is_made_without_warnings(tmp_path):
    pytest.importorskip("furo")
    pytest.importorskip("myst_parser")
    found = subprocess.run(
        [sys.executable, "-m", "sphinx", "-E", "-W", "-q", "-n", "docs", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert (tmp_path / "tutorial.html").exists()


def test_each_page_is_in_the_list_of_pages():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^(\w+)\*?$", index, re.MULTILINE))
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert pages - listed == {"index", "cases"}  # the second is a table for those who mend astile
