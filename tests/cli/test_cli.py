"""The command line: what it prints, its exit codes, its JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from astile import Kernel
from astile.cli.main import main

MODULE = """
import numpy as np
from astile import Schedule, tile


@tile(i=4, target="python")
def double(x, out):
    for i in range(len(x)):
        out[i] = 2 * x[i + 1]


def plain(x, out):
    for i in range(len(out)):
        out[i] = x[i + 1]


def gather(x, idx, n, out):
    for i in range(n):
        out[i] = x[idx[i]]


def refused(x):
    for i in range(len(x)):
        x[i] = [1, 2][i]


def rows(x, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j]


def deep(x, out):
    N, K, H, W = out.shape
    for n in range(N):
        for k in range(K):
            for i in range(H):
                for j in range(W):
                    out[n, k, i, j] = 0
                    for a in range(3):
                        out[n, k, i, j] += x[n, k, i, j + a]


def picky(x, out):
    if x.shape[0] % 2:
        raise ValueError("an even length is needed")
    for i in range(x.shape[0]):
        out[i] = x[i]


def scaled(x, a, b):
    for i in range(len(x)):
        x[i] = a * x[i] + b


scheduled = Schedule(plain)
scheduled.split("i", [None, 8])
number = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kernels.py"
    path.write_text(MODULE, encoding="utf-8")
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(each) for each in arguments])


def test_show_prints_the_source(file):
    found = run("show", file)  # the only kernel in it
    assert found.exit_code == 0, found.output
    assert "for i_0 in" in found.output
    assert "range(4)" in found.output


@pytest.mark.parametrize("target", ["python", "cpu", "cuda"])
def test_show_prints_the_text_of_a_target(file, target):
    found = run("show", f"{file}:double", "--target", target)
    assert found.exit_code == 0, found.output
    compile(found.output, "<shown>", "exec")
    assert ("cuda.jit" in found.output) == (target == "cuda")


def test_show_takes_a_plain_function_and_a_schedule(file):
    assert "out[i" in run("show", f"{file}:plain").output
    assert "range(8)" in run("show", f"{file}:scheduled").output


def test_steps_and_diffs(file):
    steps = run("show", f"{file}:scheduled", "--steps").output
    assert "# step 1: s.split('i', factors=[None, 8])" in steps
    assert "# proved equal, for all out.shape[0]" in steps
    assert "+    for i_0 in" in run("show", f"{file}:scheduled", "--diff").output


def test_show_as_json(file):
    found = json.loads(run("show", f"{file}:scheduled", "--json").output)
    assert (found["schema"], found["command"], found["function"]) == (1, "show", "plain")
    [step] = found["steps"]
    assert step["proof"]["kind"] == "equal"
    assert step["source"] == found["source"]


def test_blame_of_all_lines_and_of_one(file):
    found = run("blame", f"{file}:scheduled")
    assert "1: split('i', factors=[None, 8])" in found.output
    [line] = json.loads(run("blame", f"{file}:scheduled", "--line", 4, "--json").output)["lines"]
    assert line["step"] == 1
    assert line["place"]["file"] == str(file)
    assert "made by step 1" in run("blame", f"{file}:scheduled", "--line", 4).output
    assert run("blame", f"{file}:scheduled", "--line", 99).exit_code == 1


def test_check_sizes_arrays_as_the_accesses_need(file):
    found = run("check", f"{file}:double", "--shape", "x=9", "--json")
    assert found.exit_code == 1  # x[9] of nine elements is outside
    assert json.loads(found.output)["error"]["type"] == "ArgumentError"
    found = run("check", f"{file}:plain", "--shape", "out=9")
    assert found.exit_code == 0, found.output
    assert "bit-equal" in found.output


def test_check_says_that_a_shape_has_too_few_axes(file):
    found = run("check", f"{file}:rows", "--shape", "out=5", "--json")  # x is sized by out's axes
    assert found.exit_code == 1, found.exception
    error = json.loads(found.output)["error"]
    assert error["code"] == "argument.mismatch"
    assert "'out' is an array of shape (5,)" in error["message"]


