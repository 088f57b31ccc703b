"""The seam to numba: what is here, PTX without a GPU, and complaints retold at the user's line."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.ir.program import Program
from astile.runtime import compile as compiling
from astile.runtime.load import load
from astile.source import SourceFile, Span

SCALE = """
from numba import cuda


@cuda.jit
def scale(a, factor):
    i = cuda.grid(1)
    if i < a.shape[0]:
        a[i] = a[i] * factor
"""

needs_cuda = pytest.mark.skipif(
    not compiling.cuda_importable(), reason=f"numba.cuda: {compiling.why_no_cuda()}"
)


def in_fresh_python(script: str, text: str = "", **environment: str) -> str:
    """What a script prints in a process of its own."""
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment},
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


# --- what is here -------------------------------------------------------------------------------


def test_plain_python_and_the_emulator_run_everywhere():
    assert compiling.why_not("python") is None
    assert compiling.why_not("emulate") is None
    compiling.require("python")


def test_numba_is_found_without_importing_it():
    script = """
        import sys
        from astile.runtime import compile
        print(compile.numba_importable(), "numba" in sys.modules)
    """
    assert in_fresh_python(script).split() == ["True", "False"]


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "OSError"])
def test_cuda_that_cannot_be_imported_is_not_here(error):
    script = f"""
        import sys, json
        class Broken:
            def find_spec(self, name, path=None, target=None):
                if name.startswith("numba.cuda") or name.startswith("numba_cuda"):
                    raise {error}("libcudart.so was not found")
        sys.meta_path.insert(0, Broken())
        from astile.errors import LoweringError
        from astile.runtime import compile
        told = []
        try:
            compile.require("cuda")
        except LoweringError as refused:
            told = [str(refused)]
        print(json.dumps([compile.cuda_importable(), compile.has_cuda_device(), told]))
    """
    importable, device, told = json.loads(in_fresh_python(script))
    assert (importable, device) == (False, False)
    assert told == [
        "target 'cuda' cannot run here [lowering.missing]\n"
        "  note: libcudart.so was not found\n"
        "  help: pip install 'astile[cuda]'\n"
        "  help: pip install 'astile[cuda12]', for CUDA 12\n"
        "  help: use target='emulate' to run the same text without a GPU"
    ]


def test_numba_that_is_not_installed():
    script = """
        import sys
        sys.modules["numba"] = None
        import importlib.util
        importlib.util.find_spec = lambda name: None
        del sys.modules["numba"]
        from astile.runtime import compile
        print(compile.why_not("cpu"))
    """
    assert in_fresh_python(script).strip() == "numba is not installed"


@needs_cuda
def test_simulator_counts_as_a_device():
    script = """
        from astile.runtime import compile
        print(compile.in_simulator(), compile.has_cuda_device(), compile.why_not("cuda"))
    """
    assert in_fresh_python(script, NUMBA_ENABLE_CUDASIM="1").split() == ["True", "True", "None"]


# --- PTX ----------------------------------------------------------------------------------------


@needs_cuda
@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_ptx_without_a_gpu(tmp_path, cc):
    kernel = load(SCALE, "scale", cache_dir=tmp_path)
    text = compiling.compile_ptx(kernel, ("float32[::1]", "float32"), cc)
    assert f".target sm_{cc[0]}{cc[1]}" in text
    assert "mul.f32" in text.replace(".rn", "")


@needs_cuda
def test_ptx_of_wrong_types_is_refused(tmp_path):
    kernel = load(SCALE, "scale", cache_dir=tmp_path)
    with pytest.raises(LoweringError, match="cannot compile"):
        compiling.compile_ptx(kernel, ("float32[:, ::1]", "unicode_type"))


@needs_cuda
def test_ptx_in_the_simulator_is_refused(tmp_path):
    script = """
        from astile.errors import LoweringError
        from astile.runtime import compile
        try:
            compile.compile_ptx(len, ())
        except LoweringError as refused:
            print(refused)
    """
    assert "NUMBA_ENABLE_CUDASIM is set" in in_fresh_python(script, NUMBA_ENABLE_CUDASIM="1")


# --- complaints ---------------------------------------------------------------------------------

USER = """
def shift(a, b, n):
    for row in range(n):
        b[row] = 1
        a[row] = b[row, 0] + 1
"""
GENERATED = """
from numba import njit


