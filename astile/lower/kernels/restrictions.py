"""Python that runs on the CPU but has no CUDA kernel, found before numba compiles it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence

from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower import flow, shapes
from astile.lower.facts import Facts
from astile.lower.kernels import functions

#: Methods of numbers that a kernel may call; `astype` becomes a cast where types are known.
_OF_CELLS = ("astype", "conjugate")


def check(program: Program, body: Sequence[ast.stmt]) -> None:
    """Refuse statements of a kernel that the GPU cannot run.

    Args:
        program: the whole program.
        body: the statements of one kernel.

    Raises:
        LoweringError: with the place and what to write.
    """
    arrays = _arrays(program)
    for statement in (each for outer in body for each in query.statements(outer)):
        made = query.allocation(statement)
        if made is not None and made.scope != "global":
            continue  # names arrays in its dtype
        for node in _own_nodes(statement):
            _check_called(program, statement, node)
            found = _whole_array(program, node, arrays)
            if found is not None:
                doing = "copying" if isinstance(node, ast.Assign) else "arithmetic on"
                raise LoweringError(
                    f"{doing} whole arrays inside a kernel",
                    code="lowering.whole-array",
                    span=program.source.span(found) or program.source.span(statement),
                    notes=["numba.cuda has no arrays made in a kernel but shared and local ones"],
                    hints=["write it as a loop over cells"],
                )


def _check_called(program: Program, statement: ast.stmt, node: ast.AST) -> None:
    """Refuse a function of NumPy or `math` that numba.cuda does not have."""
    if not isinstance(node, ast.Call):
        return
    head, _, rest = (query.dotted(node.func) or "").partition(".")
    if functions.is_missing(f"{program.imports.get(head, '')}.{rest}".rstrip(".")):
        raise LoweringError(
            f"numba.cuda has no {query.dotted(node.func)}",
            code="lowering.compile",
            span=program.source.span(node) or program.source.span(statement),
            hints=["write it with operators and conditions, or pass in what it gives"],
        )


def is_macro(statement: ast.stmt, facts: Facts) -> bool:
    """Whether a loop or condition cannot be taken apart into what threads run together.

    Args:
        statement: with all that is inside it.
        facts: the program's integers.
    """
    for each in query.statements(statement):
        if isinstance(each, ast.If) and not facts.is_static(each.test):
            return True
        if isinstance(each, ast.For) and query.header(each) is None:
            return True
        if isinstance(each, (ast.While, ast.With, ast.Try)) or flow.has_jump(each):
            return True
    return False


def check_host(program: Program, node: ast.AST) -> None:
    """Refuse arithmetic of the host on arrays in the GPU's memory, which not all of them have.

    Args:
        program: the whole program.
        node: a statement or expression of the host.

    Raises:
        LoweringError: with the place and what to write.
    """
    arrays = _arrays(program)
    for each in ast.walk(node):
        is_called = isinstance(each, (ast.Call, ast.Assign))
        found = None if is_called else _whole_array(program, each, arrays)
        if found is not None:
            raise LoweringError(
                "arithmetic on whole arrays outside a kernel",
                code="lowering.whole-array",
                span=program.source.span(found) or program.source.span(node),
                notes=["arrays in the memory of a GPU have no operators of their own"],
                hints=["write it as a loop over cells"],
            )


def _arrays(program: Program) -> dict[str, int]:
    """Names of arrays, as far as the program shows them, and how many axes they have at least."""
    found = {query.base_name(each) for each in query.accesses(program.function)}
    named = dict.fromkeys((each for each in found if each is not None), 0)
    return {**named, **shapes.least_axes(program)}


def is_counted_by_data(statement: ast.stmt, facts: Facts) -> bool:
    """Whether a statement is a loop whose number of iterations is made of cells.

    Args:
        statement: any.
        facts: the program's integers.
    """
    header = query.header(statement) if isinstance(statement, ast.For) else None
    ends = () if header is None else (header.start, header.stop, header.step)
    return not all(map(facts.is_integer, ends))


def is_whole(statement: ast.stmt, facts: Facts) -> bool:
    """Whether no barrier can stand inside a loop or condition.

    Args:
        statement: with all that is inside it.
        facts: the program's integers.
    """
    return is_macro(statement, facts) or is_counted_by_data(statement, facts)


def read_by_head(statement: ast.stmt) -> set[str | None]:
    """The arrays that the test of a condition or the bounds of a loop read.

    Args:
        statement: any; all of it where nothing is inside.
    """
    own = [e for e in ast.iter_child_nodes(statement) if not isinstance(e, ast.stmt)]
    return {query.base_name(access) for each in own for access in query.accesses(each)}


def read_by_all(statement: ast.stmt, stores: Callable[[ast.stmt], bool]) -> set[str | None]:
    """The arrays that all threads read where a statement is placed part by part.

    Args:
        statement: a condition or a loop.
        stores: whether a statement does what one thread must do.
    """
    parts = [each for body in query.bodies(statement) for each in body]
    found = read_by_head(statement)
    for each in parts:
        if query.bodies(each) or not stores(each):
            found |= read_by_all(each, stores)
    return found


def _own_nodes(statement: ast.stmt) -> list[ast.AST]:
    """The expressions of a statement, those of statements inside it left out; and itself."""
    found: list[ast.AST] = [statement]
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, ast.stmt):
            found += list(ast.walk(child))
    return found


def _whole_array(program: Program, node: ast.AST, arrays: Mapping[str, int]) -> ast.expr | None:
    """A part of a node that computes with an array as a whole, or copies it; or None."""
    if isinstance(node, ast.Assign) and any(map(_is_slice, node.targets)):
        # Where both overlap, the value must be complete before the first cell is stored.
        operands = _choices(node.value)
    elif isinstance(node, ast.BinOp):
        operands = [node.left, node.right]
        if isinstance(node.op, ast.MatMult):
            return node
    elif isinstance(node, ast.AugAssign):
        operands = [node.target, node.value]
    elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        operands = [node.left, *node.comparators]
    elif isinstance(node, ast.UnaryOp):
        operands = [node.operand]
    elif isinstance(node, ast.Attribute) and node.attr == "flat":
        return node
    elif isinstance(node, ast.Call):
        if _is_method(program, node.func):
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_CELLS:
            return node if _is_part(node.func.value, arrays) else None
        head = (query.dotted(node.func) or "").partition(".")[0]
        if not program.imports.get(head, "").startswith("numpy"):
            return None
        operands = [*node.args, *(each.value for each in node.keywords)]
    else:
        return None
    return next((e for e in operands if _is_part(e, arrays) or _names(e, arrays)), None)


def _is_method(program: Program, called: ast.expr) -> bool:
    """Whether a call is one of a method that arrays have and cells do not have in a kernel."""
    if not isinstance(called, ast.Attribute) or called.attr in _OF_CELLS:
        return False
    owner = called.value
    name = owner.id if isinstance(owner, ast.Name) else query.base_name(owner)
    own = {*query.parameters(program.function), *query.names_written(program.function)}
    return isinstance(owner, (ast.Name, ast.Subscript)) and name in own


def _is_part(expression: ast.expr, arrays: Mapping[str, int]) -> bool:
    """Whether an expression is a slice, or a row of an array of a known number of axes."""
    if _is_slice(expression):
        return True
    if not isinstance(expression, ast.Subscript):
        return False
    return len(query.indices(expression)) < arrays.get(query.base_name(expression) or "", 0)


def _choices(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, ast.IfExp):
        return [*_choices(value.body), *_choices(value.orelse)]
    return [value]


def _names(expression: ast.expr, arrays: Collection[str]) -> bool:
    return isinstance(expression, ast.Name) and expression.id in arrays


def _is_slice(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Subscript) and any(
        isinstance(each, ast.Slice) for each in query.indices(expression)
    )
