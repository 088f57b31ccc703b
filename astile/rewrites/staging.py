"""What the primitives share that keep a part of an array in a tile of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from astile.analysis import affine, footprint, isl
from astile.analysis.accesses import NotModelled
from astile.analysis.affine import Affine
from astile.analysis.context import Contexts
from astile.analysis.footprint import Access, AtMost, Side
from astile.analysis.model import extract
from astile.analysis.params import names_of
from astile.analysis.reach import Inside
from astile.analysis.statements import survey
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.rewrites.region import at_most_in
from astile.rewrites.result import Editor, range_call

SCOPES = ("shared", "local", "global")


@dataclass(frozen=True)
class Tile:
    """A small array that stands for a box of another one inside a loop.

    Args:
        array: the array.
        name: the small array.
        sides: the box, side by side, in terms of the loops around and including its home.
        shape: its extents.
        names: variables for loops over its axes, ``A_0``, ``A_1``.
        made: the statement that allocates it.
        at_most: decides which of two forms at its home is the smaller one.
    """

    array: str
    name: str
    sides: tuple[Side, ...]
    shape: tuple[ast.expr, ...]
    names: tuple[str, ...]
    made: ast.stmt
    at_most: AtMost


def check_scope(scope: str) -> None:
    """Refuse what is no memory scope.

    Raises:
        ScheduleError: naming those that there are.
    """
    if scope not in SCOPES:
        raise ScheduleError(
            f"scope {scope!r} is none of {', '.join(map(repr, SCOPES))}", code="schedule.bad-scope"
        )


def tile_of(
    edit: Editor, array: str, scope: str, home: ast.For, accesses: Sequence[Access]
) -> Tile:
    """The tile for the cells that one iteration of a loop accesses.

    Args:
        edit: the program that is edited.
        array: the array.
        scope: where the tile is kept.
        home: the loop in whose body it will be allocated.
        accesses: those accesses inside the loop that the tile is for.

    Raises:
        ScheduleError: when the box is not known, not literal where it must be, or `home` runs on
            threads that would share the tile.
    """
    check_home(edit, array, home, scope)
    check_cells(edit, array, accesses)
    hidden = {name for each in home.body for name in query.names_written(each)}
    at_most = at_most_in(edit, home)
    sides: list[Side] = []
    shape: list[ast.expr] = []
    for axis, side in enumerate(footprint.box(accesses, at_most, hidden)):
        extent = None if side is None else _extent(side, scope, at_most)
        if side is None or extent is None:
            raise _no_literal(edit, array, home, axis, side, scope)
        sides.append(side)
        shape.append(extent)
    name = edit.fresh_name(f"{array}_{scope}")
    word = edit.numpy("empty") if scope == "global" else nodes.attribute(scope, "empty")
    dims = [nodes.clone(each) for each in shape]
    dtype = dtype_of(edit, array)
    made = nodes.call(word, [dims[0] if len(dims) == 1 else nodes.tuple_of(dims), dtype])
    names = tuple(edit.fresh_name(f"{array}_{axis}") for axis in range(len(sides)))
    allocation = nodes.assign(name, made)
    return Tile(array, name, tuple(sides), tuple(shape), names, allocation, at_most)


def _extent(side: Side, scope: str, at_most: AtMost) -> ast.expr | None:
    """How long a tile is along one axis, at least 1 or 0; None when that is not known."""
    extent = side.extent
    if extent.value is not None:
        return nodes.const(max(1, extent.value))
    if scope == "shared":
        return None
    if at_most(affine.constant(0), extent):
        return extent.expression()
    return nodes.call("max", [nodes.const(0), extent.expression()])


def _no_literal(
    edit: Editor, array: str, home: ast.For, axis: int, side: Side | None, scope: str
) -> ScheduleError:
    size = "is not known"
    if side is not None:
        size = f"is {print_expression(side.extent.expression())}, no literal constant"
    return ScheduleError(
        f"the size of axis {axis} of a {scope} tile of {array} inside this loop {size}",
        code="schedule.not-literal",
        span=edit.span(home),
        hints=["split the loops along this axis by literal factors, and name an outer loop of it"],
    )


def check_home(edit: Editor, array: str, home: ast.For, scope: str) -> None:
    """Refuse to share what is allocated inside a loop over threads.

    Raises:
        ScheduleError: showing the loop.
    """
    for each in (*edit.place(home).loops, home):
        header = query.header(each)
        if scope == "shared" and header is not None and header.kind.startswith("thread."):
            raise ScheduleError(
                f"a shared tile of {array} cannot be made inside the loop over "
                f"{header.variable}, which runs on different threads",
                code="schedule.inside-threads",
                span=edit.span(each),
                hints=['name a loop around the loops over threads, or keep it in "local" memory'],
            )


def check_cells(edit: Editor, array: str, accesses: Sequence[Access]) -> None:
    """Refuse accesses that do not give one index for each axis.

    Raises:
        ScheduleError: showing the access.
    """
    rank = names_of(edit.before).ranks.get(array, 0)
    for each in accesses:
        indices = query.indices(each.node)
        whole = any(
            isinstance(e, (ast.Slice, ast.Starred))
            or (isinstance(e, ast.Constant) and query.integer(e) is None)
            for e in indices
        )
        if whole or len(indices) != rank:
            raise used_whole(edit, array, each.node)


def used_whole(edit: Editor, array: str, node: ast.AST) -> ScheduleError:
    """The error for an array that is used other than by its cells."""
    return ScheduleError(
        f"{array} is used other than cell by cell here, so it cannot be replaced by a tile",
        code="schedule.used-whole",
        span=edit.span(node),
        hints=["write the access with one index for each axis"],
    )


def check_only_cells(edit: Editor, array: str, body: Iterable[ast.stmt]) -> None:
    """Refuse statements that use an array other than by its cells, its shape and its dtype.

    Raises:
        ScheduleError: showing the statement.
    """
    for statement in body:
        for each in query.statements(statement):
            parts: list[ast.AST] = [each]
            if query.bodies(each):
                parts = [e for e in ast.iter_child_nodes(each) if isinstance(e, ast.expr)]
            made = query.allocation(each)
            if made is not None and made.array == array and isinstance(each, ast.Assign):
                parts = [each.value]
            named = sum(
                isinstance(e, ast.Name) and e.id == array for part in parts for e in ast.walk(part)
            )
            asked = sum(_asks(e, array) for part in parts for e in ast.walk(part))
            cells = sum(len(query.accesses(part, array)) for part in parts)
            if named > cells + asked:
                raise used_whole(edit, array, each)


def _asks(node: ast.AST, array: str) -> bool:
    """Whether this is ``A.shape``, ``A.dtype`` or ``len(A)``."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr="shape" | "dtype"):
            return name == array
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name == array
    return False


