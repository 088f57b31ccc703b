"""Loops outside of thread loops, shared out over the threads of a block where that is proved."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import numpy as np
import pytest

from astile.analysis.reading import hardware
from astile.errors import LoweringError
from astile.ir import query
from astile.lower import cuda, python
from astile.lower.kernels import barriers, cooperative, fences
from astile.runtime import emulate
from astile.schedule.schedule import Schedule
from tests.support.scheduled import program

TYPES = {"x": "float32", "y": "float32"}


def lowered(text: str, **options: object) -> str:
    return cuda.lower(program(text), types=TYPES, **options).text  # type: ignore[arg-type]


def shared_loops(text: str) -> list[str]:
    """The variables of the loops that threads share out, in program order."""
    marked = cooperative.shared_out(program(text))
    loops = query.loops(marked.function)
    headers = [query.header(each) for each in loops if hardware.kind(each) == "parallel"]
    return [each.variable for each in headers if each is not None]


def filled(nest: str, shape: str = "40", use: str = "y[b, i] = t[i] + t[i + 1]") -> str:
    """A kernel of 16 threads with a nest that fills a tile, and what each thread makes of it."""
    return (
        "def f(x, y):\n"
        "    n, m = x.shape\n"
        "    for b in block.x(n):\n"
        f"        t = shared.empty({shape}, np.float32)\n"
        + textwrap.indent(textwrap.dedent(nest).strip("\n"), " " * 8)
        + "\n        for i in thread.x(16):\n"
        f"            {use}\n"
    )


def assert_runs(text: str, sizes: tuple[tuple[int, int], ...] = ((1, 64), (3, 47))) -> None:
    """Every text gives, in any order of threads, what plain Python gives."""
    made = program(text)
    expected: dict[str, Callable[..., object]] = {}
    exec(compile(python.lower(made).text, "<plain>", "exec"), expected)
    texts = [
        cuda.lower(made, types=TYPES).text,
        cuda.lower(made, types=TYPES, barriers=fences.find).text,
        cuda.lower(made, types=TYPES, plain=True).text,
    ]
    for rows, columns in sizes:
        x = np.random.default_rng(rows).random((rows, columns), dtype=np.float32)
        wanted = np.zeros((rows, 16), np.float32)
        expected["f"](x, wanted)
        for each in texts:
            for order in ("forward", "reverse"):
                found = np.zeros_like(wanted)
                emulate.load(each, "f", order=order)(x, found)  # type: ignore[arg-type]
                np.testing.assert_array_equal(found, wanted)


# --- the text -----------------------------------------------------------------------------------


def stencil(x, w, y):  # type: ignore[no-untyped-def]
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            s = np.float32(0.0)
            for a in range(3):
                for b in range(3):
                    s += x[i + a, j + b] * w[a, b]
            y[i, j] = s


def test_a_tile_of_any_size_is_loaded_by_the_whole_block(
    golden: Callable[[str, str], None],
) -> None:
    s = Schedule(stencil)
    i_0, j_0, i_1, j_1 = s.tile(["i", "j"], [16, 16])
    s.cache_read("x", "shared", at=j_0)
    axes = ("blockIdx.y", "blockIdx.x", "threadIdx.y", "threadIdx.x")
    for loop, axis in zip((i_0, j_0, i_1, j_1), axes, strict=True):
        s.bind(loop, axis)
    golden("lower/halo_tile_cuda.py", s.lowered("cuda", TYPES).text)
    kernel = s.build("emulate")
    for rows, columns in ((1, 1), (16, 16), (17, 15), (33, 50)):
        x = np.random.default_rng(0).random((rows + 2, columns + 2), dtype=np.float32)
        w, y = np.ones((3, 3), np.float32), np.zeros((rows, columns), np.float32)
        kernel(x, w, y)
        wanted = np.zeros_like(y)
        stencil(x, w, wanted)
        np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_cells_that_are_aligned_neighbours_are_moved_at_once(
    golden: Callable[[str, str], None],
) -> None:
    text = filled(
        """
        for r in range(4):
            for c in range(16):
                t[r, c] = x[b, r * 16 + c]
        """,
        "(4, 16)",
        "y[b, i] = t[0, i] + t[3, 15 - i]",
    )
    golden("lower/wide_tile_cuda.py", lowered(text))
    assert_runs(text, ((1, 64), (3, 66)))
    assert "load4" not in lowered(text, plain=True)


@pytest.mark.parametrize("cell", ["x[b, c + 1]", "x[b, c * 2]", "x[c, b]"])
def test_cells_that_are_none_are_moved_one_by_one(cell: str) -> None:
    text = filled(f"for c in range(16):\n    t[c] = {cell}", "17", "y[b, i] = t[i]")
    assert "load4" not in lowered(text)
    assert shared_loops(text) == ["c"]


def test_neighbouring_threads_touch_neighbouring_cells() -> None:
    text = filled(
        "for c in range(8):\n    for r in range(5):\n        t[c, r] = x[b + r, c + 1]",
        "(8, 5)",
        "y[b, i] = t[i % 8, i // 8]",
    )
    body = lowered(text)
    assert "r = cell // uint32(8)\n" in body
    assert "c = cell % uint32(8)\n" in body


# --- which loops --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("nest", "loops"),
    [
        ("for c in range(40):\n    t[c] = x[b, c]", ["c"]),
        ("for c in range(9, 40):\n    t[c] = x[b, c]", ["c"]),
        ("for c in range(1, 40, 3):\n    t[c] = x[b, c]", ["c"]),
        ("for c in range(min(m, 40)):\n    t[c] = x[b, c]", ["c"]),
        ("if m > 40:\n    for c in range(40):\n        t[c] = x[b, c]", ["c"]),
        (
            "for c in range(40):\n    s = x[b, c]\n    for k in range(3):\n        s += k\n"
            "    t[c] = s",
            ["c"],
        ),
        (
            "for k in range(4):\n    for c in range(40):\n        t[c] = t[c] * k + x[b, c]",
            ["c"],
        ),
        (
            "for r in range(4):\n    if r < m:\n        for c in range(10):\n"
            "            t[r * 10 + c] = x[b, c]",
            ["r", "c"],
        ),
        ("for r in range(2):\n    for c in range(m - 30):\n        t[r + 2 * c] = 1", ["c"]),
        ("for r in range(m - 40):\n    for c in range(5):\n        t[5 * r + c] = 1", ["r", "c"]),
    ],
)
def test_independent_loops_are_shared_out(nest: str, loops: list[str]) -> None:
    text = filled(nest)
    assert shared_loops(text) == loops
    assert "syncthreads" in lowered(text)
    zeroed = filled("for z in range(40):\n    t[z] = 0\n" + nest)
    assert_runs(zeroed, ((1, 47), (3, 42)))


@pytest.mark.parametrize(
    "nest",
    [
        "for c in range(1, 40):\n    t[c] = t[c - 1] + x[b, c]",  # reads what another wrote
        "for c in range(40):\n    t[c // 2] = x[b, c]",  # two write one cell
        "for c in range(40):\n    t[0] += x[b, c]",  # a reduction
        "for c in range(40):\n    t[int(x[b, c])] = 1",  # which cell is not known
        "s = 0.0\nfor c in range(40):\n    s += 1.0\n    t[c] = s",  # a name that is carried
        "for c in range(39, 0, -1):\n    t[c] = x[b, c]",  # counts down
        "for c in range(40):\n    if x[b, c] > 0:\n        break\n    t[c] = x[b, c]",  # is left
    ],
)
def test_other_loops_stay_with_one_thread(nest: str) -> None:
    text = filled(nest)
    assert shared_loops(text) == []
    assert "cuda.threadIdx.x == 0" in lowered(text)


def test_private_cells_of_threads_are_not_shared_out() -> None:
    text = filled(
        "own = local.empty(4, np.float32)\n"
        "for r in range(4):\n    own[r] = x[b, r]\n"
        "for r in range(4):\n    t[r] = own[r]"
    )
    assert shared_loops(text) == []


def test_a_kernel_of_one_thread_shares_nothing_out() -> None:
    text = """
    def f(x, y):
        for b in block.x(x.shape[0]):
            for c in range(16):
                y[b, c] = x[b, c]
    """
    assert shared_loops(text) == []
    assert "rank" not in lowered(text)


def test_loops_around_other_statements_stay_whole() -> None:
    nest = "for k in range(3):\n    t[39] = t[0] + k\n    for c in range(20):\n        t[c] = t[39]"
    assert shared_loops(filled(nest)) == []
    assert_runs(filled("for z in range(40):\n    t[z] = 0\n" + nest))


# --- barriers -----------------------------------------------------------------------------------


def barriers_in(text: str) -> int:
    return lowered(text).count("syncthreads()")


def test_a_thread_of_one_nest_is_another_one_than_that_of_the_next() -> None:
    """Cell (r, c) of both nests belongs to thread 8 r + c, and to thread 4 r + c."""
    text = filled(
        """
        u = shared.empty((4, 8), np.float32)
        for r in range(4):
            for c in range(8):
                u[r, c] = x[b, 8 * r + c + 1]
        for r in range(8):
            for c in range(4):
                t[r * 4 + c] = u[c, r]
        """
    )
    assert shared_loops(text) == ["r", "c", "r", "c"]
    assert barriers_in(text) == 2
    assert_runs(text)


def test_no_barrier_where_the_same_thread_comes_back_to_a_cell() -> None:
    text = filled(
        "for c in range(40):\n    t[c] = 0\n"
        "for k in range(m - 40):\n    for c in range(40):\n        t[c] += x[b, k + c]"
    )
    assert shared_loops(text) == ["c", "c"]
    assert barriers_in(text) == 2
    assert_runs(text)


def test_a_barrier_where_another_thread_may_come_to_a_cell() -> None:
    text = filled(
        "for c in range(40):\n    t[c] = 0\n"
        "for k in range(4):\n    for c in range(k, 40):\n        t[c] += x[b, k + c]"
    )
    assert shared_loops(text) == ["c", "c"]
    inside = lowered(text).split("for k in")[1]
    assert inside.index("syncthreads") < inside.index("for c in")
    assert_runs(text)


def test_programs_that_are_not_modelled_keep_one_thread() -> None:
    text = """
    def f(x, y):
        for b in block.x(x.shape[0]):
            for c in range(16):
                y[b, c] = x[b, c]
            for i in thread.x(16):
                row = y[b]
                row[i] = row[i] + 1
    """
    assert shared_loops(text) == []


def test_nests_inside_a_loop_are_preferred_where_it_is_short() -> None:
    text = filled(
        """
        for r in range(2):
            for c in range(20):
                t[r * 20 + c] = x[b, r + c]
            for d in range(3):
                y[b, d + r * 8] = x[b, r + d]
        """,
        use="y[b, i] += t[i] + t[i + 1]",
    )
    assert shared_loops(text) == ["c", "d"]
    assert_runs(text)


def paired(x, y):  # type: ignore[no-untyped-def]
    for b in range(x.shape[0]):
        for k in range(x.shape[1]):
            for i in range(64):
                y[b, i] += x[b, k, i] * x[b, k, 63 - i]


def test_copies_of_a_pipeline_run_beside_the_computation() -> None:
    s = Schedule(paired)
    s.cache_read("x", "shared", at="k")
    s.bind("b", "blockIdx.x")
    s.bind("i", "threadIdx.x")
    s.pipeline("k", 2)
    text = s.lowered("cuda", TYPES).text
    assert "start_copy4" in text
    assert "wait_all" in text
    kernel = s.build("emulate")
    for count in (0, 1, 2, 5):
        x = np.random.default_rng(count).random((2, count, 64), dtype=np.float32)
        y, wanted = np.zeros((2, 64), np.float32), np.zeros((2, 64), np.float32)
        kernel(x, y)
        paired(x, wanted)
        np.testing.assert_allclose(y, wanted, rtol=1e-6)


# --- loops that cannot be shared out ------------------------------------------------------------


@pytest.mark.parametrize("bounds", ["0", "5, 5", "7, 3", "3, 3, 2"])
@pytest.mark.parametrize("word", ["range", "parallel"])
def test_loops_without_iterations_do_nothing(word: str, bounds: str) -> None:
    text = filled(
        f"for z in range(40):\n    t[z] = 0\nfor c in {word}({bounds}):\n    t[c] = x[b, c] + 1"
    )
    assert shared_loops(text) == ["z"]
    assert_runs(text)


@pytest.mark.parametrize(
    "nest",
    [
        "for c in parallel(16):\n    if x[b, c] > 0.5:\n        continue\n    t[c] = x[b, c]",
        "for c in parallel(0, 40, k + 1):\n    t[c] = x[b, c]",
        "t[0] = 9\nfor c in parallel(int(t[0])):\n    t[c] = x[b, c]",
    ],
)
def test_a_word_alone_shares_no_loop_out(nest: str) -> None:
    """What is left early, has a step of no known size, or a bound made of cells, is for one."""
    nest = "for z in range(40):\n    t[z] = 0\nfor k in range(2):\n" + textwrap.indent(nest, "    ")
    text = filled(nest)
    assert shared_loops(text) == ["z"]
    assert_runs(text)


def gemm(a, b, c):  # type: ignore[no-untyped-def]
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = np.float32(0.0)
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@pytest.mark.parametrize("is_blocks_first", [False, True])
def test_threads_may_be_bound_before_blocks(is_blocks_first: bool) -> None:
    """The sums are local memory of threads in the end; until then they lie outside of kernels."""
    s = Schedule(gemm)
    i_0, i_1 = s.split("i", [None, 4])
    j_0, j_1 = s.split("j", [None, 8])
    s.reorder(i_0, j_0, "k", i_1, j_1)
    blocks = [(i_0, "blockIdx.y"), (j_0, "blockIdx.x")]
    axes = {"i_1": "threadIdx.y", "j_1": "threadIdx.x"}
    threads = [(each, axes[each.var]) for each in s.loops() if each.var in axes]
    for loop, axis in blocks + threads if is_blocks_first else threads + blocks:
        s.bind(loop, axis)
    kernel = s.build("emulate")
    a, b = (np.random.default_rng(0).random(e, dtype=np.float32) for e in ((9, 5), (5, 17)))
    c = np.zeros((9, 17), np.float32)
    kernel(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


@pytest.mark.parametrize("test", ["x[b, 0] > 0.5", "t[1] > 0.5"])
def test_cells_that_one_thread_writes_are_not_read_by_all_without_a_barrier(test: str) -> None:
    """The model sees a condition on data as one statement, in which no barrier can stand."""
    body = f"for c in range(40):\n    t[c] = x[b, c]\nif {test}:\n    t[2] = 1\n    s = {{}}\n"
    text = filled(body + "else:\n    s = 0.0", use="y[b, i] = t[i] + s")
    if "t" not in test:
        assert_runs(text.format("x[b, 3]"))
    for each in (text.format("t[3]"), text.format("t[2]")):
        with pytest.raises(LoweringError, match="every thread would run this statement"):
            lowered(each)


def test_a_loop_counted_by_a_cell_that_one_thread_writes_is_not_run_by_all() -> None:
    text = filled(
        "for c in range(40):\n    t[c] = 3\ns = 0.0\n"
        "for k in range(int({})):\n    t[k] = 1\n    s += x[b, k]",
        use="y[b, i] = t[i] + s",
    )
    assert_runs(text.format("3 * x[b, 0]"))
    for finder in (barriers.find, fences.find):
        for each in (text, text.replace("x[b, k]", "t[k]")):
            with pytest.raises(LoweringError, match="every thread would run this statement"):
                lowered(each.format("t[0]"), barriers=finder)
