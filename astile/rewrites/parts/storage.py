"""Arrays that a function allocates for itself, whose form a rewrite may choose."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.query import Allocation
from astile.rewrites.parts.result import Editor


@dataclass(frozen=True)
class Intermediate:
    """An array allocated in one place, of known shape, and used cell by cell.

    Args:
        array: its name.
        statement: its allocation.
        found: the same, read.
        shape: its extents.
        dtype: its dtype.
    """

    array: str
    statement: ast.Assign
    found: Allocation
    shape: tuple[ast.expr, ...]
    dtype: ast.expr

    def remade(self, shape: Sequence[ast.expr], name: str | None = None) -> ast.stmt:
        """An allocation of the same kind with another shape, or name."""
        assert isinstance(self.statement.value, ast.Call)
        word = nodes.clone(self.statement.value.func)
        if isinstance(word, ast.Attribute):
            word.attr = word.attr.removesuffix("_like")
        extent = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
        arguments = [extent, nodes.clone(self.dtype)]
        if self.found.fill is not None:
            arguments.insert(1, nodes.clone(self.found.fill))
        made = nodes.assign(name or self.array, nodes.call(word, arguments))
        for comment in nodes.comments(self.statement):
            nodes.add_comment(made, comment)
        return nodes.copy_place(self.statement, made)


def intermediate(edit: Editor, array: str) -> Intermediate:
    """An array whose form may be chosen.

    Raises:
        ScheduleError: when it is no such array, saying why.
    """
    made = allocations_of(edit, array)
    if array in query.parameters(edit.function):
        raise ScheduleError(
            f"{array} is an argument, whose form the caller decides",
            code="schedule.not-an-intermediate",
            hints=[f'`cache_read("{array}", ...)` makes a tile of it, whose form can be chosen'],
        )
    if not made:
        known = sorted(
            {
                found.array
                for each in query.statements(edit.function)
                if (found := query.allocation(each)) is not None
            }
        )
        raise ScheduleError(
            f"no array {array!r} is allocated in this function",
            code="schedule.no-such-array",
            hints=suggestions(array, known, "arrays allocated here"),
        )
    dtype = dtype_of(edit, array)
    [(statement, found)] = made
    shape = list(found.shape or ())
    if found.shape is None:
        rank = max((len(query.indices(a)) for a in query.accesses(edit.function, array)), default=1)
        shape = extents_of(edit, array, rank)
    _check_uses(edit, array, statement, len(shape))
    return Intermediate(array, statement, found, tuple(shape), dtype)


def _check_uses(edit: Editor, array: str, made: ast.stmt, rank: int) -> None:
    """Refuse an array that is returned, asked for its shape, or used as a whole."""
    for statement in query.statements(edit.function):
        parts: list[ast.AST] = [statement]
        if statement is made:
            continue
        if isinstance(statement, ast.FunctionDef) or query.bodies(statement):
            parts = [e for e in ast.iter_child_nodes(statement) if isinstance(e, ast.expr)]
        accessed = [a for part in parts for a in query.accesses(part, array)]
        dtypes = sum(
            isinstance(e, ast.Attribute) and query.dotted(e) == f"{array}.dtype"
            for part in parts
            for e in ast.walk(part)
        )
        named = sum(
            isinstance(e, ast.Name) and e.id == array for part in parts for e in ast.walk(part)
        )
        partly = any(
            len(query.indices(a)) != rank
            or any(isinstance(i, (ast.Slice, ast.Starred)) for i in query.indices(a))
            for a in accessed
        )
        if partly or named > len(accessed) + dtypes:
            raise ScheduleError(
                f"{array} is used other than cell by cell here, so its form must stay",
                code="schedule.used-whole",
                span=edit.span(statement),
                hints=["write every access with one index for each axis"],
            )


def accesses_of(edit: Editor, array: str) -> list[ast.Subscript]:
    """All accesses of an array in the function."""
    return query.accesses(edit.function, array)


def reindex(access: ast.Subscript, array: str, indices: Sequence[ast.expr]) -> None:
    """Rewrite an access in place."""
    made = nodes.subscript(array, list(indices))
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
    stored = query.names_written(edit.function)
    return all(each not in stored or _is_assigned_once(edit, each) for each in query.names(extent))


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
