"""Types that cells and numbers of an expression may be computed in, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from astile.frontend.arrays import Facts
from astile.frontend.vocabulary import CELLWISE, REDUCTIONS, SAME_TYPE, TRUTHS, path_of
from astile.ir import query
from astile.ir.casts import array_of_type
from astile.ir.needs import Source

_PYTHON_TYPES = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}
_COUNT: set[Source] = {("weak", "int")}
_REAL: Source = ("weak", "float")


def types_of(facts: Facts, value: ast.AST) -> set[Source] | None:
    """Types that a number or a cell of an expression may be computed in; None: not known.

    Args:
        facts: what the names of the program hold.
        value: an expression.
    """
    return _TypeReader(facts).types(value)


def cell_type(facts: Facts, array: str) -> Source | None:
    """The type of an array's cells, or None where it is not known."""
    if array in facts.parameters:
        return ("like", array)
    statement = facts.statement_of(array)
    if statement is None:
        return None
    made = query.allocation(statement)
    if made is None or (made.shape is None and made.dtype is None):
        like = facts.like(statement)
        return None if like is None else cell_type(facts, like)
    if made.dtype is None:
        return ("dtype", "float64") if made.word != "full" else None
    return _declared(facts, made.dtype)


def _declared(facts: Facts, dtype: ast.expr) -> Source | None:
    match dtype:
        case ast.Attribute(value=ast.Name(id=array), attr="dtype") if array in facts.ranks:
            return cell_type(facts, array)
        case ast.Constant(value=str(text)):
            name = text
        case _:
            path = path_of(facts.program, dtype) or ""
            head, _, last = path.rpartition(".")
            if head not in ("", "numpy"):
                return None
            name = _PYTHON_TYPES.get(last, last) if not head else last
    try:
        return ("dtype", np.dtype(name).name)
    except TypeError:
        return None


class _TypeReader:
    """Collects types, each name once."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.seen: set[str] = set()

    def types(self, value: ast.AST) -> set[Source] | None:
        match value:
            case ast.Constant(value=constant):
                return self._of_constant(constant)
            case ast.Name(id=name):
                return self._of_name(name)
            case ast.Attribute():
                return {_REAL} if value.attr not in ("size", "ndim") else _COUNT
            case ast.Subscript(value=ast.Attribute(attr="shape")):
                return _COUNT
            case ast.Subscript():
                cell = cell_type(self.facts, query.base_name(value) or "")
                return None if cell is None else {cell}
            case ast.Compare():
                return {("dtype", "bool")}
            case ast.BinOp(op=ast.Div() | ast.Pow(), left=left, right=right):
                return self._joined([left, right], {_REAL})
            case ast.IfExp(body=body, orelse=orelse):
                return self._joined([body, orelse])
            case ast.UnaryOp(op=ast.Not()):
                return {("dtype", "bool")}
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp():
                parts = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
                return self._joined(parts)
            case ast.Call():
                return self._of_call(value)
        return None

    def _joined(self, parts: Iterable[ast.AST], also: Iterable[Source] = ()) -> set[Source] | None:
        found = set(also)
        for each in parts:
            known = self.types(each)
            if known is None:
                return None
            found |= known
        return found

    def _of_constant(self, constant: object) -> set[Source] | None:
        if isinstance(constant, bool):
            return {("dtype", "bool")}
        if isinstance(constant, np.generic):
            return {("dtype", constant.dtype.name)}
        kind = type(constant).__name__
        return {("weak", kind)} if kind in ("int", "float", "complex") else None

    def _of_name(self, name: str) -> set[Source] | None:
        facts = self.facts
        if name in self.seen:
            return set()
        self.seen.add(name)
        if name in facts.ranks:
            cell = cell_type(facts, name)
            return None if cell is None else {cell}
        if name in facts.program.constants and name not in facts.bindings:
            return self._of_constant(facts.program.constants[name])
        found: set[Source] = {("like", name)} if name in facts.parameters else set()
        for statement in facts.bindings.get(name, ()):
            known = self._of_binding(statement)
            if known is None:
                return None
            found |= known
        return found

    def _of_binding(self, statement: ast.stmt) -> set[Source] | None:
        match statement:
            case ast.For():
                return _COUNT
            case ast.Assign(value=ast.Attribute(attr="shape")):
                return _COUNT
            case ast.Assign(value=ast.Tuple(elts=parts)):
                return self._joined(parts)
            case ast.AugAssign(op=ast.Div() | ast.Pow(), value=value):
                return self._joined([value], {_REAL})
            case ast.Assign(value=value) | ast.AugAssign(value=value):
                return self.types(value)
        return None

    def _of_call(self, call: ast.Call) -> set[Source] | None:
        path = path_of(self.facts.program, call.func) or ""
        head, _, last = path.rpartition(".")
        array = array_of_type(call.func)
        if array is not None:
            cell = cell_type(self.facts, array)
            return None if cell is None else {cell}
        if path in ("len", "int", "round"):
            return _COUNT
        if path == "float" or head == "math":
            return {_REAL}
        if path == "bool":
            return {("dtype", "bool")}
        if path in ("min", "max", "abs", "pow"):
            return self._joined(call.args)
        if head == "numpy" and isinstance(getattr(np, last, None), type):
            return {("dtype", np.dtype(last).name)}
        if head == "numpy" and last == "where" and len(call.args) == 3:
            return self._joined(call.args[1:])
        if head == "numpy" and last in TRUTHS:
            return {("dtype", "bool")}
        if head == "numpy" and last in SAME_TYPE:
            return self._joined(call.args)
        if head == "numpy" and (last in CELLWISE or last in REDUCTIONS):
            return self._joined(call.args, {_REAL})
        match call.func:
            case ast.Attribute(value=reduced, attr=method) if method in REDUCTIONS:
                return self._joined([reduced], {_REAL})
        return None
