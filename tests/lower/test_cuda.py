"""The form of CUDA text, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from astile.errors import LoweringError
from astile.lower import cuda
from astile.lower.kernels import fences
from astile.lower.lowered import KernelInfo, Lowered
from astile.runtime import emulate
from tests.support.scheduled import CASES, program


def lower(text: str, types: dict[str, str] | None = None, **fields: object) -> Lowered:
    return cuda.lower(program(text, **fields), types=types, barriers=fences.find)


def kernel_body(lowered: Lowered) -> str:
    return lowered.text.split("@cuda.jit\n")[1].split("\n\n\n")[0]


# --- what the text holds ------------------------------------------------------------------------


def test_conv_add_is_one_kernel_with_one_shared_tile_and_one_barrier() -> None:
    lowered = cuda.lower(CASES[0].program(), barriers=fences.find)
    text = lowered.text
    assert text.count("@cuda.jit") == 1
    assert text.count("cuda.shared.array((16, 16), np.float32)") == 1
    assert text.count("cuda.syncthreads()") == 1
    assert "device_array" not in text  # the intermediate exists in shared memory alone
    stores = re.findall(r"^ *(\w+)\[.*\] = ", kernel_body(lowered), re.MULTILINE)
    assert stores == ["conv_shared", "out"]
    info = KernelInfo(
        "conv_add_kernel", ("(W + 15) // 16", "(H + 15) // 16", "1"), (16, 16, 1), 1024
    )
    assert lowered.kernels == (info,)


def test_barriers_stand_at_the_indentation_of_uniform_code() -> None:
    for case in CASES:
        text = cuda.lower(case.program(), barriers=fences.find).text
        lines = text.splitlines()
        for number, line in enumerate(lines):
            if "syncthreads" in line:
                indent = len(line) - len(line.lstrip())
                opener = next(
                    each
                    for each in reversed(lines[:number])
                    if each.strip() and len(each) - len(each.lstrip()) < indent
                )
                assert not re.search(r"threadIdx|_1 <", opener), opener


def test_each_shared_array_stands_on_its_own_line() -> None:
    for case in CASES:
        text = cuda.lower(case.program(), barriers=fences.find).text
        assert all(line.count("shared.array") <= 1 for line in text.splitlines())


def test_the_grid_of_an_empty_output_is_not_launched() -> None:
    lowered = cuda.lower(CASES[0].program(), barriers=fences.find)
    function = emulate.load(lowered.text, lowered.entry)
    arguments, _ = CASES[0].arguments(0, 4)
    function(*arguments)


def test_a_barrier_names_what_it_separates() -> None:
    text = cuda.lower(CASES[5].program(), barriers=fences.find).text
    assert "# A_shared[i_1, k_1] is written above, A_shared[i_1, k_1] is read below" in text


def test_a_shorter_thread_loop_is_guarded_inside() -> None:
    text = cuda.lower(
        next(c for c in CASES if c.name == "blur").program(), barriers=fences.find
    ).text
    assert "blur_kernel[grid, (16, 18)]" in text
    assert "i_1 < uint32(16)" in text


def test_a_halo_index_is_compared_without_negative_numbers() -> None:
    text = lower("""
    def f(x, out):
        n = len(x)
        for i in block.x(n):
            for j in thread.x(4):
                if 0 <= i - 1 and j == 0:
                    out[i] = x[i - 1]
    """).text
    assert "uint32(1) <= i" in text or "i >= uint32(1)" in text
    assert "out[i] = x[i - uint32(1)]" in text


def test_an_index_that_may_be_negative_counts_from_the_end() -> None:
    lowered = lower("""
    def f(x, out, k):
        for i in block.x(8):
            out[i] = x[i - k]
    """)
    assert "int64(i) - k if int64(i) - k >= 0 else x.shape[0] + int64(i) - k" in lowered.text
    x, out = np.arange(8.0), np.zeros(8)
    emulate.load(lowered.text, "f")(x, out, 3)
    assert out.tolist() == np.roll(x, 3).tolist()


def test_integers_divided_by_zero_give_zero_as_in_numpy() -> None:
    text = """
    def f(a, b, out):
        for i in block.x(3):
            out[i] = a[i] // b[i] + a[i] % b[i]
    """
    lowered = lower(text, types={"a": "int32", "b": "int32", "out": "int64"})
    a, b, out = np.array([7, -7, 5], np.int32), np.array([0, 2, -3], np.int32), np.zeros(3, int)
    emulate.load(lowered.text, "f")(a, b, out)
    assert out.tolist() == [0, -3, -3]


GATHER = """
def f(x, idx, out):
    for i in block.x(out.shape[0]):
        out[i] = x[idx[i]]
