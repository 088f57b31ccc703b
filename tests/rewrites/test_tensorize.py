from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from astile.errors import ScheduleError
from astile.ir.module import module_text
from astile.rewrites.tensorize import tensorize
from astile.schedule.schedule import Schedule
from tests.support.assert_rewrite import (
    applied,
    assert_proved,
    assert_replays,
    assert_same_results,
    loop,
    program,
    refused,
)
from tests.support.tiles_of_products import COLUMNS, ROWS, matrices, text

Golden = Callable[[str, str], None]

F16 = "mma.m16n8k16.f16"
#: Instructions, the functions that say how they round, and the products of a sum.
ROUNDED = [("mma.m16n8k8.tf32", "tf32", 8), ("mma.m16n8k16.bf16", "bf16", 16)]
PRODUCT = "np.float32(a[h * 8 + r, k]) * np.float32(w[k, u * 8 + p * 2 + q])"


def misfit(source: str, variable: str = "u", number: int = -1) -> ScheduleError:
    before = program(source)
    error = refused(tensorize, before, loop(before, variable, number), F16)
    assert error.code == "schedule.no-matrix-product"
    return error


# --- rewrites -----------------------------------------------------------------------------------


def test_tiles_side_by_side(golden: Golden) -> None:
    before = program(text())
    after, made = applied(tensorize, before, loop(before, "u", -1), F16)
    golden("rewrites/tensorize/tiles.py", module_text(after))
    assert made == (loop(before, "u", -1),)
    assert_proved(before, after)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_operands_by_rows_and_by_columns(rows: str, columns: str) -> None:
    before = program(text(rows, columns))
    after, _ = applied(tensorize, before, loop(before, "h"), F16)
    assert "for h in mma.m16n8k16.f16(2):" in module_text(after)


@pytest.mark.parametrize(("word", "rounding", "depth"), ROUNDED)
def test_operands_that_are_rounded(word: str, rounding: str, depth: int, golden: Golden) -> None:
    before = program(text(rounding=rounding, depth=depth))
    after, _ = applied(tensorize, before, loop(before, "u", -1), word)
    golden(f"rewrites/tensorize/{rounding}.py", module_text(after))
    assert_proved(before, after)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_rounded_operands_may_lie_in_any_way(rows: str, columns: str) -> None:
    source = text(rows, columns, rounding="tf32", depth=8).replace("(16, 24)", "(16, 21)")
    before = program(source)
    applied(tensorize, before, loop(before, "u", -1), "mma.m16n8k8.tf32")


def test_operands_may_be_named_the_other_way_round() -> None:
    left, right = PRODUCT.split(" * np", 1)
    before = program(text(value=f"np{right} * {left}"))
    assert f"in {F16}(2)" in module_text(applied(tensorize, before, loop(before, "u", -1), F16)[0])


def test_conditions_that_are_the_same_for_a_warp() -> None:
    source = text().replace(
        "                for u in range(2):\n                    for h",
        "                if len(A) % 16 == 0:\n                 for u in range(2):\n"
        "                    for h",
    )
    before = program(source)
    applied(tensorize, before, loop(before, "u", -1), F16)


# --- refuses ------------------------------------------------------------------------------------


def test_an_unknown_instruction() -> None:
    before = program(text())
    error = refused(tensorize, before, loop(before, "h"), "mma.m16n8k16.fp16")
    assert error.code == "schedule.bad-intrinsic"
    assert "did you mean 'mma.m16n8k16.f16'" in str(error)


@pytest.mark.parametrize(("word", "rounding", "depth"), ROUNDED)
def test_operands_that_are_not_said_to_be_rounded(word: str, rounding: str, depth: int) -> None:
    before = program(text(depth=depth))
    error = refused(tensorize, before, loop(before, "h"), word)
    assert error.code == "schedule.no-matrix-product"
    assert f"is no `C[...] += {rounding}(A[...]) * {rounding}(B[...])`" in str(error)
    assert f"that operands are rounded, since that changes the result: `{rounding}(A" in str(error)


def test_one_kind_of_rounding_is_not_another() -> None:
    before = program(text(rounding="bf16", depth=8))
    error = refused(tensorize, before, loop(before, "h"), "mma.m16n8k8.tf32")
    assert "is no `C[...] += tf32(A[...]) * tf32(B[...])`" in str(error)


def test_sums_of_another_length_than_the_instruction() -> None:
    before = program(text(rounding="tf32", depth=16))
    error = refused(tensorize, before, loop(before, "h"), "mma.m16n8k8.tf32")
    assert "length 8 over the 8 products" in str(error)


def test_a_loop_outside_of_the_threads() -> None:
    assert "inside no loop over 8 threads along y" in str(misfit(text(), "b", 0))


@pytest.mark.parametrize(("word", "axis"), [("thread.y(8)", "y"), ("thread.x(4)", "x")])
def test_threads_that_are_no_warp(word: str, axis: str) -> None:
    other = {"thread.y(8)": "thread.y(16)", "thread.x(4)": "thread.z(4)"}[word]
    head, tail = text().rsplit(word, 1)
    assert f"threads along {axis}" in str(misfit(f"{head}{other}{tail}"))


@pytest.mark.parametrize("condition", ["r < 7", "p * 2 < 5", "C[0, 0] > 0", "r + b < len(A)"])
def test_conditions_that_differ_from_thread_to_thread(condition: str) -> None:
    source = text().replace(
        "                for u in range(2):\n                    for h",
        f"                if {condition}:\n                 for u in range(2):\n"
        "                    for h",
    )
    error = misfit(source)
    assert "differs from thread to thread" in str(error)
    assert "specialize" in str(error)


