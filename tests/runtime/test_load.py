"""Generated modules: named by content, compared before use, never executed from a planted file."""

import inspect
import linecache
import os
import py_compile
import stat
import subprocess
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import pytest

from astile.cache.files import default_cache_dir
from astile.errors import InternalError
from astile.runtime import load as loading
from astile.runtime.load import content_key, load

TEXT = "def answer(x):\n    return x + 41\n"
PLANTED = "import os\nos.environ['ASTILE_PLANTED'] = 'yes'\ndef answer(x):\n    return 'planted'\n"
posix_only = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX owners and modes")


@pytest.fixture(autouse=True)
def nothing_planted_runs(monkeypatch):
    monkeypatch.delenv("ASTILE_PLANTED", raising=False)
    yield
    assert "ASTILE_PLANTED" not in os.environ


def only_file(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


# --- loads --------------------------------------------------------------------------------------


def test_loads_from_a_real_file_with_exactly_the_text(tmp_path):
    function = load(TEXT, "answer", cache_dir=tmp_path / "cache")
    assert function(1) == 42
    path = only_file(tmp_path / "cache")
    assert path.read_text() == TEXT
    assert function.__code__.co_filename == str(path)
    assert "".join(inspect.getsourcelines(function)[0]) == TEXT


def test_second_load_leaves_the_file_untouched(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    before = only_file(tmp_path).stat()
    assert load(TEXT, "answer", cache_dir=tmp_path)(1) == 42
    after = only_file(tmp_path).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_other_text_key_part_or_version_is_another_file(tmp_path, monkeypatch):
    keys = {
        content_key(TEXT, "answer"),
        content_key(TEXT + "\n", "answer"),
        content_key(TEXT, "answer", ["cpu"]),
        content_key(TEXT, "answer", ["cuda"]),
        content_key(TEXT, "answer", ["cu", "da"]),
    }
    monkeypatch.setattr(loading, "_version", lambda package: "0.0.1")
    keys.add(content_key(TEXT, "answer"))
    assert len(keys) == 6


def test_text_changed_in_one_process_gives_the_new_code(tmp_path):
    # numba's own cache returned 62 for 31 here: same size, same time, rewritten in place
    halves = [
        load(f"def f(n):\n    return n // {by}\n", "f", cache_dir=tmp_path) for by in (16, 32)
    ]
    assert [each(992) for each in halves] == [62, 31]
    assert len(list(tmp_path.iterdir())) == 2


def test_traceback_shows_the_line_of_the_file(tmp_path):
    function = load("def f(x):\n    return x[3]  # here\n", "f", cache_dir=tmp_path)
    with pytest.raises(IndexError) as caught:
        function([])
    assert "return x[3]  # here" in "".join(traceback.format_exception(caught.value))


def test_environment_is_read_at_each_call(tmp_path, monkeypatch):
    for name in ("one", "two"):
        monkeypatch.setenv("ASTILE_CACHE_DIR", str(tmp_path / name))
        assert default_cache_dir() == tmp_path / name
        load(TEXT, "answer")
        assert only_file(tmp_path / name).read_text() == TEXT


def test_default_folder_is_the_users(monkeypatch):
    monkeypatch.delenv("ASTILE_CACHE_DIR", raising=False)
    assert default_cache_dir().name == "astile"


def test_module_takes_no_name_in_sys_modules(tmp_path):
    before = set(sys.modules)
    function = load("import sys\ndef json():\n    return __name__\n", "json", cache_dir=tmp_path)
    assert function().startswith("astile_generated.json_")
    assert set(sys.modules) == before


@posix_only
def test_folder_and_file_are_private(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path / "deep" / "cache")
    assert stat.S_IMODE((tmp_path / "deep" / "cache").stat().st_mode) == 0o700
    assert stat.S_IMODE(only_file(tmp_path / "deep" / "cache").stat().st_mode) == 0o600


def test_odd_entry_names_make_plain_file_names(tmp_path):
    entry = "фильтр_" + "x" * 200
    assert load(f"def {entry}():\n    return 7\n", entry, cache_dir=tmp_path)() == 7
    assert only_file(tmp_path).name.isascii()
    assert len(only_file(tmp_path).name) < 80


def test_eight_processes_write_the_same_modules(tmp_path):
    script = (
        "import sys; from astile.runtime.load import load\n"
        "for n in range(20):\n"
        "    text = f'def f():\\n    return {n}\\n' + '# filling\\n' * 2000\n"
        "    assert load(text, 'f', cache_dir=sys.argv[1])() == n\n"
    )
    command = [sys.executable, "-W", "error", "-c", script, str(tmp_path)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(8)]
    failures = [each.communicate()[1].decode() for each in running]
    assert failures == [""] * 8
    files = sorted(each.name for each in tmp_path.iterdir())
    assert len(files) == 20
    assert all(each.endswith(".py") for each in files)


# --- refuses ------------------------------------------------------------------------------------


def test_text_without_the_entry_is_our_fault(tmp_path):
    with pytest.raises(InternalError, match="no function 'other'"):
        load(TEXT, "other", cache_dir=tmp_path)


def test_planted_file_is_replaced_and_never_run(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    path = only_file(tmp_path)
    path.write_text(PLANTED)
    assert load(TEXT, "answer", cache_dir=tmp_path)(1) == 42
    assert only_file(tmp_path).read_text() == TEXT


def test_planted_file_of_equal_size_is_replaced(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    path = only_file(tmp_path)
    path.write_text(TEXT.replace("41", "99"))
    assert load(TEXT, "answer", cache_dir=tmp_path)(1) == 42
    assert path.read_text() == TEXT


def test_planted_bytecode_is_never_run(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    path = only_file(tmp_path)
    bad = tmp_path.parent / "planted.py"
    bad.write_text(PLANTED)
    pyc = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
    pyc.parent.mkdir()
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(bad), cfile=str(pyc), invalidation_mode=mode)
    assert load(TEXT, "answer", cache_dir=tmp_path)(1) == 42


@posix_only
def test_planted_link_is_replaced_and_its_target_kept(tmp_path):
    cache, elsewhere = tmp_path / "cache", tmp_path / "precious.py"
    load(TEXT, "answer", cache_dir=cache)
    path = only_file(cache)
    elsewhere.write_text(PLANTED)
    path.unlink()
    path.symlink_to(elsewhere)
    assert load(TEXT, "answer", cache_dir=cache)(1) == 42
    assert not path.is_symlink()
    assert path.read_text() == TEXT
    assert elsewhere.read_text() == PLANTED


@posix_only
def test_link_to_equal_text_is_no_hit(tmp_path):
    cache, elsewhere = tmp_path / "cache", tmp_path / "same.py"
    load(TEXT, "answer", cache_dir=cache)
    path = only_file(cache)
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    load(TEXT, "answer", cache_dir=cache)
    assert not path.is_symlink()


@posix_only
def test_planted_pipe_does_not_block(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    path = only_file(tmp_path)
    path.unlink()
    os.mkfifo(path)
    assert load(TEXT, "answer", cache_dir=tmp_path)(1) == 42
    assert path.read_text() == TEXT


def test_planted_folder_of_that_name_falls_back_to_memory(tmp_path):
    load(TEXT, "answer", cache_dir=tmp_path)
    path = only_file(tmp_path)
    path.unlink()
    path.mkdir()
    check_in_memory(tmp_path, "cannot write there")
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def check_in_memory(folder: Path, reason: str) -> None:
    """`load` works without the folder, says so once, and still shows lines in tracebacks."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        for _ in range(3):
            function = load(TEXT, "answer", cache_dir=folder)
    assert function(1) == 42
    (warning,) = seen
    assert reason in str(warning.message)
    assert "ASTILE_CACHE_DIR" in str(warning.message)
    assert "".join(inspect.getsourcelines(function)[0]) == TEXT
    assert linecache.getline(function.__code__.co_filename, 2) == "    return x + 41\n"


@posix_only
def test_linked_folder_is_not_used(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    check_in_memory(tmp_path / "link", "symbolic link")
    assert not list((tmp_path / "real").iterdir())


@posix_only
def test_folder_open_to_everybody_is_not_used(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    check_in_memory(folder, "everybody can write")
    assert not list(folder.iterdir())


@posix_only
def test_folder_of_another_user_is_not_used(tmp_path, monkeypatch):
    folder = tmp_path / "foreign"
    folder.mkdir(mode=0o700)
    owner = folder.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    check_in_memory(folder, "another user")
    assert not list(folder.iterdir())


def test_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    check_in_memory(tmp_path / "file", "not a folder")
    check_in_memory(tmp_path / "file" / "below", "cannot be made")
    assert (tmp_path / "file").read_text() == "not a folder"


@posix_only
def test_read_only_folder():
    with tempfile.TemporaryDirectory() as outer:
        folder = Path(outer) / "cache"
        folder.mkdir()
        was_root, nobody = os.geteuid() == 0, 65534
        if was_root:  # root may write anywhere, so the test becomes somebody else
            Path(outer).chmod(0o755)
            os.chown(folder, nobody, nobody)
        folder.chmod(0o500)
        if was_root:
            os.seteuid(nobody)
        try:
            check_in_memory(folder, "cannot write there")
            assert not list(folder.iterdir())
        finally:
            if was_root:
                os.seteuid(0)
            folder.chmod(0o700)
