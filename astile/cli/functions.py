"""FILE:FUNCTION becomes a kernel: the file is imported, and the name looked up in it."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import astile
from astile.cli.usage import Misused
from astile.diagnostics import did_you_mean
from astile.errors import AstileError
from astile.kernel import Kernel
from astile.schedule.schedule import Schedule


def kernel_of(named: str) -> Kernel[..., Any]:
    """The kernel that is meant by ``FILE:FUNCTION``.

    Args:
        named: a path and, after the last colon, a name; ``FILE`` alone where it holds one kernel.

    Raises:
        click.UsageError: when there is no such file or name, or the file cannot be imported.
        AstileError: from the decoration of a plain function.
    """
    path, name = _parts(named)
    module = _imported(path)
    found = vars(module)
    if not name:
        name = _only(named, found)
    if name not in found:
        hint = did_you_mean(name, [each for each, value in found.items() if _is_usable(value)])
        raise Misused(f"{path} defines no {name!r}", hint)
    value = found[name]
    if isinstance(value, Kernel):
        return value
    if isinstance(value, Schedule):
        return value.build()
    if not isinstance(value, types.FunctionType):
        raise click.UsageError(f"{name} in {path} is of type {type(value).__name__}, no function")
    made: Kernel[..., Any] = astile.tile(value)
    return made


def _parts(named: str) -> tuple[Path, str]:
    before, colon, after = named.rpartition(":")
    if not colon or "/" in after or "\\" in after or after.endswith(".py"):
        before, after = named, ""
    path = Path(before)
    if path.is_dir():
        raise click.UsageError(f"{before!r} is a directory; write FILE:FUNCTION")
    if not path.is_file():
        raise Misused(f"there is no file {before!r}", _like(path))
    return path, after


def _like(path: Path) -> str:
    """What a file that is not there may be called, or how files are named at all."""
    beside = sorted(each.name for each in path.parent.glob("*.py"))
    return did_you_mean(path.with_suffix(".py").name, beside) or "write FILE:FUNCTION"


def _is_usable(value: object) -> bool:
    return isinstance(value, (Kernel, Schedule, types.FunctionType))


def _is_own(value: object, found: dict[str, Any]) -> bool:
    """Whether it was made in the file, and not imported there."""
    return not isinstance(value, types.FunctionType) or value.__module__ == found["__name__"]


def _only(named: str, found: dict[str, Any]) -> str:
    kernels = [name for name, value in found.items() if isinstance(value, Kernel)]
    if len(kernels) == 1:
        return kernels[0]
    own = [name for name, value in found.items() if _is_usable(value) and _is_own(value, found)]
    known = ", ".join(own) or "no function"
    raise click.UsageError(f"write {named}:FUNCTION; the file defines {known}")


def _imported(path: Path) -> types.ModuleType:
    """The module of a file, as ``python FILE`` would find what it imports."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise click.UsageError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[path.stem] = module
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what it prints is no part of the answer
            spec.loader.exec_module(module)
    except AstileError:
        raise
    except Exception as error:
        raise click.UsageError(f"{path} cannot be imported:\n{_told(error, path)}") from error
    return module


@contextlib.contextmanager
def running(kernel: Kernel[..., Any]) -> Iterator[None]:
    """Tell what the user's function raises with its own frames, and none of what runs it.

    Args:
        kernel: made of the function.

    Raises:
        click.ClickException: for what the function raises.
    """
    try:
        yield
    except (AstileError, click.ClickException):
        raise
    except Exception as error:
        path = Path(kernel.__wrapped__.__code__.co_filename)
        raise click.ClickException(
            f"{kernel.__name__} itself raises with these arguments; --shape, --value and --dtype "
            f"give it others:\n{_told(error, path)}"
        ) from error


def _told(error: Exception, path: Path) -> str:
    """A traceback from the user's file on, without frames of what imported it."""
    frames = traceback.format_list(_own_frames(error, path))
    return "".join([*frames, *traceback.format_exception_only(error)]).rstrip()


def _own_frames(error: Exception, path: Path) -> list[traceback.FrameSummary]:
    """The frames of an error from the user's file on; none for a file that is no Python."""
    frames = traceback.extract_tb(error.__traceback__)
    own = path.resolve()
    first = next((k for k, e in enumerate(frames) if Path(e.filename).resolve() == own), None)
    return [] if first is None else frames[first:]
