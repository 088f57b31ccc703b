"""Kernels: made by every form of `@tile`, called as the plain function, looked at, refused."""

import functools
import inspect
import os
import pickle  # noqa: TID251 - kernels travel between processes by name
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

from astile import Kernel, Schedule, from_source, tile
from astile.errors import (
    ArgumentError,
    AstileError,
    IllegalSchedule,
    LoweringError,
    ScheduleError,
    SourceError,
)
from astile.runtime import compile as compiling
from astile.runtime.specialize import Specializer

TARGETS = ["python", "cpu", "emulate"]


def conv_add(x, w, bias, out):
    """Convolve, then add."""
    conv = np.empty((out.shape[0], out.shape[1]), np.float32)
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            conv[i, j] = 0.0
            for di in range(3):
                for dj in range(3):
                    conv[i, j] += w[di, dj] * x[i + di, j + dj]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = conv[i, j] + bias[i, j]


def arguments(height=19, width=23):
    rng = np.random.default_rng(0)
    shapes = {"x": (height + 2, width + 2), "w": (3, 3), "bias": (height, width)}
    made = {name: rng.random(shape, np.float32) for name, shape in shapes.items()}
    return made | {"out": np.zeros((height, width), np.float32)}


@functools.cache
def expected(height=19, width=23):
    values = arguments(height, width)
    conv_add(**values)
    return values["out"]


def split_both(s: Schedule) -> None:
    s.split("out.i", [None, 8])
    s.split("out.j", [None, 8])


def scale(a, factor=2.0, *, offset=0.0):
    for i in range(a.shape[0]):
        a[i] = a[i] * factor + offset
    return a


def shift(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


shift_kernel = tile(i=4)(shift)


class OnDevice:
    """Three float64 as a GPU library shows them; their memory is never touched."""

    def __init__(self, address):
        self.__cuda_array_interface__ = {
            "shape": (3,), "typestr": "<f8", "data": (address, False), "strides": None,
            "version": 3,
        }  # fmt: skip


# --- runs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "options",
    [{}, {"i": 8, "j": 8}, {"tiles": {"i": 8, "j": 16}}, {"schedule": split_both}],
    ids=["bare", "sizes", "tiles", "schedule"],
)
def test_every_form_gives_the_plain_result(options, target):
    values = arguments()
    kernel = tile(target=target, **options)(conv_add)
    assert kernel(**values) is None
    np.testing.assert_allclose(values["out"], expected(), rtol=1e-5)


