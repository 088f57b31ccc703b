"""Names that numba would hold in float64 although the data may make them long integers.

``m = -np.inf; if k[i] > m: m = k[i]`` with k of int64: one name has one type, and float64 does not
hold all integers beyond 2**53. Where each use makes a float64 of it anyway, nothing is lost.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from astile.ir import query
from astile.lower.types import promotion

if TYPE_CHECKING:
    from astile.lower.types.kinds import Kinds

_WIDE = frozenset(("float", "float64", "complex", "complex128"))


def rounded_loads(kinds: Kinds) -> Iterator[ast.Name]:
    """The loads of names whose integers float64 may round, and the plain program does not.

    Args:
        kinds: of a program.
    """
    names = {name for name in kinds.stores if name not in kinds.arrays}
    every = query.preorder(kinds.program.function)
    exempt = {load for node in every for load in _exempt(kinds, node)}
    for node in ast.walk(kinds.program.function):
        if not isinstance(node, ast.Name) or isinstance(node.ctx, ast.Store):
            continue
        if node.id in names and node not in exempt:
            found = kinds.choices.may_see(node)
            if found is not None and promotion.may_round_integers(found):
                yield node


def _exempt(kinds: Kinds, node: ast.AST) -> Iterator[ast.expr]:
    """The operands of a node that makes a float64 of them, or keeps them under another name."""
    match node:
        case ast.BinOp(left=left, right=right):
            found = kinds.choices.results(left, node.op, right)
            if found is not None and found <= _WIDE:
                yield from (left, right)
        case ast.Assign(targets=[ast.Name()], value=value):
            yield value
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            if kinds.arrays.get(query.base_name(target) or "") in _WIDE:
                yield value
        case ast.Call(func=ast.Name(id="float"), args=[value]):
            yield value
