"""Comparisons that hold wherever an access happens, since a condition around it says so."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from astile.ir import nodes, query

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt,
}  # fmt: skip
_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE,
}  # fmt: skip
_LEAVES = (ast.Continue, ast.Break, ast.Return, ast.Raise)


@dataclass(frozen=True)
class Fact:
    """``value op limit``, of integers that names hold.

    Args:
        value: an expression.
        op: ``ast.Lt``, ``ast.LtE``, ``ast.Gt`` or ``ast.GtE``.
        limit: what it is compared with.
    """

    value: ast.expr
    op: type[ast.cmpop]
    limit: ast.expr


class Guards:
    """Finds the facts at places of a function.

    Args:
        function: its nodes are the places that are asked for.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self._parents = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }

    def at(self, place: ast.expr) -> list[Fact]:
        """What holds whenever an expression is computed.

        A comparison of names still holds where none of them was set since it was made; cells may
        have been, by another name too, so that comparisons of cells say nothing.

        Args:
            place: any expression; nothing is known of one that is not in the function.
        """
        found: list[Fact] = []
        written: set[str] = set()
        child: ast.AST = place
        while child in self._parents:
            parent = self._parents[child]
            for test, holds, between in _tests(parent, child):
                changed = written.union(*map(query.names_written, (test, *between)))
                for each in _facts(test, holds):
                    if not changed & (query.names(each.value) | query.names(each.limit)):
                        found.append(each)
            written |= _written_before(parent, child)
            child = parent
        return found


def _tests(parent: ast.AST, child: ast.AST) -> Iterator[tuple[ast.expr, bool, Sequence[ast.AST]]]:
    """Conditions next to a node that are met before it is, and what runs between them and it."""
    match parent:
        case ast.If(test=test, body=body, orelse=orelse):
            for block, holds in ((body, True), (orelse, False)):
                if child in block:
                    yield test, holds, block[: block.index(child) + 1]
        case ast.While(test=test, body=body) if child in body:
            yield test, True, body[: body.index(child) + 1]
        case ast.IfExp(test=test) if child is not test:
            yield test, child is parent.body, ()
        case ast.BoolOp(op=op, values=values):
            for value in values[: values.index(child)]:  # type: ignore[arg-type]
                yield value, isinstance(op, ast.And), ()
    for block in _blocks(parent):
        if child not in block:
            continue
        last = block.index(child)
        for position, each in enumerate(block[:last]):
            if isinstance(each, ast.If) and not each.orelse and isinstance(each.body[-1], _LEAVES):
                yield each.test, False, block[position : last + 1]


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for _, field in ast.iter_fields(node):
        if isinstance(field, list) and field and isinstance(field[0], ast.stmt):
            yield field


def _written_before(parent: ast.AST, child: ast.AST) -> set[str]:
    """Names that may be set between the start of a node and a part of it, or in another trip."""
    if isinstance(parent, (ast.If, ast.FunctionDef)):
        block = next((each for each in _blocks(parent) if child in each), [])
        before = block[: block.index(child) + 1] if child in block else []
        return set().union(*map(query.names_written, before))
    return query.names_written(parent)


def _facts(test: ast.expr, holds: bool) -> Iterator[Fact]:
    """The comparisons of names that follow from a condition that holds, or does not."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _facts(operand, not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
            for each in values:
                yield from _facts(each, holds)
        case ast.Compare(left=left, ops=ops, comparators=others) if holds or len(ops) == 1:
            sides = [left, *others]
            for first, each_op, second in zip(sides, ops, others, strict=False):
                kind = type(each_op)
                if kind in _TURNED and _is_steady(first) and _is_steady(second):
                    known = kind if holds else _OPPOSITE[kind]
                    yield Fact(first, known, second)
                    yield Fact(second, _TURNED[known], first)


def _is_steady(value: ast.expr) -> bool:
    """Whether a value is made of names, numbers and lengths, and of no cells."""
    for node in ast.walk(value):
        if isinstance(node, (ast.NamedExpr, ast.Lambda)):
            return False
        if isinstance(node, ast.Call) and query.dotted(node.func) != "len":
            return False
        if isinstance(node, ast.Subscript) and not query.is_shape_of(node):
            return False
    return True


def of(facts: Sequence[Fact], value: ast.expr) -> list[Fact]:
    """The facts about one value.

    Args:
        facts: known where it stands.
        value: an expression.
    """
    return [each for each in facts if nodes.same(each.value, value)]
