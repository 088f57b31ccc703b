"""What `kernel.explain` counts, against counts of runs in plain Python."""

from __future__ import annotations

import inspect
import json
from math import prod

import numpy as np
import pytest

from astile import Schedule, tile
from astile.analysis.counts.traffic import measure
from astile.errors import ArgumentError
from astile.report import human
from tests.cases import corpus
from tests.differential import kernels, schedules
from tests.support.counted import agree
from tests.support.counted_launches import counted as emulated
from tests.support.recipes import RECIPES, small, transpose


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


def of_recipe(recipe):
    given = recipe.arguments(*max(recipe.at, key=prod))
    return dict(zip(inspect.signature(recipe.kernel).parameters, given, strict=True))


@pytest.mark.parametrize(
    "recipe", [each for each in RECIPES if each.barriers is not None], ids=lambda each: each.name
)
def test_counts_of_recipes_are_those_of_the_emulator(recipe):
    s, given = small(recipe), of_recipe(recipe)
    shapes = {name: each.shape for name, each in given.items()}
    nests = measure(s.program, shapes, {}).nests
    launches = emulated(s, tuple(given.values())).launches
    for name in given:
        written = max((each.written.get(name, 0) for each in nests), default=0)
        read = max((each.read.get(name, 0) for each in nests), default=0)
        every = [each.arrays[name] for each in launches if name in each.arrays]
        assert max((each.cells_written for each in every), default=0) == written, name
        if not written:
            assert max((each.cells_read for each in every), default=0) == read, name


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


def test_shapes_that_a_call_would_refuse_are_refused():
    kernel = tile(copied_from_behind)
    assert kernel.explain((9,), (8,)).before.bytes_moved == 64
    with pytest.raises(ArgumentError, match="leaves x: along axis 0, of length 8") as caught:
        kernel.explain((8,), (8,))
    assert caught.value.code == "argument.bounds"


def copied_from_behind(x, out):
    for i in range(len(out)):
        out[i] = x[i + 1]


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
        "out[j, i]: neighbouring threads touch cells that are far apart in memory, "
        "32 sectors of 32 bytes for a warp in place of 4"
    ]


def remarks(s, *shapes, part):
    return [each for each in s.build("python").explain(*shapes).notes if part in each]


@pytest.mark.parametrize("is_padded", [False, True])
def test_threads_that_meet_in_one_bank_are_told(is_padded):
    s = Schedule(transpose)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [32, 32])
    copy = s.cache_read("A", "shared", at=j_0)
    if is_padded:
        s.storage_align("A_shared", 0, 32, 1)
    s.reorder(j_1, i_1)
    axes = ("blockIdx.y", "blockIdx.x", *("threadIdx.y", "threadIdx.x") * 2)
    for loop, axis in zip((i_0, j_0, *copy, j_1, i_1), axes, strict=True):
        s.bind(loop, axis)
    found = remarks(s, (64, 64), (64, 64), part="in one bank")
    assert len(found) == (not is_padded)
    assert is_padded or "32 threads of a warp meet in one bank" in found[0]
    assert remarks(s, (64, 64), (64, 64), part="far apart") == []


def copied(x, out):
    n, m = x.shape
    for i in range(n):
        for j in range(m):
            out[i, j] = x[i, j]


def test_threads_without_work_are_told():
    s = Schedule(copied)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [16, 16])
    for loop, axis in zip(
        (i_0, j_0, i_1, j_1),
        ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x"),
        strict=True,
    ):
        s.bind(loop, axis)
    assert remarks(s, (64, 64), (64, 64), part="nothing to do") == []
    [told] = remarks(s, (50, 50), (50, 50), part="nothing to do")
    assert told.startswith(f"{100 * (1 - 2500 / 4096):.0f} % of 4,096 threads")


def running_sums(x, y, z):
    for i in range(x.shape[0]):
        y[i, 0] = x[i, 0]
        for j in range(1, 64):
            y[i, j] = y[i, j - 1] + x[i, j]
        for k in range(64):
            z[i, k] = y[i, k] * 2


