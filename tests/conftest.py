"""Fixtures for all tests."""

from __future__ import annotations

import difflib
import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from astile.cache.files import CACHE_VARIABLE
from astile.lower import work
from astile.runtime import compile as compiling
from astile.schedule.known import AGAIN_VARIABLE

#: The small arrays of tests are to run on several cores, as large ones do, wherever tests run.
work.FEW = 0
compiling.most_threads = lambda: 2

#: What is tested is that steps are proved, not that they once were.
os.environ[AGAIN_VARIABLE] = "yes"
_GOLDEN = Path(__file__).parent / "golden"

# The same examples in every run, on a busy machine as well; `--hypothesis-profile=default` draws
# new ones.
settings.register_profile(
    "tests", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")


def pytest_collection_finish() -> None:
    """Thousands of tests, and the modules they import, are no garbage: do not search them for it.

    Trees of Python and maps of isl are freed by counting; few are in cycles.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder and a secret of the test's own, in which what is found out is kept."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / name))
    monkeypatch.delenv(AGAIN_VARIABLE)
    return tmp_path / "cache"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files that tests compare with; review the difference with git",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)`: `text` is what `tests/golden/<name>` holds."""
    is_update = bool(request.config.getoption("--update-golden"))
    if is_update and os.environ.get("CI"):
        pytest.fail("golden files are not rewritten where CI is set")

    def compare(name: str, text: str) -> None:
        path = _GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if is_update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            pytest.fail(f"there is no golden file {name}; write it with --update-golden")
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            lines = difflib.unified_diff(
                expected.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            pytest.fail("\n".join(lines), pytrace=False)

    return compare
