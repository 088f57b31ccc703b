"""`set_scope`: keep an intermediate in shared or local memory, as large as one tile needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis import affine, footprint
from astile.analysis.footprint import Side
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.rewrites.region import at_most_in
from astile.rewrites.result import Editor, Rewritten

SCOPES = ("shared", "local")


def set_scope(program: Program, array: str, scope: str) -> Rewritten:
    """Move an array into the innermost loop that holds all its accesses, and into a scope.

    Its shape becomes the box of cells that one iteration of that loop touches.

    Args:
        program: the program before.
        array: an array allocated in the function, or a scratch argument.
        scope: ``"shared"`` (one per thread block) or ``"local"`` (one per iteration).

    Raises:
        ScheduleError: for an unknown scope or array, one that is an output, one used in several
            nests, or a shared box whose shape is no literal.

    Before:
        a = np.empty(n, np.float32)
        for i_0 in range(14):
            for i in range(16):
                a[i_0 * 16 + i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]

    After ``set_scope("a", "shared")``:
        for i_0 in range(14):
            a_shared = shared.empty(16, np.float32)
            for i in range(16):
                a_shared[i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                y[i_0 * 16 + i_1] = a_shared[i_1]
    """
    edit = Editor(program)
    if scope not in SCOPES:
        raise ScheduleError(
            f"scope {scope!r} is none of {', '.join(map(repr, SCOPES))}",
            code="schedule.bad-scope",
            notes=["an array that is not moved stays in global memory"],
        )
    dtype = _dtype(edit, array)
    home = _home(edit, array)
    accesses = footprint.accesses_inside(home.body, array)
    hidden = {name for each in home.body for name in query.names_written(each)}
    sides = footprint.box(accesses, at_most_in(edit, home), hidden)
    shape = _shape(edit, array, home, sides, scope)
    staged = edit.fresh_name(f"{array}_{scope}")
    extent = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
    made = nodes.assign(staged, nodes.call(f"{scope}.empty", [extent, dtype]))
    for access in accesses:
        _redirect(access.node, staged, sides)
    for statement in list(query.statements(edit.function)):
        found = query.allocation(statement)
        if found is not None and found.array == array:
            place = edit.place(statement)
            del place.block[place.index]
    first = next(k for k, each in enumerate(home.body) if staged in query.names(each))
    home.body.insert(first, made)
    return edit.finish()


def _dtype(edit: Editor, array: str) -> ast.expr:
    """The array's dtype as an expression; refuses arrays that are no intermediate."""
    for statement in query.statements(edit.function):
        found = query.allocation(statement)
        if found is None or found.array != array:
            continue
        if found.scope != "global":
            raise ScheduleError(
                f"{array} is in {found.scope} memory already", code="schedule.nothing-to-do"
            )
        if found.dtype is not None:
            return nodes.clone(found.dtype)
        if found.word.endswith("_like"):
            assert isinstance(statement, ast.Assign)
            assert isinstance(statement.value, ast.Call)
            like = statement.value.args[0]
            return ast.Attribute(nodes.clone(like), "dtype", ast.Load())
        return nodes.attribute("np", "float64")
    if array in edit.program.scratch:
        return nodes.attribute(array, "dtype")
    if array in query.parameters(edit.function):
        raise ScheduleError(
            f"{array} is an argument, so its contents after the call may be read",
            code="schedule.not-an-intermediate",
            hints=[f'when nobody reads them: `@tile(scratch=("{array}",))`'],
        )
    known = sorted(
        {
            a
            for s in query.statements(edit.function)
            if (f := query.allocation(s))
            for a in [f.array]
        }
    )
    raise ScheduleError(
        f"no array {array!r} is allocated in this function",
        code="schedule.no-such-array",
        hints=[f"arrays allocated here: {', '.join(known)}"] if known else [],
    )


def _home(edit: Editor, array: str) -> ast.For:
    """The innermost loop around all accesses of an array."""
    common: list[ast.For] | None = None
    for statement in query.statements(edit.function):
        if query.is_allocation(statement):
            continue
        own = (
            query.accesses(statement, array)
            if not query.bodies(statement)
            else [
                access
                for child in ast.iter_child_nodes(statement)
                if isinstance(child, ast.expr)
                for access in query.accesses(child, array)
            ]
        )
        mentioned = bool(own) or (
            not query.bodies(statement) and array in query.names_read(statement)
        )
        if not mentioned:
            continue
        if not own:
            raise ScheduleError(
                f"{array} is used as a whole here, so it cannot shrink",
                code="schedule.used-whole",
                span=edit.span(statement),
            )
        loops = list(edit.place(statement).loops)
        common = (
            loops
            if common is None
            else [one for one, other in zip(common, loops, strict=False) if one is other]
        )
    if not common:
        raise ScheduleError(
            f"{array} is used in several nests, so all of it must stay in global memory",
            code="schedule.several-nests",
            hints=["bring its producer and its consumers under one loop with `compute_at`"],
        )
    return common[-1]


def _shape(
    edit: Editor, array: str, home: ast.For, sides: Sequence[Side | None], scope: str
) -> list[ast.expr]:
    shape = []
    for axis, side in enumerate(sides):
        extent = None if side is None else side.extent.expression()
        if extent is None or (scope == "shared" and query.integer(extent) is None):
            size = "is not known" if extent is None else f"is {print_expression(extent)}"
            raise ScheduleError(
                f"the size of axis {axis} of {array} inside this loop {size}, no literal",
                code="schedule.not-literal",
                span=edit.span(home),
                hints=[
                    "split the loops along this axis by literal factors, and compute_at at "
                    "the outer loops"
                ],
            )
        shape.append(extent)
    return shape


def _redirect(access: ast.Subscript, staged: str, sides: Sequence[Side | None]) -> None:
    """Rewrite an access in place to the cell of the staged array."""
    moved = []
    for index, side in zip(query.indices(access), sides, strict=True):
        assert side is not None
        moved.append((affine.of(index) - side.first).expression())
    made = nodes.subscript(staged, moved)
    access.value, access.slice = made.value, made.slice
