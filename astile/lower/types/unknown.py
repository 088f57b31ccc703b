"""Operands whose type cannot be told: numba may compute with them in another type than NumPy does.

``t = np.partition(x, 3)`` of int32, and ``t[i] * 2`` wraps around in the plain program and not in
numba. Where the types of all arguments are known, what is made of them has to be known as well.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from astile.ir import query
from astile.lower.types.kinds import Kinds

#: Functions of Python that compute in the types of their arguments.
_COMPUTING = ("abs", "divmod", "max", "min", "pow", "round", "sum")


def operands(kinds: Kinds) -> Iterator[ast.expr]:
    """The operands of arithmetic and comparisons in a function that are of no known type.

    Args:
        kinds: of the function's expressions.
    """
    for node in ast.walk(kinds.program.function):
        for each in _operands(node):
            if kinds.of(each) is None and kinds.choices.all_of(each) is None:
                yield _source(kinds, each)


def _operands(node: ast.AST) -> Sequence[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
            return [operand]
        case ast.Compare(left=left, ops=operators, comparators=others):
            is_identity = all(isinstance(each, (ast.Is, ast.IsNot)) for each in operators)
            return [] if is_identity else [left, *others]
        case ast.Call(func=ast.Name(id=word), args=arguments) if word in _COMPUTING:
            return arguments
    return []


def _source(kinds: Kinds, operand: ast.expr) -> ast.expr:
    """The part of an operand that makes its type unknown: a cell, where one does."""
    for each in query.accesses(operand):
        if kinds.of(each) is None:
            return each
    return operand
