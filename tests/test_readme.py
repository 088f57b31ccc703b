"""What the documents show is what happens: their Python runs, and prints what they say."""

import os
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from tests.support.package import ROOT

README = ROOT / "README.md"
DOCUMENTS = [
    README,
    ROOT / "llms.txt",
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]
#: Its programs end with errors: tests/test_errors_page.py runs them.
ERRORS = ROOT / "docs" / "errors.md"
#: Its programs share two lines: tests/test_before_after.py runs them.
BEFORE_AFTER = ROOT / "docs" / "before_after.md"
FLAGS = re.MULTILINE | re.DOTALL
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", FLAGS)


def blocks(path):
    """(language, text) of the fenced blocks of a document, in order."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


def programs():
    """Every Python block, with the text block right after it as its output."""
    for path in dict.fromkeys(each for each in DOCUMENTS if each not in (ERRORS, BEFORE_AFTER)):
        found = [*blocks(path), ("", "")]
        for number, (block, following) in enumerate(pairwise(found)):
            if block[0] == "python":
                output = following[1] if following[0] == "text" else None
                name = f"{path.relative_to(ROOT).as_posix()} block {number}"
                yield pytest.param(block[1], output, id=name)


@pytest.fixture
def is_update(request):
    """Whether ``--update-golden`` asks to write what a block printed into the block below it."""
    return request.config.getoption("--update-golden") and not os.environ.get("CI")


def write_output(program, printed):
    """Replace the text block after a program."""
    start = rf"```python\n{re.escape(program)}```\n(?:(?!```).)*```text\n"
    pattern = re.compile(rf"({start}).*?(?=^```$)", FLAGS)
    for path in dict.fromkeys(DOCUMENTS):
        text = path.read_text(encoding="utf-8")
        new = pattern.sub(lambda found: f"{found[1]}{printed}\n", text, count=1)
        if new != text:
            path.write_text(new, encoding="utf-8")


@pytest.mark.parametrize(("program", "output"), list(programs()))
def test_python_runs_and_prints_what_is_shown(program, output, tmp_path, is_update):
    script = tmp_path / "shown.py"
    script.write_text(program, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    printed = found.stdout.replace(str(script), "shown.py").rstrip("\n")
    if is_update:
        write_output(program, printed)
        return
    assert printed == (output or "").rstrip("\n")


def test_readme_has_a_short_example_with_its_output():
    shown = [each for each in programs() if each.id.startswith("README.md")]
    assert shown
    first, output = shown[0].values
    assert output is not None
    assert len(first.splitlines()) <= 24


def test_two_commands():
    commands = [line for kind, text in blocks(README) if kind == "sh" for line in text.splitlines()]
    install, test = commands
    assert install.endswith("examples/01_conv_add.py")
    assert "-m pytest" in test
    assert all("pip install" in each for each in commands)


def test_links_lead_somewhere():
    for path in dict.fromkeys(DOCUMENTS):
        prose = FENCE.sub("", path.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            assert (path.parent / target).exists(), f"{path.name}: {target}"