@njit
def shift(a, b, n):
    for row_0 in range(n // 16):
        for row_1 in range(16):
            b[row_0 * 16 + row_1] = 1
            a[row_0 * 16 + row_1] = b[row_0 * 16 + row_1, 0] + 1
"""


def user_program() -> Program:
    text = USER.lstrip()
    return Program(ast.parse(text).body[0], SourceFile("user.py", text))


def user_line(line):
    """The place of the user's statement that line 10 of the generated text was made from."""
    source = user_program().source
    return Span(source, 4, 9, 4, 31) if line == 10 else None


def test_numbas_error_is_told_at_the_users_line(tmp_path):
    function = load(GENERATED, "shift", cache_dir=tmp_path)
    with (
        pytest.raises(LoweringError) as caught,
        compiling.retelling("cpu", GENERATED, user_program(), user_line),
    ):
        function(np.zeros(16), np.zeros(16), 16)
    error = caught.value
    assert "user.py:4:9" in str(error)
    assert "a[row] = b[row, 0] + 1" in str(error)
    assert "numba says: No implementation of function" in str(error)
    assert error.__suppress_context__
    assert len(str(error).splitlines()) < 12


def test_name_unknown_to_numba(tmp_path):
    text = GENERATED.replace("b[row_0 * 16 + row_1, 0] + 1", "nosuch(3)")
    function = load(text, "shift", cache_dir=tmp_path)
    with pytest.raises(LoweringError, match="'nosuch' is not defined") as caught:  # noqa: SIM117
        with compiling.retelling("cpu", text, user_program()):
            function(np.zeros(16), np.zeros(16), 16)
    assert "user.py:" in str(caught.value)


@pytest.mark.parametrize("error", [IndexError, ZeroDivisionError, KeyError, AttributeError])
def test_what_the_program_raises_passes(error):
    with pytest.raises(error, match="as it is"), compiling.retelling("cpu", "", None):
        raise error("as it is")


LARGEST = """
from numba import njit


@njit
def largest(z):
    return max(z, z + 1)
"""


def test_not_implemented_is_retold_where_numba_raises_it(tmp_path):
    largest = load(LARGEST, "largest", cache_dir=tmp_path)
    with pytest.raises(NotImplementedError, match="mine"), compiling.retelling("cpu", "", None):
        raise NotImplementedError("mine")
    with (
        pytest.raises(LoweringError, match="numba says"),
        compiling.retelling("cpu", "", user_program()),
    ):
        largest(1j)


def test_a_package_that_numba_misses():
    with (
        pytest.raises(LoweringError, match="numba says: scipy is required") as caught,
        compiling.retelling("cpu", "", user_program()),
    ):
        raise ImportError("scipy is required for linear algebra")
    assert "install SciPy" in str(caught.value)


def test_an_argument_that_numba_does_not_know(tmp_path):
    function = load(GENERATED, "shift", cache_dir=tmp_path)
    with (
        pytest.raises(LoweringError) as caught,
        compiling.retelling("cpu", GENERATED, user_program()),
    ):
        function(object(), np.zeros(16), 16)
    assert "user.py:1:1" in str(caught.value)


# --- threads ------------------------------------------------------------------------------------


TOTAL = """
from numba import njit, prange


@njit(parallel=True)
def total(a):
    for i in prange(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] += i * j
"""
EIGHT_THREADS = """
    import sys, threading
    import numba
    import numpy as np
    from astile.runtime.compile import one_at_a_time_if_needed
    from astile.runtime.load import load

    function = load(sys.stdin.read(), "total", cache_dir={folder!r})
    function = one_at_a_time_if_needed(function)
    arrays = [np.zeros((64, 2000)) for _ in range(8)]

    def run(array):
        for _ in range(20):
            function(array)

    threads = [threading.Thread(target=run, args=(each,)) for each in arrays]
    [each.start() for each in threads]
    [each.join() for each in threads]
    wanted = 20 * np.outer(np.arange(64), np.arange(2000))
    assert all((each == wanted).all() for each in arrays)
    print(numba.threading_layer())
"""


@pytest.mark.parametrize("layer", ["workqueue", "omp"])
def test_eight_threads_in_one_parallel_function(tmp_path, layer):
    """Without the lock numba aborts the process when its workqueue layer is entered twice."""
    if layer == "omp" and importlib.util.find_spec("numba.np.ufunc.omppool") is None:
        pytest.skip("this numba has no OpenMP layer")
    script = EIGHT_THREADS.format(folder=str(tmp_path))
    settings = {"NUMBA_THREADING_LAYER": layer, "NUMBA_NUM_THREADS": "2"}
    assert in_fresh_python(script, TOTAL, **settings).strip() == layer


def test_without_its_compiler_numba_runs_what_checks_its_indices() -> None:
    text = """
import numpy as np
from astile import from_source

take = from_source(
    "def take(x, k, y):\\n    for i in range(len(k)):\\n        y[i] = x[k[i]]\\n", target="cpu"
)
y = np.zeros(2)
take(np.arange(3.0), np.array([2, 1]), y)
try:
    take(np.arange(3.0), np.array([2, 3]), y)
except IndexError:
    print(y)
"""
    settings = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    found = subprocess.run(
        [sys.executable, "-c", text], env=settings, capture_output=True, text=True, check=True
    )
    assert found.stdout == "[2. 1.]\n"
