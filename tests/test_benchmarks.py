"""The benchmark compares before it measures, and prints what its readers rely on."""

from __future__ import annotations

import importlib
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from astile import Schedule, tile
from benchmarks import cpu, measure, worker
from benchmarks.measure import Machine, Record
from benchmarks.peers import numba_peer
from benchmarks.workload import blank
from benchmarks.workloads import WORKLOADS, conv

ASTILE = Record("blur", 1, "astile", 0.004, 0.003, 0.0015, "schedule", 1.0, 0.0025)
OTHER = Record("blur", 1, "numpy", 0.008, 0.007, 0.0015, "arrays", 0.1, 0.0025)
TWO = Record("blur", 2, "numpy", 0.002, 0.002, None, "arrays", 0.1, None)


def test_lines_of_json_have_the_keys_that_others_read():
    assert list(ASTILE.as_dict()) == [
        "workload",
        "threads",
        "peer",
        "median_s",
        "min_s",
        "limit_s",
    ]


def test_the_table_compares_medians_with_those_of_astile():
    table = cpu.table([ASTILE, OTHER, TWO])
    columns = {str(each.header): list(each.cells) for each in table.columns}
    assert columns["astile is faster by"] == ["", "2.00", ""]
    assert columns["of limit"] == ["50%", "21%", ""]


@pytest.mark.parametrize(
    "arguments", [["--only", "blurr"], ["--peers", "cobol"], ["--threads", "two"]]
)
def test_what_is_not_known_is_refused(arguments):
    found = CliRunner().invoke(cpu.main, arguments)
    assert found.exit_code == 2
    assert arguments[1] in found.output


def test_a_wrong_result_is_not_measured():
    expected = np.arange(4.0)
    worker.require_close(expected.astype(np.float32), expected, WORKLOADS["blur"])
    for wrong in (expected + 0.01, np.full(4, np.nan)):
        with pytest.raises(worker.DifferenceError):
            worker.require_close(wrong, expected, WORKLOADS["blur"])


def test_the_limit_is_the_slower_of_arithmetic_and_memory():
    machine = Machine()
    machine.see({"flops": 1e9, "streamed": 1e9, "copied": 5e8})
    machine.see({"flops": 2e9, "streamed": 1e8, "copied": 1e8})
    blur, matmul = WORKLOADS["blur"], WORKLOADS["matmul1024"]
    assert machine.seconds(blur, "streamed") == blur.bytes / 1e9
    assert machine.seconds(blur, "copied") == blur.bytes / 5e8
    assert machine.seconds(matmul, "streamed") == matmul.flops / 2e9


def test_plain_numba_gets_the_loops_that_may_run_on_cores():
    for workload in WORKLOADS.values():
        loops, prange = (numba_peer.text(workload, each) for each in (False, True))
        assert all(f"for {each} in range(" in loops for each in workload.on_cores)
        assert all(f"for {each} in prange(" in prange for each in workload.on_cores)
        compile(prange, workload.name, "exec")


def test_arrays_begin_where_streaming_stores_work():
    made = blank(3, 5)
    assert made.ctypes.data % 64 == 0
    assert made.shape == (3, 5)


def test_exact_arguments_leave_integers_as_they_are():
    assert measure._exact(3) == 3
    assert measure._exact(np.ones(2, np.float32)).dtype == np.float64
    assert measure._exact(np.ones(2, np.int32)).dtype == np.int32


# --- the one for a GPU, without one ---------------------------------------------------------------


class _OnDevice(np.ndarray[Any, np.dtype[Any]]):
    def copy_to_host(self) -> Any:
        return np.array(self)

    def copy_to_device(self, other: Any) -> None:
        self[...] = other


class _Event:
    def record(self) -> None:
        self.at = time.perf_counter()

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, later: Any) -> float:
        return float(later.at - self.at) * 1e3


_CUDA = SimpleNamespace(
    is_available=lambda: True,
    event=_Event,
    to_device=lambda array: np.array(array).view(_OnDevice),
    device_array=lambda size, dtype: np.zeros(8, dtype).view(_OnDevice),
    device_array_like=lambda array: array.copy(),
)


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """`benchmarks.gpu_device` with the emulator in place of a GPU, for one small case."""
    try:
        device = importlib.import_module("benchmarks.gpu_device")
        cases = importlib.import_module("benchmarks.gpu_cases")
    except (ImportError, RuntimeError, OSError) as error:
        pytest.skip(f"numba.cuda does not import here: {error}")
    build = Schedule.build

    def emulated(s: Schedule, target: str) -> Any:
        kernel = build(s, "emulate")
        return lambda *arguments: kernel(*map(np.asarray, arguments))

    monkeypatch.setattr(Schedule, "build", emulated)
    monkeypatch.setattr(device, "cuda", _CUDA)
    monkeypatch.setattr(device, "_CALLS", 1)
    monkeypatch.setattr(device, "_ROUNDS", 1)
    monkeypatch.setitem(cases._SIZES, "blur", (5, 7))
    return device


def test_what_runs_on_a_gpu_is_compared_and_timed(on_gpu: Any) -> None:
    told: list[str] = []
    copied, *_, record = on_gpu.measured("blur", 300.0, told.append)
    assert copied["gbytes"] > 0
    assert (record["case"], record["who"]) == ("blur", "astile")
    assert record["difference"] < 1e-6
    assert record["seconds"] > 0


def test_a_peer_that_fails_is_told(on_gpu: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise RuntimeError("no memory")

    told: list[str] = []
    monkeypatch.setattr(on_gpu.gpu_peers, "peers", failing)
    records = list(on_gpu.measured("blur", 300.0, told.append))
    assert not any("error" in each for each in records)
    assert "blur: a peer failed: RuntimeError: no memory" in told


def test_nothing_is_begun_without_time(on_gpu: Any) -> None:
    told: list[str] = []
    assert all(each["who"] != "astile" for each in on_gpu.measured("blur", 1.0, told.append))
    assert "blur: no time is left" in told


def test_the_convolution_keeps_its_values_where_no_tile_is_whole():
    kernel = tile(schedule=lambda s: conv.tiled(s, maps=2), target="cpu")(conv.conv32)
    random = np.random.default_rng(5)
    for maps, width in ((1, 1), (2, 32), (3, 33), (5, 70)):
        shapes = (2, 4, width + 2), (maps, 2, 3, 3), (maps, 2, width)
        x, w, residual = (random.normal(size=e).astype(np.float32) for e in shapes)
        wanted = residual.astype(np.float64)
        for p, q in np.ndindex(3, 3):
            part = x[:, p : p + 2, q : q + width]
            wanted += np.einsum("mc,cij->mij", w[:, :, p, q], part)
        out = np.full_like(residual, np.nan)
        kernel(x, w, residual, out)
        np.testing.assert_allclose(out, np.maximum(wanted, 0), rtol=1e-5, atol=1e-5)
