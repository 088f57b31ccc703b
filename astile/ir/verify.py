"""Invariants of any program, as a list of checks run after every step."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator

from astile.errors import InternalError
from astile.ir import nodes, printer, query
from astile.ir.program import Program

_WORDS = frozenset(word.partition(".")[0] for word in query.LOOP_WORDS) | {"shared", "local"}
_BUILTINS = frozenset(dir(builtins))
_SHARED_BY_DESIGN = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)
_LITERALS = (bool, int, float, complex, str, type(None), type(Ellipsis))


def verify(program: Program) -> None:
    """Check that a program keeps every invariant.

    Args:
        program: as the frontend or a rewrite made it.

    Raises:
        InternalError: naming the invariant that is broken and where.
    """
    for check in CHECKS:
        check(program)


def check_no_shared_nodes(program: Program) -> None:
    """No node stands in two places: a printer that notes precedence on nodes would go wrong."""
    seen: set[int] = set()
    for node in _all_nodes(program.function):
        if isinstance(node, _SHARED_BY_DESIGN):
            continue
        if id(node) in seen:
            raise _broken("no node stands in two places", program, node)
        seen.add(id(node))


def check_constants(program: Program) -> None:
    """Constants are Python's own, and not negative: ``-1 ** 2`` would be another number."""
    for node in _all_nodes(program.function):
        if not isinstance(node, ast.Constant):
            continue
        value = node.value
        if type(value) not in _LITERALS:
            raise _broken("constants are Python's own scalars", program, node)
        if isinstance(value, (int, float)) and str(value).startswith("-"):
            raise _broken("negative numbers are a minus and a number", program, node)


def check_loops(program: Program) -> None:
    """Every loop has an identity below `next_loop`, and names as its variable."""
    for loop in query.loops(program.function):
        identity = nodes.loop_id(loop)
        if identity is None:
            raise _broken("every loop has an identity", program, loop)
        if identity >= program.next_loop:
            raise _broken("the next loop identity is a new one", program, loop)
        if not _is_target(loop.target):
            raise _broken("a loop runs over a name", program, loop)
        if loop.orelse:
            raise _broken("a loop has no `else`", program, loop)


def _is_target(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple):
        return all(_is_target(each) for each in target.elts)
    return isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store)


def check_header(program: Program) -> None:
    """The function has no decorators and no annotations, and no block is empty."""
    function = program.function
    if function.decorator_list or function.returns is not None:
        raise _broken("a program has no decorators and annotations", program, function)
    for node in ast.walk(function):
        if isinstance(node, ast.AnnAssign) or getattr(node, "annotation", None) is not None:
            raise _broken("a program has no decorators and annotations", program, node)
        if isinstance(node, (ast.For, ast.While, ast.If, ast.FunctionDef)) and not node.body:
            raise _broken("no block is empty", program, node)


def check_names(program: Program) -> None:
    """Every name that is read is known, in the text and in the origins of statements."""
    function = program.function
    known = _names_known(program)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id not in known and isinstance(node.ctx, ast.Load):
            raise _broken(f"the name {node.id!r} is known", program, node)
    parameters = query.parameters(function)
    if len(parameters) != len(set(parameters)):
        raise _broken("parameters have different names", program, function)
    for name in program.scratch:
        if name not in parameters:
            raise _broken(f"the scratch array {name!r} is a parameter", program, function)


def check_contexts(program: Program) -> None:
    """Names and subscripts are marked as written exactly where they are written."""
    for node in ast.walk(program.function):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.AugAssign, ast.For)):
            targets = [node.target]
        if not all(_is_store(each) for each in targets):
            raise _broken("a target is marked as written", program, node)
        for value in _values(node):
            if isinstance(getattr(value, "ctx", None), ast.Store):
                raise _broken("a value is not marked as written", program, node)


def _is_store(target: ast.expr) -> bool:
    if isinstance(target, (ast.Tuple, ast.List)) and not all(map(_is_store, target.elts)):
        return False
    return isinstance(getattr(target, "ctx", None), ast.Store)


def _values(node: ast.AST) -> Iterator[ast.AST]:
    for field in ("value", "test", "iter", "left", "right", "operand", "func", "slice"):
        value = getattr(node, field, None)
        if isinstance(value, ast.AST):
            yield value


def check_origins(program: Program) -> None:
    """Origins name iterations by expressions over names in scope, and stand on leaves."""
    known = _names_known(program)
    for statement in query.statements(program.function):
        held = nodes.origin(statement)
        if held is None:
            continue
        if held.statement < 0:
            raise _broken("origins count from 0", program, statement)
        for expression in held.iteration:
            unknown = sorted(query.names_read(expression) - known)
            if unknown:
                raise _broken(f"the origin reads the known name {unknown[0]!r}", program, statement)


def check_text(program: Program) -> None:
    """The printed text parses to the same tree."""
    printed = printer.print_module([program.function])
    reparsed = ast.parse(printed)
    if not nodes.same(reparsed, nodes.module_of([program.function])):
        raise _broken("the printed text parses to the same tree", program, program.function)


#: The invariants, cheap ones first.
CHECKS: tuple[Callable[[Program], None], ...] = (
    check_no_shared_nodes,
    check_constants,
    check_loops,
    check_header,
    check_contexts,
    check_names,
    check_origins,
    check_text,
)


def _names_known(program: Program) -> set[str]:
    known = set(query.parameters(program.function)) | query.names_written(program.function)
    known |= set(program.constants) | set(program.imports) | set(program.helpers)
    return known | _WORDS | _BUILTINS


def _all_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Every node of the function and of the origins of its statements, as often as it stands."""
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop()
        yield node
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.stmt):
            held = nodes.origin(node)
            if held is not None:
                pending += held.iteration


def _broken(invariant: str, program: Program, node: ast.AST) -> InternalError:
    statement = node if isinstance(node, ast.stmt) else None
    notes = [f"in the program {program.name}"]
    if statement is not None and not isinstance(statement, ast.FunctionDef):
        notes.append(f"at a statement of the kind {type(statement).__name__}")
    return InternalError(
        f"broken invariant: {invariant}",
        code="invariant",
        span=program.source.span(node),
        notes=notes,
        hints=["this is a fault of astile; please report the kernel and its schedule"],
    )
