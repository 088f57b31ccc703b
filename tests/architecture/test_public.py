"""What users can reach is documented."""

import inspect
import re

import pytest

import astile
from tests.support.package import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def held_classes():
    """The classes whose instances users hold."""
    from astile.schedule.select import Loop
    from astile.schedule.step import Step
    from astile.schedule.trace import Trace

    return [astile.Kernel, astile.Schedule, Loop, Step, Trace]


@pytest.mark.parametrize("name", [each for each in astile.__all__ if each != "__version__"])
def test_public_name_has_a_docstring(name):
    assert (inspect.getdoc(getattr(astile, name)) or "").strip()


@pytest.mark.parametrize("name", [each for each in astile.__all__ if each != "__version__"])
def test_public_name_is_in_the_documents(name):
    pattern = re.compile(rf"\b{name}\b")
    assert any(pattern.search(each.read_text(encoding="utf-8")) for each in DOCUMENTS)


def test_members_have_docstrings():
    bare = [
        f"{each.__name__}.{name}"
        for each in held_classes()
        for name, member in vars(each).items()
        if not name.startswith("_")
        and (callable(member) or isinstance(member, property))
        and not (member.__doc__ or "").strip()
    ]
    assert not bare


def test_version_is_in_the_changelog():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(astile.__version__)}\b", text, re.MULTILINE)
