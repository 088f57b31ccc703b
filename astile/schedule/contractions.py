"""Sums of products, found by which loops their accesses depend on.

In ``C[i, j] += A[i, k] * B[k, j]`` a cell of the result depends on two loops, and each operand on
one of them and on the loop that is summed over. What an operand is loaded for is then needed in
all iterations of the third loop, so that a tile of the result can be kept in registers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.proof import reductions
from astile.ir import nodes, query
from astile.ir.program import Program


@dataclass(frozen=True)
class Contraction:
    """Where a sum of products is.

    Args:
        rows: identity of the loop whose neighbours lie in different rows of the result.
        columns: that of the loop along the rows of the result.
        summed: that of the loop whose iterations are summed up.
        order: these three from the outermost to the innermost.
        result: the array of the sums; None where they are kept in a scalar.
        operand: the array that is read along columns; None where it is read in other ways too.
        layout: how to turn it so that its rows lie along columns; None where they do.
        lengths: of rows, columns and summands.
    """

    rows: int
    columns: int
    summed: int
    order: tuple[int, int, int]
    result: str | None
    operand: str | None
    layout: str | None
    lengths: tuple[Affine, Affine, Affine]


def find(program: Program, least: Sequence[int]) -> list[Contraction]:
    """The contractions of a program, in program order.

    Args:
        program: the program.
        least: how many rows, columns and summands it has to have, where that is known.
    """
    found = []
    for statement in program.function.body:
        for nest, update in _updates(statement, ()):
            made = _contraction(nest, update, least)
            if made is not None:
                found.append(made)
    return found


def _updates(
    statement: ast.stmt, around: tuple[ast.For, ...]
) -> Iterator[tuple[tuple[ast.For, ...], ast.stmt]]:
    """The three innermost loops around each update that is alone in a loop."""
    if isinstance(statement, ast.For) and query.header(statement) is not None:
        around = (*around, statement)
        only = query.only_statement(statement.body)
        if only is not None and len(around) >= 3 and reductions.form_of(only) is not None:
            yield around[-3:], only
    elif query.bodies(statement):
        around = ()
    for body in query.bodies(statement):
        for each in body:
            yield from _updates(each, around)


def _contraction(
    nest: Sequence[ast.For], update: ast.stmt, least: Sequence[int]
) -> Contraction | None:
    roles = _roles(nest, update)
    if roles is None or not _is_rectangular(nest):
        return None
    lengths = (_length(roles[0]), _length(roles[1]), _length(roles[2]))
    for length, bound in zip(lengths, least, strict=True):
        if length.value is not None and length.value < bound:
            return None
    rows, columns, summed = [_variable(each) for each in roles]
    form = reductions.form_of(update)
    assert form is not None
    reads = [e for e in query.accesses(update) if e is not form.target and e is not form.own]
    result = query.base_name(form.target) if isinstance(form.target, ast.Subscript) else None
    if any(query.base_name(each) == result for each in reads):
        return None
    dependent = [query.names(each) & {rows, columns, summed} for each in reads]
    if any({rows, columns} <= each for each in dependent):
        return None
    if {rows, summed} not in dependent or {columns, summed} not in dependent:
        return None
    wanted = [e for e, on in zip(reads, dependent, strict=True) if on == {columns, summed}]
    operand, layout = _operand(wanted, reads, columns, summed)
    identities = [nodes.loop_id(each) for each in (*roles, *nest)]
    if any(each is None for each in identities):
        return None
    i, j, k, *order = [each for each in identities if each is not None]
    return Contraction(i, j, k, (order[0], order[1], order[2]), result, operand, layout, lengths)


def _roles(nest: Sequence[ast.For], update: ast.stmt) -> list[ast.For] | None:
    """The loops over rows and columns of the result and over summands, by the place of sums."""
    form = reductions.form_of(update)
    assert form is not None
    if isinstance(form.target, ast.Name):
        return list(nest)
    if not isinstance(form.target, ast.Subscript):
        return None
    *outer, last = query.indices(form.target)
    along = [each for each in nest if _moves(last, _variable(each))]
    across = [e for e in nest if any(_moves(index, _variable(e)) for index in outer)]
    summed = [e for e in nest if _variable(e) not in query.names(form.target)]
    is_known = len(along) == len(across) == len(summed) == 1
    return [*across, *along, *summed] if is_known else None


def _operand(
    wanted: Sequence[ast.Subscript], reads: Sequence[ast.Subscript], columns: str, summed: str
) -> tuple[str | None, str | None]:
    """The array to pack, if one is read along columns in one way, and how to turn it."""
    array = query.base_name(wanted[0])
    if len({ast.dump(each) for each in wanted}) > 1:
        return None, None
    if any(query.base_name(each) == array and each not in wanted for each in reads):
        return None, None
    indices = query.indices(wanted[0])
    axes = [k for k, each in enumerate(indices) if _moves(each, columns)]
    if len(axes) != 1 or any({columns, summed} <= query.names(each) for each in indices):
        return None, None
    names = [f"i{k}" for k in range(len(indices))]
    turned = list(names)
    turned[axes[0]], turned[-1] = names[-1], names[axes[0]]
    text = f"lambda {', '.join(names)}: ({', '.join(turned)})"
    return array, None if turned == names else text


def _moves(index: ast.expr, variable: str) -> bool:
    """Whether an index goes up by one with a variable."""
    return affine.of(index).coefficient(variable) == 1


def _is_rectangular(nest: Sequence[ast.For]) -> bool:
    """Whether all loops go up by one, between bounds that do not depend on each other."""
    variables = {_variable(each) for each in nest}
    for loop in nest:
        header = query.header(loop)
        assert header is not None
        if not query.is_constant(header.step, 1) or header.kind != "range" or loop.orelse:
            return False
        if query.names(header.start) & variables or query.names(header.stop) & variables:
            return False
    return len(variables) == len(nest)


def _length(loop: ast.For) -> Affine:
    header = query.header(loop)
    assert header is not None
    return affine.of(header.stop) - affine.of(header.start)


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    assert header is not None
    return header.variable
