"""How reductions of whole arrays to one number are spelled."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from astile.frontend.arrays import Facts
from astile.frontend.vocabulary import PRODUCTS, freedom, numpy_word
from astile.ir import nodes
from astile.ir.program import Program

#: Methods of arrays and functions of NumPy that become loops.
_METHODS = ("sum", "mean", "prod", "max", "min", "any", "all", "var", "std")
#: Functions -> what they compute.
_FUNCTIONS = {each: each for each in (*_METHODS, *PRODUCTS, "norm", "ptp", "count_nonzero")} | {
    "amax": "max",
    "amin": "min",
    "average": "mean",
}


@dataclass(frozen=True)
class Form:
    """A reduction as it is written.

    Args:
        word: ``"sum"`` for ``np.sum(A[i, :])``.
        value: what it is taken of.
        freedom: what is taken off the number of cells: 1 for ``np.var(x, ddof=1)``.
    """

    word: str
    value: ast.expr
    freedom: int = 0


def may_be_one(program: Program, node: ast.AST) -> bool:
    """Whether a node is spelled as `form` wants a reduction to be.

    Args:
        program: its imports say what names stand for.
        node: any part of it.
    """
    match node:
        case ast.BinOp(op=op):
            return isinstance(op, ast.MatMult)
        case ast.Call(func=ast.Attribute(attr=word)):
            return word in _FUNCTIONS
        case ast.Call(func=ast.Name(id=name)):
            return program.imports.get(name, "").rpartition(".")[2] in _FUNCTIONS
    return False


def form(facts: Facts, node: ast.AST) -> Form | None:
    """A reduction to one number, or None for what is none.

    Args:
        facts: what the names of the program hold.
        node: any part of it.
    """
    match node:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return _product(facts, left, right)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            word = numpy_word(facts.program, function)
            if word is not None:
                return _of_function(facts, _FUNCTIONS.get(word, ""), arguments, keywords)
            if isinstance(function, ast.Attribute):
                return _of_method(facts, function, arguments, keywords)
    return None


def _of_function(
    facts: Facts, word: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> Form | None:
    taken_off = freedom(word, keywords)
    if taken_off is None:
        return None
    if word in PRODUCTS and len(arguments) == 2:
        return _product(facts, *arguments)
    return Form(word, arguments[0], taken_off) if word and len(arguments) == 1 else None


def _of_method(
    facts: Facts,
    method: ast.Attribute,
    arguments: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
) -> Form | None:
    taken_off = freedom(method.attr, keywords)
    if method.attr == "dot" and len(arguments) == 1 and not keywords:
        return _product(facts, method.value, arguments[0])
    if method.attr not in _METHODS or arguments or taken_off is None:
        return None
    return Form(method.attr, method.value, taken_off)


def _product(facts: Facts, left: ast.expr, right: ast.expr) -> Form | None:
    if facts.axes(left) != 1 or facts.axes(right) != 1:
        return None
    return Form("dot", nodes.binary(left, ast.Mult, right))
