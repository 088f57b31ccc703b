"""Types that cells and numbers of an expression may be computed in, as far as the text shows."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

import numpy as np

from astile.frontend import numpy_types
from astile.frontend.arrays import Facts
from astile.frontend.vocabulary import CELLWISE, REDUCTIONS, freedom, numpy_word, path_of
from astile.ir import query
from astile.ir.casts import array_of_type
from astile.ir.needs import Source, chosen, maybe

_PYTHON_TYPES = {"float": "float64", "int": "int64", "bool": "bool", "complex": "complex128"}
_COUNT: set[Source] = {("weak", "int")}
_REAL: Source = ("weak", "float")
#: Functions of `math` that give integers.
_WHOLE = ("ceil", "comb", "factorial", "floor", "gcd", "isqrt", "lcm", "perm", "trunc")


def types_of(facts: Facts, value: ast.AST) -> set[Source] | None:
    """Types that a number or a cell of an expression may be computed in; None: not known.

    Args:
        facts: what the names of the program hold.
        value: an expression.
    """
    return _TypeReader(facts, value).types(value)


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
    """Reads the types of one expression.

    Args:
        facts: what the names of the program hold.
        value: the expression; what its names hold is found first.
    """

    def __init__(self, facts: Facts, value: ast.AST) -> None:
        self.facts = facts
        roots = sorted(facts.roots(query.names_read(value)))
        names = [each for each in roots if each in facts.bindings and each not in facts.ranks]
        self.held: dict[str, set[Source] | None] = {each: set() for each in names}
        grown = names
        while grown:
            grown = [each for each in names if self._has_grown(each)]

    def _has_grown(self, name: str) -> bool:
        """Whether a name turned out to hold more types than were known."""
        before = self.held[name]
        if before is None:
            return False
        values: list[set[Source]] = []
        if name in self.facts.parameters:
            values.append({("like", name)})
        for statement in self.facts.bindings[name]:
            known = self._of_binding(statement)
            if known is None:
                self.held[name] = None
                return True
            if isinstance(statement, ast.AugAssign):
                known = known | before
            values += [known] if known else []  # a value that another one in the loop decides
        # What only some runs compute with stays so, so that this ends.
        after = chosen(values)
        less_sure = {each for each in before if each not in after}
        after = {each for each in after if maybe(each) not in less_sure}
        self.held[name] = after = after | set(map(maybe, less_sure))
        return after != before

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
            case ast.BinOp(op=ast.Pow(), left=left, right=right):
                return self._of_power(left, right)
            case ast.BinOp(op=ast.Div(), left=left, right=right):
                return self._joined([left, right], {_REAL})
            case ast.IfExp(body=body, orelse=orelse):
                return self._chosen([body, orelse])
            case ast.BoolOp(values=parts):
                return self._chosen(parts)
            case ast.UnaryOp(op=ast.Not()):
                return {("dtype", "bool")}
            case ast.BinOp() | ast.UnaryOp():
                parts = [each for each in ast.iter_child_nodes(value) if isinstance(each, ast.expr)]
                return self._without_truths(parts)
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

    def _chosen(self, parts: Sequence[ast.AST]) -> set[Source] | None:
        """Of what is one of several values."""
        known = [each for each in map(self.types, parts) if each is not None]
        # Nothing is known yet of what a name holds that is found out after this one.
        return None if len(known) < len(parts) else chosen([each for each in known if each])

    def _without_truths(self, parts: Sequence[ast.expr]) -> set[Source] | None:
        """What meets in one operation: truth values take the type of any other array."""
        found = self._joined(parts)
        others = self._joined(each for each in parts if self.types(each) != {("dtype", "bool")})
        if not others:
            return found
        arrays = [kind == "dtype" or name in self.facts.ranks for kind, name in others]
        return others if any(arrays) else found

    def _of_constant(self, constant: object) -> set[Source] | None:
        if isinstance(constant, bool):
            return {("dtype", "bool")}
        if isinstance(constant, np.generic):
            return {("dtype", constant.dtype.name)}
        kind = type(constant).__name__
        return {("weak", kind)} if kind in ("int", "float", "complex") else None

    def _of_name(self, name: str) -> set[Source] | None:
        facts = self.facts
        if name in facts.ranks:
            cell = cell_type(facts, name)
            return None if cell is None else {cell}
        if name in self.held:
            return self.held[name]
        if name in facts.parameters:
            return {("like", name)}
        if name in facts.program.constants:
            return self._of_constant(facts.program.constants[name])
        return None

    def _of_binding(self, statement: ast.stmt) -> set[Source] | None:
        match statement:
            case ast.For():
                return _COUNT
            case ast.Assign(value=ast.Attribute(attr="shape")):
                return _COUNT
            case ast.Assign(value=ast.Tuple(elts=parts)):
                return self._chosen(parts)
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
        if path in ("len", "int") or (path == "round" and len(call.args) == 1):
            return _COUNT
        if head == "math" and last in _WHOLE:
            return _COUNT
        if path == "bool" or (head == "math" and last.startswith("is") and last != "isqrt"):
            return {("dtype", "bool")}
        if path == "float" or head == "math":
            return {_REAL}
        if path == "pow" and len(call.args) == 2:
            return self._of_power(*call.args)
        if path in ("min", "max"):
            return self._chosen(call.args)
        if path == "abs":
            return self._joined(call.args)
        if path == "round":
            return self._joined(call.args[:1])
        if head == "numpy" and isinstance(getattr(np, last, None), type):
            return {("dtype", np.dtype(last).name)}
        return self._of_numpy(call)

    def _of_power(self, base: ast.expr, exponent: ast.expr) -> set[Source] | None:
        """A power of integers is one too, unless the exponent is negative."""
        found = self._joined([base, exponent])
        number = query.integer(exponent)
        if not found or (number is not None and number >= 0):
            return found
        if numpy_types.is_chosen(found):
            return None
        if numpy_types.is_known(found) and numpy_types.is_whole(found):
            return {_REAL} if number is not None else None
        return {*found, _REAL}

    def _of_numpy(self, call: ast.Call) -> set[Source] | None:
        """A call of a function of NumPy, or of a method of an array."""
        word = numpy_word(self.facts.program, call.func)
        if word in CELLWISE and not call.keywords:
            given = [self.types(each) for each in call.args]
            known = [each for each in given if each is not None]
            if len(known) < len(given):
                return None
            are_numbers = all(map(self.facts.is_number, call.args))
            return numpy_types.of_cells(word, known, are_numbers=are_numbers)
        reduced = call.args
        if word is None and isinstance(call.func, ast.Attribute):
            word, reduced = call.func.attr, [call.func.value, *call.args]
        if word not in REDUCTIONS or freedom(word, call.keywords) is None:
            return None
        found = self._joined(reduced)
        return None if found is None else numpy_types.of_reduction(word, found)
