"""`set_scope`: keep an intermediate in shared or local memory, as large as one tile needs."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis.extents import footprint
from astile.analysis.extents.footprint import Access, AtMost, Side
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.rewrites.parts import copies, staging
from astile.rewrites.parts.region import at_most_in
from astile.rewrites.parts.result import Editor, Rewritten, named, range_call

SCOPES = ("shared", "local")
_FILLS = {"zeros": 0, "ones": 1}


def set_scope(program: Program, array: str, scope: str) -> Rewritten:
    """Move an array into the innermost loop that holds all its accesses, and into a scope.

    It is called ``a_shared`` or the like from then on. Its shape is the box of cells that one
    iteration touches. Cells read before they are written are filled with its zeros or ones first.

    Args:
        program: the program before.
        array: an array allocated in the function, or a scratch argument.
        scope: ``"shared"`` (one per thread block) or ``"local"`` (one per iteration).

    Raises:
        ScheduleError: for an unknown scope or array, one that is an output, one used in several
            nests or as a whole, or a shared box whose shape is no literal.

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
    _check_scope(scope)
    held = _held(edit, array)
    _resolve_shapes(edit, held)
    home = _home(edit, array)
    _check_home(edit, array, home, scope)
    accesses = footprint.accesses_inside(home.body, array)
    _check_accesses(edit, array, accesses)
    hidden = {name for each in home.body for name in query.names_written(each)}
    at_most = at_most_in(edit, home)
    box = footprint.box(accesses, at_most, hidden)
    sides = staging.whole_axes(edit, array, box, accesses, hidden)
    shape = _shape(edit, array, home, sides, scope, at_most)
    staged = edit.fresh_name(f"{array}_{scope}")
    known = [each for each in sides if each is not None]
    for access in accesses:
        staging.move(access.node, staged, known)
    if held.statement is not None:
        place = edit.place(held.statement)
        del place.block[place.index]
    extent = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
    made = nodes.assign(staged, nodes.call(f"{scope}.empty", [extent, held.dtype]))
    first = next(k for k, each in enumerate(home.body) if staged in query.names(each))
    home.body.insert(first, made)
    if held.fill is None or not copies.is_read_unwritten(edit, made):
        return edit.finish()
    nest = _filled(edit, array, staged, shape, held.fill)
    home.body.insert(first + 1, nest)
    return edit.finish(query.loops(nest))


def _check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise ScheduleError(
            f"there is no scope {scope!r} to move an array to",
            code="schedule.bad-scope",
            hints=suggestions(str(scope), SCOPES, "scopes"),
            notes=["an array that is not moved stays in global memory"],
        )


@dataclass(frozen=True)
class _Held:
    """An array as it is now.

    Args:
        array: its name.
        statement: its allocation, or None for a scratch argument.
        shape: its extents, where they are written out.
        dtype: its dtype as an expression.
        fill: the number that all its cells hold at first, or None when they hold nothing.
    """

    array: str
    statement: ast.stmt | None
    shape: tuple[ast.expr, ...] | None
    dtype: ast.expr
    fill: int | None


def _held(edit: Editor, array: str) -> _Held:
    """The array's allocation; refuses arrays that are no intermediate."""
    every = [
        (each, found)
        for each in query.statements(edit.function)
        if (found := query.allocation(each)) is not None
    ]
    own = [(each, found) for each, found in every if found.array == array]
    is_argument = array in query.parameters(edit.function)
    if is_argument and array not in edit.program.scratch:
        raise ScheduleError(
            f"{array} is an argument, so its contents after the call may be read",
            code="schedule.not-an-intermediate",
            hints=[f'when nobody reads them: `@tile(scratch=("{array}",))`'],
        )
    if is_argument and not own:
        return _Held(array, None, None, nodes.attribute(array, "dtype"), None)
    if not own:
        known = sorted({found.array for _, found in every})
        raise ScheduleError(
            f"no array {array!r} is allocated in this function",
            code="schedule.no-such-array",
            hints=suggestions(array, known, "arrays allocated here"),
        )
    [(statement, found), *others] = own
    if others or is_argument:
        raise ScheduleError(
            f"{array} is allocated in several places",
            code="schedule.several-allocations",
            span=edit.span(others[0][0] if others else statement),
            hints=["give each of them a name of its own"],
        )
    if found.scope != "global":
        raise ScheduleError(
            f"{array} is in {found.scope} memory already",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(statement),
        )
    plain = found.word.removesuffix("_like")
    if plain == "full":
        raise ScheduleError(
            f"{array} is made by np.{found.word}, whose value a smaller array would not have",
            code="schedule.filled",
            span=edit.span(statement),
            hints=["use np.empty and a loop that fills it, np.zeros or np.ones"],
        )
    assert isinstance(statement, ast.Assign)
    dtype = _dtype(edit, statement, found)
    return _Held(array, statement, found.shape, dtype, _FILLS.get(plain))