def test_check_tells_what_the_function_itself_raises_and_where(file):
    found = run("check", f"{file}:picky", "--json")
    assert found.exit_code == 1
    message = json.loads(found.output)["error"]["message"]
    assert message.startswith("picky itself raises with these arguments")
    lines = message.splitlines()
    assert lines[-1] == "ValueError: an even length is needed"
    number = MODULE.splitlines().index('        raise ValueError("an even length is needed")') + 1
    frames = [each for each in lines if each.startswith("  File")]
    assert frames == [f'  File "{file}", line {number}, in picky']


def test_all_that_is_missing_is_asked_for_at_once(file):
    error = json.loads(run("check", f"{file}:scaled", "--json").output)["error"]
    assert error["message"].startswith("a and b need values")
    assert "--value a=1 b=1" in error["hints"][0]


def test_check_takes_small_arrays_for_deep_loops(file, monkeypatch):
    sizes = []
    monkeypatch.setattr(Kernel, "check_showing", lambda _, show, **made: sizes.append(made))
    run("check", f"{file}:deep")  # with 37 along each axis it would run for minutes
    assert sizes[0]["out"].shape == (17, 17, 17, 17)
    assert sizes[0]["x"].shape == (17, 17, 17, 19)


def test_check_takes_numbers_and_dtypes(file):
    options = ["--value", "n=6", "--dtype", "idx=int64", "--shape", "idx=6"]
    found = run("check", f"{file}:gather", *options, "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)["rows"][0]["compared"] == "reference"


def test_explain(file):
    options = ["--shape", "x=9", "--shape", "out=8", "--dtype", "x=float64"]
    found = run("explain", f"{file}:plain", *options)
    assert found.exit_code == 0, found.output
    assert "x read" in found.output
    report = json.loads(run("explain", f"{file}:plain", *options, "--json").output)["report"]
    first = report["before"]["moved"][0]
    assert (first["array"], first["read"], first["written"]) == ("x", 64, 0)
    assert run("explain", f"{file}:plain", "--shape", "x=9").exit_code == 1  # out has none


def test_explain_without_sizes_gives_formulas(file):
    found = run("explain", f"{file}:plain")
    assert found.exit_code == 0, found.output
    assert "4*out.shape[0]" in found.output
    report = json.loads(run("explain", f"{file}:plain", "--json").output)["report"]
    assert report["before"]["moved"] == {
        "x read": "4*out.shape[0]",
        "out written": "4*out.shape[0]",
    }


def test_report_writes_a_page(file, tmp_path):
    output = tmp_path / "page.html"
    found = run("report", f"{file}:plain", "-o", output, "--shape", "x=9", "--shape", "out=8")
    assert found.exit_code == 0, found.output
    assert "<title>plain - astile</title>" in output.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["emit", "blame", "show"])
def test_texts_are_made_for_the_types_that_are_named(file, tmp_path, command):
    output = ["-o", tmp_path / "made.py"] if command == "emit" else []
    named = [f"{file}:double", "--target", "cpu", "--dtype", "x=uint8", "out=int64", *output]
    found = run(command, *named)
    assert found.exit_code == 0, found.output
    text = (tmp_path / "made.py").read_text() if output else found.output
    assert "uint8(2 * x[" in text
    assert "made for x: uint8 of 1 axis, out: int64 of 1 axis" in text
    misspelt = run(command, f"{file}:double", "--dtype", "X=uint8", *output)
    assert misspelt.exit_code == 2
    assert "double has no parameter 'X'; did you mean 'x'?" in misspelt.output


def test_emit_writes_a_module(file, tmp_path):
    output = tmp_path / "made.py"
    assert run("emit", f"{file}:double", "-o", output).exit_code == 0
    assert "cuda.jit" in output.read_text(encoding="utf-8")


