"""The cache folder, and files in it: who may have written them, and writing them in one move."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

import platformdirs

#: Names the cache folder; read at each call.
CACHE_VARIABLE = "ASTILE_CACHE_DIR"
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # a planted pipe must not block the reader


def default_cache_dir() -> Path:
    """The folder named by ``ASTILE_CACHE_DIR``, else the user's cache folder."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("astile"))


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