"""


def test_an_index_out_of_an_array_is_checked_by_the_kernel() -> None:
    lowered = lower(GATHER)
    assert "x[inside(idx[i], x.shape[0], failed)]" in lowered.text
    run, out = emulate.load(lowered.text, "f"), np.zeros(3)
    run(np.arange(4.0), np.array([3, -1, 0]), out)
    assert out.tolist() == [3.0, 3.0, 0.0]
    for outside in (4, -5):
        with pytest.raises(IndexError, match="an index of x is out of bounds"):
            run(np.arange(4.0), np.array([0, outside, 0]), out)
    with pytest.raises(IndexError, match="x is empty"):
        run(np.zeros(0), np.array([0, 0, 0]), out)


def test_indices_that_are_proved_are_not_checked() -> None:
    lowered = lower("""
    def f(x, out):
        for i in block.x(out.shape[0]):
            out[i] = x[i]
    """)
    assert "inside" not in lowered.text
    assert "failed" not in lowered.text


def test_a_negative_constant_index_counts_from_the_end() -> None:
    lowered = lower("""
    def f(x, out):
        for i in block.x(4):
            out[i] = x[-1] + x[-1 - i]
    """)
    assert "x[x.shape[0] - 1]" in lowered.text
    x, out = np.arange(6.0), np.zeros(4)
    emulate.load(lowered.text, "f")(x, out)
    assert out.tolist() == [10.0, 9.0, 8.0, 7.0]


def test_the_length_of_a_tuple_is_a_number() -> None:
    lowered = lower("""
    def f(x, out):
        t = (1.5, 2.5, 4.0)
        for i in range(out.shape[0]):
            u = (t[i % 3], x[i])
            out[i] = t[-1] * u[-1] + u[i % 2 - 2]
    """)
    x, out = np.arange(4.0), np.zeros(4)
    emulate.load(lowered.text, "f")(x, out)
    assert out.tolist() == [1.5, 5.0, 12.0, 15.0]


@pytest.mark.parametrize(
    "value",
    [
        *("x.max()", "x[i:].sum()", "x.copy()[i]", "x.flat[i]"),
        "m[i, 0] + m[i].astype(np.int32)[0]",
    ],
)
def test_methods_of_arrays_are_not_called_in_kernels(value: str) -> None:
    with pytest.raises(LoweringError, match="arithmetic on whole arrays inside a kernel"):
        lower(f"""
        def f(x, m, out):
            for i in block.x(out.shape[0]):
                out[i] = {value}
        """)


def test_floor_division_of_what_may_be_negative_is_signed() -> None:
    lowered = lower("""
    def f(x, out):
        for i in block.x(4):
            out[i] = (i - 3) // 2 + (i - 3) % 2
    """)
    assert "(int64(i) - 3) // 2 + (int64(i) - 3) % 2" in lowered.text
    out = np.zeros(4)
    emulate.load(lowered.text, "f")(out, out)
    assert out.tolist() == [(i - 3) // 2 + (i - 3) % 2 for i in range(4)]


def test_max_keeps_the_first_argument_beside_nan() -> None:
    lowered = lower("""
    def f(x, y, out):
        for i in block.x(3):
            out[i] = max(x[i], y[i])
    """)
    x, y, out = np.array([np.nan, 1.0, 2.0]), np.array([1.0, np.nan, 3.0]), np.zeros(3)
    emulate.load(lowered.text, "f")(x, y, out)
    np.testing.assert_array_equal(out, [max(a, b) for a, b in zip(x, y, strict=True)])


def test_loops_that_start_and_step_otherwise() -> None:
    lowered = lower("""
    def f(x, out, n):
        for i in block.x(n - 1, -1, -1):
            for j in thread.x(2, 10, 2):
                out[i, j] = x[i, j - 1] * (i - j)
    """)
    x, out = np.ones((5, 12)), np.zeros((5, 12))
    emulate.load(lowered.text, "f")(x, out, 5)
    expected = np.zeros((5, 12))
    for i in range(5):
        for j in range(2, 10, 2):
            expected[i, j] = i - j
    np.testing.assert_array_equal(out, expected)


def test_uniform_statements_run_once_or_by_all_threads() -> None:
    body = kernel_body(
        lower("""
    def f(x, out):
        n = len(x)
        for i in block.x(n):
            scale = x[i] * 2.0
            out[i, 0] = scale
            for j in thread.x(8):
                out[i, j] += scale
    """)
    )
    assert "    scale = x[i] * 2.0\n" in body
    assert "    if cuda.threadIdx.x == 0:\n        out[i, 0] = scale\n" in body


def test_statements_outside_one_thread_axis_run_on_its_first_thread() -> None:
    lowered = lower("""
    def f(x, first, out):
        for i in block.x(3):
            for j in thread.y(4):
                scale = x[i, j]
                first[i, j] = scale
                for k in thread.x(8):
                    out[i, j, k] = scale * k
    """)
    body = kernel_body(lowered)
    assert "if cuda.threadIdx.x == 0:\n        first[i, j] = scale" in body
    x, first, out = np.random.rand(3, 4), np.zeros((3, 4)), np.zeros((3, 4, 8))
    emulate.load(lowered.text, "f")(x, first, out)
    np.testing.assert_array_equal(first, x)
    np.testing.assert_array_equal(out, x[:, :, None] * np.arange(8))


def test_an_accumulator_of_all_threads_becomes_one_cell_per_thread() -> None:
    case = next(each for each in CASES if each.name == "matmul")
    text = cuda.lower(case.program(), barriers=fences.find).text
    assert "acc = cuda.local.array((1,), np.float32)" in text
    assert "acc[0] += A_shared[i_1, k_1] * B_shared[k_1, j_1]" in text


def test_helpers_are_inlined_device_functions() -> None:
    inner = program("def twice(v): return max(v, 0.0) * 2.0")
    lowered = lower(
        """
        def f(x, out):
            for i in block.x(4):
                out[i] = twice(x[i])
        """,
        helpers={"twice": len},
        helper_programs={"twice": inner},
    )
    assert '@cuda.jit(device=True, inline="always")\ndef twice(v):' in lowered.text
    x, out = np.array([-1.0, 0.0, 1.0, 2.0]), np.zeros(4)
    emulate.load(lowered.text, "f")(x, out)
    assert out.tolist() == [0.0, 0.0, 2.0, 4.0]