def test_doctor_tells_of_all_targets():
    found = json.loads(run("doctor", "--json").output)
    assert set(found["targets"]) == {"python", "cpu", "emulate", "cuda"}
    assert found["targets"]["python"]["reason"] is None
    assert run("doctor").exit_code == 0


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        ("omp", ["OMP_PROC_BIND=true", "OPENBLAS_THREAD_TIMEOUT=4"]),
        ("tbb", ["OPENBLAS_THREAD_TIMEOUT=4"]),
        ("workqueue", ["pip install tbb", "OPENBLAS_THREAD_TIMEOUT=4"]),
    ],
)
def test_doctor_tells_of_traps_of_threads(monkeypatch, layer, told):
    monkeypatch.setattr("astile.runtime.compile.threading_layers", lambda: [layer])
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.delenv("OMP_PROC_BIND", raising=False)
    monkeypatch.delenv("OPENBLAS_THREAD_TIMEOUT", raising=False)
    notes = json.loads(run("doctor", "--json").output)["notes"]
    assert len(notes) == len(told)
    assert all(remedy in note for remedy, note in zip(told, notes, strict=True))
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    monkeypatch.setenv("OPENBLAS_THREAD_TIMEOUT", "4")
    notes = json.loads(run("doctor", "--json").output)["notes"]
    assert len(notes) == (layer == "workqueue")


def test_doctor_tells_what_installs_what_is_missing(monkeypatch):
    monkeypatch.setattr("astile.cli.doctor._version", lambda each: None)
    missing = json.loads(run("doctor", "--json").output)["missing"]
    assert "pip install 'astile[cuda]'" in missing["numba-cuda"]
    assert missing["tbb"] == "pip install tbb"
    assert missing["tbb"] in run("doctor").output


def test_what_a_file_prints_is_no_part_of_the_answer(file):
    file.write_text(f"{MODULE}\nprint('hello')\n", encoding="utf-8")
    found = run("show", f"{file}:double", "--json")
    assert json.loads(found.stdout)["command"] == "show"
    assert found.stderr == "hello\n"


def test_several_sizes_after_one_option(file):
    several = run("explain", f"{file}:plain", "--shape", "x=9", "out=8", "--dtype", "x=float64")
    assert several.exit_code == 0, several.output
    apart = ["--shape", "x=9", "--shape", "out=8", "--dtype", "x=float64"]
    assert several.output == run("explain", f"{file}:plain", *apart).output
    assert run("explain", "--shape", "x=9", "out=8", "--", f"{file}:plain").exit_code == 0
    assert run("explain", f"{file}:plain", "out=8").exit_code == 2


@pytest.mark.parametrize(("target", "meant"), [("cdua", "cuda"), ("gpu", "cuda"), ("numba", "cpu")])
def test_a_misspelt_target_gets_a_suggestion(file, target, meant):
    found = run("show", file, "--target", target)
    assert found.exit_code == 2
    assert f"did you mean '{meant}'?" in found.output


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("kernel.py:double", "did you mean 'kernels.py'?"),
        ("kernels:double", "did you mean 'kernels.py'?"),
        ("kernels.py:doubel", "did you mean 'double'?"),
        ("kernels.py:number", "is of type int, no function"),
        ("nothing.py:double", "there is no file"),
        ("broken.py:double", "ZeroDivisionError"),
    ],
)
def test_a_wrong_name_exits_with_2(file, named, told):
    (file.parent / "broken.py").write_text("x = 1 / 0\n", encoding="utf-8")
    found = run("show", file.parent / named)
    assert found.exit_code == 2
    assert told in found.output
    assert "importlib" not in found.output