def test_loops_of_one_thread_are_told():
    s = Schedule(running_sums)
    s.bind("i", "blockIdx.x")
    s.bind("k", "threadIdx.x")
    [told] = remarks(s, (50, 64), (50, 64), (50, 64), part="one thread of each block")
    assert told.startswith("y, in the loops over j: computed by one thread")


def test_loops_that_threads_share_out_are_not_told():
    s = Schedule(kernels.conv_add)
    i_0, j_0, i_1, j_1 = s.tile(["out.i", "out.j"], [16, 16])
    s.compute_at("conv", j_0)
    s.set_scope("conv", "shared")
    axes = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    for loop, axis in zip((i_0, j_0, i_1, j_1), axes, strict=True):
        s.bind(loop, axis)
    shapes = (50, 50), (3, 3), (48, 48), (48, 48)
    assert remarks(s, *shapes, part="one thread of each block") == []
    assert s.build("python").explain(*shapes).launches[0].block == (16, 16, 1)


def weighted_rows(x, w, y):
    for i in range(x.shape[0]):
        t = np.empty(64)
        for k in range(64):
            t[k] = x[k, i] * w[k]
        for j in range(64):
            y[i, j] = t[j] + t[63 - j]


def test_threads_that_share_out_far_cells_are_told():
    s = Schedule(weighted_rows)
    s.set_scope("t", "shared")
    s.bind("i", "blockIdx.x")
    s.bind("j", "threadIdx.x")
    [told] = remarks(s, (64, 64), (64,), (64, 64), part="far apart")
    assert told.startswith("x[k, i]: neighbouring threads touch cells that are far apart")


def test_warps_that_are_not_full_are_told():
    s = Schedule(copied)
    i, j = s.loops()
    s.bind(i, "blockIdx.x")
    _, j_1 = s.split(j, [None, 40])
    s.bind(j_1, "threadIdx.x")
    assert remarks(s, (4, 80), (4, 80), part="no multiple of 32") == [
        "40 threads are no multiple of 32: 38 % of lanes are idle"
    ]


def test_tiles_that_do_not_fit_are_told():
    s = Schedule(kernels.blur)
    schedules.on_host(s, ("rows",), (64, 256))
    [told] = remarks(s, (514, 514), (512, 512), part="66 x 256 = ")
    assert told.endswith("does not fit 32 KiB of a core's cache")


def test_more_shared_memory_than_a_block_has_is_told():
    s = Schedule(kernels.blur)
    schedules.on_blocks(s, ("rows",), (128, 128))
    [told] = remarks(s, (258, 258), (256, 256), part="of shared memory are more than")
    assert told == (
        "65 KiB of shared memory are more than the 48 KiB that every block has; GPUs of compute "
        "capability 7.0, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 12.0 give it"
    )


def gathered(x, out):
    for i in range(len(x)):
        row = np.empty(300, np.float32)
        for k in range(300):
            row[k] = x[i, k]
        for k in range(300):
            out[i, k] = row[299 - k]


def test_private_arrays_beyond_the_registers_are_told():
    s = Schedule(gathered)
    i_0, i_1 = s.split(s.loops()[0], [None, 32])
    s.bind(i_0, "blockIdx.x")
    s.set_scope("row", "local")
    s.bind(i_1, "threadIdx.x")
    assert remarks(s, (64, 300), (64, 300), part="registers") == [
        "row_local: 300 cells = 1.172 KiB, does not fit 1020 bytes of the registers of a thread"
    ]


def test_what_several_blocks_read_is_told():
    s = Schedule(kernels.conv_add)
    schedules.on_blocks(s, ("conv",), (8, 8))
    report = s.build("python").explain((34, 34), (3, 3), (32, 32), (32, 32))
    [x] = [each for each in report.after.moved if each.array == "x"]
    assert (x.read, x.block_read) == (4 * 34 * 34, 4 * 16 * 10 * 10)
    assert any(each.startswith("blocks read ") and "x most" in each for each in report.notes)


def test_an_intermediate_that_stays_in_slow_memory_is_told():
    [told] = remarks(Schedule(kernels.conv_add), (34, 34), (3, 3), (32, 32), (32, 32), part="conv:")
    assert "= 4 KiB, fits 32 KiB of a core's cache" in told
    assert "it is still in slow memory: compute_at and set_scope keep it in a tile" in told


