"""Flow of scalars: which names a piece of program may read before it writes them.

Conservative in one direction only: a name may be called exposed or live though it is not.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import query

_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.Raise)


def exposed(body: Sequence[ast.stmt]) -> set[str]:
    """Names that running `body` may read before it has written them."""
    found: set[str] = set()
    written: set[str] = set()
    for statement in body:
        found |= _exposed_by(statement) - written
        if has_jump(statement):
            return found | (_rest_exposed(body, statement) - written)
        written |= _written_by(statement)
    return found


def _rest_exposed(body: Sequence[ast.stmt], jump: ast.stmt) -> set[str]:
    """What the statements after one that may leave read; none of their writes is certain."""
    index = next(i for i, each in enumerate(body) if each is jump)
    return exposed(body[index + 1 :])


def written(body: Sequence[ast.stmt]) -> set[str]:
    """Names that running `body` to its end certainly writes."""
    found: set[str] = set()
    for statement in body:
        if has_jump(statement):
            return found
        found |= _written_by(statement)
    return found


def has_jump(statement: ast.stmt) -> bool:
    """Whether control may leave the statement for another place than the next one."""
    return any(isinstance(each, _JUMPS) for each in query.statements(statement))


def leaves(statement: ast.stmt) -> bool:
    """Whether a statement of a loop's body may leave that loop, or the function."""
    if isinstance(statement, (ast.Break, ast.Continue, ast.Return)):
        return True
    if isinstance(statement, (ast.For, ast.While)):
        inside = [each for body in query.bodies(statement) for each in body]
        returns = any(isinstance(s, ast.Return) for each in inside for s in query.statements(each))
        return returns or any(map(leaves, statement.orelse))
    return any(leaves(each) for body in query.bodies(statement) for each in body)


def _exposed_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.For):
        inner = exposed(statement.body) - query.names_written(statement.target)
        return query.names_read(statement.iter) | inner | exposed(statement.orelse)
    if isinstance(statement, ast.If):
        branches = exposed(statement.body) | exposed(statement.orelse)
        return query.names_read(statement.test) | branches
    found = query.names_read(statement)
    for each in query.preorder(statement):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.add(each.target.id)
    return found


def _written_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.If):
        return written(statement.body) & written(statement.orelse)
    if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        return query.names_written(statement)
    return set()


def live_after(function: ast.FunctionDef, statement: ast.stmt) -> set[str]:
    """Names whose value after `statement` may still be read.

    Args:
        function: the whole program.
        statement: a statement of it.
    """
    place = query.find_place(function, statement)
    if place is None:
        return set()
    live: set[str] = set()
    inside: list[ast.stmt] = [*place.parents, statement]
    holder: ast.AST = function
    for each in inside:
        block = next(b for b in query.bodies(holder) if any(s is each for s in b))
        if isinstance(holder, ast.For) and block is holder.body:
            live |= exposed(block) - query.names_written(holder.target)
        elif isinstance(holder, (ast.For, ast.While)):
            live |= _exposed_by(holder)
        rest = block[next(i for i, s in enumerate(block) if s is each) + 1 :]
        live = exposed(rest) | (live - written(rest))
        holder = each
    return live


def carried(loop: ast.For) -> set[str]:
    """Names that one iteration of a loop may read from an earlier one."""
    outer = query.names_written(loop.target)
    changed = {name for each in loop.body for name in query.names_written(each)}
    return (exposed(loop.body) - outer) & changed
