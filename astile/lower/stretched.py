"""Whole arrays that NumPy may stretch: one cell, or one row, beside many."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from astile.ir.program import Program
from astile.lower.types.kinds import Kinds


def may_be(program: Program, types: Mapping[str, str]) -> bool:
    """Whether some statement computes with or stores arrays whose shapes may differ.

    In functions with loops on several cores, numba takes all of them for equal, and ends with an
    AssertionError where they are not.

    Args:
        program: any form of a kernel.
        types: parameter -> its type, see `Kinds`.
    """
    kinds = Kinds(program, types)
    return any(_meets(kinds, node) for node in ast.walk(program.function))


def _meets(kinds: Kinds, node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.MatMult()):
            return False  # which stretches nothing
        case ast.BinOp(left=left, right=right):
            return _are_several(kinds, [left, right])
        case ast.Compare(left=left, comparators=others):
            return _are_several(kinds, [left, *others])
        case ast.Call(args=arguments) if kinds.is_array(node):
            return _are_several(kinds, arguments)
        case ast.Assign(targets=[ast.Subscript()], value=value):
            return kinds.is_array(value)
        case ast.AugAssign(target=target, value=value):
            return _are_several(kinds, [target, value])
    return False


def _are_several(kinds: Kinds, values: Sequence[ast.expr]) -> bool:
    return sum(map(kinds.is_array, values)) > 1