def test_a_file_alone_is_told_what_it_defines_and_not_what_it_imports(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(
        "from textwrap import dedent\n\n\ndef f(x):\n    x[0] = 1\n\n\ndef g(x):\n    x[0] = 2\n",
        encoding="utf-8",
    )
    found = run("show", path)
    assert found.exit_code == 2
    assert "the file defines f, g\n" in found.output


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("x", "is not of the form NAME=VALUE"),
        ("x=1,a", "is no shape"),
        ("x=-1", "is no shape"),
        ("=3", "is not of the form NAME=VALUE"),
        ("y=3", "has no parameter 'y'"),
    ],
)
def test_a_wrong_shape_exits_with_2(file, option, told):
    found = run("check", f"{file}:double", "--shape", option)
    assert (found.exit_code, told in found.output) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--value", "n=abc"], "'abc' in 'n=abc' is no number"),
        (["--shape", "x=3", "--shape", "x=4"], "x is given twice"),
    ],
)
def test_options_that_say_nothing_exit_with_2(file, arguments, told):
    found = run("explain", f"{file}:gather", *arguments)
    assert (found.exit_code, told in found.output) == (2, True)


def test_a_dtype_that_does_not_exist_is_refused(file):
    found = run(
        "explain", f"{file}:plain", "--shape", "x=9", "--shape", "out=8", "--dtype", "x=flot"
    )
    assert (found.exit_code, "did you mean 'float64'?" in found.output) == (1, True)


def test_a_misspelt_command_gets_a_suggestion():
    found = run("sohw", "kernels.py:double")
    assert (found.exit_code, "did you mean 'show'?" in found.output) == (2, True)


@pytest.mark.parametrize("command", ["emit", "report"])
@pytest.mark.parametrize("output", ["", "nowhere/made"])
def test_what_cannot_be_written_exits_with_2(file, command, output):
    found = run(command, f"{file}:plain", "-o", file.parent / output, "--json")
    assert found.exit_code == 2
    error = json.loads(found.output)["error"]
    assert error["code"] == "command.usage"
    assert ("is a directory" if not output else "No such file") in error["message"]


def test_a_wrong_call_is_told_as_json(file):
    error = json.loads(run("show", f"{file}:doubel", "--json").output)["error"]
    assert (error["type"], error["place"], error["hints"]) == (
        "UsageError",
        None,
        ["did you mean 'double'?"],
    )
    assert error["message"].endswith("defines no 'doubel'")


@pytest.mark.parametrize(
    ("text", "told"), [("def f(:\n", "SyntaxError"), ("import nothing_here\n", "nothing_here")]
)
def test_a_file_that_cannot_be_imported_is_told_without_other_frames(
    tmp_path, monkeypatch, text, told
):
    (tmp_path / "broken.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # a relative name, as people write it
    found = run("show", "broken.py:f")
    assert found.exit_code == 2
    assert told in found.output
    assert "importlib" not in found.output
    assert found.output.count("  File ") == 1


def test_a_decorator_that_is_refused_is_told_with_its_line(tmp_path):
    path = tmp_path / "refused.py"
    path.write_text(
        "from astile import tile\n\n\n@tile(q=3)\n"
        "def f(x):\n    for i in range(9):\n        x[i] = 1\n",
        encoding="utf-8",
    )
    assert f"--> {path}:4:2\n  4 | @tile(q=3)" in run("show", f"{path}:f").output


def test_an_error_of_astile_exits_with_1_and_is_told_without_frames(file):
    found = run("show", f"{file}:refused")
    assert found.exit_code == 1
    assert "kernels.py:24:" in found.output
    assert "Traceback" not in found.output
    as_json = json.loads(run("show", f"{file}:refused", "--json").output)
    assert as_json["error"]["type"] == "SourceError"
    assert as_json["error"]["place"]["line"] == 24


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from astile.cli.main import main; main(['--help'], standalone_mode=False); "
        "print([e for e in ('numba', 'islpy', 'numpy', 'rich', 'pygments') if e in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert found.stdout.endswith("[]\n")
    assert "doctor" in found.stdout


def test_the_package_runs_as_a_program():
    found = subprocess.run(
        [sys.executable, "-m", "astile", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.startswith("astile ")
