"""Programs that have no CUDA kernel are refused, saying what to write."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.lower import cuda, python
from astile.lower.kernels import fences
from astile.lower.lowered import Lowered
from astile.runtime import emulate
from tests.support.scheduled import program


def lower(text: str, types: dict[str, str] | None = None, **fields: object) -> Lowered:
    return cuda.lower(program(text, **fields), types=types, barriers=fences.find)


def refusal(text: str, **fields: object) -> str:
    with pytest.raises(LoweringError) as caught:
        lower(text, **fields)
    assert caught.value.diagnostic.hints
    return str(caught.value)


@pytest.mark.parametrize("other", ["thread.x(n - 1)", "thread.x(8)", "thread.x(b + 1)"])
def test_the_number_of_threads_is_a_literal_or_one_size(other: str) -> None:
    message = refusal(f"""
    def f(x):
        n = len(x)
        for b in block.x(1):
            for i in thread.x(n):
                x[i] = 0
            for i in {other}:
                x[i] = 0
    """)
    assert "must be a literal, or the same size in all loops" in message
    assert "split i by a literal factor" in message


def test_at_most_one_number_of_threads_is_left_to_calls() -> None:
    message = refusal("""
    def f(x):
        for i in thread.y(x.shape[0]):
            for j in thread.x(x.shape[1]):
                x[i, j] = 0
    """)
    assert "at most one number of threads can be left open" in message


def test_a_call_decides_how_many_threads_there_are() -> None:
    lowered = lower("""
    def f(x):
        n = len(x)
        for i in thread.x(n):
            x[i] = 0
    """)
    assert lowered.kernels[0].block == (1024, 1, 1)
    host = lowered.text.split("def f(x):")[1]
    assert "f_kernel[1, n](x)" in host
    run = emulate.load(lowered.text, "f")
    for count in (0, 1, 5, 1024):
        x = np.ones(count)
        run(x)
        np.testing.assert_array_equal(x, np.zeros(count))
    with pytest.raises(ValueError, match=r"n is over 1024, .* bind\('i', 'threadIdx.x'\)"):
        run(np.ones(1025))


@pytest.mark.parametrize("m", ["m = x.shape[1]", "m = max(0, x.shape[1] - 1)"])
def test_limits_of_all_launches_are_asked_before_the_first(m: str) -> None:
    run = emulate.load(
        lower(f"""
    def f(x, y):
        n = x.shape[0]
        {m}
        for i in block.x(n):
            y[i] = 2
        for i in block.x(n):
            for j in thread.x(m):
                x[i, j] = 3
    """).text,
        "f",
    )
    run(np.ones((0, 2000)), np.ones(0))  # nothing is launched
    y = np.ones(3)
    with pytest.raises(ValueError, match="m is over 1024"):
        run(np.ones((3, 2000)), y)
    assert (y == 1).all()
    run(np.ones((3, 20)), y)
    assert (y == 2).all()


def test_a_limit_that_loops_decide_is_asked_where_it_stands() -> None:
    text = lower("""
    def f(x):
        for k in range(9):
            m = k * 200
            for i in block.x(5):
                x[i] = k
            for j in thread.x(m):
                x[j] = 3
    """).text
    run = emulate.load(text, "f")
    x = np.zeros(2000)
    with pytest.raises(ValueError, match="m is over 1024"):
        run(x)
    assert (x[:5] == 6).all()


@pytest.mark.parametrize("counts", ["thread.x(n)", "thread.x(n - 1 + 1)"])
@pytest.mark.parametrize("more", ["x[b, 30] = 5", "for k in range(4):\n    x[b, k + 30] = 5",
                                  "for k in thread.y(4):\n    x[b, k + 30] = 5"])  # fmt: skip
def test_what_else_there_is_runs_where_a_call_asks_for_no_threads(more: str, counts: str) -> None:
    head = "def f(x, n):\n    for b in block.x(len(x)):\n"
    text = head + indent(f"{more}\nfor i in {counts}:\n    x[b, i] += b", " " * 8)
    run = emulate.load(lower(text).text, "f")
    made: dict[str, Callable[..., None]] = {}
    exec(compile(python.lower(program(text)).text, "<plain>", "exec"), made)
    for count in (-1, 0, 1, 20):
        x, wanted = np.zeros((2, 40)), np.zeros((2, 40))
        run(x, count)
        made["f"](wanted, count)
        np.testing.assert_array_equal(x, wanted)


def test_a_module_constant_is_a_literal() -> None:
    lowered = lower(
        """
        def f(x):
            tile = shared.empty((T, 2), np.float32)
            for i in thread.x(T):
                x[i] = 0
        """,
        constants={"T": 8},
    )
    assert lowered.kernels[0].block == (8, 1, 1)


@pytest.mark.parametrize(
    ("loops", "part"),
    [
        ("for i in thread.y(64):\n        for j in thread.x(32):", "64 x 32"),
        ("for i in thread.z(128):\n        for j in thread.x(2):", "at most 64"),
        ("for i in block.y(70000):\n        for j in block.x(2):", "at most 65535"),
    ],
)
def test_limits_of_blocks_and_grids(loops: str, part: str) -> None:
    message = refusal(f"def f(x):\n    {loops}\n            x[i, j] = 0\n")
    assert part in message.replace("32 x 64", "64 x 32")


def test_too_much_shared_memory_names_the_array() -> None:
    message = refusal("""
    def f(x):
        for b in block.x(4):
            small = shared.empty((16, 16), np.float32)
            large = shared.empty((256, 256), np.float32)
            for i in thread.x(16):
                small[i, 0] = x[i]
            for i in thread.x(16):
                large[i, 0] = small[i, 0]
    """)
    assert "263168 bytes" in message
    assert "large takes 262144 bytes" in message


def test_a_shared_shape_is_literal() -> None:
    message = refusal("""
    def f(x):
        n = len(x)
        for b in block.x(4):
            tile = shared.empty((n,), np.float32)
            for i in thread.x(16):
                tile[i] = x[i]
    """)
    assert "the shape of tile must be literal" in message


def test_a_shared_array_has_cells() -> None:
    message = refusal("""
    def f(x):
        for b in block.x(4):
            tile = shared.empty((0, 4), np.float32)
            for i in thread.x(4):
                tile[0, i] = x[i]
    """)
    assert "tile has no cells: each axis of shared memory is at least 1 long" in message


def test_a_sequential_loop_around_blocks_inside_a_kernel() -> None:
    message = refusal("""
    def f(x):
        for i in block.y(4):
            for k in range(3):
                for j in block.x(4):
                    x[i, j] += k
    """)
    assert "k runs in order inside a kernel" in message
    assert "reorder k outside" in message


def test_two_loops_over_blocks_side_by_side() -> None:
    assert "side by side" in refusal("""
    def f(x):
        for i in block.y(4):
            for j in block.x(4):
                x[i, j] = 0
            for j in block.x(4):
                x[i, j] += 1
    """)


def test_a_statement_beside_a_loop_over_blocks() -> None:
    assert "inside one loop over blocks and outside another" in refusal("""
    def f(x, y):
        for i in block.y(4):
            y[i] = 0
            for j in block.x(4):
                x[i, j] = 1
    """)


def test_a_number_of_blocks_that_depends_on_another_block() -> None:
    assert "depends on i" in refusal("""
    def f(x):
        for i in block.y(4):
            for j in block.x(i):
                x[i, j] = 1
    """)


@pytest.mark.parametrize(
    "body",
    [
        "total += x[i]",
        "total = x[i]\n        y[0] = total",
        "y[i] = total\n            total = x[i]",
    ],
)
def test_a_scalar_that_crosses_threads(body: str) -> None:
    message = refusal(f"""
    def f(x, y):
        total = 0.0
        for i in thread.x(8):
            {body}
        y[0] = total
    """)
    assert "expand total" in message


def test_a_scalar_of_one_phase_read_in_the_next() -> None:
    assert "expand v" in refusal("""
    def f(x, y):
        for b in block.x(2):
            for i in thread.x(8):
                v = x[i]
            for i in thread.x(8):
                y[b, i] = v
    """)


def test_a_barrier_inside_a_thread_loop() -> None:
    message = refusal("""
    def f(x, y):
        for b in block.x(2):
            tile = shared.empty((8, 8), np.float32)
            for i in thread.y(8):
                for k in range(3):
                    for j in thread.x(8):
                        tile[i, j] = x[k, i, j] + tile[i, 7 - j]
                    for j in thread.x(8):
                        y[i, j] = tile[i, 7 - j]
    """)
    assert "not all threads" in message
    assert "reorder" in message


def test_a_local_array_that_threads_share() -> None:
    message = refusal("""
    def f(x, y):
        for b in block.x(2):
            part = local.empty((8,), np.float32)
            for i in thread.x(8):
                part[i] = x[i]
            for i in thread.x(8):
                y[i] = part[7 - i]
    """)
    assert "part is local, but threads of one block would share its cells" in message


def test_global_memory_is_not_allocated_in_a_kernel() -> None:
    assert "set_scope('part', 'shared')" in refusal("""
    def f(x):
        for b in block.x(2):
            part = np.empty((8,), np.float32)
            for i in thread.x(8):
                x[i] = part[i]
    """)


def test_return_out_of_a_nest() -> None:
    assert "cannot return" in refusal("""
    def f(x):
        for i in block.x(4):
            if x[i] > 0:
                return i
    """)


def test_a_bound_loop_under_a_condition_on_data() -> None:
    assert "condition on data" in refusal("""
    def f(x):
        for i in block.x(4):
            if x[i, 0] > 0:
                for j in thread.x(4):
                    x[i, j] = 0
    """)


def test_a_scalar_that_may_stay_unset() -> None:
    assert "may be read before it is set" in refusal("""
    def f(x):
        for i in range(4):
            if x[i] > 0:
                found = i
        return found
    """)


def test_threads_inside_a_loop_whose_length_is_data() -> None:
    message = refusal("""
    def f(x, starts, out):
        for i in block.x(4):
            for k in range(starts[i], starts[i + 1]):
                for j in thread.x(8):
                    out[i, j] += x[k, j]
    """)
    assert "how often k runs depends on data" in message
    assert "reorder k inside" in message
