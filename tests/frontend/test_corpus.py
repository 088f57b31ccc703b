"""Every program of the shared case corpus is read, and its printed module gives the same result."""

from __future__ import annotations

import importlib.util
import os
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from astile.frontend.build import build, build_from_source
from astile.ir.module import module_text
from astile.ir.verify import verify

_ROOT = Path(__file__).resolve().parents[2]
_CASES = Path(os.environ.get("ASTILE_CASES", _ROOT.parent / "shared" / "cases"))
_PROGRAMS = sorted((_CASES / "programs").glob("*.py"))

pytestmark = pytest.mark.skipif(
    not _PROGRAMS, reason=f"the case corpus is not at {_CASES} (set ASTILE_CASES to its folder)"
)


def case(path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]


def outcome(function: Any, arguments: tuple[Any, ...]) -> tuple[list[Any], Any]:
    own = copies(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        returned = function(*own)
    return own, returned


def assert_same(first: Any, second: Any, rtol: float) -> None:
    assert type(first) is type(second)
    if isinstance(first, tuple):
        for one, other in zip(first, second, strict=True):
            assert_same(one, other, rtol)
    elif isinstance(first, np.ndarray):
        assert first.dtype == second.dtype
        np.testing.assert_allclose(first, second, rtol=rtol)
    else:
        assert first == second or (first != first and second != second)


@pytest.mark.parametrize("path", _PROGRAMS, ids=lambda path: path.stem)
def test_program_is_read_and_runs(path: Path) -> None:
    module = case(path)
    plain = getattr(module, module.META["function"])
    program = build(plain, scratch=module.META.get("scratch", ()))
    verify(program)
    rtol = 1e-12 if program.reassociated else 0.0
    text = module_text(program)
    assert all(len(line) <= 100 for line in text.splitlines())
    space: dict[str, Any] = {}
    exec(compile(text, f"<printed {path.stem}>", "exec"), space)
    for size in module.SIZES:
        arguments, _ = module.make_args(size, 7)
        before, first = outcome(plain, arguments)
        after, second = outcome(space[program.name], arguments)
        assert_same(tuple(before), tuple(after), rtol)
        assert_same(first, second, rtol)


@pytest.mark.parametrize("path", _PROGRAMS, ids=lambda path: path.stem)
def test_program_read_from_its_text_is_the_same(path: Path) -> None:
    module = case(path)
    name = module.META["function"]
    from_function = build(getattr(module, name))
    from_text = build_from_source(path.read_text(encoding="utf-8"), name)
    assert module_text(from_text) == module_text(from_function)


@pytest.mark.parametrize("path", _PROGRAMS, ids=lambda path: path.stem)
def test_printed_module_is_read_again(path: Path) -> None:
    module = case(path)
    printed = module_text(build(getattr(module, module.META["function"])))
    again = build_from_source(printed, module.META["function"])
    assert module_text(again) == printed
