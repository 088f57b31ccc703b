"""Generated text becomes a real file and a module, so that tracebacks and profilers see it.

A file in the cache folder is never a source of code. Its name is a hash of what it should hold, its
text is compared with the text just generated, and the text that runs is always the one in memory.
What somebody plants in the folder is therefore replaced, or left alone, and never executed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import linecache
import os
import platform
import re
import secrets
import stat
import types
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import ExecutionLoader
from pathlib import Path
from typing import cast

import platformdirs

from astile.errors import InternalError

#: Names the cache folder; read at each call.
CACHE_VARIABLE = "ASTILE_CACHE_DIR"
#: Packages whose versions are part of the name of a generated file.
_VERSIONED = ("astile", "numba", "numba-cuda", "numpy")
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a planted pipe must not block the reader


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


def default_cache_dir() -> Path:
    """The folder named by ``ASTILE_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("astile"))


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


def why_not_used(folder: Path) -> str | None:
    """Make a cache folder if need be; the reason why it is not to be used, or None.

    Args:
        folder: of generated modules.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        found = folder.lstat()
    except OSError as error:
        return f"cannot be made ({error.strerror or error})"
    if stat.S_ISLNK(found.st_mode):
        return "it is a symbolic link"
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if not hasattr(os, "geteuid"):  # no owners and modes of this kind on Windows
        return None
    if found.st_uid != os.geteuid():
        return "it belongs to another user"
    if found.st_mode & stat.S_IWOTH:
        return "everybody can write to it"
    return None


def read_whole(path: Path, most: int) -> bytes | None:
    """The content of a plain file; None where there is none, or a link or a pipe in its place.

    Args:
        path: of the file.
        most: bytes; a longer file is not read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | _NO_FOLLOW | _NO_WAIT)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            return None
        with open(descriptor, "rb", closefd=False) as file:  # so links stay out
            return file.read(most)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def write_whole(path: Path, content: bytes, *, replace: bool = True) -> None:
    """Put content at a path in one move, so that nobody ever sees half a file.

    Args:
        path: of the file, which only its owner can read.
        content: of the file.
        replace: whether a file that is there gives way.

    Raises:
        OSError: where it cannot be written, or is there.
    """
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_FOLLOW
    descriptor = os.open(temporary, flags, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - opened by descriptor
            file.write(content)
        if replace:
            temporary.replace(path)
        else:
            path.hardlink_to(temporary)
            temporary.unlink()
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