def redirect(access: ast.Subscript, tile: Tile) -> None:
    """Rewrite an access in place to the cell of the tile."""
    indices = query.indices(access)
    moved = [
        (affine.of(index) - side.first).expression()
        for index, side in zip(indices, tile.sides, strict=True)
    ]
    made = nodes.subscript(tile.name, moved)
    access.value, access.slice = made.value, made.slice


# --- what is known of an array ------------------------------------------------------------------


def allocations_of(edit: Editor, array: str) -> list[tuple[ast.Assign, query.Allocation]]:
    """The statements that allocate an array."""
    return [
        (each, found)
        for each in query.statements(edit.function)
        if isinstance(each, ast.Assign)
        and (found := query.allocation(each)) is not None
        and found.array == array
    ]


def dtype_of(edit: Editor, array: str) -> ast.expr:
    """The dtype of an array as an expression.

    Raises:
        ScheduleError: when it is allocated in several places.
    """
    made = allocations_of(edit, array)
    if not made:
        return nodes.attribute(array, "dtype")
    if len(made) > 1 or array in query.parameters(edit.function):
        raise ScheduleError(
            f"{array} is allocated in several places",
            code="schedule.several-allocations",
            span=edit.span(made[-1][0]),
            hints=["give each of them a name of its own"],
        )
    [(statement, found)] = made
    if found.dtype is not None:
        return nodes.clone(found.dtype)
    if found.shape is not None:
        return edit.numpy("float64")
    assert isinstance(statement.value, ast.Call)
    like = statement.value.args[0]
    if isinstance(like, ast.Name) and like.id != array:
        return dtype_of(edit, like.id)
    return nodes.attribute(nodes.clone(like), "dtype")


