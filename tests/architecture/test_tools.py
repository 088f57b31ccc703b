"""The linters, as tests: one command runs everything, and its exit code is the answer."""

import subprocess
import sys

import pytest

from tests.support.package import ROOT

TOOLS = {
    "ruff check": ["ruff", "check", "--quiet", "."],
    "ruff format": ["ruff", "format", "--check", "--quiet", "--diff", "."],
    "mypy --strict": ["mypy"],
}


@pytest.mark.parametrize("command", TOOLS.values(), ids=TOOLS.keys())
def test_tool_finds_nothing(command):
    found = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        pytest.fail(f"{' '.join(command)}:\n{found.stdout}{found.stderr}", pytrace=False)
