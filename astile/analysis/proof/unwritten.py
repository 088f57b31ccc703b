"""Reads of cells that nothing was written to: certain ones, found from the text of a function.

Nobody can mean such a read. What is only read so at some sizes, or depending on data, is left to
the run.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.forms.params import readable
from astile.analysis.forms.radix import parted
from astile.analysis.proof.dataflow import dependences
from astile.analysis.reading.access import Access
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.instances import Statement
from astile.analysis.reading.model import UNDEFINED, Model, extract
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.source import Span

#: Time allowed, in seconds; a function that takes longer is not judged.
BUDGET = 3.0


@dataclass(frozen=True)
class Unwritten:
    """A read of a cell that never got a value.

    Args:
        array: the array.
        text: the access as written.
        cell: indices of the cell.
        iteration: variables of the loops around the read -> values.
        sizes: integer argument or extent -> value at which it is so, as at all others.
        span: where the read is.
        made: where the array is allocated.
    """

    array: str
    text: str
    cell: tuple[int, ...]
    iteration: Mapping[str, int]
    sizes: Mapping[str, int]
    span: Span | None
    made: Span | None


def find(program: Program, *, budget_seconds: float = BUDGET) -> Unwritten | None:
    """The first read of a function that gets what `np.empty` left, whenever it is reached.

    Args:
        program: the function.
        budget_seconds: time allowed; when it is spent nothing is found.
    """
    made = {
        each.array: node
        for node in query.statements(program.function)
        if (each := query.allocation(node)) is not None
        and each.word.removesuffix("_like") == "empty"
    }
    if not made:
        return None
    try:
        model = extract(parted(program)[0], session=isl.Session(isl.Budget(budget_seconds)))
        found = _find(model, frozenset(made))
        if found is None:
            return None
        statement, access, bad = found
        return _shown(model, statement, access, bad, made)
    except (NotModelled, isl.Error, isl.BudgetError):
        return None


def _find(model: Model, arrays: frozenset[str]) -> tuple[Statement, Access, isl.UnionSet] | None:
    candidates = [
        (statement, access)
        for statement in model.statements
        if statement.is_exact and not _is_partly_run(statement.leaf.node)
        for access in statement.reads
        if access.array in arrays and access.node is not None
    ]
    instances = [statement.instance(access) for statement, access in candidates]
    wanted = model.session.union_set((), instances)
    sinks = model.sinks.intersect_domain(wanted)
    found = dependences(sinks, model.sources, model.schedule)
    nothing = model.session.union_set((), [f"{UNDEFINED}[]"])
    fresh = model.tokens.intersect_range(nothing).domain()
    undefined = found.must.intersect_domain(fresh).range()
    undefined = undefined.union(found.without.subtract_range(model.inputs).domain())
    for (statement, access), instance in zip(candidates, instances, strict=True):
        mine = model.session.union_set((), [instance])
        bad = undefined.intersect(mine)
        reached = sinks.domain().intersect(mine)
        if not bad.is_empty() and reached.params().is_subset(bad.params()):
            return statement, access, bad
    return None


def _is_partly_run(node: ast.stmt) -> bool:
    """Whether some of a statement's reads may be left out when it runs, or are none.

    An array that a call by itself is given may be the place of its result.
    """
    return isinstance(node, ast.Expr) or any(
        isinstance(each, (ast.IfExp, ast.BoolOp, ast.Compare)) for each in ast.walk(node)
    )


def _shown(
    model: Model,
    statement: Statement,
    access: Access,
    bad: isl.UnionSet,
    made: Mapping[str, ast.stmt],
) -> Unwritten | None:
    least = isl.least(bad.params())
    first = bad.intersect_params(least).lexmin()
    point = isl.points(first.as_set())
    cell = isl.points(model.sinks.intersect_domain(first).range().as_set())
    if point is None or cell is None or access.node is None:
        return None
    assert isinstance(access.node, ast.expr)
    variables = statement.leaf.variables
    return Unwritten(
        access.array,
        print_expression(access.node),
        tuple(cell[1]),
        dict(zip(variables, point[1], strict=False)),
        {readable(name, model.names): value for name, value in point[0].items()},
        model.program.source.span(access.node),
        model.program.source.span(made[access.array]),
    )
