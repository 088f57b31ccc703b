"""Which astile, and which packages under it, made what is kept."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import platform
from collections.abc import Iterator
from pathlib import Path

#: Packages whose code decides what a step makes and whether it is proved.
_DECIDING = ("islpy", "numpy")
_PACKAGE = Path(__file__).resolve().parent.parent


@functools.cache
def engine() -> str:
    """A hash that another version of astile, of what it stands on, or of Python does not have.

    Files count by name, size and time of change, as for Python's own bytecode: an edited file is
    another version.
    """
    found = hashlib.sha256(f"{platform.python_version()} {os.name}\n".encode())
    for line in (*_files(_PACKAGE), *map(_package, _DECIDING)):
        found.update(line.encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _files(folder: Path) -> Iterator[str]:
    for each in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if each.is_dir():
            yield from _files(Path(each.path))
        elif each.name.endswith(".py"):
            yield _line(each.path, each.stat())


def _package(name: str) -> str:
    """The files that lie beside the first one of a package."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        return f"{name} is missing\n"
    beside = sorted(os.scandir(Path(found.origin).parent), key=lambda entry: entry.name)
    return "".join(_line(each.path, each.stat()) for each in beside if each.is_file())


def _line(path: str, found: os.stat_result) -> str:
    return f"{path} {found.st_size} {found.st_mtime_ns}\n"
