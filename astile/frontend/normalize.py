"""Canonical forms: fewer spellings for the rest of astile to know, the meaning kept.

Only what later stages need is rewritten, so that printed programs stay the user's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from astile.ir import nodes, query

_SHAPED = ("empty", "zeros", "ones", "full")


def normalize(function: ast.FunctionDef) -> ast.FunctionDef:
    """A copy of a function in canonical form, positions kept.

    Args:
        function: a function that `subset.check` accepts; it is not changed.

    Before::

        @decorator
        def f(A: Array, n: int = 4) -> None:
            a = b = 0.0
            count: int = 0
            for i in range(n):
                A[i][0] = a

    After::

        def f(A, n=4):
            a = 0.0
            b = 0.0
            count = 0
            for i in range(n):
                A[i, 0] = a
    """
    result = nodes.clone(function)
    result.decorator_list = []
    result.returns = None
    for argument in ast.walk(result.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    for node in ast.walk(result):
        if hasattr(node, "type_comment"):
            node.type_comment = None
    result.body = _block(result.body, query.names(result))
    _Shapes().visit(result)
    _JoinSubscripts(result).visit(result)
    return result


# --- statements ---------------------------------------------------------------------------------


def _block(body: Iterable[ast.stmt], taken: set[str]) -> list[ast.stmt]:
    """A statement list in canonical form, never empty."""
    done: list[ast.stmt] = []
    for statement in body:
        for field in ("body", "orelse"):
            inner = getattr(statement, field, None)
            if isinstance(inner, list) and inner:
                setattr(statement, field, _block(inner, taken))
        done += _statement(statement, taken)
    kept = [each for each in done if not isinstance(each, ast.Pass)]
    return kept or [ast.Pass()]


def _statement(statement: ast.stmt, taken: set[str]) -> list[ast.stmt]:
    if isinstance(statement, ast.AnnAssign):
        if statement.value is None:
            return []
        made = nodes.assign(statement.target, statement.value)
        return [nodes.copy_place(statement, made)]
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return _unchained(statement, taken)
    return [statement]


def _unchained(statement: ast.Assign, taken: set[str]) -> list[ast.stmt]:
    """``a = b = value`` -> ``a = value; b = value``; a value that costs is computed once."""
    value = statement.value
    done: list[ast.stmt] = []
    if not _is_repeatable(value, statement.targets):
        first = statement.targets[0]
        if isinstance(first, ast.Name) and _is_untouched(first.id, statement.targets[1:]):
            holder = first.id
            done.append(nodes.assign(first, value))
            statement.targets = statement.targets[1:]
        else:
            holder = _fresh("value", taken)
            done.append(nodes.assign(holder, value))
        value = nodes.name(holder)
    done += [nodes.assign(each, nodes.clone(value)) for each in statement.targets]
    for each in done:
        nodes.copy_place(statement, each)
    return done


def _is_repeatable(value: ast.expr, targets: list[ast.expr]) -> bool:
    if isinstance(value, ast.UnaryOp):
        return _is_repeatable(value.operand, targets)
    if isinstance(value, ast.Name):
        return _is_untouched(value.id, targets)
    return isinstance(value, ast.Constant)


def _is_untouched(name: str, targets: list[ast.expr]) -> bool:
    return all(name not in query.names_written(each) for each in targets)


def _fresh(wanted: str, taken: set[str]) -> str:
    number, result = 0, wanted
    while result in taken:
        number += 1
        result = f"{wanted}_{number}"
    taken.add(result)
    return result


# --- expressions --------------------------------------------------------------------------------


class _Shapes(ast.NodeTransformer):
    """``np.zeros([n, m])`` -> ``np.zeros((n, m))``: numba takes tuples only."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        word = (query.dotted(node.func) or "").rpartition(".")[2]
        if word in _SHAPED and node.args and isinstance(node.args[0], ast.List):
            listed = node.args[0]
            node.args[0] = nodes.copy_place(listed, nodes.tuple_of(listed.elts))
        return node


class _JoinSubscripts(ast.NodeTransformer):
    """``A[i][j]`` -> ``A[i, j]`` where `A` is an array and `i` an integer.

    An argument subscripted twice counts as an array (lists are refused when the kernel is called),
    and so does an array allocated in the function. Where the first index may be a slice, a mask or
    an array of indices, both forms differ, and the text stays as it is.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self._arrays = _known_arrays(function)
        self._integers = _known_integers(function)

    def visit_Subscript(self, node: ast.Subscript) -> ast.Subscript:
        self.generic_visit(node)
        inner = node.value
        if not isinstance(inner, ast.Subscript) or query.base_name(inner) not in self._arrays:
            return node
        if not all(self._is_integer(each) for each in query.indices(inner)) or _is_field(node):
            return node
        last = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        axes = [*query.indices(inner), *last]
        node.value = inner.value
        node.slice = nodes.tuple_of(axes)
        return node

    def _is_integer(self, index: ast.expr) -> bool:
        if isinstance(index, ast.Name):
            return index.id in self._integers
        if isinstance(index, ast.BinOp):
            whole = isinstance(index.op, (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod))
            return whole and self._is_integer(index.left) and self._is_integer(index.right)
        return query.integer(index) is not None


def _is_field(access: ast.Subscript) -> bool:
    index = access.slice
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _written_once(function: ast.FunctionDef) -> dict[str, ast.AST]:
    """Names bound by exactly one statement -> that statement."""
    found: dict[str, list[ast.AST]] = {}
    for each in query.statements(function):
        bound: set[str] = set()
        if isinstance(each, (ast.Assign, ast.AugAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            bound = {name for target in targets for name in query.names_written(target)}
        elif isinstance(each, ast.For):
            bound = query.names_written(each.target)
        for name in bound:
            found.setdefault(name, []).append(each)
    return {name: by[0] for name, by in found.items() if len(by) == 1}


def _known_arrays(function: ast.FunctionDef) -> set[str]:
    written = query.names_written(function)
    arrays = {each for each in query.parameters(function) if each not in written}
    for name, statement in _written_once(function).items():
        if isinstance(statement, ast.Assign) and query.is_allocation(statement):
            arrays.add(name)
    return arrays


def _known_integers(function: ast.FunctionDef) -> set[str]:
    """Names that only ever hold integers: loop variables, sizes, and sums of those."""
    bound: dict[str, list[bool]] = {}
    once: Mapping[str, ast.AST] = _written_once(function)
    for each in query.statements(function):
        if isinstance(each, ast.For):
            counted = query.header(each) is not None
            for name in query.names_written(each.target):
                bound.setdefault(name, []).append(counted)
        elif isinstance(each, (ast.Assign, ast.AugAssign)):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            for target in targets:
                for name in query.names_written(target):
                    sized = name in once and isinstance(each, ast.Assign) and _is_size(each)
                    bound.setdefault(name, []).append(sized)
    return {name for name, kinds in bound.items() if all(kinds)} - set(query.parameters(function))


def _is_size(statement: ast.Assign) -> bool:
    """Whether a statement is ``n = 3``, ``n = len(A)``, ``n = A.shape[0]``, ``n, m = A.shape``."""
    value = statement.value
    target = statement.targets[0]
    if isinstance(value, ast.Subscript):
        is_one = query.integer(value.slice) is not None and isinstance(target, ast.Name)
        return is_one and _is_shape(value.value)
    if _is_shape(value):
        return isinstance(target, ast.Tuple)
    if isinstance(value, ast.Call):
        return query.dotted(value.func) == "len" and isinstance(target, ast.Name)
    return query.integer(value) is not None


def _is_shape(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Attribute) and expression.attr == "shape"
