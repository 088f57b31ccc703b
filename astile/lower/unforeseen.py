"""Loops of known counts that store narrowed integers under conditions, kept from being foreseen.

LLVM 22 writes such a loop out in vectors, finds which one lane of each runs, and stores it in the
width that it had before it was narrowed: over its neighbours. A count that starts at a number
which LLVM does not know, and which is 0, leaves it no lane to find.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from astile.ir import nodes, query
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
    kinds: Kinds,
    fresh: Callable[[str], str],
    nothing: Callable[[], str],
) -> None:
    """Let loops of known counts start at a number that is not known, where that is needed.

    Args:
        function: edited in place; its loops are those of Python and numba.
        facts: its integer names.
        kinds: the types of its arrays.
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
    inner = {name for loop in query.loops(function) for name in query.names_written(loop)}
    found = [
        loop
        for loop in query.loops(function)
        if _has_known_count(loop, facts)
        and any(_may_narrow(each, inner, kinds) for each in ast.walk(loop))
    ]
    if not found:
        return
    start = fresh("start")
    for loop in found:
        header = query.header(loop)
        assert header is not None
        first: ast.expr = nodes.name(start)
        if not query.is_constant(header.start, 0):
            first = nodes.binary(first, ast.Add, header.start)
        last = nodes.binary(nodes.name(start), ast.Add, header.stop)
        step = [] if query.is_constant(header.step, 1) else [header.step]
        loop.iter = nodes.call("range", [first, last, *step])
    function.body.insert(0, nodes.assign(start, nodes.call(nothing(), [])))


def _has_known_count(loop: ast.For, facts: Facts) -> bool:
    header = query.header(loop)
    if header is None or header.kind != "range":
        return False
    return all(facts.form(each).value is not None for each in (header.start, header.stop))


def _may_narrow(node: ast.AST, inner: set[str], kinds: Kinds) -> bool:
    """Whether a condition that LLVM may foresee stands around a store that narrows an integer."""
    if not isinstance(node, ast.If) or not _is_foreseen(node.test, inner):
        return False
    return any(_narrows(each, kinds) for each in ast.walk(node))


def _is_foreseen(test: ast.expr, inner: set[str]) -> bool:
    """Whether a part of a condition depends on nothing but names that loops set."""
    if isinstance(test, ast.BoolOp):
        return any(_is_foreseen(each, inner) for each in test.values)
    return query.names(test) <= inner


def _narrows(node: ast.AST, kinds: Kinds) -> bool:
    if not isinstance(node, (ast.Assign, ast.AugAssign)):
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    own = {kinds.arrays.get(query.base_name(each) or "") for each in targets}
    narrow = any(native(str(kind)) in _NARROW for kind in own if kind)
    if isinstance(node, ast.AugAssign) or not isinstance(node.value, (ast.Constant, ast.Subscript)):
        return narrow
    return narrow and isinstance(node.value, ast.Subscript) and own != {kinds.of(node.value)}
