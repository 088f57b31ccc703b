"""What the names of a function are set to, wherever that happens."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from astile.ir import query


@dataclass(frozen=True)
class Item:
    """One of the values that an expression is unpacked into: its k-th, or each of its elements."""

    value: ast.expr
    position: int | None


@dataclass(frozen=True)
class Counted:
    """What a loop sets its variable to: integers of Python, any of them."""


#: What a name is set to: an expression, an update, an item, or something that tells nothing.
Store = ast.expr | ast.AugAssign | Item | Counted | None


@dataclass(frozen=True, eq=False)
class Definition:
    """One place that sets a name."""

    name: str
    value: Store


def of_nodes(function: ast.FunctionDef) -> dict[ast.AST, list[Definition]]:
    """Node of a function -> the names that it sets."""
    found: dict[ast.AST, list[Definition]] = {}
    for node in ast.walk(function):
        made = list(_of_node(node))
        if made:
            found[node] = made
    return found


def _of_node(node: ast.AST) -> Iterator[Definition]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _to(target, node.value)
    elif isinstance(node, ast.AugAssign):
        yield from _to(node.target, node)
    elif isinstance(node, ast.For):
        yield from _of_loop(node)
    elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)):
        yield from _to(node.target, node.value)
    elif isinstance(node, (ast.withitem, ast.comprehension)):
        target_node = getattr(node, "optional_vars", None) or getattr(node, "target", None)
        if target_node is not None:
            yield from _to(target_node, None)


def _to(target: ast.expr, value: Store) -> Iterator[Definition]:
    """The names in a target."""
    if isinstance(target, ast.Name):
        yield Definition(target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
        for position, each in enumerate(target.elts):
            part: Store = None
            if parts is not None and len(parts) == len(target.elts):
                part = parts[position]
            elif isinstance(value, ast.expr):
                part = Item(value, position)
            yield from _to(each, part)


def _turned(iterated: ast.expr) -> ast.expr:
    """What ``reversed`` goes through backwards; anything else as it is."""
    match iterated:
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            return inner
    return iterated


def _of_loop(loop: ast.For) -> Iterator[Definition]:
    if query.header(loop) is not None:
        yield from _to(loop.target, Counted())
        return
    iterated = _turned(loop.iter)
    word = query.dotted(iterated.func) if isinstance(iterated, ast.Call) else None
    if not isinstance(iterated, ast.Call) or word not in ("enumerate", "zip"):
        yield from _to(loop.target, Item(iterated, None))
        return
    targets = loop.target.elts if isinstance(loop.target, (ast.Tuple, ast.List)) else []
    parts: list[Store] = [Item(_turned(each), None) for each in iterated.args]
    if word == "enumerate":
        parts = [Counted(), *parts[:1]]
    if len(parts) != len(targets):
        yield from _to(loop.target, None)
        return
    for target, part in zip(targets, parts, strict=True):
        yield from _to(target, part)
