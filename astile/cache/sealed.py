"""Files that only this user can have written: each carries a code made with the user's secret.

What is read back from such a file may be run, which no other file in a cache folder is. A file
that somebody else planted or changed, or that was made for another purpose and renamed, does not
have the code, and counts as not there. The secret lies outside of the cache folder, which may come
with an archive or be shared.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Sequence
from pathlib import Path

import platformdirs

from astile.cache.files import read_whole, why_not_used, write_whole

_SECRET_BYTES = 32
_CODE_BYTES = hashlib.sha256().digest_size
#: A folder holds so many files at most, unless it is said otherwise; the oldest ones go.
_MOST = 500
#: Longer files are not read.
_MOST_BYTES = 1 << 26


class Sealed:
    """A folder of sealed files.

    Args:
        folder: where they lie.
        most: so many are kept; then the oldest quarter goes.
    """

    def __init__(self, folder: Path, most: int = _MOST) -> None:
        self._folder = folder
        self._most = most
        self._secret: bytes | None = None

    def read(self, purpose: Sequence[str]) -> bytes | None:
        """The content that was written for a purpose; None where there is none to be trusted.

        Args:
            purpose: all that decides the content.
        """
        if why_not_used(self._folder) is not None or self._known_secret() is None:
            return None
        found = read_whole(self._folder / _name(purpose), _MOST_BYTES)
        if found is None or len(found) < _CODE_BYTES:
            return None
        code, content = found[:_CODE_BYTES], found[_CODE_BYTES:]
        return content if hmac.compare_digest(code, self._code(purpose, content)) else None

    def write(self, purpose: Sequence[str], content: bytes) -> None:
        """Keep content for a purpose, where that is possible.

        Args:
            purpose: all that decides the content.
            content: of the file.
        """
        if why_not_used(self._folder) is not None or self._known_secret() is None:
            return
        with contextlib.suppress(OSError):
            write_whole(self._folder / _name(purpose), self._code(purpose, content) + content)
            self._forget_oldest()

    def _code(self, purpose: Sequence[str], content: bytes) -> bytes:
        assert self._secret is not None
        head = _spelled(purpose)
        message = len(head).to_bytes(8, "big") + head + content
        return hmac.new(self._secret, message, hashlib.sha256).digest()

    def _known_secret(self) -> bytes | None:
        if self._secret is None:
            self._secret = _secret()
        return self._secret

    def _forget_oldest(self) -> None:
        if sum(1 for _ in self._folder.iterdir()) <= self._most:
            return
        found = sorted(self._folder.glob("*.sealed"), key=lambda each: each.lstat().st_mtime_ns)
        for each in found[: max(0, len(found) - self._most * 3 // 4)]:
            each.unlink(missing_ok=True)


def _spelled(purpose: Sequence[str]) -> bytes:
    return json.dumps(list(purpose)).encode("utf-8", "surrogatepass")


def _name(purpose: Sequence[str]) -> str:
    return f"{hashlib.sha256(_spelled(purpose)).hexdigest()[:32]}.sealed"


def _secret() -> bytes | None:
    """The secret of this user, made when there is none; None where it cannot be kept to oneself."""
    if not hasattr(os, "geteuid"):  # no owners and modes of this kind on Windows
        return None
    path = Path(platformdirs.user_data_dir("astile")) / "secret"
    if why_not_used(path.parent) is not None:
        return None
    for _ in range(2):
        found = read_whole(path, _SECRET_BYTES)
        if found is not None:
            return found if len(found) == _SECRET_BYTES and _is_own(path) else None
        with contextlib.suppress(OSError):  # another process may be first
            write_whole(path, secrets.token_bytes(_SECRET_BYTES), replace=False)
    return None


def _is_own(path: Path) -> bool:
    """Whether only this user can read a file."""
    try:
        found = path.lstat()
    except OSError:
        return False
    others = stat.S_IRWXG | stat.S_IRWXO
    return found.st_uid == os.geteuid() and not found.st_mode & others
