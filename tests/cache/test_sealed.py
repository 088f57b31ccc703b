"""Sealed files: what somebody else wrote, changed or renamed counts as not there."""

import os
import stat

import pytest

from astile.cache.sealed import Sealed

PURPOSE = ["text", "types"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A place of the test's own for the secret."""
    monkeypatch.setattr("platformdirs.user_data_dir", lambda name: str(tmp_path / "data" / name))
    return tmp_path / "data" / "astile"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "cache"


def only_file(folder):
    [found] = folder.glob("*.sealed")
    return found


def test_content_is_read_back_by_another_process(folder):
    Sealed(folder).write(PURPOSE, b"content")
    assert Sealed(folder).read(PURPOSE) == b"content"
    assert Sealed(folder).read(["text", "other types"]) is None
    assert Sealed(folder).read(["texttypes"]) is None


@pytest.mark.parametrize("at", [0, 40, -1])
def test_changed_file_is_not_read(folder, at):
    Sealed(folder).write(PURPOSE, b"content of some length")
    path = only_file(folder)
    changed = bytearray(path.read_bytes())
    changed[at] ^= 1
    path.write_bytes(changed)
    assert Sealed(folder).read(PURPOSE) is None
    Sealed(folder).write(PURPOSE, b"new")
    assert Sealed(folder).read(PURPOSE) == b"new"


@pytest.mark.parametrize("content", [b"", b"short", b"x" * 100])
def test_planted_file_is_not_read(folder, content):
    Sealed(folder).write(PURPOSE, b"content")
    only_file(folder).write_bytes(content)
    assert Sealed(folder).read(PURPOSE) is None


def test_file_for_another_purpose_is_not_read_under_a_new_name(folder):
    Sealed(folder).write(["other"], b"other content")
    other = only_file(folder)
    Sealed(folder).write(PURPOSE, b"content")
    [path] = set(folder.glob("*.sealed")) - {other}
    path.write_bytes(other.read_bytes())
    assert Sealed(folder).read(PURPOSE) is None


def test_files_of_another_user_are_not_read(folder, home):
    Sealed(folder).write(PURPOSE, b"content")
    (home / "secret").write_bytes(bytes(32))  # a folder that came from elsewhere
    assert Sealed(folder).read(PURPOSE) is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no modes of files")
def test_secret_that_others_can_read_is_not_used(folder, home):
    Sealed(folder).write(PURPOSE, b"content")
    secret = home / "secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(0o644)
    assert Sealed(folder).read(PURPOSE) is None


def test_folder_that_everybody_can_write_to_is_not_used(folder):
    Sealed(folder).write(PURPOSE, b"content")
    folder.chmod(0o777)
    assert Sealed(folder).read(PURPOSE) is None


def test_old_files_go(folder):
    for number in range(5):
        Sealed(folder, most=3).write([str(number)], b"content")
        os.utime(max(folder.glob("*.sealed"), key=lambda e: e.stat().st_mtime_ns), (number, number))
    assert len(list(folder.glob("*.sealed"))) == 3
    assert Sealed(folder).read(["4"]) == b"content"
    assert Sealed(folder).read(["0"]) is None
