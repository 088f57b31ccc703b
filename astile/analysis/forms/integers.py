"""Which expressions of a program hold Python's integers, for arithmetic that is then exact."""

from __future__ import annotations

import ast

from astile.analysis.forms.params import names_of
from astile.ir import nodes, query
from astile.ir.program import Program


def integers_of(program: Program) -> set[str]:
    """Names that hold integers of Python wherever they are read."""
    names = names_of(program)
    counts = {
        header.variable
        for each in query.loops(program.function)
        if (header := query.header(each)) is not None
    }
    constants = {k for k, v in program.constants.items() if type(v) is int}
    assigned = _assigned(program.function)
    known = {each for each in names.integers | constants if each not in assigned}
    known |= {each for each in counts if None not in assigned[each]}
    while True:
        more = {
            name
            for name, values in assigned.items()
            if name not in known
            and name not in names.arguments
            and all(value is not None and is_integer(value, known) for value in values)
        }
        if not more:
            return known
        known |= more


def _assigned(function: ast.FunctionDef) -> dict[str, list[ast.expr | None]]:
    """What names are set to; None stands for what is not known to be an integer.

    A counted loop adds a number to the list of its variable.
    """
    found: dict[str, list[ast.expr | None]] = {}
    every = query.preorder(function)
    for node in every:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                found.setdefault(name, []).append(value)
            case ast.Assign(
                targets=[ast.Tuple(elts=elements)], value=ast.Attribute(attr="shape")
            ) if all(isinstance(each, ast.Name) for each in elements):
                for each in elements:
                    assert isinstance(each, ast.Name)
                    found.setdefault(each.id, []).append(nodes.const(0))
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Tuple(elts=values)) if (
                len(elements) == len(values)
            ):
                for each, value in zip(elements, values, strict=True):
                    if isinstance(each, ast.Name):
                        found.setdefault(each.id, []).append(value)
            case ast.For() if (header := query.header(node)) is not None:
                found.setdefault(header.variable, []).append(nodes.const(0))
    stores: dict[str, int] = {}
    for node in every:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stores[node.id] = stores.get(node.id, 0) + 1
    for name, count in stores.items():  # += and whatever else binds names
        held = found.setdefault(name, [])
        held += [None] * (count - len(held))
    return found


def is_integer(expression: ast.expr, known: set[str]) -> bool:
    """Whether an expression is made of Python's integers and sizes by integer arithmetic."""
    match expression:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Name(id=name):
            return name in known
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return is_integer(operand, known)
        case ast.BinOp(left=left, op=op, right=right):
            exact = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
            return isinstance(op, exact) and all(is_integer(e, known) for e in (left, right))
        case ast.Call(func=ast.Name(id="min" | "max"), args=arguments, keywords=[]):
            return len(arguments) > 1 and all(is_integer(e, known) for e in arguments)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape")):
            return query.integer(expression.slice) is not None
    return False