def _dtype(edit: Editor, statement: ast.Assign, found: query.Allocation) -> ast.expr:
    if found.dtype is not None:
        return nodes.clone(found.dtype)
    if found.shape is not None:
        return edit.numpy("float64")
    assert isinstance(statement.value, ast.Call)
    return nodes.attribute(nodes.clone(statement.value.args[0]), "dtype")


def _resolve_shapes(edit: Editor, held: _Held) -> None:
    """Replace ``a.shape[k]``, ``len(a)`` and ``a.dtype`` by what the allocation says."""
    if held.statement is None:
        return
    resolver = _Shapes(held, _assigned_once(edit, held))
    for statement in query.statements(edit.function):
        if statement is not held.statement:
            for name, value in ast.iter_fields(statement):
                if isinstance(value, ast.expr):
                    setattr(statement, name, resolver.visit(value))


def _assigned_once(edit: Editor, held: _Held) -> bool:
    """Whether the names in an allocation still mean the same wherever the array is used."""
    named = set().union(*(query.names(each) for each in held.shape or ()), query.names(held.dtype))
    stored = [
        each.id
        for each in ast.walk(edit.function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    ]
    parameters = query.parameters(edit.function)
    return all(stored.count(each) <= (0 if each in parameters else 1) for each in named)


class _Shapes(ast.NodeTransformer):
    """Replaces questions about an array by their answers."""

    def __init__(self, held: _Held, is_stable: bool) -> None:
        self.held, self.is_stable = held, is_stable

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        shape = self.held.shape
        axis = query.integer(node.slice)
        asked = query.dotted(node.value) == f"{self.held.array}.shape"
        if not asked or not self.is_stable or shape is None or axis is None:
            return self.generic_visit(node)
        return nodes.clone(shape[axis]) if -len(shape) <= axis < len(shape) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        shape = self.held.shape
        asked = query.dotted(node.func) == "len" and len(node.args) == 1
        if asked and query.dotted(node.args[0]) == self.held.array and shape and self.is_stable:
            return nodes.clone(shape[0])
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if query.dotted(node) == f"{self.held.array}.dtype" and self.is_stable:
            dtype = self.held.dtype
            is_type = isinstance(dtype, (ast.Name, ast.Attribute)) and query.dotted(dtype) not in (
                "float",
                "int",
                "bool",
                "complex",
            )
            return nodes.clone(dtype) if is_type else node
        return self.generic_visit(node)


def _home(edit: Editor, array: str) -> ast.For:
    """The innermost loop around all accesses of an array.

    Raises:
        ScheduleError: when there is none, or the array is used other than by its cells.
    """
    common: list[ast.For] | None = None
    for statement in query.statements(edit.function):
        parts: list[ast.AST] = [statement]
        if query.bodies(statement):
            parts = [e for e in ast.iter_child_nodes(statement) if isinstance(e, ast.expr)]
        elif (found := query.allocation(statement)) and found.array == array:
            assert isinstance(statement, ast.Assign)
            parts = [statement.value]
        named = sum(
            isinstance(e, ast.Name) and e.id == array for part in parts for e in ast.walk(part)
        )
        own = [access for part in parts for access in query.accesses(part, array)]
        if named > len(own) and not _only_asks(edit, parts, array, named - len(own)):
            raise ScheduleError(
                f"{array} is used as a whole here, so it cannot shrink",
                code="schedule.used-whole",
                hints=["use it cell by cell in loops"],
                span=edit.span(statement),
            )
        if not own:
            continue
        loops = list(edit.place(statement).loops)
        if common is None:
            common = loops
        common = [a for a, b in zip(common, loops, strict=False) if a is b]
    if not common:
        raise ScheduleError(
            f"{array} is used in several nests, so all of it must stay in global memory"
            if common is not None
            else f"no cell of {array} is used",
            code="schedule.several-nests",
            hints=["bring its producer and its consumers under one loop with `compute_at`"],
        )
    return common[-1]


def _only_asks(edit: Editor, parts: Sequence[ast.AST], array: str, count: int) -> bool:
    """Whether the uses that are no accesses ask for shape or dtype of an argument."""
    if array not in query.parameters(edit.function):
        return False
    asked = sum(
        isinstance(each, ast.Attribute)
        and query.dotted(each) in (f"{array}.shape", f"{array}.dtype")
        for part in parts
        for each in ast.walk(part)
    )
    return asked == count


def _check_home(edit: Editor, array: str, home: ast.For, scope: str) -> None:
    for each in (*edit.place(home).loops, home):
        header = query.header(each)
        if scope == "shared" and header is not None and header.kind.startswith("thread."):
            raise ScheduleError(
                f"{array} is only used inside the loop over {header.variable}, which runs on "
                "different threads",
                code="schedule.inside-threads",
                span=edit.span(each),
                hints=[f'use `set_scope("{array}", "local")`: each thread has its own'],
            )


def _check_accesses(edit: Editor, array: str, accesses: Sequence[Access]) -> None:
    ranks = {len(query.indices(each.node)) for each in accesses}
    for each in accesses:
        partly = any(
            isinstance(e, (ast.Slice, ast.Starred))
            or (isinstance(e, ast.Constant) and query.integer(e) is None)
            for e in query.indices(each.node)
        )
        if len(ranks) > 1 or partly:
            raise ScheduleError(
                f"a part of {array} is used as a whole here, so it cannot shrink",
                code="schedule.used-whole",
                span=edit.span(each.node),
                hints=["write the access with one index for each axis"],
            )


def _shape(
    edit: Editor,
    array: str,
    home: ast.For,
    sides: Sequence[Side | None],
    scope: str,
    at_most: AtMost,
) -> list[ast.expr]:
    shape = []
    for axis, side in enumerate(sides):
        extent = None if side is None else staging.extent_of(side, scope, at_most)
        if extent is None:
            size = "is not known"
            if side is not None:
                size = f"is {print_expression(side.extent.expression())}, no literal"
            raise ScheduleError(
                f"the size of axis {axis} of {array} inside {named(home)} {size}",
                code="schedule.not-literal",
                span=edit.span(home),
                hints=[
                    "split the loops along this axis by literal factors, and compute_at at "
                    "the outer loops"
                ],
            )
        shape.append(extent)
    return shape


def _filled(
    edit: Editor, array: str, staged: str, shape: Sequence[ast.expr], value: int
) -> ast.stmt:
    """Loops that give every cell its first value; along an axis of one cell there is none."""
    variables = [edit.fresh_name(f"{array}_{axis}") for axis in range(len(shape))]
    loops = [
        (variable, extent)
        for variable, extent in zip(variables, shape, strict=True)
        if query.integer(extent) != 1
    ]
    named = {variable for variable, _ in loops}
    indices = [nodes.name(each) if each in named else nodes.const(0) for each in variables]
    cell = nodes.subscript(staged, indices, store=True)
    made: ast.stmt = nodes.assign(cell, nodes.const(value))
    for variable, extent in reversed(loops):
        made = edit.new_loop(variable, range_call(nodes.const(0), extent), [made])
    return made
