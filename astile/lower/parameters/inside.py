"""What a printed text says of sizes, so that no index leaves its array; a kernel looks itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from astile.analysis.extents.conditions import Condition
from astile.analysis.forms.size_functions import VALUE, Placed
from astile.ir import nodes

_ARITHMETIC: dict[str, type[ast.operator]] = {
    "add": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "div": ast.FloorDiv,
    "fdiv_q": ast.FloorDiv,
    "pdiv_q": ast.FloorDiv,
    "pdiv_r": ast.Mod,
    "zdiv_r": ast.Mod,
}
_COMPARED: dict[str, type[ast.cmpop]] = {
    "eq": ast.Eq,
    "le": ast.LtE,
    "lt": ast.Lt,
    "ge": ast.GtE,
    "gt": ast.Gt,
}


def test(conditions: Iterable[Condition]) -> list[ast.stmt]:
    """The statements that raise an IndexError where an access would leave its array.

    Args:
        conditions: what must hold of the sizes.

    After::

        if out.shape[0] + 1 >= x.shape[0]:
            raise IndexError("x[i + 2] leaves x along axis 0")
    """
    made: list[ast.stmt] = []
    for each in conditions:
        message = f"{each.text} leaves {each.array} along axis {each.axis}"
        values = [_size(name, axis) for name, axis in each.lookups]
        fails = _expression(each.fails.tree, values)
        made.append(nodes.if_then(fails, [nodes.raise_error("IndexError", message)]))
    return made


def _size(name: str, axis: int | None) -> ast.expr:
    if axis is None:
        return nodes.name(name)
    return nodes.subscript(nodes.attribute(name, "shape"), [nodes.const(axis)])


def _expression(tree: Placed, values: Sequence[ast.expr]) -> ast.expr:
    """What `size_functions.Function` computes, as text."""
    if isinstance(tree, int):
        return nodes.const(tree)
    word, *operands = tree
    if word == VALUE:
        return nodes.clone(values[operands[0]])
    parts = [_expression(each, values) for each in operands]
    if word == "minus":
        return ast.UnaryOp(ast.USub(), parts[0])
    if word in ("and_", "and_then"):
        return nodes.conjunction(parts)
    if word in ("or_", "or_else"):
        return ast.BoolOp(ast.Or(), parts)
    if word in ("cond", "select"):
        return ast.IfExp(*parts)
    if word in ("min", "max"):
        return nodes.call(word, parts)
    if word in _COMPARED:
        return nodes.compare(parts[0], _COMPARED[word], parts[1])
    found, *others = parts
    for each in others:
        found = nodes.binary(found, _ARITHMETIC[word], each)
    return found
