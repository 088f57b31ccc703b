"""Types of values in the plain program: what NumPy 2 computes in, and where Python's numbers stand.

A *kind* is the name of a NumPy type (``"float32"``), or ``"float"``, ``"int"``, ``"bool"`` for
numbers of Python, which take the type of the NumPy operand beside them (NEP 50). None is unknown.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import dtypes

Kind = str | None
PYTHON = ("bool", "int", "float")
#: Integer types that wrap around earlier than numba's arithmetic, which is 64 bit wide.
NARROW = ("int8", "int16", "int32", "uint8", "uint16", "uint32")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)
_ROUNDS = 8
#: Functions of NumPy that keep the floating-point type of their one argument.
ONE_FLOAT = frozenset(
    ("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan")
    + ("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "abs", "absolute", "fabs")
    + ("floor", "ceil", "trunc", "square", "negative")
)
#: Functions of NumPy whose result is as wide as the sum of their two arguments.
TWO_ALIKE = frozenset(
    ("maximum", "minimum", "fmax", "fmin", "arctan2", "hypot", "add", "subtract", "multiply")
)


def promoted(left: Kind, right: Kind) -> Kind:
    """The kind of arithmetic between two kinds."""
    if left is None or right is None:
        return None
    if left in PYTHON and right in PYTHON:
        return max(left, right, "int", key=PYTHON.index)
    if left in PYTHON:
        left, right = right, left
    if right not in PYTHON:
        return str(np.promote_types(left, right).name)
    family = np.dtype(left).kind
    if right == "float" and family in "biu":
        return "float64"
    if right == "int" and family == "b":
        return "int64"
    return left


class Kinds:
    """The kinds of a program's names and expressions.

    Args:
        program: the program.
        types: array parameter -> type of its elements; ``"float"``, ``"int"`` or ``"bool"`` for a
            parameter that is a number of Python.
    """

    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.program = program
        self.arrays: dict[str, str] = {}
        self.names: dict[str, Kind] = {}
        self._types = types
        self._read_arrays()
        self._read_names()

    def _read_arrays(self) -> None:
        indexed = {query.base_name(each) for each in query.accesses(self.program.function)}
        for name, given in self._types.items():
            if name in indexed and given not in PYTHON:
                self.arrays[name] = given
        seen: dict[str, set[str | None]] = {}
        for statement in query.statements(self.program.function):
            made = query.allocation(statement)
            if made is None:
                continue
            kind: Kind = dtypes.name_of(self.program, made.dtype, self._types)
            if made.shape is None and made.dtype is None:
                assert isinstance(statement, ast.Assign)
                assert isinstance(statement.value, ast.Call)
                kind = self.arrays.get(query.dotted(statement.value.args[0]) or "")
            elif made.word == "full" and made.dtype is None:
                kind = None
            seen.setdefault(made.array, set()).add(kind)
        for name, kinds in seen.items():
            only = next(iter(kinds)) if len(kinds) == 1 else None
            self.arrays.pop(name, None)
            if only is not None and only not in ("bool", "bool_"):
                self.arrays[name] = only

    def _read_names(self) -> None:
        function = self.program.function
        written = query.names_written(function)
        for name, frozen in self.program.constants.items():
            if name not in written:
                self.names[name] = type(frozen).__name__
        for name in query.parameters(function):
            kind = self._types.get(name)
            self.names[name] = kind if kind in PYTHON and name not in written else None
        stores = _stores(function)
        pending = {n for n in stores if n not in self.names and n not in self.arrays}
        for name in pending:
            self.names[name] = "?"
        for _ in range(_ROUNDS):
            before = dict(self.names)
            for name in pending:
                for value in stores[name]:
                    found = self._of_store(value)
                    self.names[name] = _joined(self.names[name], found)
            if self.names == before:
                break
        else:
            self.names.update(dict.fromkeys(pending, None))
        for name in pending:
            if self.names[name] == "?":
                self.names[name] = None

    def _of_store(self, value: ast.AST) -> Kind:
        if isinstance(value, ast.AugAssign):
            assert isinstance(value.target, ast.Name)
            held = self.names[value.target.id]
            return self.of_binary(held, value.op, self.of(value.value))
        return self.of(value) if isinstance(value, ast.expr) else None

    # --- expressions ----------------------------------------------------------------------------

    def of(self, value: ast.expr) -> Kind:
        """The kind of an expression; ``"?"`` while names are still being read."""
        if isinstance(value, ast.Constant):
            name = type(value.value).__name__
            return name if name in PYTHON else None
        if isinstance(value, ast.Name):
            return self.names.get(value.id)
        if isinstance(value, ast.Subscript):
            if query.is_shape_of(value):
                return "int"
            return self.arrays.get(query.base_name(value) or "") if _is_cell(value) else None
        if isinstance(value, ast.BinOp):
            return self.of_binary(self.of(value.left), value.op, self.of(value.right))
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, (ast.USub, ast.UAdd)):
            held = self.of(value.operand)
            return "int" if held == "bool" else held
        if isinstance(value, ast.IfExp):
            return _chosen(self.of(value.body), self.of(value.orelse))
        if isinstance(value, ast.Call):
            return self._of_call(value)
        return None

    def of_binary(self, left: Kind, operator: ast.operator, right: Kind) -> Kind:
        """The kind of ``left operator right``."""
        if "?" in (left, right):
            return "?"
        both = promoted(left, right)
        if both is None or both == "bool_":
            return None
        if isinstance(operator, _ARITHMETIC):
            return both
        if isinstance(operator, _BITWISE):
            return both if both in PYTHON or np.dtype(both).kind in "iu" else None
        if isinstance(operator, ast.Div):
            if both in PYTHON:
                return "float"
            return "float64" if np.dtype(both).kind in "biu" else both
        if isinstance(operator, ast.Pow) and both not in PYTHON:
            return both if np.dtype(both).kind == "f" else None
        return None

    def _of_call(self, call: ast.Call) -> Kind:
        word = query.dotted(call.func) or ""
        if word in ("int", "len", "round") and len(call.args) == 1:
            return "int"
        if word == "float":
            return "float"
        if word == "abs" and len(call.args) == 1:
            return self.of(call.args[0])
        if word in ("min", "max") and len(call.args) > 1 and not call.keywords:
            kind = self.of(call.args[0])
            for each in call.args[1:]:
                kind = _chosen(kind, self.of(each))
            return kind
        if len(call.args) == 1:
            named = dtypes.name_of(self.program, call.func, {})
            if named is not None:
                return named
        head, _, last = word.rpartition(".")
        path = self.program.imports.get(head or word, "")
        if path == "math" or path.startswith("math."):
            function = last if head else path.rpartition(".")[2]
            return "int" if function in ("floor", "ceil", "trunc") else "float"
        if path == "numpy" or path.startswith("numpy."):
            return self._of_numpy(last if head else path.rpartition(".")[2], call)
        return None

    def _of_numpy(self, function: str, call: ast.Call) -> Kind:
        kind = self.of(call.args[0]) if call.args and not call.keywords else None
        if function in ONE_FLOAT and len(call.args) == 1 and kind not in (None, "?"):
            assert kind is not None
            is_float = kind not in PYTHON and np.dtype(kind).kind == "f"
            return kind if is_float else None
        if function in TWO_ALIKE and len(call.args) == 2:
            return self.of_binary(kind, ast.Add(), self.of(call.args[1]))
        return "?" if kind == "?" else None


def _is_cell(access: ast.Subscript) -> bool:
    return not any(isinstance(each, ast.Slice) for each in query.indices(access))


def _joined(first: Kind, second: Kind) -> Kind:
    """The kind of a name that holds both, None where they do not agree.

    A number of Python takes the type that is added to it later.
    """
    if first == "?" or first == second:
        return second
    if second == "?":
        return first
    if first is None or second is None:
        return None
    if first in PYTHON and second in PYTHON:
        return max(first, second, key=PYTHON.index)
    if (first in PYTHON) != (second in PYTHON):
        return promoted(first, second) if _fits(first, second) else None
    return None


def _fits(first: str, second: str) -> bool:
    """Whether the NumPy type of the two can hold what the Python number may be."""
    typed, plain = (second, first) if first in PYTHON else (first, second)
    return not (plain == "float" and np.dtype(typed).kind in "biu") and typed != "bool_"


def _chosen(first: Kind, second: Kind) -> Kind:
    """The kind of a value that is one of two."""
    return _joined(first, second)


def _stores(function: ast.FunctionDef) -> dict[str, list[ast.AST]]:
    """Name -> what it is set to: an expression, an update, or another node that tells nothing."""
    found: dict[str, list[ast.AST]] = {}

    def store(target: ast.expr, value: ast.AST) -> None:
        if isinstance(target, ast.Name):
            found.setdefault(target.id, []).append(value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            is_shape = isinstance(value, ast.Attribute) and value.attr == "shape"
            parts = value.elts if isinstance(value, (ast.Tuple, ast.List)) else None
            for position, each in enumerate(target.elts):
                part: ast.AST = ast.Pass()
                if is_shape:
                    part = nodes.const(0)
                elif parts is not None and len(parts) == len(target.elts):
                    part = parts[position]
                store(each, part)

    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                store(target, node.value)
        elif isinstance(node, ast.AugAssign):
            store(node.target, node)
        elif isinstance(node, ast.For):
            is_counted = query.header(node) is not None
            store(node.target, nodes.const(0) if is_counted else ast.Pass())
        elif isinstance(node, (ast.NamedExpr, ast.AnnAssign)):
            store(node.target, node.value or ast.Pass())
        elif isinstance(node, (ast.withitem, ast.comprehension)):
            target_node = getattr(node, "optional_vars", None) or getattr(node, "target", None)
            if target_node is not None:
                store(target_node, ast.Pass())
    return found
