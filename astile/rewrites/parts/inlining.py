"""What `compute_inline` and `reverse_compute_inline` share: values put in the place of reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.params import names_of
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.statements import survey
from astile.analysis.reading.unfold import TYPES
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.nodes import Origin
from astile.ir.stages import Stage
from astile.rewrites.parts.places import statement_at
from astile.rewrites.parts.result import Editor

#: Python's names of types, as NumPy calls what its arrays make of them.
_PYTHON = {"float": "float64", "int": "int64", "complex": "complex128", "bool": "bool_"}


def only_assignment(edit: Editor, stage: Stage) -> ast.Assign:
    """The one statement of a stage, which assigns one cell or name.

    Raises:
        ScheduleError: when there are more, or it is of another kind.
    """
    statements = [statement_at(edit, each) for each in stage.positions]
    if len(statements) != 1:
        raise ScheduleError(
            f"{stage.name} is computed by {len(statements)} statements; one can be inlined",
            code="schedule.not-inlined",
            span=edit.span(statements[1]),
            hints=[f'`compute_at("{stage.name}", ...)` moves all of them'],
        )
    [statement] = statements
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.targets[0], (ast.Name, ast.Subscript))
    ):
        raise ScheduleError(
            f"{stage.name} is computed by a statement that is no plain assignment",
            code="schedule.not-inlined",
            span=edit.span(statement),
            hints=[f'`compute_at("{stage.name}", ...)` moves any statement'],
        )
    if not any(each.node is statement for each in survey(edit.program).leaves):
        raise ScheduleError(
            f"{stage.name} is computed inside a statement that is kept whole",
            code="schedule.not-inlined",
            hints=["write it as a plain assignment in loops"],
            span=edit.span(statement),
        )
    return statement


def only_writer(edit: Editor, array: str) -> ast.Assign | None:
    """The one assignment that makes an array of the function, and nothing else; or None."""
    if array in query.parameters(edit.function) and array not in edit.program.scratch:
        return None
    writers = [
        each
        for each in query.statements(edit.function)
        if not query.bodies(each) and not query.is_allocation(each) and _writes(each, array)
    ]
    match query.only_statement(writers):
        case ast.Assign(targets=[ast.Name() | ast.Subscript()]) as only:
            return only
    return None


def _writes(statement: ast.stmt, array: str) -> bool:
    return array in query.written_arrays(statement) or array in query.names_written(statement)


def allocation_of(edit: Editor, array: str) -> ast.stmt | None:
    """The only statement that makes an array, or None."""
    found = [
        each
        for each in query.statements(edit.function)
        if (made := query.allocation(each)) is not None and made.array == array
    ]
    return found[0] if len(found) == 1 else None


def reads_of(root: ast.AST, like: ast.expr) -> list[ast.expr]:
    """The reads of a scalar, or of cells of an array; not those of all of it.

    Args:
        root: where to look.
        like: what is assigned: a name, or a cell.
    """
    if isinstance(like, ast.Subscript):
        found = query.accesses(root, query.base_name(like))
        return [each for each in found if isinstance(each.ctx, ast.Load)]
    assert isinstance(like, ast.Name)
    name = like.id
    return [
        each
        for each in ast.walk(root)
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
    ]


def is_named(root: ast.AST, name: str) -> bool:
    """Whether a name is read in a part of a statement, other than to store in cells of it."""
    stored = {
        id(node)
        for each in query.accesses(root, name)
        if isinstance(each.ctx, ast.Store)
        for node in ast.walk(each.value)
    }
    return any(
        isinstance(each, ast.Name)
        and each.id == name
        and isinstance(each.ctx, ast.Load)
        and id(each) not in stored
        for each in ast.walk(root)
    )


def typed(edit: Editor, array: str, value: ast.expr, node: ast.stmt) -> ast.expr:
    """A value, cast as storing it in an array casts it.

    Args:
        edit: the program that is edited.
        array: the array.
        value: what was stored, with the origin of that.
        node: the statement that stored it, for messages.

    Raises:
        ScheduleError: when the type of the array has no name.
    """
    names = names_of(edit.before)
    calls = Calls(edit.before, frozenset(names.arguments) | names.local)
    statement = allocation_of(edit, array)
    made = None if statement is None else query.allocation(statement)
    if statement is not None and _is_of_type(value, statement):
        return value
    path = None
    if made is not None and made.dtype is not None:
        path = _path(calls, made.dtype)
    elif made is not None and made.shape is not None:
        path = "numpy.float64"
    if path is None or path not in TYPES:
        raise ScheduleError(
            f"storing a value in {array} may change it, to a type that has no name here",
            code="schedule.unknown-type",
            span=edit.span(node if statement is None else statement),
            hints=[
                f"make {array} with a type of NumPy, such as np.float32, or compute_at and "
                f'`set_scope("{array}", "local")`'
            ],
        )
    if isinstance(value, ast.Call) and calls.path(value.func) == path:
        return value
    return nodes.call(edit.numpy(path.removeprefix("numpy.")), [value])


def _is_of_type(value: ast.expr, allocation: ast.stmt) -> bool:
    """Whether a value is a cell of the array whose type an allocation takes."""
    match value, allocation:
        case ast.Subscript(), ast.Assign(value=ast.Call(args=[source, *_])):
            base, made = query.base_name(value), query.allocation(allocation)
            assert made is not None
            if made.dtype is not None:
                return query.dotted(made.dtype) == f"{base}.dtype"
            return made.shape is None and query.dotted(source) == base
    return False


def _path(calls: Calls, dtype: ast.expr) -> str:
    if isinstance(dtype, ast.Constant) and isinstance(dtype.value, str):
        return f"numpy.{dtype.value}"
    path = calls.path(dtype) or ""
    return f"numpy.{_PYTHON[path]}" if path in _PYTHON else path


def solved(
    variables: Iterable[str], indices: Sequence[ast.expr], cell: Sequence[ast.expr]
) -> dict[str, ast.expr] | None:
    """The values of variables with which some indices are those of a cell.

    Args:
        variables: names in the indices.
        indices: one expression for each axis.
        cell: the indices wanted, over other names.

    Returns:
        name -> expression for each variable; None when the indices do not tell them.
    """
    found: dict[str, Affine] = {}
    missing = set(variables)
    forms = [
        (affine.of(index), affine.of(wanted)) for index, wanted in zip(indices, cell, strict=True)
    ]
    while missing:
        before = len(missing)
        for form, wanted in forms:
            inside = form.names() & missing
            if len(inside) != 1:
                continue
            [name] = inside
            factor, rest = form.coefficient(name), form.without(name)
            if not factor or rest.mentions(name):
                continue
            known = {k: v for k, v in found.items() if rest.mentions(k)}
            gap = wanted - (rest.substituted(known) if known else rest)
            found[name] = affine.floor_div(gap if factor > 0 else -gap, abs(factor))
            missing.discard(name)
        if len(missing) == before:
            return None
    return {name: form.expression() for name, form in found.items()}


def inlined(value: ast.expr, held: Origin, values: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of a stored value, for other values of the loop variables; it says what it is."""
    put = nodes.substitute(value, values)
    iteration = tuple(nodes.substitute(each, values) for each in held.iteration)
    nodes.set_origin(put, Origin(held.statement, iteration))
    return put


