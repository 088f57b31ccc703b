"""Which loop should run innermost: the one along the rows of the arrays in it.

A processor loads and computes several neighbouring cells at once, where the innermost loop goes
from cell to cell and its iterations do not wait for each other.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.ir import query
from astile.ir.program import Program

#: Cells that a loop may have at most to count as written out: compilers unroll it.
_SHORT = 8
#: What one access costs in an iteration that goes to the next cell of a row, or elsewhere.
_NEXT, _ELSEWHERE = 1, 8
#: What it costs that an iteration waits for the one before.
_WAITS = 8


def innermost(program: Program) -> list[tuple[ast.For, ...]]:
    """The loops around and including each innermost one, outermost first; short ones left out.

    Args:
        program: the program.
    """
    found: list[tuple[ast.For, ...]] = []

    def search(statement: ast.stmt, around: tuple[ast.For, ...]) -> bool:
        """Whether a loop that is not short was found below a statement, or is it."""
        is_loop = isinstance(statement, ast.For) and not _is_short(statement)
        here = (*around, statement) if is_loop and isinstance(statement, ast.For) else around
        inside = [search(each, here) for body in query.bodies(statement) for each in body]
        if is_loop and not any(inside):
            found.append(here)
        return is_loop or any(inside)

    for statement in program.function.body:
        search(statement, ())
    return [each for each in found if all(query.header(loop) is not None for loop in each)]


def _is_short(loop: ast.For) -> bool:
    header = query.header(loop)
    if header is None:
        return False
    step = query.integer(header.step)
    distance = (affine.of(header.stop) - affine.of(header.start)).value
    return distance is not None and bool(step) and abs(distance) <= _SHORT * abs(step or 1)


def better_order(nest: Sequence[ast.For]) -> list[ast.For]:
    """Loops of a nest that would run better innermost than the one that does, the best first.

    Args:
        nest: the loops around and including an innermost one, outermost first.
    """
    body = nest[-1]
    costs = {id(loop): _cost(body, loop) for loop in nest}
    now = costs[id(body)]
    better = [each for each in nest[:-1] if 2 * costs[id(each)] <= now]
    return sorted(better, key=lambda each: costs[id(each)])


def _cost(body: ast.For, loop: ast.For) -> int:
    """What the accesses of a loop's body cost if another one of its nest were the innermost."""
    header = query.header(loop)
    assert header is not None
    cost = _WAITS if _waits(body, header.variable, _set_in(loop, body)) else 0
    seen: set[str] = set()
    for access in query.accesses(body):
        text = ast.dump(access)
        if text in seen:
            continue
        seen.add(text)
        cost += _cost_of_access(query.indices(access), header.variable)
    return cost


def _cost_of_access(indices: Sequence[ast.expr], variable: str) -> int:
    if any(variable in query.names(each) for each in indices[:-1]):
        return _ELSEWHERE
    if not indices or variable not in query.names(indices[-1]):
        return 0
    form = affine.of(indices[-1])
    is_plain = abs(form.coefficient(variable)) == 1 or not form.coefficient(variable)
    return _NEXT if is_plain else _ELSEWHERE


def _set_in(loop: ast.For, body: ast.For) -> set[str]:
    """The scalars that each iteration of a loop sets before an inner one goes on with them."""
    found: set[str] = set()
    for statement in loop.body:
        if any(each is body for each in query.statements(statement)):
            break
        if isinstance(statement, ast.Assign):
            found |= {each.id for each in statement.targets if isinstance(each, ast.Name)}
    return found


def _waits(body: ast.For, variable: str, made: set[str]) -> bool:
    """Whether an iteration updates a scalar or a cell that the one before has updated."""
    for statement in query.statements(body):
        if isinstance(statement, ast.AugAssign):
            target: ast.expr = statement.target
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            continue
        if isinstance(target, ast.Subscript):
            if not any(variable in query.names(each) for each in query.indices(target)):
                return True
        elif isinstance(target, ast.Name):
            is_update = isinstance(statement, ast.AugAssign)
            if is_update or target.id in query.names_read(statement.value):
                if target.id not in made:
                    return True
            else:
                made.add(target.id)
    return False
