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

    def run_example(name, *before):
        script = tmp_path / name
        shutil.copy(ROOT / "examples" / name, script)
        found = subprocess.run(
            [sys.executable, "-W", "error", *before, str(script)],
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


#: Run after an example: its trace makes the same steps again, as a script does.
REPLAY = """
import contextlib, io, runpy, sys
found = runpy.run_path(sys.argv[1], run_name="__main__")
with contextlib.redirect_stdout(io.StringIO()) as printed:
    exec(compile(found["s"].trace.as_python(), "<trace>", "exec"), {"__name__": "__main__"})
assert printed.getvalue().strip() == found["s"].source().strip(), printed.getvalue()
"""


@pytest.mark.parametrize("name", [each.name for each in EXAMPLES[1:]])
def test_example_is_right_and_its_trace_replays(run, tmp_path, name):
    printed = run(name, "-c", REPLAY)
    differences = re.findall(r"differs from .* by at most (\S+)", printed)
    assert differences
    assert all(float(each) < 1e-5 for each in differences)
    for image in re.findall(r'with_suffix\("(\.png)"\)', (tmp_path / name).read_text("utf-8")):
        assert (tmp_path / name).with_suffix(image).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda each: each.name)
def test_example_is_short(path):
    assert len(path.read_text("utf-8").splitlines()) < 60


def test_conv_add(run, tmp_path):
    printed = run("01_conv_add.py", "-c", REPLAY)
    assert "grace_hopper.jpg" in printed
    for step in ("split", "reorder", "compute_at", "set_scope", "bind"):
        assert f"s.{step}(" in printed
    assert "196 KiB" in printed
    assert "1 KiB" in printed
    assert float(re.search(r"differs from NumPy by at most (\S+)", printed)[1]) < 1e-6
    assert (tmp_path / "01_conv_add.png").read_bytes().startswith(b"\x89PNG")
