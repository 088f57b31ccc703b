"""Refuses functions in which two names may stand for the same memory.

Arguments are taken to be apart (the call checks it). Inside the function an array has one name.
"""

from __future__ import annotations

import ast

from astile.analysis.forms.params import Names
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.calls import Calls
from astile.ir import query
from astile.ir.program import Program


def check_aliases(program: Program, names: Names, calls: Calls) -> None:
    """Refuse names that may stand for the memory of another name.

    Raises:
        NotModelled: naming the assignment that makes a second name.
    """
    arrays = set(names.ranks) | _whole_arrays(program, names, calls)
    made: set[str] = set()
    for node in query.preorder(program.function):
        match node:
            case ast.Global() | ast.Nonlocal() | ast.Delete():
                raise NotModelled(f"a {type(node).__name__.lower()} statement", node)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    made |= _check_binding(target, value, names, calls, arrays)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                made |= _check_binding(target, value, names, calls, arrays)
            case ast.For(target=target, iter=iterator) if query.header(node) is None:
                _check_iteration(target, iterator, names, arrays)
    for array in names.ranks:
        if array not in names.arguments and array not in made:
            raise NotModelled(f"{array}, which is not known to be an array", program.function)


def _check_binding(
    target: ast.expr, value: ast.expr, names: Names, calls: Calls, arrays: set[str]
) -> set[str]:
    """Check one plain assignment; the names of arrays that it makes."""
    if isinstance(target, (ast.Tuple, ast.List)):
        parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
        made: set[str] = set()
        for position, each in enumerate(target.elts):
            whole = parts is None or len(parts) != len(target.elts)
            part = value if whole or parts is None else parts[position]
            made |= _check_binding(each, part, names, calls, arrays)
        return made
    if not isinstance(target, ast.Name):
        return set()
    if target.id in names.ranks:
        if target.id in names.arguments:
            raise NotModelled(f"the argument {target.id}, which gets a new array", target)
        if not calls.is_fresh(value):
            raise NotModelled(f"{target.id}, which may be a view of another array", target)
        return {target.id}
    if not calls.is_fresh(value) and _may_be_view(value, names, arrays):
        raise NotModelled(f"{target.id}, which may be a view of another array", target)
    return set()


def _may_be_view(value: ast.expr, names: Names, arrays: set[str]) -> bool:
    """Whether an expression may give an array, or a part of one, that exists already."""
    match value:
        case ast.Name(id=name):
            return name in arrays
        case ast.Subscript() if (base := query.base_name(value)) is not None:
            indices = query.indices(value)
            whole = len(indices) < names.ranks.get(base, 0)
            return base in arrays and (whole or any(_is_part(each) for each in indices))
        case ast.Attribute(attr="shape" | "dtype" | "ndim" | "size"):
            return False
    if isinstance(value, ast.Subscript) and query.is_shape_of(value):
        return False
    return any(
        isinstance(child, ast.expr) and _may_be_view(child, names, arrays)
        for child in ast.iter_child_nodes(value)
    )


def _is_part(index: ast.expr) -> bool:
    return isinstance(index, (ast.Slice, ast.Tuple)) or (
        isinstance(index, ast.Constant) and index.value in (None, Ellipsis)
    )


def _check_iteration(target: ast.expr, iterator: ast.expr, names: Names, arrays: set[str]) -> None:
    """``for row in A`` makes row a view, unless A has one axis."""
    bound = query.names_written(target) & arrays
    if bound:
        raise NotModelled(f"{min(bound)}, which may be a view of another array", target)
    for name in query.names(iterator) & (set(names.arguments) | names.local):
        if names.ranks.get(name, 0) != 1:
            raise NotModelled(f"a loop over {name}, whose items may be arrays", iterator)


def _whole_arrays(program: Program, names: Names, calls: Calls) -> set[str]:
    """Names that may hold an array although no index is ever taken of them."""
    found: set[str] = set()
    while True:
        before = len(found)
        for node in query.preorder(program.function):
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if _is_array(node.value, set(names.ranks) | found, names, calls):
                    for target in targets:
                        found |= query.names_written(target)
        if len(found) == before:
            return found


def _is_array(value: ast.expr, arrays: set[str], names: Names, calls: Calls) -> bool:
    """Whether a value may be an array."""
    match value:
        case ast.Name(id=name):
            return name in arrays
        case ast.Subscript() if (base := query.base_name(value)) is not None:
            return _may_be_view(value, names, arrays) if base in arrays else False
        case ast.Attribute(attr="shape" | "dtype" | "ndim" | "size"):
            return False
        case ast.Call(func=function):
            word = (calls.path(function) or "").rpartition(".")[2]
            if word in ("len", "int", "float", "bool", "range"):
                return False
        case ast.Subscript():
            return False
    return any(
        isinstance(child, ast.expr) and _is_array(child, arrays, names, calls)
        for child in ast.iter_child_nodes(value)
    )
