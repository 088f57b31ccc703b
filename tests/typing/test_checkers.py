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
FILES = ("good.py", "bad.py")


def expected_lines(path: Path) -> set[int]:
    """The lines of a file that carry an `# error:` comment."""
    lines = path.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if "# error:" in line}


def mypy_lines(cache: Path) -> dict[str, set[int]]:
    """File -> the lines that `mypy --strict` complains about."""
    command = [
        sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--show-column-numbers",
        "--follow-imports=silent", "--cache-dir", str(cache), *(str(HERE / each) for each in FILES),
    ]  # fmt: skip
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stdout + found.stderr
    told = re.findall(r"(\w+\.py):(\d+):\d+: error", found.stdout)
    return {name: {int(line) for file, line in told if file == name} for name in FILES}


def pyright_lines(project: Path) -> dict[str, set[int]]:
    """File -> the lines that pyright in strict mode complains about; skips if it cannot run."""
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    if shutil.which("node") is None:
        pytest.skip("pyright needs node, which is not installed")
    for each in FILES:
        shutil.copy(HERE / each, project)  # pyright takes paths below its project only
    settings = {
        "include": list(FILES),
        "extraPaths": [str(ROOT)],
        "pythonVersion": f"{sys.version_info.major}.{sys.version_info.minor}",
        "typeCheckingMode": "strict",
    }
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
    assert report["summary"]["filesAnalyzed"] == len(FILES)
    lines: dict[str, set[int]] = {name: set() for name in FILES}
    for each in report["generalDiagnostics"]:
        if each["severity"] == "error":
            lines[Path(each["file"]).name].add(each["range"]["start"]["line"] + 1)
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy_lines, pyright_lines])
def test_parameters_and_return_types_survive(checker, tmp_path):
    assert checker(tmp_path) == {each: expected_lines(HERE / each) for each in FILES}


def test_there_is_something_to_find():
    assert expected_lines(HERE / "good.py") == set()
    assert len(expected_lines(HERE / "bad.py")) == 13
