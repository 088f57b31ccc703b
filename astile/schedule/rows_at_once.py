"""Several rows of a result at once, in vectors, where they are computed from the same cells.

A stencil reads most rows of its operand for several rows of its result. Where these are computed
together, each vector of the operand is loaded once for all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from astile.analysis.forms import affine
from astile.ir import printer, query
from astile.lower.vectors.prefetched import PREFETCH
from astile.lower.vectors.statements import AHEAD, LARGE, STORE
from astile.schedule import rest

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Rows of a result that are computed together: their vectors, and those loaded, fit the registers.
_ROWS = 4
#: Rows of all results that are stored side by side, at most: processors have few buffers in which
#: parts of lines come together that are written around the caches. With eight rows, a call took
#: four times as long (Intel, AVX-512).
_STORED = 6
#: Most statements of one row, its short loops written out: with more, compiling takes long.
_MOST = 32


def share_cells(nest: Sequence[ast.For]) -> bool:
    """Whether the rows of a result are computed from the same cells of an operand.

    Args:
        nest: the loops around and including an innermost one, outermost first.
    """
    if len(nest) < 2 or query.only_statement(nest[-2].body) is not nest[-1]:
        return False
    outer, inner = (query.header(each) for each in nest[-2:])
    if outer is None or inner is None or not 0 < _size(nest[-1].body) <= _MOST:
        return False
    if not (query.is_constant(outer.step, 1) and query.is_constant(inner.step, 1)):
        return False
    rows = (affine.of(outer.stop) - affine.of(outer.start)).value
    if (rows is not None and rows < _ROWS) or _rows(nest[-1]) < 2:
        return False
    return _is_stencil(nest[-1], outer.variable, inner.variable)


def _rows(loop: ast.For) -> int:
    """How many rows of each result are computed together; less than 2 for too many results."""
    stored = {
        (query.base_name(each), *map(printer.print_expression, query.indices(each)[:-1]))
        for each in query.accesses(loop)
        if isinstance(each.ctx, ast.Store)
    }
    return min(_ROWS, _STORED // max(1, len(stored)) // 2 * 2)


def _size(body: Sequence[ast.stmt]) -> int:
    """How many statements there are with all loops written out; 0 where that is not known."""
    found = 0
    for statement in body:
        inside = [_size(each) for each in query.bodies(statement)]
        if isinstance(statement, ast.For):
            trips = _trips(statement)
            if not trips or not all(inside):
                return 0
            found += trips * sum(inside)
        elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.If)):
            found += 1 + sum(inside)
        else:
            return 0
    return found


def _trips(loop: ast.For) -> int:
    header = query.header(loop)
    if header is None:
        return 0
    ends = [query.integer(each) for each in (header.start, header.stop, header.step)]
    start, stop, step = ends
    return 0 if start is None or stop is None or not step else len(range(start, stop, step))


def _is_stencil(loop: ast.For, row: str, column: str) -> bool:
    stored = set(query.written_arrays(loop))
    short = {name for each in query.loops(loop)[1:] for name in query.names_written(each.target)}
    offsets: dict[str, set[object]] = {}
    is_again = False
    for access in query.accesses(loop):
        array = query.base_name(access)
        indices = [affine.of(each) for each in query.indices(access)]
        if array is None or not indices:
            return False
        along = indices.pop().coefficient(column)
        across = [each for each in indices if each.mentions(row)]
        if along not in (0, 1) or any(each.mentions(column) for each in indices):
            return False
        if array in stored:
            if not _is_only_stored(access) or not along or not across:
                return False
            continue
        for each in across:
            rest = each.without(row)
            offsets.setdefault(array, set()).add(rest)
            is_again |= not rest.names().isdisjoint(short)
    return bool(stored) and (is_again or any(len(each) > 1 for each in offsets.values()))


def _is_only_stored(access: ast.Subscript) -> bool:
    return isinstance(access.ctx, ast.Store)


def at_once(s: Schedule, nest: Sequence[ast.For], few: set[int]) -> None:
    """Compute several rows at once in vectors, while memory for the next ones is on its way.

    Results that nothing in the function reads again are written around the caches where they are
    large. Caches are asked ahead for the lines of others.

    Args:
        s: the schedule; steps are added to it.
        nest: the loops around and including an innermost one, outermost first.
        few: the identity of the loop over rows that are left is added.

    Raises:
        ScheduleError: when a step is not legal.
    """
    rows, columns = (rest.handle(s, each) for each in nest[-2:])
    row, column = rows.var, columns.var
    stored = query.written_arrays(nest[-1])
    is_last = not any(_is_read(s.program.function, each) for each in stored)
    blocks, some = s.split(rows, [None, _rows(nest[-1])], tail="cut")
    s.reorder(blocks, columns, some)
    left = rest.after(s, blocks, row)
    inside = rest.inside(s, blocks)
    if left is not None:
        few.add(left.identity)
        inside += rest.inside(s, left)
    for loop in inside:
        if loop.var == column:
            s.vectorize(loop)
            s.annotate(loop, STORE, LARGE if is_last else AHEAD)
        else:
            s.unroll(loop)
    s.annotate(blocks, PREFETCH, 1)


def _is_read(function: ast.FunctionDef, array: str) -> bool:
    """Whether a function may read an array: all it does otherwise is make, fill and return it."""
    known = 0
    for statement in query.statements(function):
        made = query.allocation(statement)
        returned = isinstance(statement, ast.Return) and isinstance(statement.value, ast.Name)
        known += (made is not None and made.array == array) or (
            returned and array in query.names(statement)
        )
        if isinstance(statement, ast.AugAssign) and query.base_name(statement.target) == array:
            return True
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and query.base_name(node) == array:
            known += isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.Attribute) and node.attr in ("shape", "dtype"):
            known += isinstance(node.value, ast.Name) and node.value.id == array
    mentions = sum(isinstance(n, ast.Name) and n.id == array for n in ast.walk(function))
    return mentions != known
