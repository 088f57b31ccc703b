"""Which cells of an operand each thread of a warp loads into its registers, and how.

The layout of the registers is that of `astile.intrinsics.matrix_units`. For bfloat16 cells of
float32 are paired as `ldmatrix` gives them: those of products t and t + 4, where the instruction
speaks of neighbours. Both operands are, so that each sum is of the same products.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.reading.fragments import Operand, Product
from astile.ir import nodes

#: Registers of a part of the first operand, and of one of the second.
ROWS, COLUMNS = 4, 2
#: Cells of float32 along the sum that four neighbouring threads load together.
_NEIGHBOURS = 4

#: Variable -> its value at a cell.
Values = dict[str, ast.expr]


@dataclass(frozen=True)
class Load:
    """What one statement loads.

    Args:
        first: number of the first register.
        count: how many registers.
        word: ``"load_rows4"``; None where each thread reads cells of its own.
        cells: where they are: the row that a lane names, or each of the cells.
    """

    first: int
    count: int
    word: str | None
    cells: tuple[Values, ...]


def loads(product: Product, operand: Operand, lane: str) -> list[Load]:
    """How a part of an operand is loaded.

    Args:
        product: the loops.
        operand: of it.
        lane: the name of the number of a thread in its warp.
    """
    if product.unit.kind == "float16":
        return [_halves(product, operand, lane)]
    if operand is product.rows:
        return _single_rows(product, operand, lane)
    return [_single_columns(product, operand, lane)]


def conversion(product: Product) -> str | None:
    """The function that rounds what was loaded, None where nothing does."""
    kind = product.word.rpartition(".")[2]
    return None if kind == "f16" else f"{kind}_parts"


# --- float16 ------------------------------------------------------------------------------------


def _halves(product: Product, operand: Operand, lane: str) -> Load:
    row, half = remainder(lane, 8), remainder(quotient(lane, 8), 2)
    zero = nodes.const(0)
    registers = ROWS if operand is product.rows else COLUMNS
    if registers == ROWS:
        right = affine.atom(quotient(lane, 16)) * 8
        if operand.along_sum:
            found = {product.half: half, product.row: row, product.depth: right.expression()}
        else:
            depth = (right + affine.atom(row)).expression()
            found = {product.half: half, product.row: zero, product.depth: depth}
    elif operand.along_sum:
        pair, column = quotient(row, 2), remainder(lane, 2)
        depth = (affine.atom(half) * 8).expression()
        found = {product.pair: pair, product.column: column, product.depth: depth}
    else:
        depth = remainder(lane, 16)
        found = {product.pair: zero, product.column: zero, product.depth: depth}
    word = f"load_{'rows' if operand.along_sum else 'columns'}{registers}"
    return Load(0, registers, word, (found,))


# --- float32 ------------------------------------------------------------------------------------


def _single_rows(product: Product, operand: Operand, lane: str) -> list[Load]:
    """Loads of four cells: both rows of a thread, at two places of the sum."""
    is_packed = product.unit.depth > 2 * _NEIGHBOURS
    found = []
    for turn in range(product.unit.depth // (2 * _NEIGHBOURS)):
        begin = turn * 2 * _NEIGHBOURS
        first, count = (2 * turn, 2) if is_packed else (0, ROWS)
        low, high = remainder(quotient(lane, 8), 2), quotient(lane, 16)
        if operand.along_sum:
            half, place = (high, low) if is_packed else (low, high)
            depth = (affine.atom(place) * _NEIGHBOURS + begin).expression()
            values = {product.half: half, product.row: remainder(lane, 8), product.depth: depth}
            found.append(Load(first, count, "load_rows4", (values,)))
            continue
        cells = []
        for number in range(4):
            half_number, place_number = (
                (number // 2, number % 2) if is_packed else (number % 2, number // 2)
            )
            cells.append(
                {
                    product.half: nodes.const(half_number),
                    product.depth: _at(product.pair, begin + place_number * _NEIGHBOURS),
                }
            )
        found.append(Load(first, count, None, tuple(cells)))
    return found


def _single_columns(product: Product, operand: Operand, lane: str) -> Load:
    """A load of all cells of a column that a thread holds."""
    count = product.unit.depth // _NEIGHBOURS
    if operand.along_sum:
        place = quotient(lane, 8) if count == 4 else remainder(quotient(lane, 8), 2)
        values = {
            product.pair: quotient(remainder(lane, 8), 2),
            product.column: remainder(lane, 2),
            product.depth: (affine.atom(place) * _NEIGHBOURS).expression(),
        }
        return Load(0, COLUMNS, f"load_rows{count}", (values,))
    cells = [
        {
            product.pair: quotient(product.row, 2),
            product.column: remainder(product.row, 2),
            product.depth: _at(product.pair, number * _NEIGHBOURS),
        }
        for number in range(count)
    ]
    return Load(0, COLUMNS, None, tuple(cells))


def _at(variable: str, begin: int) -> ast.expr:
    return (affine.variable(variable) + begin).expression()


# --- expressions --------------------------------------------------------------------------------


def quotient(of: str | ast.expr, by: int) -> ast.expr:
    """``of // by``."""
    return nodes.binary(_expression(of), ast.FloorDiv, nodes.const(by))


def remainder(of: str | ast.expr, by: int) -> ast.expr:
    """``of % by``."""
    return nodes.binary(_expression(of), ast.Mod, nodes.const(by))


def _expression(of: str | ast.expr) -> ast.expr:
    return nodes.name(of) if isinstance(of, str) else nodes.clone(of)


def stored(name: str, targets: Sequence[ast.expr], call: ast.expr) -> list[ast.stmt]:
    """Statements that store the parts of what a call returns, each in a line of its own."""
    made: list[ast.stmt] = [nodes.assign(name, call)]
    for k, target in enumerate(targets):
        made.append(nodes.assign(target, nodes.subscript(name, [nodes.const(k)])))
    return made
