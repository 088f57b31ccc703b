"""Loops that store narrowed integers under conditions, kept from being foreseen.

LLVM 22 writes a loop of known count out in vectors, finds which one lane of each runs, and stores
it in the width that it had before it was narrowed: over its neighbours. A count that starts at a
number which LLVM does not know, and which is 0, leaves it no lane to find.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from astile.ir import nodes, query
from astile.lower import flow
from astile.lower.facts import Facts
from astile.lower.types.dtypes import SIZES
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import native

_NARROW = frozenset(
    name for name, size in SIZES.items() if name.lstrip("u").startswith("int") and size < 8
)


def hide(
    function: ast.FunctionDef,
    facts: Facts,
    kinds: Callable[[], Kinds],
    fresh: Callable[[str], str],
    nothing: Callable[[], str],
) -> None:
    """Let loops of known counts, and what `while` counts, start at a number that is not known.

    Args:
        function: edited in place; its loops are those of Python and numba.
        facts: its integer names.
        kinds: finds the types of its arrays, which takes a while.
        fresh: gives a free name.
        nothing: gives the name of the function whose result is not known.

    Before, c int64 and d int8:
        for j in range(64):
            if j % 4 == 1:
                d[j] = c[j]

    After:
        start = nothing()
        for j in range(start, start + 64):
            if j % 4 == 1:
                d[j] = c[j]
    """
    loops = [each for each in query.statements(function) if isinstance(each, (ast.For, ast.While))]
    inner = {name for loop in loops for name in query.names_written(loop)}
    foreseen = [
        (loop, [each for each in query.preorder(loop) if _may_be_foreseen(each, inner)])
        for loop in loops
        if isinstance(loop, ast.While) or _has_known_count(loop, facts)
    ]
    if not any(conditions for _, conditions in foreseen):
        return
    known = kinds()
    found = [
        loop
        for loop, conditions in foreseen
        if any(_narrows(each, known) for condition in conditions for each in ast.walk(condition))
    ]
    if not found:
        return
    start = fresh("start")
    for loop in found:
        if isinstance(loop, ast.For):
            _count_from(loop, start)
        else:
            _count_before(function, loop, start, known)
    function.body.insert(0, nodes.assign(start, nodes.call(nothing(), [])))


def _count_from(loop: ast.For, start: str) -> None:
    header = query.header(loop)
    assert header is not None
    first: ast.expr = nodes.name(start)
    if not query.is_constant(header.start, 0):
        first = nodes.binary(first, ast.Add, header.start)
    last = nodes.binary(nodes.name(start), ast.Add, header.stop)
    step = [] if query.is_constant(header.step, 1) else [header.step]
    loop.iter = nodes.call("range", [first, last, *step])


def _count_before(function: ast.FunctionDef, loop: ast.While, start: str, kinds: Kinds) -> None:
    """Add the number to each integer that the loop goes on with."""
    carried = flow.exposed([loop]) & query.names_written(loop)
    counters = sorted(each for each in carried if kinds.names.get(each) in ("int", "int64"))
    made = [
        nodes.assign(each, nodes.binary(nodes.name(each), ast.Add, nodes.name(start)))
        for each in counters
    ]
    for statement in (function, *query.statements(function)):
        for body in query.bodies(statement):
            if loop in body:
                position = body.index(loop)
                body[position:position] = made
                return


def _has_known_count(loop: ast.For, facts: Facts) -> bool:
    header = query.header(loop)
    if header is None or header.kind != "range":
        return False
    return all(facts.form(each).value is not None for each in (header.start, header.stop))


def _may_be_foreseen(node: ast.AST, inner: set[str]) -> bool:
    return isinstance(node, ast.If) and _is_foreseen(node.test, inner)


def _is_foreseen(test: ast.expr, inner: set[str]) -> bool:
    """Whether a part of a condition depends on nothing but names that loops set."""
    if isinstance(test, ast.BoolOp):
        return any(_is_foreseen(each, inner) for each in test.values)
    return query.names(test) <= inner


def _narrows(node: ast.AST, kinds: Kinds) -> bool:
    """Whether a statement may store an integer in fewer bytes than it had before."""
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    own = {kinds.arrays.get(query.base_name(each) or "") for each in targets}
    narrow = any(native(str(kind)) in _NARROW for kind in own if kind)
    if isinstance(node, ast.AugAssign) or not isinstance(node.value, (ast.Constant, ast.Subscript)):
        return narrow
    return narrow and isinstance(node.value, ast.Subscript) and own != {kinds.of(node.value)}
