"""Products that matrix units compute: their text, values, conflicts, machine code, refusals."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from astile import loops
from astile.errors import LoweringError
from astile.lower import cuda
from astile.lower.lowered import Lowered
from astile.runtime import cubin, emulate, machine_code, recording
from astile.schedule.schedule import Schedule
from tests.support.programs import program_from
from tests.support.tiles_of_products import COLUMNS, ROWS, matrices, text

TYPES = {"A": "float16", "B": "float16", "C": "float32"}


def scheduled(*form: str, tiles: int = 2, loop: int = -1) -> Schedule:
    s = Schedule(program_from(text(*form, tiles=tiles)))
    s.tensorize([each for each in s.loops() if each.var == "u"][loop], "mma.m16n8k16.f16")
    return s


@cache
def lowered(rows: str = "by rows", columns: str = "by rows", tiles: int = 2) -> Lowered:
    return scheduled(rows, columns, tiles=tiles).lowered("cuda", TYPES)


def emulated(made: Lowered, tiles: int = 2) -> tuple[np.ndarray, emulate.EmulationReport]:
    a, b, c = matrices(tiles)
    report = emulate.EmulationReport()
    emulate.load(made.text, made.entry, report=report)(a, b, c)
    return c, report


# --- the text -----------------------------------------------------------------------------------


def test_a_product_is_loads_and_one_instruction_for_each_tile() -> None:
    names = [
        each.func.id
        for each in ast.walk(ast.parse(lowered().text))
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    ]
    assert names.count("load_rows4") == 1
    assert names.count("load_columns4") == 1
    assert names.count("multiply_add_f16") == 1
    assert "a = cuda.shared.array((16, 24), np.float16, alignment=16)" in lowered().text
    assert "lane = uint32(cuda.laneid)" in lowered().text


@pytest.mark.parametrize(("columns", "word"), [("by rows", "columns"), ("by columns", "rows")])
def test_an_odd_number_of_tiles_is_loaded_one_by_one(columns: str, word: str) -> None:
    assert f"load_{word}2(" in lowered(columns=columns, tiles=3).text


def test_a_product_of_types_that_are_not_known_stays_a_loop() -> None:
    assert "multiply_add_f16" not in cuda.lower(scheduled().program).text


def test_a_product_stays_a_loop_where_sums_keep_their_order() -> None:
    made = cuda.lower(scheduled().program, types=TYPES, exact=True)
    assert "multiply_add_f16" not in made.text


def test_a_product_stays_a_loop_for_the_simulator() -> None:
    made = cuda.lower(scheduled().program, types=TYPES, plain=True)
    assert "multiply_add_f16" not in made.text
    np.testing.assert_array_equal(emulated(made)[0], emulated(lowered())[0])


# --- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("tiles", [1, 2, 3])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
def test_values_however_operands_lie(rows: str, columns: str, tiles: int) -> None:
    found, report = emulated(lowered(rows, columns, tiles), tiles)
    a, b, c = matrices(tiles)
    np.testing.assert_array_equal(found, c + a.astype(np.float64) @ b.astype(np.float64))
    assert report.launches[0].shared["a"].requests > 0


def test_values_of_a_loop_over_one_product() -> None:
    s = Schedule(program_from(text()))
    s.tensorize("h", "mma.m16n8k16.f16")
    made = s.lowered("cuda", TYPES)
    a, b, c = matrices()
    np.testing.assert_array_equal(emulated(made)[0], c + a.astype(float) @ b.astype(float))


# --- operands that are rounded ------------------------------------------------------------------

#: Instruction, how it rounds, products of a sum, how its instruction is called in machine code.
ROUNDED = [
    ("mma.m16n8k8.tf32", "tf32", 8, "HMMA.1688.F32.TF32"),
    ("mma.m16n8k16.bf16", "bf16", 16, "HMMA.16816.F32.BF16"),
]
SINGLES = dict.fromkeys("ABC", "float32")


@cache
def rounded(word: str, rows: str = "by rows", columns: str = "by rows", tiles: int = 2) -> Lowered:
    _, rounding, depth, _ = next(each for each in ROUNDED if each[0] == word)
    source = text(rows, columns, tiles, rounding=rounding, depth=depth)
    s = Schedule(program_from(source))
    s.tensorize([each for each in s.loops() if each.var == "u"][-1], word)
    return s.lowered("cuda", SINGLES)


@pytest.mark.parametrize("word", [each[0] for each in ROUNDED])
def test_the_text_rounds_what_it_loads(word: str, golden: Callable[[str, str], None]) -> None:
    rounding = word.rpartition(".")[2]
    golden(f"lower/{rounding}_cuda.py", rounded(word, columns="by columns").text)


@pytest.mark.parametrize("tiles", [1, 2, 3])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("word", "rounding", "depth", "_"), ROUNDED)
def test_rounded_values(
    word: str, rounding: str, depth: int, _: str, rows: str, columns: str, tiles: int
) -> None:
    made = rounded(word, rows, columns, tiles)
    assert f"multiply_add_{rounding}(" in made.text
    random = np.random.default_rng(depth)
    shapes = (16, depth), (depth, tiles * 8), (16, tiles * 8)
    a, b, c = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
    by_cell = np.vectorize(getattr(loops, rounding), otypes=[np.float64])
    wanted = c + by_cell(a) @ by_cell(b)
    assert np.abs(wanted - (c + a.astype(np.float64) @ b)).max() > 1e-4  # it does round
    emulate.load(made.text, made.entry)(a, b, c)
    np.testing.assert_allclose(c, wanted, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize(("word", "_", "depth", "name"), ROUNDED)
def test_machine_code_of_rounded_operands(
    word: str, _: str, depth: int, name: str, columns: str, cc: tuple[int, int]
) -> None:
    made = rounded(word, "by rows", columns)
    arguments = matrices(2, depth, np.float32)
    try:
        [launch] = recording.launches(made.text, made.entry, arguments, {})
        machine = cubin.disassembly(cubin.cubin(launch.kernel, launch.signature, cc, 32))
        [code] = machine_code.of(made, arguments, {}, cc).kernels
    except LoweringError as error:
        pytest.skip(f"no tools for machine code here: {error}")
    assert machine.count(name) == 2
    assert "LDSM.16.M88.4" in machine
    assert code.stack == code.spill_bytes == 0


def test_other_types_of_rounded_operands() -> None:
    s = Schedule(program_from(text(rounding="tf32", depth=8)))
    s.tensorize("h", "mma.m16n8k8.tf32")
    with pytest.raises(LoweringError, match="a holds float16 and not float32"):
        s.lowered("cuda", SINGLES | {"A": "float16"})


# --- machine code -------------------------------------------------------------------------------


@pytest.mark.parametrize("cc", [(8, 0), (9, 0)])
def test_machine_code(cc: tuple[int, int]) -> None:
    try:
        [code] = machine_code.of(lowered(), matrices(), {}, cc).kernels
    except LoweringError as error:
        pytest.skip(f"no tools for machine code here: {error}")
    assert code.stack == code.spill_bytes == 0


# --- refuses ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "kind", "message"),
    [
        ("A", "float32", "a holds float32 and not float16"),
        ("B", "int8", "w holds int8 and not float16"),
        ("C", "float64", "C holds float64 and not float32"),
    ],
)
def test_other_types(array: str, kind: str, message: str) -> None:
    with pytest.raises(LoweringError, match=message) as caught:
        scheduled().lowered("cuda", TYPES | {array: kind})
    assert caught.value.code == "lowering.matrix-product"


def test_blocks_whose_warps_are_others() -> None:
    source = text().replace("for i in thread.y(8)", "for i in thread.y(16)")
    s = Schedule(program_from(source.replace("A[i_1 * 8 + i,", "A[i_1 * 8 + i % 8,")))
    s.tensorize(
        [each for each in s.loops() if each.var == "u"][-1], "mma.m16n8k16.f16", unsafe=True
    )
    with pytest.raises(LoweringError, match="4 x 16 threads") as caught:
        s.lowered("cuda", TYPES)
    assert caught.value.code == "lowering.matrix-product"


def test_an_array_that_was_laid_out_anew_after_the_step() -> None:
    s = scheduled()
    s.transform_layout("w", "lambda k, j: (k, j % 2, j // 2)", unsafe=True)
    with pytest.raises(LoweringError, match="side by side") as caught:
        s.lowered("cuda", TYPES)
    assert caught.value.code == "lowering.matrix-product"
