"""Invariants of any program, as a list of checks run after every step."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence

from astile.errors import InternalError
from astile.ir import nodes, printer, query
from astile.ir.program import Program

#: Every node of a program, as often as it stands in it.
Nodes = Sequence[ast.AST]

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
    found = _all_nodes(program.function)
    for check in CHECKS:
        check(program, found)


def check_no_shared_nodes(program: Program, found: Nodes) -> None:
    """No node stands in two places: a printer that notes precedence on nodes would go wrong."""
    seen: set[int] = set()
    for node in found:
        if isinstance(node, _SHARED_BY_DESIGN):
            continue
        if id(node) in seen:
            raise _broken("no node stands in two places", program, node)
        seen.add(id(node))


def check_constants(program: Program, found: Nodes) -> None:
    """Constants are Python's own, and not negative: ``-1 ** 2`` would be another number."""
    for node in found:
        if not isinstance(node, ast.Constant):
            continue
        value = node.value
        if type(value) not in _LITERALS:
            raise _broken("constants are Python's own scalars", program, node)
        if isinstance(value, (int, float)) and str(value).startswith("-"):
            raise _broken("negative numbers are a minus and a number", program, node)


def check_loops(program: Program, found: Nodes) -> None:
    """Every loop has an identity below `next_loop`, and names as its variable."""
    for loop in found:
        if not isinstance(loop, ast.For):
            continue
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


def check_header(program: Program, found: Nodes) -> None:
    """The function has no decorators and no annotations, and no block is empty."""
    function = program.function
    if function.decorator_list or function.returns is not None:
        raise _broken("a program has no decorators and annotations", program, function)
    for node in found:
        if isinstance(node, ast.AnnAssign) or getattr(node, "annotation", None) is not None:
            raise _broken("a program has no decorators and annotations", program, node)
        if isinstance(node, (ast.For, ast.While, ast.If, ast.FunctionDef)) and not node.body:
            raise _broken("no block is empty", program, node)


def check_names(program: Program, found: Nodes) -> None:
    """Every name that is read is known, in the text and in the origins of statements."""
    function = program.function
    known = _names_known(program)
    for node in found:
        if isinstance(node, ast.Name) and node.id not in known and isinstance(node.ctx, ast.Load):
            raise _broken(f"the name {node.id!r} is known", program, node)
    parameters = query.parameters(function)
    if len(parameters) != len(set(parameters)):
        raise _broken("parameters have different names", program, function)
    for name in program.scratch:
        if name not in parameters:
            raise _broken(f"the scratch array {name!r} is a parameter", program, function)


def check_contexts(program: Program, found: Nodes) -> None:
    """Names and subscripts are marked as written exactly where they are written."""
    targets: set[int] = set()
    for node in found:
        if isinstance(node, ast.Assign):
            targets.update(id(part) for each in node.targets for part in _parts(each))
        elif isinstance(node, (ast.AugAssign, ast.For)):
            targets.update(id(part) for part in _parts(node.target))
    for node in found:
        if not isinstance(node, (ast.Name, ast.Subscript, ast.Tuple, ast.Attribute, ast.List)):
            continue
        if isinstance(node.ctx, ast.Store) != (id(node) in targets):
            raise _broken("what is written is marked as written, and nothing else", program, node)


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    yield target
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _parts(each)


def check_origins(program: Program, found: Nodes) -> None:
    """Origins name iterations by expressions over names in scope, and stand on leaves."""
    known = _names_known(program)
    for statement in found:
        held = nodes.origin(statement) if isinstance(statement, ast.stmt) else None
        if held is None or not isinstance(statement, ast.stmt):
            continue
        if held.statement < 0:
            raise _broken("origins count from 0", program, statement)
        for expression in held.iteration:
            unknown = sorted(query.names_read(expression) - known)
            if unknown:
                raise _broken(f"the origin reads the known name {unknown[0]!r}", program, statement)


def check_text(program: Program, found: Nodes) -> None:
    """The printed text parses to the same tree; the printer raises where it does not."""
    printer.print_module([program.function])


#: The invariants, cheap ones first.
CHECKS: tuple[Callable[[Program, Nodes], None], ...] = (
    check_no_shared_nodes,
    check_constants,
    check_loops,
    check_header,
    check_contexts,
    check_origins,
    check_names,
    check_text,
)


def _names_known(program: Program) -> set[str]:
    known = set(query.parameters(program.function)) | query.names_written(program.function)
    known |= set(program.constants) | set(program.imports) | set(program.helpers)
    return known | _WORDS | _BUILTINS


def _all_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """Every node of the function and of the origins of its statements, as often as it stands."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = [function]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += ast.iter_child_nodes(node)
        if isinstance(node, ast.stmt):
            held = nodes.origin(node)
            if held is not None:
                pending += held.iteration
    return found


def _broken(invariant: str, program: Program, node: ast.AST) -> InternalError:
    statement = node if isinstance(node, ast.stmt) else None
    notes = [f"in the program {program.name}"]
    if statement is not None and not isinstance(statement, ast.FunctionDef):
        notes.append(f"at a statement of the kind {type(statement).__name__}")
    return InternalError(
        f"broken invariant: {invariant}",
        code="internal.invariant",
        span=program.source.span(node),
        notes=notes,
        hints=["this is a fault of astile; please report the kernel and its schedule"],
    )
