"""Calls of generated functions: by position and name, on the host, and on a GPU with copies."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from astile.errors import ArgumentError
from astile.runtime import compile as compiling
from astile.runtime import streams
from astile.runtime.arguments import Checked
from astile.runtime.arrays import array_facts
from astile.runtime.launch import Launcher


def checked(**values):
    found = {name: array_facts(name, value) for name, value in values.items()}
    return Checked(values, {name: each for name, each in found.items() if each}, ())


class OnDevice:
    __cuda_array_interface__ = {  # noqa: RUF012
        "shape": (3,), "typestr": "<f8", "data": (4096, False), "strides": None, "version": 3,
    }  # fmt: skip


# --- host ---------------------------------------------------------------------------------------


def test_arguments_by_position_and_by_name():
    def function(a, b, /, *, c):
        return a, b, c

    launcher = Launcher(function, "python", ["a", "b"], ["c"], ())
    assert launcher(checked(c=3, b=2, a=1)) == (1, 2, 3)


def test_host_arrays_are_handed_over_as_they_are():
    a = np.zeros(3)
    assert Launcher(lambda a: a, "cpu", ["a"], [], {"a"})(checked(a=a)) is a


@pytest.mark.parametrize("target", ["python", "cpu", "emulate"])
def test_device_arrays_cannot_be_reached_from_the_host(target):
    def never(a):
        raise AssertionError("it was called")

    with pytest.raises(ArgumentError, match=f"memory of a GPU; target '{target}' reads the host"):
        Launcher(never, target, ["a"], [], ())(checked(a=OnDevice()))


def test_device_arrays_go_to_the_gpu_as_they_are():
    a = OnDevice()
    assert Launcher(lambda a: a, "cuda", ["a"], [], ())(checked(a=a)) is a


# --- with copies, in numba's simulator ------------------------------------------------------------


HOST = """
import numpy as np
from numba import cuda


@cuda.jit
def axpy_kernel(x, y, factor):
    i = cuda.grid(1)
    if i < y.shape[0]:
        y[i] += factor * x[i]


def axpy(x, y, factor):
    made = cuda.device_array(y.shape, y.dtype)
    if y.size:
        axpy_kernel[(y.size + 7) // 8, 8](x, y, factor)
        axpy_kernel[(y.size + 7) // 8, 8](y, made, 0.0)
        made.copy_to_device(y)
    return y, made, factor
"""
SCRIPT = """
import json, sys
import numpy as np
from astile.runtime.arguments import Checked
from astile.runtime.arrays import array_facts
from astile.runtime.launch import Launcher
from astile.runtime.load import load

function = load(sys.stdin.read(), "axpy", cache_dir=sys.argv[1])

def call(x, y, may_write=("y",)):
    values = {"x": x, "y": y, "factor": 2.0}
    arrays = {name: array_facts(name, values[name]) for name in "xy"}
    launcher = Launcher(function, "cuda", ["x", "y", "factor"], [], may_write)
    return launcher(Checked(values, arrays, ()))

base = np.zeros((5, 4))
x, y = np.arange(10.0)[::-2], base[:, 1]
returned, made, factor = call(x, y)
empty = np.zeros(0)
frozen = np.ones(5)
call(x, frozen, may_write=())
print(json.dumps({
    "column": base.tolist(),
    "same": returned is y,
    "made": [type(made).__name__, made.tolist()],
    "factor": factor,
    "empty": call(empty, empty)[0] is empty,
    "frozen": frozen.tolist(),
    "x": x.tolist(),
}))
"""


@pytest.mark.skipif(
    not compiling.cuda_importable(), reason=f"numba.cuda: {compiling.why_no_cuda()}"
)
def test_copies_to_the_gpu_and_back(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        input=HOST,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout)
    wanted = [18.0, 14.0, 10.0, 6.0, 2.0]
    assert told["column"] == [[0, each, 0, 0] for each in wanted]
    assert told["same"]
    assert told["made"] == ["ndarray", wanted]
    assert told["factor"] == 2.0
    assert told["empty"]
    assert told["frozen"] == [1.0] * 5  # not written, so not copied back
    assert told["x"] == [9.0, 7.0, 5.0, 3.0, 1.0]


# --- streams ------------------------------------------------------------------------------------


class Events:
    """Stands for numba.cuda: notes who waits for whom."""

    def __init__(self):
        self.log = []

    def default_stream(self):
        return "own"

    def external_stream(self, handle):
        return f"stream {handle}"

    def event(self, timing):
        assert not timing
        events = self

        class Event:
            def record(self, stream):
                self.recorded = stream

            def wait(self, stream):
                events.log.append(f"{stream} after {self.recorded}")

        return Event()


def on_stream(handle):
    made = OnDevice()
    made.__cuda_array_interface__ = {**OnDevice.__cuda_array_interface__, "stream": handle}
    return made


def test_kernels_run_in_order_with_the_streams_of_the_caller(monkeypatch):
    events = Events()
    monkeypatch.setattr(compiling, "_cuda", lambda: events)

    def function(a, b, c, d):
        events.log.append("kernels")
        return a

    launcher = Launcher(function, "cuda", ["a", "b", "c", "d"], [], ())
    arrays = {"a": on_stream(77), "b": on_stream(1), "c": on_stream(78), "d": on_stream(77)}
    assert launcher(checked(**arrays)) is arrays["a"]
    assert events.log == [
        "own after stream 77",
        "own after stream 78",
        "kernels",
        "stream 77 after own",
        "stream 78 after own",
    ]


def test_what_fails_leaves_the_streams_in_order(monkeypatch):
    events = Events()
    monkeypatch.setattr(compiling, "_cuda", lambda: events)

    def fails(a):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Launcher(fails, "cuda", ["a"], [], ())(checked(a=on_stream(5)))
    assert events.log == ["own after stream 5", "stream 5 after own"]


def test_the_default_stream_needs_no_order(monkeypatch):
    monkeypatch.setattr(compiling, "_cuda", lambda: pytest.fail("numba.cuda is not needed"))
    launcher = Launcher(lambda a, b: b, "cuda", ["a", "b"], [], ())
    launcher(checked(a=on_stream(None), b=OnDevice()))


def test_arrays_of_pytorch_are_worked_on_in_its_current_stream(monkeypatch):
    class Tensor(OnDevice):
        device = "cuda:0"

    current = SimpleNamespace(cuda_stream=99)
    cuda = SimpleNamespace(current_stream={"cuda:0": current}.__getitem__)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=Tensor, cuda=cuda))
    facts = array_facts("a", Tensor())
    assert facts is not None
    assert streams.of_callers([facts]) == [99]
    current.cuda_stream = 0
    assert streams.of_callers([facts]) == []
    other = array_facts("b", OnDevice())
    assert other is not None
    assert streams.of_callers([other]) == []