def test_an_intermediate_of_which_a_few_rows_are_kept_is_told():
    def blur(x, out):
        H, W = out.shape
        wide = np.empty((H + 2, W), np.float32)
        for i in range(H + 2):
            for j in range(W):
                wide[i, j] = x[i, j] + x[i, j + 1]
        for i in range(H):
            for j in range(W):
                out[i, j] = wide[i, j] + wide[i + 1, j] + wide[i + 2, j]

    report = tile(target="cpu")(blur).explain((130, 129), (128, 128))
    [told] = [each for each in report.notes if each.startswith("wide:")]
    assert told == (
        "wide: 130 x 128 float32 = 65 KiB, does not fit 32 KiB of a core's cache; "
        "in tiles of 3 x 128: 1.5 KiB"
    )


def test_passes_over_large_arrays_are_counted():
    [told] = remarks(
        Schedule(kernels.conv_add), (34, 34), (3, 3), (32, 32), (32, 32), part="passes"
    )
    assert told.endswith("5 passes over large arrays -> 5")


def test_all_that_is_missing_is_asked_for_at_once():
    def scale(x, n, out):
        for i in range(n):
            out[i] = 2 * x[i]

    with pytest.raises(ArgumentError) as caught:
        tile(target="python")(scale).explain(x=5)
    assert caught.value.diagnostic.message == (
        "explain needs the shape of x, not 5, the value of n and the shape of out"
    )
    assert caught.value.diagnostic.hints[0] == (
        "pass arrays, or their shapes, and an integer: explain(x=(224,), n=100, out=(224,))"
    )
    with pytest.raises(ArgumentError, match=r"the shape of x, not '8x8', the value of n, not 2\.5"):
        tile(target="python")(scale).explain("8x8", 2.5, [8])


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1 KiB"), (200704, "196 KiB")]
)
def test_sizes_as_people_read_them(size, text):
    assert human(size) == text


# --- launches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "recipe", [each for each in RECIPES if each.barriers is not None], ids=lambda each: each.name
)
def test_launches_are_those_of_the_cuda_text(recipe):
    s = small(recipe)
    given = recipe.arguments(*max(recipe.at, key=prod))
    names = list(inspect.signature(recipe.kernel).parameters)
    types = {n: each.dtype.name for n, each in zip(names, given, strict=True)}
    kernel = s.build("python")
    general, report = kernel.explain(), kernel.explain(*given)
    sizes = {
        n: given[names.index(told.split(".")[0])].shape[int(told[-2])]
        for n, told in general.sizes.items()
    }
    expected = [
        (tuple(eval(each, {}, sizes) for each in info.grid), info.block, info.shared_bytes)
        for info in s.lowered("cuda", types).kernels
        if not info.name.endswith("_scalar_kernel")
    ]
    found = [(each.grid, each.block, each.shared_bytes) for each in report.launches]
    assert found == expected[: len(found)]
    assert all(
        prod(block) == 1 for _, block, _ in expected[len(found) :]
    )  # one thread does the rest
    assert found == [
        (
            *(tuple(eval(e, {}, sizes) for e in shape) for shape in (each.grid, each.block)),
            int(each.shared_bytes),
        )
        for each in general.launches
    ]
    assert [e.occupancy for e in report.launches] == [e.occupancy for e in general.launches]


def test_loops_outside_of_kernels_launch_each_of_them():
    def steps(a, b):
        for t in range(4):
            for i in range(1, len(a) - 1):
                b[i] = a[i - 1] + a[i + 1]
            for i in range(1, len(a) - 1):
                a[i] = b[i]

    s = Schedule(steps)
    for array, threads in (("b", 64), ("a", 32)):
        i_0, i_1 = s.split(f"{array}.i", [None, threads])
        s.bind(i_0, "blockIdx.x")
        s.bind(i_1, "threadIdx.x")
    found = s.build("python").explain((130,), (130,)).launches
    assert [(each.grid[0], each.block[0]) for each in found] == [(2, 64), (4, 32)]
