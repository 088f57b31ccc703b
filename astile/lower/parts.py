"""Bodies of parallel loops as functions of their own, where that saves time.

numba makes a function of the body of each `prange` loop anyway, but only after it has gone over
its statements many times: a few hundred of them take it several times as long as a function does.
Where data pick the cells, LLVM computes addresses afresh for each of them in numba's function: a
table that is looked up for each byte of an image takes 2.6 times as long there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Sequence

from astile.ir import nodes, query

#: The fewest statements of a body with vectors that are worth a function.
_MANY = 20


def is_worth_it(loop: ast.For, vectors: Collection[str]) -> bool:
    """Whether the body of a parallel loop is better off in a function.

    Args:
        loop: the loop.
        vectors: names of functions of vectors.
    """
    inside = [node for each in loop.body for node in query.preorder(each)]
    if any(isinstance(node, ast.Subscript) and _is_picked(node) for node in inside):
        return True
    if not any(isinstance(node, ast.Name) and node.id in vectors for node in inside):
        return False
    return sum(1 for each in loop.body for _ in query.statements(each)) >= _MANY


def _is_picked(access: ast.Subscript) -> bool:
    """Whether an index of an access is read from an array."""
    return any(
        isinstance(node, ast.Subscript) and not query.is_shape_of(node)
        for index in query.indices(access)
        for node in ast.walk(index)
    )


def separated(
    loops: Sequence[ast.For],
    bound: Collection[str],
    uint64: Callable[[], str],
    fresh: Callable[[], str],
) -> list[ast.FunctionDef]:
    """Move bodies of parallel loops into functions, which the loops call, in place.

    numba counts these loops in unsigned integers where it runs them, and in signed ones where it
    only looks at them; the cast saves it from compiling the function for both.

    Args:
        loops: each writes no name that is read elsewhere, or by another of its iterations.
        bound: the names that mean something in the function only.
        uint64: gives the name of the type in the text.
        fresh: gives a free name for a function.

    Returns:
        The functions, without decorators.

    Before:
        def f(x):
            for i in prange(n):
                ...

    After:
        def f_part(x, i):
            ...

        def f(x):
            for i in prange(n):
                f_part(x, uint64(i))
    """
    found = []
    for loop in loops:
        written = {name for each in loop.body for name in query.names_written(each)}
        inside = [node for each in loop.body for node in query.preorder(each)]
        mentioned = dict.fromkeys(each.id for each in inside if isinstance(each, ast.Name))
        read = [each for each in mentioned if each in bound and each not in written]
        name, counter = fresh(), query.names_written(loop.target)
        found.append(nodes.function(name, read, loop.body))
        given = [nodes.name(each) for each in read]
        cast = [nodes.call(uint64(), [e]) if e.id in counter else e for e in given]
        loop.body = [ast.Expr(nodes.call(name, cast))]
    return found
