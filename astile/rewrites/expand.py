"""`expand`: a scalar that each iteration writes into an array with one cell per iteration."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.result import Editor, Rewritten
from astile.rewrites.split import trip_count

_WEAK = (int, float, complex)


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
    edit = Editor(program)
    around = [edit.loop(each) for each in loops]
    if scalar not in query.names_written(around[0]):
        raise ScheduleError(
            f"no scalar {scalar!r} is written inside these loops",
            code="schedule.no-such-scalar",
            span=edit.span(around[0]),
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
    at_top: bool,
) -> list[ast.stmt]:
    """Replace scalars in `parts`, in place, by cells of new arrays; returns the allocations.

    Args:
        edit: the program that is edited.
        scalars: names of the scalars.
        parts: the statements in which they are used; each holds loops over the same variables.
        loops: the loops whose iterations get a cell each, outermost first. Of these only
            the loops around *every* use of the scalar count.
        at_top: whether the allocations stand at the top level of the function.
    """
    allocations: list[ast.stmt] = []
    for scalar in scalars:
        variables = _common_variables(scalar, parts, [edit.header(each).variable for each in loops])
        over = [each for each in loops if edit.header(each).variable in variables]
        if not over:
            continue
        dtype = _dtype(edit, scalar, parts)
        array = edit.fresh_name(f"{scalar}_tile")
        shape = [trip_count(edit.header(each)).expression() for each in over]
        literal = all(query.integer(each) is not None for each in shape)
        word = "local.empty" if literal and not at_top else "np.empty"
        extent = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
        allocations.append(nodes.assign(array, nodes.call(word, [extent, dtype])))
        cell = [_trip(edit, each) for each in over]
        for part in parts:
            _Cells(scalar, array, cell).visit(part)
    return allocations


def _trip(edit: Editor, loop: ast.For) -> ast.expr:
    header = edit.header(loop)
    step = query.integer(header.step) or 1
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


def _dtype(edit: Editor, scalar: str, parts: Sequence[ast.stmt]) -> ast.expr:
    """The type that the scalar has in plain Python, as an expression over array types.

    NumPy's promotion decides, with Python's own numbers weak: ``np.result_type(0.0, x)``.
    """
    operands: dict[str, ast.expr] = {}
    for part in parts:
        for statement in query.statements(part):
            if isinstance(statement, (ast.Assign, ast.AugAssign)) and scalar in (
                query.names_written(statement)
            ):
                for each in _operands(edit, statement.value, scalar):
                    operands.setdefault(ast.dump(each), each)
    found = list(operands.values())
    types = [each for each in found if not isinstance(each, ast.Constant)]
    if len(found) == 1 and types and isinstance(types[0], ast.Attribute):
        return types[0]
    return nodes.call("np.result_type", found)


def _operands(edit: Editor, value: ast.expr, scalar: str) -> list[ast.expr]:
    match value:
        case ast.Constant(value=number) if isinstance(number, _WEAK):
            return [nodes.const(type(number)(0))]
        case ast.Name(id=name) if name == scalar:
            return []
        case ast.UnaryOp(operand=inner):
            return _operands(edit, inner, scalar)
        case ast.BinOp(left=left, right=right, op=op) if not isinstance(op, ast.Pow):
            true_division = [nodes.const(0.0)] if isinstance(op, ast.Div) else []
            return _operands(edit, left, scalar) + _operands(edit, right, scalar) + true_division
        case ast.Subscript() if (array := query.base_name(value)) is not None:
            return [nodes.name(array)]
        case ast.Call(func=function, args=[_]) if _is_type(edit, function):
            return [nodes.clone(function)]
        case ast.Call(func=ast.Name(id="min" | "max" | "abs"), args=arguments):
            return [each for a in arguments for each in _operands(edit, a, scalar)]
    raise ScheduleError(
        f"the type of the scalar {scalar!r} is not known, so it cannot become an array",
        code="schedule.unknown-type",
        span=edit.span(value),
        label="this value",
        hints=[f"write `{scalar}[...]` as an array yourself, or cast: np.float64(...)"],
    )


def _is_type(edit: Editor, function: ast.expr) -> bool:
    word = query.dotted(function) or ""
    head, _, rest = word.partition(".")
    path = edit.program.imports.get(head, head)
    full = f"{path}.{rest}" if rest else path
    name = full.rpartition(".")[2]
    return full.startswith("numpy.") and name.rstrip("0123456789") in (
        "float",
        "int",
        "uint",
        "complex",
    )
