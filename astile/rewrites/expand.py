"""`expand`: a scalar that each iteration writes into an array with one cell per iteration."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.params import names_of
from astile.analysis.proof.type_symbols import JoinedType
from astile.analysis.proof.value_types import Types
from astile.analysis.reading.calls import Calls
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten
from astile.rewrites.parts.trips import at_least_0, trip_count

#: Python's own numbers by the names that the analysis of types gives them.
_WEAK = {"int": 0, "float": 0.0, "complex": 0j, "bool": False}


def expand(program: Program, scalar: str, loops: Sequence[int]) -> Rewritten:
    """Give each iteration of some loops its own cell of a scalar.

    Args:
        program: the program before.
        scalar: name of the scalar.
        loops: identities of nested loops, outermost first, inside which it is used.

    Raises:
        ScheduleError: when the scalar is not used inside the loops, or its type is not known.

    Before:
        for i in range(n):
            s = x[i] * 2
            y[i] = s

    After ``expand("s", i)``:
        s_tile = np.empty(n, np.result_type(2, x))
        for i in range(n):
            s_tile[i] = x[i] * 2
            y[i] = s_tile[i]
    """
    if not loops:
        raise ScheduleError(
            f"{scalar} gets a cell for each iteration of loops, and no loop is named",
            code="schedule.bad-loops",
            hints=["name them, outermost first: `expand('s', 'i')`"],
        )
    edit = Editor(program)
    around = [edit.loop(each) for each in loops]
    if scalar not in query.names_written(around[0]):
        raise ScheduleError(
            f"no scalar {scalar!r} is written inside these loops",
            code="schedule.no-such-scalar",
            span=edit.span(around[0]),
            hints=suggestions(scalar, _scalars(around[0]), "scalars written here"),
        )
    place = edit.place(around[0])
    made = expand_scalars(edit, [scalar], [around[0]], around, at_top=not place.loops)
    place.block[place.index : place.index] = made
    return edit.finish(around)


def expand_scalars(
    edit: Editor,
    scalars: Sequence[str],
    parts: Sequence[ast.stmt],
    loops: Sequence[ast.For],
    *,
    at_top: bool = False,
    scope: str | None = None,
) -> list[ast.stmt]:
    """Replace scalars in `parts`, in place, by cells of new arrays; returns the allocations.

    Args:
        edit: the program that is edited.
        scalars: names of the scalars.
        parts: the statements in which they are used; each holds loops over the same variables.
        loops: the loops whose iterations get a cell each, outermost first. Of these only
            the loops around *every* use of the scalar count.
        at_top: whether the allocations stand at the top level of the function.
        scope: of the arrays; by default local, where their extents are literal and they do not
            stand at the top level.
    """
    allocations: list[ast.stmt] = []
    for scalar in scalars:
        variables = _common_variables(scalar, parts, [edit.header(each).variable for each in loops])
        over = [each for each in loops if edit.header(each).variable in variables]
        if not over:
            continue
        _check_not_live(edit, scalar, over[0])
        dtype = dtype_of_scalar(edit, scalar, parts)
        array = edit.fresh_name(f"{scalar}_tile")
        shape = [_extent(edit, scalar, loops, each).expression() for each in over]
        literal = all(query.integer(each) is not None for each in shape)
        local = scope == "local" if scope is not None else literal and not at_top
        word = nodes.attribute("local", "empty") if local else edit.numpy("empty")
        extent = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
        allocations.append(nodes.assign(array, nodes.call(word, [extent, dtype])))
        cell = [_trip(edit, each) for each in over]
        for part in parts:
            _Cells(scalar, array, cell).visit(part)
    return allocations


def _scalars(loop: ast.For) -> list[str]:
    """The names that a loop writes, its own variable and those of inner loops apart."""
    variables = {n for each in query.loops(loop) for n in query.names_written(each.target)}
    return sorted(query.names_written(loop) - variables)


def _check_not_live(edit: Editor, scalar: str, loop: ast.For) -> None:
    """Refuse a scalar that is set in a loop alone, but read outside of it too."""
    inside = next(
        (e for e in query.loops(edit.before.function) if nodes.loop_id(e) == nodes.loop_id(loop)),
        None,
    )
    within = set(map(id, query.preorder(inside))) if inside is not None else set()
    uses = [
        e
        for e in query.preorder(edit.before.function)
        if isinstance(e, ast.Name) and e.id == scalar and id(e) not in within
    ]
    if inside is None or not uses or any(isinstance(each.ctx, ast.Store) for each in uses):
        return
    variable = edit.header(loop).variable
    raise ScheduleError(
        f"{scalar} is read outside of the loop over {variable}, where it holds its last value",
        code="schedule.variable-live",
        span=edit.span(uses[0]),
        hints=[f"store {scalar} in an array inside the loop, and read that"],
    )


def _extent(edit: Editor, scalar: str, loops: Sequence[ast.For], loop: ast.For) -> Affine:
    """The most iterations that a loop has, whatever the loops around it are at."""
    around = loops[: next(k for k, each in enumerate(loops) if each is loop)]
    most = intervals.highest(trip_count(edit.counted(loop)), intervals.ranges_of(around))
    depends = most.names() & {edit.header(each).variable for each in around}
    if depends:
        raise ScheduleError(
            f"the size of an array for {scalar} is not known: the loop over "
            f"{edit.header(loop).variable} depends on {', '.join(sorted(depends))}",
            code="schedule.bad-bounds",
            hints=["name a loop further out as well"],
            span=edit.span(loop),
        )
    return at_least_0(edit, loops[0], most)


def _trip(edit: Editor, loop: ast.For) -> ast.expr:
    header = edit.counted(loop)
    step = query.integer(header.step)
    assert step
    offset = affine.variable(header.variable) - affine.of(header.start)
    if step < 0:
        offset = -offset
    return affine.floor_div(offset, abs(step)).expression()


def _common_variables(scalar: str, parts: Sequence[ast.stmt], variables: Sequence[str]) -> set[str]:
    """The loop variables around every use of a scalar."""
    common = set(variables)

    def search(node: ast.AST, around: frozenset[str]) -> None:
        nonlocal common
        if isinstance(node, ast.Name) and node.id == scalar:
            common &= around
        if isinstance(node, ast.For):
            found = query.header(node)
            inner = around if found is None else around | {found.variable}
            search(node.iter, around)
            for each in node.body:
                search(each, inner)
            return
        for child in ast.iter_child_nodes(node):
            search(child, around)

    for part in parts:
        search(part, frozenset())
    return common


class _Cells(ast.NodeTransformer):
    """Replaces a scalar by a cell of an array."""

    def __init__(self, scalar: str, array: str, cell: Sequence[ast.expr]) -> None:
        self.scalar, self.array, self.cell = scalar, array, cell

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.scalar:
            return node
        store = isinstance(node.ctx, ast.Store)
        made = nodes.subscript(self.array, [nodes.clone(each) for each in self.cell], store=store)
        return nodes.copy_place(node, made)


def is_typed(edit: Editor, scalar: str) -> bool:
    """Whether the type of a scalar is known, so that it can become an array."""
    return _types(edit).of_scalar(scalar) is not None


def _types(edit: Editor) -> Types:
    names = names_of(edit.before)
    bound = frozenset(names.arguments) | names.local
    return Types(edit.before, names, Calls(edit.before, bound))


def dtype_of_scalar(edit: Editor, scalar: str, parts: Sequence[ast.stmt]) -> ast.expr:
    """The type that the scalar has in plain Python, as an expression over array types.

    NumPy's promotion decides, with Python's own numbers weak: ``np.result_type(0.0, x)``.
    """
    found = _types(edit).of_scalar(scalar)
    if found is None:
        raise _unknown_type(edit, scalar, parts)
    if len(found) > 1:
        return _joined(edit, found)
    only = _operand(edit, next(iter(found)))
    return nodes.attribute(only, "dtype") if isinstance(only, ast.Name) else only


def _unknown_type(edit: Editor, scalar: str, parts: Sequence[ast.stmt]) -> ScheduleError:
    if _types(edit).is_pythons_own(scalar):
        message = f"{scalar!r} is a number of Python's own, which no array holds as such"
        note = "a cell has a type of NumPy, and decides the type of what is computed with it"
        hint = f"give {scalar} a type: `np.float32(...)` around all values that it is made of"
    else:
        message = f"the type of the scalar {scalar!r} is not known, so it cannot become an array"
        note = (
            "it must be made of cells of arrays, of NumPy's types or of Python's numbers by "
            "arithmetic, and start with a number that every type holds"
        )
        hint = f"start {scalar} with a plain 0.0 (or 0), or write {scalar} as an array yourself"
    return ScheduleError(
        message,
        code="schedule.unknown-type",
        span=edit.span(_first_value(scalar, parts)),
        label="this value",
        notes=[note],
        hints=[hint],
    )


def _joined(edit: Editor, kinds: Iterable[str]) -> ast.expr:
    operands = [_operand(edit, each) for each in sorted(kinds, key=_order)]
    return nodes.call(edit.numpy("result_type"), operands)


def _order(kind: str) -> tuple[bool, str]:
    return kind not in _WEAK, kind


def _operand(edit: Editor, kind: str) -> ast.expr:
    """One type that promotion joins: Python's numbers, an array, a type of NumPy, or a join."""
    if isinstance(kind, JoinedType):
        return _joined(edit, kind.parts)
    if kind in _WEAK:
        return nodes.const(_WEAK[kind])
    if kind.startswith("like "):
        return nodes.name(kind.removeprefix("like "))
    return edit.numpy(kind.removeprefix("numpy."))


def _assigned(scalar: str, parts: Sequence[ast.stmt]) -> list[ast.expr]:
    return [
        each.value
        for part in parts
        for each in query.statements(part)
        if isinstance(each, ast.Assign) and scalar in query.names_written(each)
    ]


def _first_value(scalar: str, parts: Sequence[ast.stmt]) -> ast.AST:
    return next(iter(_assigned(scalar, parts)), parts[0])
