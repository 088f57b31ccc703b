"""mypy and pyright on `good.py` and `bad.py`: parameters and return types survive `@tile`."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def expected_lines(path: Path) -> set[int]:
    """The lines of a file that carry an `# error:` comment."""
    lines = path.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if "# error:" in line}


def mypy_lines(path: Path, cache: Path) -> set[int]:
    """The lines that `mypy --strict` complains about."""
    command = [
        sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--show-column-numbers",
        "--follow-imports=silent", "--cache-dir", str(cache), str(path),
    ]  # fmt: skip
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stdout + found.stderr
    return {int(each) for each in re.findall(rf"{path.name}:(\d+):\d+: error", found.stdout)}


def pyright_lines(path: Path, project: Path) -> set[int]:
    """The lines that pyright in strict mode complains about; skips where it cannot run."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if shutil.which("node") is None:
        pytest.skip("pyright needs node, which is not installed")
    settings = {
        "include": [path.name],
        "extraPaths": [str(ROOT)],
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
        "typeCheckingMode": "strict",
    }
    shutil.copy(path, project)  # pyright takes paths below its project only
    (project / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [
        sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
        "--project", str(project),
    ]  # fmt: skip
    try:
        found = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        report = json.loads(found.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        pytest.skip("pyright cannot fetch its program without a network")
    assert report["summary"]["filesAnalyzed"] == 1
    errors = [each for each in report["generalDiagnostics"] if each["severity"] == "error"]
    return {each["range"]["start"]["line"] + 1 for each in errors}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good.py", "bad.py"])
def test_mypy(name, tmp_path):
    assert mypy_lines(HERE / name, tmp_path) == expected_lines(HERE / name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good.py", "bad.py"])
def test_pyright(name, tmp_path):
    assert pyright_lines(HERE / name, tmp_path) == expected_lines(HERE / name)


def test_there_is_something_to_find():
    assert expected_lines(HERE / "good.py") == set()
    assert len(expected_lines(HERE / "bad.py")) == 13