def extents_of(edit: Editor, array: str, rank: int) -> list[ast.expr]:
    """The length of each axis: a name of the function's own for it, or ``array.shape[axis]``."""
    made = allocations_of(edit, array)
    if len(made) == 1 and array not in query.parameters(edit.function):
        [(statement, found)] = made
        if found.shape is not None and len(found.shape) == rank:
            if all(_is_stable(edit, each) for each in found.shape):
                return [nodes.clone(each) for each in found.shape]
        elif found.shape is None and isinstance(statement.value, ast.Call):
            like = statement.value.args[0]
            if isinstance(like, ast.Name) and like.id != array:
                return extents_of(edit, like.id, rank)
    named = _named_extents(edit, array)
    return [
        nodes.name(named[axis])
        if axis in named
        else nodes.subscript(nodes.attribute(array, "shape"), [nodes.const(axis)])
        for axis in range(rank)
    ]


def _is_stable(edit: Editor, extent: ast.expr) -> bool:
    """Whether the names in an extent mean the same wherever the array is used."""
    return all(_is_assigned_once(edit, each) for each in query.names(extent))


def _is_assigned_once(edit: Editor, name: str) -> bool:
    stores = sum(
        isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store)
        for each in ast.walk(edit.function)
    )
    if name in query.parameters(edit.function):
        return stores == 0
    at_top = any(name in query.names_written(each) for each in edit.function.body)
    return stores == 1 and at_top


def _named_extents(edit: Editor, array: str) -> dict[int, str]:
    """Axis -> the name that the function gives to its length at its top level."""
    found: dict[int, str] = {}
    named: dict[int, str]
    for statement in edit.function.body:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value) if (
                query.dotted(value) == f"{array}.shape"
            ):
                named = {k: e.id for k, e in enumerate(elements) if isinstance(e, ast.Name)}
            case ast.Assign(
                targets=[ast.Name(id=name)], value=ast.Subscript(value=base, slice=axis)
            ) if query.dotted(base) == f"{array}.shape" and query.integer(axis) is not None:
                named = {query.integer(axis) or 0: name}
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=of)]),
            ) if of == array:
                named = {0: name}
            case _:
                continue
        for position, given in named.items():
            if _is_assigned_once(edit, given):
                found.setdefault(position, given)
    return found