def test_a_loop_whose_length_differs_from_thread_to_thread() -> None:
    head, tail = text().rsplit("for u in range(2)", 1)
    source = f"{head}for s in range(r):\n                 for u in range(2){tail}"
    assert "differs from thread to thread" in str(misfit(source))


def test_a_name_that_each_thread_has_for_itself() -> None:
    head, tail = text(value=PRODUCT.replace("h * 8 + r", "h * 8 + r + t")).rsplit("for u in", 1)
    source = f"{head}t = p % 2\n                for u in{tail}"
    assert "in its own way" in str(misfit(source))


@pytest.mark.parametrize(
    "value",
    [
        "a[h * 8 + r, k] * w[k, u * 8 + p * 2 + q]",
        f"{PRODUCT} + np.float32(1)",
        "np.float64(a[h * 8 + r, k]) * np.float64(w[k, u * 8 + p * 2 + q])",
        "np.float32(a[h * 8 + r, k])",
    ],
)
def test_what_is_added_is_no_product_in_single_precision(value: str) -> None:
    assert "is no `C[...] += float32(A[...]) * float32(B[...])`" in str(misfit(text(value=value)))


def test_more_than_a_product_in_the_loops() -> None:
    source = text() + " " * 32 + "C[0, 0] = 1\n"
    assert "hold something else" in str(misfit(source))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("for k in range(16)", "for k in range(8)", "length 16 over the 16 products"),
        ("for h in range(2)", "for h in range(1)", "length 2 over the two rows"),
        ("for q in range(2)", "for q in range(1)", "length 2 over the two columns"),
        ("for k in range(16)", "for k in range(len(A))", "no loop from 0 to a number"),
        ("for k in range(16)", "for k in range(1, 17)", "no loop from 0 to a number"),
    ],
)
def test_loops_of_other_lengths(old: str, new: str, message: str) -> None:
    assert message in str(misfit(text(tiles=3).replace(old, new)))


def test_an_operand_outside_of_shared_memory() -> None:
    error = misfit(text(value=PRODUCT.replace("a[", "A[")))
    assert "A is not in shared memory" in str(error)
    assert 's.cache_read("A", "shared", at=...)' in str(error)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("shared.empty((16, 24), A.dtype)", "shared.empty((16, 20), A.dtype)"),
        ("np.float32(a[h * 8 + r, k])", "np.float32(a[h * 8 + r, k + 1])"),
        ("np.float32(a[h * 8 + r, k])", "np.float32(a[r * 2 + h, 15 - k])"),
        ("np.float32(w[k, u * 8 + p * 2 + q])", "np.float32(w[k, u * 8 + q * 4 + p])"),
    ],
)
def test_cells_that_no_instruction_reads_together(old: str, new: str) -> None:
    assert old in text()
    assert "side by side" in str(misfit(text().replace(old, new)))


def test_rows_and_columns_by_the_wrong_threads() -> None:
    value = "np.float32(a[h * 8 + r, k]) * np.float32(w[k, u * 8 + r])"
    assert "columns of the other on p" in str(misfit(text(value=value)))


def test_sums_that_are_not_four_cells() -> None:
    source = text().replace("C[h * 8 + r, u * 8 + p * 2 + q]", "C[(h + q) * 8 + r, u]")
    assert "four cells" in str(misfit(source))


def test_sums_in_an_operand() -> None:
    source = text().replace("C[h * 8 + r, u * 8 + p * 2 + q]", "a[h * 8 + r, p * 2 + q]")
    assert "a is read and written" in str(misfit(source))


def test_a_loop_that_has_a_kind() -> None:
    before = program(text(word="vector"))
    assert "no loop from 0 to a number" in str(misfit(text(word="vector")))
    before = program(text().replace("for h in range(2)", "for h in unroll(2)"))
    error = refused(tensorize, before, loop(before, "h"), F16)
    assert error.code == "schedule.already-bound"


@pytest.mark.parametrize(("word", "rounding", "depth"), [(F16, "np.float32", 16), *ROUNDED])
def test_sums_whose_order_has_to_stay(word: str, rounding: str, depth: int) -> None:
    s = Schedule(program(text(rounding=rounding, depth=depth)), exact=True)
    with pytest.raises(ScheduleError, match="in an order of their own") as caught:
        s.tensorize("h", word)
    assert caught.value.code == "illegal.not-proved"


# --- keeps meaning ------------------------------------------------------------------------------


@pytest.mark.parametrize("tiles", [1, 2, 3])
def test_runs_as_before(tiles: int) -> None:
    before = program(text(tiles=tiles))
    after, _ = applied(tensorize, before, loop(before, "u", -1), F16)
    assert_same_results(before, after, matrices, [tiles])


@pytest.mark.parametrize(("word", "rounding", "depth"), ROUNDED)
def test_rounded_operands_run_as_before(word: str, rounding: str, depth: int) -> None:
    before = program(text(rounding=rounding, depth=depth))
    after, _ = applied(tensorize, before, loop(before, "u", -1), word)

    def arguments(tiles: int) -> tuple[np.ndarray, ...]:
        a, b, c = matrices(tiles, depth, np.float32)
        return a + np.float32(1e-4), b, c

    assert_same_results(before, after, arguments, [2])


# --- trace --------------------------------------------------------------------------------------


def test_the_trace_replays() -> None:
    s = Schedule(program(text()))
    s.tensorize("h", F16)
    assert s.steps[-1].proof is not None
    assert s.steps[-1].proof.kind == "equal up to reassociation"
    assert_replays(s)
