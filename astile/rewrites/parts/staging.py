"""What the primitives share that keep a part of an array in a tile of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd

from astile.analysis.extents import footprint
from astile.analysis.extents.footprint import Access, AtMost, Side
from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.params import names_of
from astile.analysis.reading.context import Contexts
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.rewrites.parts import storage
from astile.rewrites.parts.region import at_most_in
from astile.rewrites.parts.result import Editor, named

SCOPES = ("shared", "local", "global")


@dataclass(frozen=True)
class Tile:
    """A small array that stands for a box of another one inside a loop.

    Args:
        array: the array.
        name: the small array.
        sides: the box, side by side, in terms of the loops around and including its home.
        steps: how far apart along each axis the cells of the box are that the array holds.
        shape: its extents.
        names: variables for loops over its axes, ``A_0``, ``A_1``.
        made: the statement that allocates it.
        at_most: decides which of two forms at its home is the smaller one.
    """

    array: str
    name: str
    sides: tuple[Side, ...]
    steps: tuple[int, ...]
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
            f"there is no scope {scope!r}",
            code="schedule.bad-scope",
            hints=suggestions(str(scope), SCOPES, "scopes"),
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
    _check_lives(edit, array, home)
    check_cells(edit, array, accesses)
    hidden = {name for each in home.body for name in query.names_written(each)}
    at_most = at_most_in(edit, home)
    sides: list[Side] = []
    steps: list[int] = []
    shape: list[ast.expr] = []
    box = whole_axes(edit, array, footprint.box(accesses, at_most, hidden), accesses, hidden)
    for axis, side in enumerate(box):
        step = 1 if side is None else _step_of(side, axis, accesses)
        extent = None if side is None else extent_of(side, scope, at_most, step)
        if side is None or extent is None:
            raise _no_literal(edit, array, home, axis, side, scope)
        sides.append(side)
        steps.append(step)
        shape.append(extent)
    name = edit.fresh_name(f"{array}_{scope}")
    word = edit.numpy("empty") if scope == "global" else nodes.attribute(scope, "empty")
    dims = [nodes.clone(each) for each in shape]
    dtype = storage.dtype_of(edit, array)
    made = nodes.call(word, [dims[0] if len(dims) == 1 else nodes.tuple_of(dims), dtype])
    names = tuple(edit.fresh_name(f"{array}_{axis}") for axis in range(len(sides)))
    allocation = nodes.assign(name, made)
    return Tile(array, name, tuple(sides), tuple(steps), tuple(shape), names, allocation, at_most)


def _step_of(side: Side, axis: int, accesses: Sequence[Access]) -> int:
    """How far apart cells are that are accessed: ``y[i * 2]`` needs no room for those between."""
    indices = [affine.of(query.indices(each.node)[axis]) for each in accesses]
    apart = [each - side.first for each in (side.last, *indices)]
    return gcd(*(n for each in apart for n in (each.constant, *each.coefficients.values()))) or 1


def divided(form: Affine, step: int) -> Affine | None:
    """A form in steps of a number, None where it is no multiple of that."""
    terms = {key: (coefficient // step, atom) for key, (coefficient, atom) in form.terms.items()}
    result = Affine(terms, form.constant // step)
    return result if result * step == form else None


def whole_axes(
    edit: Editor,
    array: str,
    box: Sequence[Side | None],
    accesses: Sequence[Access],
    hidden: set[str],
) -> list[Side | None]:
    """The box, as long as the array along axes where data pick the cell: ``counts[x[i]]``.

    Args:
        edit: the program that is edited.
        array: the array.
        box: the box of the accesses, side by side.
        accesses: the accesses.
        hidden: names that are assigned inside the place that the box is for.
    """
    ranges = [each for access in accesses for each in access.inner]
    variables = {each.variable for each in ranges if each.first != each.last}
    if all(each is not None for each in box):
        return list(box)
    extents = storage.extents_of(edit, array, len(box))

    def is_picked(index: ast.expr) -> bool:
        has_cells = any(isinstance(each, ast.Subscript) for each in ast.walk(index))
        return has_cells or bool(query.names(index) & (hidden - variables))

    return [
        Side(affine.constant(0), affine.of(extents[axis]) - 1)
        if side is None and any(is_picked(query.indices(e.node)[axis]) for e in accesses)
        else side
        for axis, side in enumerate(box)
    ]


def extent_of(side: Side, scope: str, at_most: AtMost, step: int = 1) -> ast.expr | None:
    """How long a tile is along one axis, at least 1 or 0; None when that is not known."""
    apart = divided(side.last - side.first, step)
    if apart is None:
        return None
    extent = apart + 1
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


def _check_lives(edit: Editor, array: str, home: ast.For) -> None:
    """Refuse a tile of what loops inside of its home allocate, which is gone where it is copied.

    Raises:
        ScheduleError: showing the allocation.
    """
    for made, _ in storage.allocations_of(edit, array):
        loops = edit.place(made).loops
        if loops and loops[-1] is not home and any(each is home for each in loops):
            raise ScheduleError(
                f"{array} lives inside {named(loops[-1])}, not in all of this loop",
                code="schedule.not-nested",
                span=edit.span(home),
                hints=[f"name {named(loops[-1])} or one inside it, or use `store_at` first"],
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


def redirect(access: ast.Subscript, tile: Tile, name: str | None = None) -> None:
    """Rewrite an access in place to the cell of the tile, under another name if one is given."""
    move(access, name or tile.name, tile.sides, tile.steps)


def move(
    access: ast.Subscript, name: str, sides: Sequence[Side], steps: Sequence[int] = ()
) -> None:
    """Rewrite an access in place to the cell of an array that holds a box."""
    indices = []
    for index, side, step in zip(
        query.indices(access), sides, steps or [1] * len(sides), strict=True
    ):
        inside = divided(affine.of(index) - side.first, step)
        assert inside is not None
        indices.append(inside.expression())
    made = nodes.subscript(name, indices)
    access.value, access.slice = made.value, made.slice


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