# --- copies -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """The cells of a tile that a copy moves.

    Args:
        tile: the tile.
        variables: a variable of the copy's loops for each axis, ``A_0``, ``A_1``; None for an axis
            of one cell.
        shape: how many cells there are along each axis.
        inside: the indices of the tile for one cell.
        cell: the indices of the array for it.
    """

    tile: Tile
    variables: tuple[str | None, ...]
    shape: tuple[ast.expr, ...]
    inside: tuple[Affine, ...]
    cell: tuple[Affine, ...]


def window(tile: Tile, home: ast.For, accesses: Sequence[Access], scope: str) -> Window:
    """The window of a tile around some of the accesses that it is for."""
    hidden = {name for each in home.body for name in query.names_written(each)}
    variables: list[str | None] = []
    inside: list[Affine] = []
    shape: list[ast.expr] = []
    boxed = footprint.box(accesses, tile.at_most, hidden)
    for axis, (own, whole) in enumerate(zip(boxed, tile.sides, strict=True)):
        side = own or whole
        extent = _extent(side, scope, tile.at_most)
        if extent is None:
            side, extent = whole, nodes.clone(tile.shape[axis])
        is_one = query.is_constant(extent, 1)
        variables.append(None if is_one else tile.names[axis])
        name = variables[-1]
        start = side.first - whole.first
        inside.append(start if name is None else start + affine.variable(name))
        shape.append(extent)
    cell = [side.first + each for side, each in zip(tile.sides, inside, strict=True)]
    return Window(tile, tuple(variables), tuple(shape), tuple(inside), tuple(cell))


def copy_nest(edit: Editor, moved: Window, conditions: Sequence[ast.expr], *, out: bool) -> Copy:
    """Loops that copy a window into the tile, or back.

    Args:
        edit: the program that is edited.
        moved: the cells.
        conditions: what is known of those cells that have to be copied.
        out: whether to copy from the tile to the array.
    """
    ends = [
        (moved.tile.name, [each.expression() for each in moved.inside]),
        (moved.tile.array, [each.expression() for each in moved.cell]),
    ]
    (to, left), (of, right) = reversed(ends) if out else ends
    moving = nodes.assign(nodes.subscript(to, left, store=True), nodes.subscript(of, right))
    edges = _inside_array(edit, moved)
    guard = nodes.if_then(nodes.conjunction([*conditions, *edges]), [moving])
    made: ast.stmt = guard
    loops: list[ast.For] = []
    for variable, extent in reversed(list(zip(moved.variables, moved.shape, strict=True))):
        if variable is not None:
            iterator = range_call(nodes.const(0), extent)
            made = edit.new_loop(variable, iterator, [made])
            loops.insert(0, made)
    return Copy(moved, made, loops, guard, [*conditions], edges)


@dataclass(frozen=True)
class Copy:
    """Loops that copy a window.

    Args:
        moved: the window.
        nest: the outermost statement.
        loops: its loops, outermost first.
        guard: the condition around the statement that copies a cell.
        known: conditions of the guard that all wanted cells meet.
        edges: conditions of the guard that keep the cell inside the array.
    """

    moved: Window
    nest: ast.stmt
    loops: list[ast.For]
    guard: ast.If
    known: list[ast.expr]
    edges: list[ast.expr]

    def drop_edges(self, edit: Editor) -> None:
        """Leave out conditions that follow from the others wherever the program can be called.

        To be called when the copy stands in its place.
        """
        drop_needless(edit, self.moved.tile.array, self.guard, self.known, self.edges)


def drop_needless(
    edit: Editor, array: str, guard: ast.If, known: Sequence[ast.expr], edges: Sequence[ast.expr]
) -> None:
    """Leave out conditions of a guard that follow from others wherever the program can be called.

    Args:
        edit: the program that is edited, with the guard in its place.
        array: the array that the guard protects.
        guard: the guard.
        known: conditions of it that stay.
        edges: conditions of it that keep indices inside the array.
    """
    place = survey(edit.program).place(guard)
    if place is None:
        return
    inside = Inside(edit.before, array)
    kept = list(edges)
    for each in edges:
        others = [other for other in kept if other is not each]
        if inside.implies(place, [*known, *others], each):
            kept = others
    guard.test = nodes.conjunction([*known, *kept])


def _inside_array(edit: Editor, moved: Window) -> list[ast.expr]:
    """Conditions under which a cell is one of the array; the needless ones are dropped later."""
    conditions: list[ast.expr] = []
    extents = extents_of(edit, moved.tile.array, len(moved.cell))
    for index, extent in zip(moved.cell, extents, strict=True):
        conditions.append(nodes.compare(nodes.const(0), ast.LtE, index.expression()))
        conditions.append(nodes.compare(index.expression(), ast.Lt, extent))
    return conditions


def check_signs(edit: Editor, array: str, home: ast.For, accesses: Sequence[Access]) -> None:
    """Refuse an index that is negative at times: it means a cell far from its neighbours.

    Raises:
        ScheduleError: showing the access.
    """
    wanted = {id(each.node) for each in accesses}
    contexts = Contexts(edit.program)
    for statement in (each for body in home.body for each in query.statements(body)):
        parts: list[ast.AST] = [statement]
        if query.bodies(statement):
            parts = [e for e in ast.iter_child_nodes(statement) if isinstance(e, ast.expr)]
        found = [a for part in parts for a in query.accesses(part, array) if id(a) in wanted]
        for access in found:
            context = contexts.at(statement)
            if any(context.nonnegative(each) is False for each in query.indices(access)):
                raise ScheduleError(
                    f"an index of {print_expression(access)} may be negative, which means a "
                    "cell counted from the end",
                    code="schedule.negative-index",
                    span=edit.span(access),
                    hints=["start the loop later, or put the access under a condition"],
                )


def is_read_unwritten(edit: Editor, made: ast.stmt) -> bool:
    """Whether a cell of an array may be read before anything is stored there.

    Args:
        edit: the program that is edited.
        made: the statement that allocates the array.
    """
    try:
        model = extract(edit.program)
        [allocation] = [each for each in model.statements if each.leaf.node is made]
        writes = [allocation.instance(allocation.writes[0])]
        found = isl.flow(model.sinks, model.sources, model.schedule).get_must_dependence()
        own = found.intersect_domain(model.session.union_set(model.parameters, writes))
        return not own.is_empty()
    except (NotModelled, isl.Error):
        return True
