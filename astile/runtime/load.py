"""Generated text becomes a real file and a module, so that tracebacks and profilers see it.

A file in the cache folder is never a source of code. Its name is a hash of what it should hold, its
text is compared with the text just generated, and the text that runs is always the one in memory.
What somebody plants in the folder is therefore replaced, or left alone, and never executed.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import linecache
import platform
import re
import types
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import ExecutionLoader
from pathlib import Path
from typing import cast

from astile.cache.files import (
    CACHE_VARIABLE,
    default_cache_dir,
    read_whole,
    why_not_used,
    write_whole,
)
from astile.errors import InternalError

#: Packages whose versions are part of the name of a generated file.
_VERSIONED = ("astile", "numba", "numba-cuda", "numpy")


def load(
    text: str, entry: str, key_parts: Sequence[str] = (), cache_dir: str | Path | None = None
) -> Callable[..., object]:
    """The function `entry` of the module that `text` spells.

    Args:
        text: the complete module.
        entry: name of the function to take out of it.
        key_parts: what else tells this text from an equal one: target, frozen constants.
        cache_dir: folder for the file; the environment's or the user's cache folder by default.

    Raises:
        InternalError: when the text does not define `entry`.
    """
    digest = content_key(text, entry, key_parts)
    module_name = f"{_file_stem(entry)}_{digest[:24]}"
    folder = Path(cache_dir) if cache_dir is not None else default_cache_dir()
    path = _stored(text, folder, f"{module_name}.py")
    if path is None:
        path = f"<astile {module_name}>"
        linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    return _entry_of(_module_from(text, f"astile_generated.{module_name}", path), entry)


def content_key(text: str, entry: str, key_parts: Sequence[str] = ()) -> str:
    """The hash that names a generated file: text, entry, extra parts and versions.

    Args:
        text: the complete module.
        entry: name of its function.
        key_parts: target, frozen constants.
    """
    parts = [text, entry, list(key_parts), [_version(each) for each in _VERSIONED]]
    parts.append(platform.python_version())
    # JSON, so that no two lists of parts run together into the same bytes
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _file_stem(entry: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]", "_", entry)[:40]


# --- the module ---------------------------------------------------------------------------------


class _TextLoader(ExecutionLoader):
    """Loads a module from text in memory; unlike Python's own loader it reads no ``.pyc``."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path

    def get_source(self, fullname: str) -> str:
        return self._text

    def get_filename(self, fullname: str) -> str:
        return self._path


def _module_from(text: str, name: str, path: str) -> types.ModuleType:
    """The module is not entered in `sys.modules`: no name of anybody's can be taken over."""
    loader = _TextLoader(text, path)
    spec = importlib.machinery.ModuleSpec(name, loader, origin=path)
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _entry_of(module: types.ModuleType, entry: str) -> Callable[..., object]:
    found = getattr(module, entry, None)
    if not callable(found):
        raise InternalError(f"the generated module defines no function {entry!r}")
    return cast("Callable[..., object]", found)


# --- the file -----------------------------------------------------------------------------------


def _stored(text: str, folder: Path, file_name: str) -> str | None:
    """Path of a file that holds `text`, or None (with a warning) where none can be kept."""
    content = text.encode("utf-8")
    reason = why_not_used(folder)
    if reason is None:
        path = folder / file_name
        if read_whole(path, len(content)) == content:
            return str(path)
        try:
            write_whole(path, content)
        except OSError as error:
            if read_whole(path, len(content)) == content:  # another process was first
                return str(path)
            reason = f"cannot write there ({error.strerror or error})"
        else:
            return str(path)
    warnings.warn(
        f"generated code is kept in memory only: cache folder {str(folder)!r}: {reason}; "
        f"name another one in {CACHE_VARIABLE}",
        RuntimeWarning,
        stacklevel=3,
    )
    return None
