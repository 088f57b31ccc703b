"""What `kernel.explain` counts, against counts of runs in plain Python."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest

from astile import Schedule, tile
from astile.analysis.traffic import measure, operations
from astile.errors import ArgumentError
from astile.report import human
from tests.cases import corpus
from tests.differential import kernels, schedules
from tests.support.counted import counted


def agree(program, arguments):
    """Compare the counts of a program; the arrays for which they are exact."""
    shapes = {name: v.shape for name, v in arguments.items() if isinstance(v, np.ndarray)}
    integers = {name: int(v) for name, v in arguments.items() if isinstance(v, (int, np.integer))}
    found = measure(program, shapes, integers)
    counts = counted(program, arguments, operations)
    ran = [
        number
        for number in counts.operations
        if any((counts.read[number], counts.written[number], counts.operations[number]))
    ]
    assert len(ran) == len(found.nests)
    for number, nest in zip(ran, found.nests, strict=True):
        if not nest.is_exact:
            continue
        assert nest.operations == counts.operations[number]
        for measured, seen in (
            (nest.read, counts.read[number]),
            (nest.written, counts.written[number]),
        ):
            exact = {name: len(cells) for name, cells in seen.items() if cells}
            assert {k: v for k, v in measured.items() if k not in found.estimated} == {
                k: v for k, v in exact.items() if k not in found.estimated
            }
            assert all(exact[name] <= measured[name] for name in exact)  # an upper limit
        _agree_on_footprints(nest, number, counts, found.estimated)
    return {name for nest in found.nests for name in nest.cells} - found.estimated


def _agree_on_footprints(nest, number, counts, estimated):
    loops = [iterations for (n, _), iterations in sorted(counts.footprints.items()) if n == number]
    assert len(loops) == len(nest.footprints) - 1
    for footprint, iterations in zip(nest.footprints[1:], loops, strict=True):
        exact = {k: v for k, v in footprint.cells.items() if k not in estimated}
        assert exact in [{k: v for k, v in e.items() if k not in estimated} for e in iterations]


def corpus_arguments(name):
    module = corpus.load(name)
    function = getattr(module, module.META["function"])
    given, _ = module.make_args(module.SIZES[-1], 0)
    bound = inspect.signature(function).bind(*given)
    bound.apply_defaults()
    return function, bound.arguments


#: Programs that use arrays in other ways than index by index, which no run in Python counts.
NOT_COUNTED = ("blocked_rowops", "slice_ops")


@pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")
@pytest.mark.parametrize("name", [e for e in corpus.programs() if e not in NOT_COUNTED])
def test_counts_of_the_corpus_are_those_of_a_run(name):
    function, arguments = corpus_arguments(name)
    kernel = tile(target="python")(function)
    agree(kernel.schedule.original, arguments)
    agree(kernel.schedule.program, arguments)


@pytest.mark.parametrize("tile_size", [(4, 4), (3, 5)])
@pytest.mark.parametrize("apply", [schedules.on_host, schedules.on_blocks])
def test_counts_of_tiled_stages_are_those_of_a_run(tile_size, apply):
    s = Schedule(kernels.conv_add)
    apply(s, ("conv",), tile_size)
    g = np.random.default_rng(0)
    arguments = {"x": g.random((15, 13)), "w": g.random((3, 3)), "bias": g.random((13, 11))}
    arguments["out"] = np.zeros((13, 11))
    names = list(inspect.signature(kernels.conv_add).parameters)
    agree(s.program, dict(zip(names, arguments.values(), strict=True)))


# --- the report -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def report():
    shapes = {"x": (226, 226), "w": (3, 3), "bias": (224, 224), "out": (224, 224)}
    return tile(i=16, j=16, target="cuda")(kernels.conv_add).explain(**shapes)


def test_the_report_of_conv_and_add(report, golden):
    golden("explain/conv_add.txt", str(report))


def test_the_numbers_of_conv_and_add(report):
    found = report.to_dict()
    json.dumps(found)
    assert report.before.bytes_moved == 4 * (226**2 + 9 + 4 * 224**2)
    assert report.after.bytes_moved == 4 * (226**2 + 9 + 2 * 224**2)
    assert report.before.operations == report.after.operations == 224 * 224 * 19
    [launch] = report.launches
    assert (launch.grid, launch.block) == ((14, 14, 1), (16, 16, 1))
    assert launch.shared_bytes == 16 * 16 * 4
    tile_ = next(each for each in report.after.nests[0].footprints if each.kind == "block.x")
    assert tile_.cells["x"] == 18 * 18


def test_values_computed_again_are_told():
    s = Schedule(kernels.blur)
    schedules.on_host(s, ("rows",), (8, 8))
    report = s.build("python").explain((34, 34), (32, 32))
    again = 32 * 32 // 64 * (10 * 8) * 2 - 34 * 32 * 2
    assert report.after.operations - report.before.operations == again
    assert any("more operations" in each for each in report.notes)


def test_arrays_and_numbers_are_taken_for_their_sizes():
    def scale(x, n, out):
        for i in range(n):
            out[i] = 2 * x[i]

    kernel = tile(target="python")(scale)
    report = kernel.explain(np.zeros(9), 5, (9,))
    assert report.before.bytes_moved == 5 * 8 + 5 * 4  # float64 as given, float32 for a shape
    with pytest.raises(ArgumentError, match="the value of n"):
        kernel.explain((9,), out=(9,))
    with pytest.raises(ArgumentError, match="the shape of out"):
        kernel.explain((9,), 5)
    with pytest.raises(ArgumentError, match="has 1 axes"):
        kernel.explain((9, 9), 5, (9,))


def test_threads_far_apart_in_memory_are_told():
    def turned(x, out):
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                out[j, i] = x[i, j]

    s = Schedule(turned)
    i, j = s.loops()
    s.bind(i, "blockIdx.x")
    s.bind(j, "threadIdx.x")
    found = s.build("python").explain((64, 32), (32, 64))
    assert [each for each in found.notes if "far apart" in each] == [
        "out[j, i]: neighbouring threads touch cells that are far apart in memory"
    ]


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (200704, "196 KiB")]
)
def test_sizes_as_people_read_them(size, text):
    assert human(size) == text