def test_bare_decorator():
    kernel = tile(conv_add)
    assert isinstance(kernel, Kernel)
    values = arguments()
    kernel(*values.values())
    np.testing.assert_allclose(values["out"], expected(), rtol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_defaults_keywords_and_returned_argument(target):
    kernel = tile(i=4, target=target)(scale)
    a = np.arange(10.0)
    assert kernel(a) is a
    np.testing.assert_array_equal(a, np.arange(10.0) * 2)
    kernel(factor=0.5, a=a, offset=1.0)
    np.testing.assert_array_equal(a, np.arange(10.0) + 1)


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_returned_number(target):
    assert tile(i=4, target=target)(total)(np.arange(10.0)) == 45.0


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 11])
def test_awkward_sizes(size):
    a, b = np.arange(float(size)), np.zeros(size)
    shift_kernel(a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_one_kernel_for_several_dtypes():
    for dtype in (np.float32, np.float64, np.int32):
        a, b = np.arange(9).astype(dtype), np.zeros(9, dtype)
        shift_kernel(a, b)
        np.testing.assert_array_equal(b, a + 1)


def test_auto_prefers_numba_and_does_without():
    assert tile(shift)._default_target() == "cpu"
    script = """
        import importlib.util, sys
        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *rest: name != "numba" and find(name, *rest) or None
        import numpy as np
        from astile import from_source
        kernel = from_source("def f(a):\\n    for i in range(len(a)):\\n        a[i] = i\\n", i=4)
        a = np.zeros(6)
        kernel(a)
        print(a.tolist(), "numba" in sys.modules)
    """
    assert in_fresh_python(script) == "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0] False\n"


NOT_COMPILED = """
import numpy as np

def step(a, b):
    for i in range(a.shape[0]):
        b[i] = np.i0(a[i])
"""


def test_what_numba_cannot_compile_runs_as_python_with_one_warning():
    kernel = from_source(NOT_COMPILED)
    a, b = np.arange(4.0), np.zeros(4)
    with pytest.warns(RuntimeWarning, match="step runs as plain Python: numba cannot") as seen:
        kernel(a, b)
    assert [each.filename for each in seen] == [__file__]
    kernel(a, b)  # warns no more
    np.testing.assert_array_equal(b, np.i0(a))


def test_what_numba_cannot_compile_is_refused_where_it_is_asked_for():
    kernel = from_source(NOT_COMPILED, target="cpu")
    with pytest.raises(LoweringError, match="numba cannot compile") as caught:
        kernel(np.arange(4.0), np.zeros(4))
    assert "<source>:6" in str(caught.value)


def test_from_source():
    text = "OFFSET = 3\n\ndef add(a):\n    for i in range(len(a)):\n        a[i] += OFFSET\n"
    for kernel in (from_source(text, i=4), from_source(text, "add", target="python")):
        a = np.zeros(5)
        kernel(a)
        assert a.tolist() == [3.0] * 5
        assert kernel.__name__ == "add"


def test_nested_function_with_closure():
    weight = 3.0

    @tile(i=4)
    def nested(a):
        for i in range(len(a)):
            a[i] *= weight

    a = np.ones(5)
    nested(a)
    assert a.tolist() == [3.0] * 5


# --- overlap ------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["python", "cpu"])
def test_overlap_runs_the_original_loops(target):
    kernel = tile(i=4, target=target)(shift)
    base, plain = np.zeros(20), np.zeros(20)
    shift(plain[:-1], plain[1:])  # each cell depends on the one before
    kernel(base[:-1], base[1:])
    np.testing.assert_array_equal(base, plain)
    assert base[-1] == 19
    kernel(base, base)
    np.testing.assert_array_equal(base, plain + 1)


def test_overlap_on_a_gpu_is_refused():
    base = np.zeros(20)
    with pytest.raises(ArgumentError, match="'a' and 'b' overlap in memory") as caught:
        tile(i=4, target="emulate")(shift)(base[:-1], base[1:])
    assert "pass b.copy()" in str(caught.value)
    assert not base.any()
    with pytest.raises(ArgumentError, match="'a' and 'b' overlap in memory"):
        shift_kernel(OnDevice(4096), OnDevice(4096 + 8))


# --- looks like the function --------------------------------------------------------------------


def test_name_document_and_signature_are_kept():
    kernel = tile(conv_add)
    assert kernel.__wrapped__ is conv_add
    assert (kernel.__name__, kernel.__module__) == (conv_add.__name__, __name__)
    assert kernel.__doc__ == "Convolve, then add."
    assert inspect.signature(kernel) == inspect.signature(conv_add)
    assert repr(kernel) == "<Kernel conv_add for target 'auto'>"


def test_pickles_by_name_as_functions_do():
    kernel = tile(i=4)(shift)
    module = sys.modules[__name__]
    kernel.__qualname__ = "shift_kernel"
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(kernel)  # another object has that name
    before = module.shift_kernel.__qualname__
    module.shift_kernel.__qualname__ = "shift_kernel"
    try:
        assert pickle.loads(pickle.dumps(module.shift_kernel)) is module.shift_kernel  # noqa: S301
    finally:
        module.shift_kernel.__qualname__ = before


def test_steps_and_schedule():
    kernel = tile(schedule=split_both)(conv_add)
    assert [each.call.split("(")[0] for each in kernel.steps] == ["split", "split"]
    copied = kernel.schedule
    copied.undo()
    assert len(copied.steps) == 1
    assert len(kernel.steps) == 2


@pytest.mark.parametrize("target", ["python", "cpu", "cuda"])
def test_source_and_emit(tmp_path, target):
    kernel = tile(i=4)(shift)
    text = kernel.source(target)
    compile(text, "text", "exec")
    assert "def shift(a, b" in text
    assert ("import astile" in text or "from astile" in text) <= (target == "python")
    kernel.emit(tmp_path / "k.py", target)
    assert (tmp_path / "k.py").read_text() == text


def test_emitted_module_runs_by_itself(tmp_path):
    types = {"a": "float64", "b": np.float64}
    tile(i=4)(shift).emit(tmp_path / "emitted.py", "cpu", types)
    script = """
        import sys
        import numpy as np
        from emitted import shift
        b = np.zeros(6)
        shift(np.arange(6.0), b)
        print(b.tolist(), "astile" in sys.modules)
    """
    printed = in_fresh_python(script, PYTHONPATH=str(tmp_path))
    assert printed == "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] False\n"


@pytest.mark.parametrize("target", ["python", "cpu", "emulate", "cuda"])
def test_the_program_of_a_kernel_is_that_of_its_own_target(target):
    kernel = tile(target=target)(conv_add)
    assert kernel.source() == kernel.schedule.source()
    assert ("thread.x(" in kernel.source()) == (target in ("emulate", "cuda"))


def test_source_of_emulate_is_the_cuda_text():
    kernel = tile(i=4)(shift)
    assert kernel.source("emulate") == kernel.source("cuda")
    assert kernel.source() == kernel.source("python")


def test_check_reports_every_step_and_target():
    kernel = tile(schedule=split_both)(conv_add)
    values = arguments(5, 7)
    report = kernel.check(**values)
    labels = [each.label.split(":")[0] for each in report.rows]
    assert labels == [
        "plain function", "step 1", "step 2",
        "target python", "target cpu", "target emulate", "target cuda",
    ]  # fmt: skip
    assert [each.compared for each in report.rows[1:3]] == ["bit-equal"] * 2
    assert not values["out"].any()
    assert "plain function" in str(report)


def test_kernel_of_a_schedule():
    s = Schedule(conv_add)
    split_both(s)
    kernel = s.build("python")
    s.undo()
    assert len(kernel.steps) == 2
    values = arguments()
    kernel(**values)
    np.testing.assert_allclose(values["out"], expected(), rtol=1e-5)
    plain = arguments()
    kernel.__wrapped__(**plain)
    np.testing.assert_array_equal(plain["out"], expected())


# --- threads ------------------------------------------------------------------------------------


def test_eight_threads_compile_once_and_agree(monkeypatch):
    made = []
    lower = Specializer._lower

    def counted(self, *rest):
        made.append(self.target)
        return lower(self, *rest)

    monkeypatch.setattr(Specializer, "_lower", counted)
    kernel = tile(i=8, j=8, target="cpu")(conv_add)
    start = threading.Barrier(8)
    every = [arguments() for _ in range(8)]
    failures = []

    def run(values):
        try:
            start.wait()
            for _ in range(5):
                kernel(**values)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(each,)) for each in every]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not failures
    assert made == ["cpu"]
    for values in every:
        np.testing.assert_allclose(values["out"], expected(), rtol=1e-5)


