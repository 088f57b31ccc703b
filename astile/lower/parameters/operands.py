"""Where what is computed from a name goes: whether arithmetic may take it as a whole array."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from astile.ir import query
from astile.ir.program import Program

#: Built-in functions of numbers.
_NUMBER_CALLS = ("abs", "min", "max", "int", "float", "bool", "complex", "round", "divmod", "pow")
#: Functions of NumPy beside its ufuncs that compute cell by cell.
_CELLWISE = ("where", "clip", "abs", "round", "around", "fix")


class Flow:
    """Follows values through the expressions and names of one function.

    Args:
        program: the function; its ranks tell cells from rows.
        parents: node -> the node that it stands in.
    """

    def __init__(self, program: Program, parents: Mapping[ast.AST, ast.AST]) -> None:
        self.program, self.parents = program, parents

    def is_computed(self, node: ast.expr, parent: ast.AST) -> bool:
        """Whether a value is computed with, or stored into cells, where it stands."""
        if isinstance(parent, ast.Call):
            return node in parent.args and self._is_cellwise(parent)
        if isinstance(parent, ast.Assign):
            return all(isinstance(each, ast.Subscript) for each in parent.targets)
        return isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign))

    def takes_arrays(self, value: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether the place of a value may take a whole array, as far as the text shows.

        Args:
            value: an expression of the function.
            seen: names that are being followed.
        """
        parent = self.parents[value]
        match parent:
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.Slice() | ast.If() | ast.While():
                return False
            case ast.IfExp(test=test) if test is value:
                return False
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.IfExp():
                return self.takes_arrays(parent, seen)
            case ast.Tuple() | ast.List():
                return self.takes_arrays(parent, seen)
            case ast.Call():
                if self._is_cellwise(parent):
                    return self.takes_arrays(parent, seen)
                return not self.takes_numbers(parent.func)
            case ast.Subscript(slice=index) if index is value:
                return isinstance(value, ast.Compare)  # a mask
            case ast.Assign(targets=targets):
                return any(self._stores_arrays(each, seen) for each in targets)
            case ast.AugAssign(target=target):
                return target is value or self._stores_arrays(target, seen)
        return True

    def _stores_arrays(self, target: ast.expr, seen: frozenset[str]) -> bool:
        if isinstance(target, ast.Subscript):
            indices = query.indices(target)
            rank = self.program.ranks.get(query.base_name(target) or "")
            return rank != len(indices) or any(map(is_many, indices))
        parameters = query.parameters(self.program.function)
        if not isinstance(target, ast.Name) or target.id in parameters:
            return True
        if target.id in seen:
            return False
        return any(
            self.takes_arrays(node, seen | {target.id})
            for node in ast.walk(self.program.function)
            if isinstance(node, ast.Name)
            and node.id == target.id
            and isinstance(node.ctx, ast.Load)
        )

    def _is_cellwise(self, call: ast.Call) -> bool:
        """Whether a call computes each cell of an array from the same cell of others."""
        if query.dotted(call.func) == "abs":
            return True
        found = self.numpy_function(call)
        return isinstance(found, np.ufunc) or found in [getattr(np, each) for each in _CELLWISE]

    def numpy_function(self, call: ast.Call) -> object | None:
        """The function of NumPy that is called; None for all others."""
        module, _, last = self._path(call.func).rpartition(".")
        homes = {"numpy": np, "numpy.linalg": np.linalg}
        return getattr(homes.get(module), last, None)

    def takes_numbers(self, function: ast.expr) -> bool:
        """Whether a called function computes a number from numbers."""
        if query.dotted(function) in (*_NUMBER_CALLS, *query.LOOP_WORDS):
            return True
        module, _, last = self._path(function).rpartition(".")
        if module == "numpy":
            found = getattr(np, last, None)
            return isinstance(found, (np.ufunc, type))
        return module in ("math", "cmath")

    def _path(self, function: ast.expr) -> str:
        head, _, rest = (query.dotted(function) or "").partition(".")
        return ".".join(each for each in (self.program.imports.get(head, ""), rest) if each)


def is_many(index: ast.expr) -> bool:
    """Whether an index names more than one cell or adds an axis."""
    if isinstance(index, (ast.Slice, ast.Starred, ast.List)):
        return True
    if isinstance(index, ast.Constant):
        return index.value is None or index.value is Ellipsis
    return (query.dotted(index) or "").endswith("newaxis")
