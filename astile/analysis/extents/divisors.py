"""Divisions of numbers of Python that raise at some sizes: when, as conditions on the sizes.

Elements of arrays divide as NumPy has it, and raise nothing; they are not looked at here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from astile.analysis import isl
from astile.analysis.extents.conditions import NUMBERS, Division
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Scope
from astile.analysis.forms.size_functions import (
    compiled,
    lookup,
    mentioned,
)
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.scene import Scene
from astile.analysis.reading.statements import Leaf
from astile.ir import query
from astile.ir.printer import print_expression
from astile.ir.program import Program

_DIVIDING = (ast.Div, ast.FloorDiv, ast.Mod)


def find(program: Program) -> tuple[Division, ...]:
    """The divisions of a function that raise at some sizes.

    Args:
        program: the function as it was written; nothing is known of one that cannot be read.
    """
    if not any(_may_raise(each) for each in ast.walk(program.function)):
        return ()
    try:
        scene = Scene(program)
        return tuple(_divisions(scene))
    except (NotModelled, isl.Error):
        return ()


def _may_raise(node: ast.AST) -> bool:
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, _DIVIDING)):
        return False
    return not (isinstance(node.right, ast.Constant) and node.right.value)


def _divisions(scene: Scene) -> Iterator[Division]:
    for leaf in scene.survey.leaves:
        if not leaf.is_simple:
            continue
        scope = scene.accesses[leaf.number].scope
        for node in _always(leaf.node):
            if _may_raise(node):
                assert isinstance(node, ast.BinOp)
                found = _division(scene, leaf, scope, node)
                if found is not None:
                    yield found


def _always(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement that are evaluated whenever it runs."""
    yield node
    if isinstance(node, ast.IfExp):
        yield from _always(node.test)
    elif isinstance(node, ast.BoolOp):
        yield from _always(node.values[0])
    else:
        for child in ast.iter_child_nodes(node):
            yield from _always(child)


def _division(scene: Scene, leaf: Leaf, scope: Scope, node: ast.BinOp) -> Division | None:
    numbers = _numbers(scene, node.left, scope)
    divisor = affine_sets.quasi(node.right, scope)
    name = node.right.id if divisor is None and isinstance(node.right, ast.Name) else None
    if numbers is None or (divisor is None and not _is_number(scene, name)):
        return None
    zero = "true" if divisor is None else f"{divisor.text} = 0"
    inner = ", ".join(leaf.place.dimensions)
    exists = f"exists {inner} : " if inner else ""
    parameters = ", ".join(scene.parameters)
    reached = scene.session.set(
        f"[{parameters}] -> {{ : {exists}{zero} and {scene.domain(leaf)} }}"
    )
    if reached.is_empty():
        return None
    context = scene.session.set(f"[{parameters}] -> {{ : true }}")
    tree = isl.condition_tree(reached.coalesce(), context)
    used = sorted(set(mentioned(tree)))
    return Division(
        print_expression(node),
        scene.program.source.span(node),
        name,
        numbers if name is None else numbers | {name},
        tuple(lookup(each, scene.survey.names) for each in used),
        compiled(tree, {each: position for position, each in enumerate(used)}),
    )


def _numbers(scene: Scene, value: ast.expr, scope: Scope) -> frozenset[str] | None:
    """The arguments that must be numbers of Python for a value to be one; None where it is none."""
    if affine_sets.quasi(value, scope) is not None:
        return frozenset()
    match value:
        case ast.Constant(value=number):
            return frozenset() if type(number) in NUMBERS else None
        case ast.Name(id=name):
            return frozenset([name]) if _is_number(scene, name) else None
        case ast.UnaryOp(operand=operand):
            return _numbers(scene, operand, scope)
        case ast.BinOp(left=left, right=right):
            first, second = _numbers(scene, left, scope), _numbers(scene, right, scope)
            return None if first is None or second is None else first | second
    return None


def _is_number(scene: Scene, name: str | None) -> bool:
    """Whether a name is an argument that may be a number, and stays what it is."""
    function = scene.program.function
    names = scene.survey.names
    is_argument = name in query.parameters(function) and name not in names.ranks
    return is_argument and name not in query.names_written(function)