class Replaced(ast.NodeTransformer):
    """Puts expressions in the place of others, which are told by identity.

    Args:
        by: identity of a node -> the expression.
    """

    def __init__(self, by: Mapping[int, ast.expr]) -> None:
        self._by = by

    def visit(self, node: ast.AST) -> ast.AST:
        """The expression for a node, or the node with what is inside it replaced."""
        put = self._by.get(id(node))
        if put is not None:
            return put
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.AST)
        return visited


def remove(edit: Editor, statement: ast.stmt, why: str) -> None:
    """Take a statement out, with loops and conditions that hold nothing else."""
    place = edit.place(statement)
    del place.block[place.index]
    for each in query.loops(statement):
        edit.forget(each, why)
    if not place.block and place.parents:
        parent = place.parents[-1]
        if not any(query.bodies(parent)):
            remove(edit, parent, why)
        else:
            place.block.append(ast.Pass())


def drop_unused(edit: Editor, array: str) -> None:
    """Take out the allocation of an array that nothing names any more."""
    made = allocation_of(edit, array)
    if made is None:
        return
    others = [
        each
        for each in ast.walk(edit.function)
        if isinstance(each, ast.Name) and each.id == array and isinstance(each.ctx, ast.Load)
    ]
    if not others:
        remove(edit, made, "")