def in_fresh_python(script: str, **environment: str) -> str:
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


# --- CUDA ---------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not compiling.cuda_importable(), reason=f"numba.cuda: {compiling.why_no_cuda()}"
)
def test_numpy_arrays_through_the_simulator_with_one_warning(tmp_path):
    script = """
        import warnings
        import numpy as np
        from astile import from_source
        text = '''
        def shift(a, b):
            for i in range(a.shape[0]):
                b[i] = a[i] + 1.0
            return b
        '''
        kernel = from_source(text, i=4, target="cuda")
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            for size in (6, 5, 0):
                a, b = np.arange(float(size)), np.zeros(size)
                assert kernel(a, b) is b
                assert (b == a + 1).all(), b
        seen = [each for each in seen if "copied to the GPU" in str(each.message)]
        print([(str(each.message).split(":")[0], each.filename) for each in seen])
    """
    printed = in_fresh_python(script, NUMBA_ENABLE_CUDASIM="1")
    assert printed == "[('shift', '<string>')]\n"


@pytest.mark.skipif(compiling.has_cuda_device(), reason="there is a GPU here")
def test_device_arrays_choose_cuda_and_say_what_is_missing():
    with pytest.raises(LoweringError, match="target 'cuda' cannot run here"):
        shift_kernel(OnDevice(4096), OnDevice(8192))


def test_tile_sizes_may_be_integers_of_numpy():
    def double(x):
        for i in range(len(x)):
            x[i] *= 2

    assert "range(4)" in tile(i=np.int64(4))(double).source()
    assert tile(tiles={})(double).source() == tile(double).source()


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "gpu"}, "there is no target 'gpu'"),
        ({"target": "cupy"}, "did you mean 'cpu'"),
        ({"i": 0}, "tile size of loop 'i' is 0, not a positive integer"),
        ({"i": True}, "is True"),
        ({"i": 2.5}, "is 2.5"),
        ({"targt": "cpu"}, "did you mean 'target'"),
        ({"i": 4, "tiles": {"i": 8}}, "loop 'i' has two sizes: 4 and 8"),
        ({"i": 4, "schedule": split_both}, "not both"),
        ({"schedule": 3}, "schedule is a int, not a function"),
        ({"k": 4}, "no loop named 'k'"),
    ],
)
def test_options_that_do_not_fit(options, message):
    with pytest.raises(ScheduleError, match=message):
        tile(**options)(shift)


