"""Which names of a function are sizes and indices, and which of them are computed with otherwise.

A size is a mathematical integer, whatever holds it: a tiled loop counts to ``(n + 15) // 16``,
which need not fit into the type of `n`. Where `n` enters values as well, its type decides what they
are, since ``float32 * int64`` is a float64 for NumPy and ``float32 * int`` a float32.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from astile.ir import query

#: Functions that pass an integer through to where it sets a range or an index.
_INTEGER_CALLS = ("min", "max", "abs", "len")
_ARITHMETIC = (ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Slice)


class SizeNames:
    """The names of sizes and indices of one function.

    Args:
        function: as the user wrote it.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._parents = {
            child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)
        }
        self._counters = {
            node.target.id
            for node in ast.walk(function)
            if isinstance(node, ast.For)
            and isinstance(node.target, ast.Name)
            and query.header(node) is not None
        }
        self._set_once = _set_once(function)
        #: Names that set a range or an index, themselves or through a name that is set once.
        self.names = self._integer_names()
        self._valued: dict[str, bool] = {}

    def is_valued(self, name: str) -> bool:
        """Whether an integer name is read elsewhere than in ranges, indices, shapes and bounds."""
        if name not in self._valued:
            self._valued[name] = False  # while it is looked at
            self._valued[name] = any(
                isinstance(node, ast.Name)
                and node.id == name
                and isinstance(node.ctx, ast.Load)
                and not self._is_size(node)
                for node in ast.walk(self._function)
            )
        return self._valued[name]

    def is_computed_with(self, name: str) -> bool:
        """Whether arithmetic is done with an integer name, which a narrow type would wrap."""
        for node in ast.walk(self._function):
            if not isinstance(node, ast.Name) or node.id != name or isinstance(node.ctx, ast.Store):
                continue
            parent = self._parents[node]
            while _is_integer_call(parent):
                parent = self._parents[parent]
            if isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.AugAssign, ast.Assign)):
                return True
        return False

    def _integer_names(self) -> set[str]:
        found: set[str] = set()
        for node in ast.walk(self._function):
            if isinstance(node, ast.Subscript):
                found.update(_plain_names(node.slice))
            elif isinstance(node, ast.Call) and query.dotted(node.func) in query.LOOP_WORDS:
                for each in node.args:
                    found.update(_plain_names(each))
        open_names = list(found)
        while open_names:
            value = self._set_once.get(open_names.pop())
            new = set() if value is None else set(_plain_names(value)) - found
            found |= new
            open_names += new
        return found

    def _is_size(self, node: ast.expr) -> bool:
        """Whether the value of one place goes into a range, an index, a shape or a bound only."""
        parent = self._parents[node]
        while isinstance(parent, _ARITHMETIC) or _is_integer_call(parent):
            assert isinstance(parent, ast.expr)
            node, parent = parent, self._parents[parent]
        if isinstance(parent, ast.Subscript):
            return parent.slice is node
        if isinstance(parent, ast.Call):
            return query.dotted(parent.func) in query.LOOP_WORDS or self._is_shape(parent, node)
        if isinstance(parent, ast.Compare):
            return all(self._is_integer(each) for each in (parent.left, *parent.comparators))
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
            target = parent.targets[0]
            return (
                isinstance(target, ast.Name)
                and target.id in self.names
                and target.id in self._set_once
                and not self.is_valued(target.id)
            )
        return False

    def _is_shape(self, call: ast.Call, node: ast.expr) -> bool:
        statement = self._parents[call]
        made = query.allocation(statement) if isinstance(statement, ast.stmt) else None
        return made is not None and made.shape is not None and call.args[0] is node

    def _is_integer(self, expression: ast.expr) -> bool:
        """Whether an expression is made of integers for certain, none of them out of an array."""
        match expression:
            case ast.Constant(value=value):
                return isinstance(value, int)
            case ast.Name(id=name):
                return name in self._counters or name in self.names
            case ast.BinOp(left=left, right=right):
                return self._is_integer(left) and self._is_integer(right)
            case ast.UnaryOp(operand=operand):
                return self._is_integer(operand)
            case ast.Subscript():
                return query.is_shape_of(expression)
        return _is_integer_call(expression)


def _is_integer_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and query.dotted(node.func) in _INTEGER_CALLS


def _set_once(function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Name -> its value, for names that one statement sets."""
    stored: dict[str, int] = {}
    values: dict[str, ast.expr] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored[node.id] = stored.get(node.id, 0) + 1
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            values[node.targets[0].id] = node.value
    parameters = query.parameters(function)
    return {
        name: value
        for name, value in values.items()
        if stored.get(name) == 1 and name not in parameters
    }


def _plain_names(expression: ast.expr) -> Iterator[str]:
    """Names that an index expression consists of; ``idx`` in ``A[idx[i]]`` is none of them."""
    if isinstance(expression, ast.Name):
        yield expression.id
    elif isinstance(expression, _ARITHMETIC) or _is_integer_call(expression):
        for child in ast.iter_child_nodes(expression):
            if isinstance(child, ast.expr) and child is not getattr(expression, "func", None):
                yield from _plain_names(child)
