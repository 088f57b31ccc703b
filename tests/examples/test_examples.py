"""Every example runs by itself, in seconds, and leaves what it promises."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.support.package import ROOT, modules

EXAMPLES = modules(ROOT / "examples")


@pytest.fixture
def run(tmp_path):
    """Runs a copy of an example, so that what it writes stays out of the repository."""

    def run_example(name):
        script = tmp_path / name
        shutil.copy(ROOT / "examples" / name, script)
        found = subprocess.run(
            [sys.executable, "-W", "error", str(script)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "MPLCONFIGDIR": str(tmp_path / "mpl")},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (found.returncode, found.stderr) == (0, "")
        return found.stdout

    return run_example


def test_every_example_is_tested_here():
    assert [each.name for each in EXAMPLES] == ["01_conv_add.py"]


def test_conv_add(run, tmp_path):
    printed = run("01_conv_add.py")
    assert "grace_hopper.jpg" in printed
    for step in ("split", "reorder", "compute_at", "set_scope", "bind"):
        assert f"s.{step}(" in printed
    assert "196 KiB" in printed
    assert "1 KiB" in printed
    assert float(re.search(r"differs from NumPy by at most (\S+)", printed)[1]) < 1e-6
    assert (tmp_path / "01_conv_add.png").read_bytes().startswith(b"\x89PNG")