@pytest.mark.parametrize("given", [(16,), (16, 16), (shift, 16), (None, 16)])
def test_size_without_its_loop(given):
    with pytest.raises(ScheduleError, match=r"write @tile\(i=16, j=16\)"):
        tile(*given)


@pytest.mark.parametrize("value", [np.zeros(3), 2.5, max, "shift"], ids=type)
def test_what_is_no_function_is_told_as_such(value):
    with pytest.raises(SourceError, match="function"):
        tile(value)


def test_tiles_that_are_refused_say_what_would_make_them_legal():
    def slanted(x):
        for i in range(1, x.shape[0]):
            for j in range(x.shape[1] - 1):
                x[i, j] = x[i - 1, j + 1] + 1

    with pytest.raises(IllegalSchedule) as caught:
        tile(i=4, j=4)(slanted)
    assert caught.value.diagnostic.operation == "tile(['i', 'j'], [4, 4])"
    assert caught.value.diagnostic.hints == ("`skew('i', 'j', 1)` first makes this legal",)


def test_errors_of_a_schedule_show_at_decoration():
    def wrong(s):
        s.split("nothing", [None, 8])

    with pytest.raises(ScheduleError, match="nothing"):
        tile(schedule=wrong)(shift)


def test_unknown_scratch_array():
    with pytest.raises(SourceError, match="bb"):
        tile(scratch=("bb",))(shift)


def test_calls_that_do_not_fit_raise_type_error_as_the_plain_function():
    for call in (lambda f: f(), lambda f: f(1, 2, 3), lambda f: f(1, 2, c=3)):
        with pytest.raises(TypeError):
            call(shift)
        with pytest.raises(TypeError, match=r"shift\(\) "):
            call(shift_kernel)


def test_wrong_arguments_are_refused_before_anything_runs():
    with pytest.raises(ArgumentError, match="argument 'b' is a list"):
        shift_kernel(np.zeros(3), [0.0] * 3)
    with pytest.raises(ArgumentError, match="read-only"):
        shift_kernel(np.zeros(3), np.broadcast_to(0.0, 3))


def test_index_out_of_bounds_is_refused_before_anything_runs():
    kernel = from_source("def fill(a, n):\n    for i in range(n):\n        a[i] = 1.0\n", i=4)
    a = np.zeros(3)
    with pytest.raises(ArgumentError) as caught:
        kernel(a, 4)
    assert "a[i] leaves a: along axis 0, of length 3" in str(caught.value)
    assert "<source>:3:9" in str(caught.value)
    assert not a.any()
    kernel(a, 3)
    assert a.all()


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_index_that_no_size_decides_is_checked_where_it_is_used(target):
    text = "def pick(a, at, b):\n    for i in range(len(b)):\n        b[i] = a[at[i]]\n"
    kernel = from_source(text, i=4, target=target)
    a, b = np.arange(5.0), np.zeros(9)
    at = np.arange(9) % 5
    kernel(a, at, b)
    assert b.tolist() == at.tolist()
    for wrong in (5, -6, 1 << 40):
        at[7] = wrong
        with pytest.raises((IndexError, AstileError), match=r"out of bounds|outside|index"):
            kernel(a, at, b)
    at[7] = -1
    if target != "emulate":
        kernel(a, at, b)
        assert b[7] == 4.0


def test_check_of_overlapping_arrays_is_refused():
    a = np.zeros(5)
    with pytest.raises(ArgumentError, match="runs the original loops"):
        shift_kernel.check(a, a)


@pytest.mark.parametrize("text", ["def f(:", "x = 3", "def f(a): ...\ndef g(a): ..."])
def test_from_source_refuses(text):
    with pytest.raises(SourceError):
        from_source(text)


def test_from_source_names_the_nearest():
    with pytest.raises(SourceError, match="did you mean 'scale'"):
        from_source("def scale(a):\n    a[0] = 1\n", "scal")
