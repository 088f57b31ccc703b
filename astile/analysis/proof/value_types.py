"""Types of arrays and scalars as far as a proof needs them: is a value kept as it was?

A value that moves into another array is cast to that array's type. Types are not known before a
call, so they are compared as symbols, see `type_symbols`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from astile.analysis.forms.params import Names
from astile.analysis.proof.flows import Hints, is_copy
from astile.analysis.proof.type_symbols import WEAK, AssumedTypes, Type, grouped, strong_of
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.model import Model, Statement
from astile.ir import nodes, query
from astile.ir.casts import array_of_type
from astile.ir.program import Program

_PYTHON = {"float": "numpy.float64", "int": "numpy.int64", "complex": "numpy.complex128"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv)


def find_cast(original: Model, new: Model, hints: Hints) -> tuple[Statement, str] | None:
    """The first statement that may store a value in another type than before, and the array."""
    before, after = Types.of(original), Types.of(new)
    remade = {
        access.array
        for statement in new.statements
        for access in statement.writes
        if statement.leaf.origin is None and isinstance(access.node, ast.Name)
    }
    for source, statement, _ in hints.pairs:
        there = {access.slot: access for access in source.writes}
        for access in statement.writes:
            if access.slot not in there or query.is_allocation(statement.leaf.node):
                continue
            first, second = there[access.slot].array, access.array
            if first == second and second not in remade:
                continue
            if not _keeps(before, first, after, second):
                return statement, second
    for statement in new.statements:
        if statement.leaf.origin is None and is_copy(statement):
            first, second = statement.reads[0].array, statement.writes[0].array
            if second in after.arrays and not _keeps(after, first, after, second):
                return statement, second
    return None


def _keeps(before: Types, first: str, after: Types, second: str) -> bool:
    """Whether `second` holds what `first` held without changing it."""
    if second not in after.arrays:
        return first not in before.arrays
    declared = after.of_array(second)
    if first in before.arrays:
        return declared is not None and declared == before.of_array(first)
    return declared is not None and declared == before.of_scalar(first)


class Types:
    """The types of names of one program.

    Args:
        program: the program.
        names: what its names are.
        calls: what its calls do.
    """

    def __init__(self, program: Program, names: Names, calls: Calls) -> None:
        self.arrays = set(names.ranks)
        self._names, self._calls = names, calls
        self._function = program.function
        self._assumed = AssumedTypes(program.needs)
        self._assigned: dict[str, list[ast.expr | None]] = {}
        self._declared: dict[str, list[query.Allocation]] = {}
        self._made: dict[str, list[ast.expr]] = {}
        self._alike: dict[str, ast.expr] = {}
        self._counts: set[str] = set()
        self._read: dict[str, bool] = {}
        self._scalars: dict[str, Type | None] = {}
        #: Scalar -> the type with which its updates begin.
        self._starts: dict[str, Type | None] = {}
        for node in ast.walk(program.function):
            self._look(node)

    @classmethod
    def of(cls, model: Model) -> Types:
        """The types of a model's program."""
        names = model.names
        bound = frozenset(names.arguments) | names.local
        return cls(model.program, names, Calls(model.program, bound))

    def of_array(self, array: str) -> Type | None:
        """The type of an array's cells, or None where it is not known."""
        if array in self._names.arguments:
            return frozenset([f"like {array}"])
        found = {self._of_allocation(array, each) for each in self._declared.get(array, [])}
        return found.pop() if len(found) == 1 and not self._made.get(array) else None

    def of_scalar(self, scalar: str) -> Type | None:
        """The type that promotion gives a scalar, when all its values but plain numbers have it."""
        found = self._of_scalar(scalar)
        return found if found is not None and strong_of(found) else None

    def holds_integers(self, name: str, values: Iterable[ast.expr]) -> bool:
        """Whether the cells of an array, or a scalar, are integers of one type.

        Args:
            name: the array or scalar.
            values: what is stored in cells of the array, or joined to them.
        """
        if name in self.arrays:
            found = self._joined([self.of_array(name), *(self._of_value(e, "") for e in values)])
        else:
            found = self._of_scalar(name)
        if found is None or len(strong_of(found)) > 1:
            return False
        kinds = {each.rstrip("0123456789") for each in found}
        return bool(kinds) and kinds <= {"int", "numpy.int", "numpy.uint"}

    def is_pythons_own(self, scalar: str) -> bool:
        """Whether a scalar is known to hold numbers of Python, which have no type of NumPy."""
        found = self._of_scalar(scalar)
        return found is not None and not strong_of(found)

    # --- reading the program --------------------------------------------------------------------

    def _look(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                made = query.allocation(node)
                if made is not None:
                    self._declared.setdefault(name, []).append(made)
                    if made.shape is None and isinstance(value, ast.Call):
                        self._alike[name] = value.args[0]
                elif name in self.arrays:
                    self._made.setdefault(name, []).append(value)
                else:
                    self._assigned.setdefault(name, []).append(value)
            case ast.Assign(
                targets=[ast.Tuple(elts=elements)], value=ast.Attribute(attr="shape")
            ) if all(isinstance(each, ast.Name) for each in elements):
                for name in query.names_written(node):
                    self._assigned.setdefault(name, []).append(nodes.const(0))
            case ast.Assign(targets=targets):
                for target in targets:
                    for name in query.names_written(target):
                        self._assigned.setdefault(name, []).append(None)
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                self._assigned.setdefault(name, []).append(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                whole = nodes.binary(nodes.name(name), type(op), value)
                self._assigned.setdefault(name, []).append(whole)
            case ast.For(target=target):
                self._counts |= query.names_written(target)

    def _of_allocation(self, array: str, made: query.Allocation) -> Type | None:
        if made.dtype is not None:
            return self._of_dtype(made.dtype)
        if made.shape is not None:
            return frozenset(["numpy.float64"])
        like = self._alike.pop(array, None)  # gone while it is looked at: no circles
        if not isinstance(like, ast.Name) or like.id not in self.arrays:
            return None
        found = self.of_array(like.id)
        self._alike[array] = like
        return found

    def _of_dtype(self, dtype: ast.expr) -> Type | None:
        match dtype:
            case ast.Attribute(value=ast.Name(id=array), attr="dtype") if array in self.arrays:
                return self.of_array(array)
            case ast.Constant(value=str(text)):
                return frozenset([f"numpy.{text}"])
            case ast.Call(func=function, args=arguments, keywords=[]) if (
                self._calls.path(function) == "numpy.result_type"
            ):
                return self._joined([self._of_operand(each) for each in arguments])
        path = self._calls.path(dtype)
        if path is None:
            return None
        path = _PYTHON.get(path, path)
        return frozenset([path]) if path.startswith("numpy.") else None

    def _of_operand(self, operand: ast.expr) -> Type | None:
        match operand:
            case ast.Name(id=name) if name in self.arrays:
                return self.of_array(name)
            case ast.Constant(value=value) if type(value).__name__ in WEAK:
                return frozenset([type(value).__name__])
        return self._of_dtype(operand)

    def _joined(self, parts: list[Type | None]) -> Type | None:
        known = [each for each in parts if each is not None]
        if len(known) < len(parts) or not parts:
            return None
        whole = frozenset().union(*known)
        joined, strong = self._assumed.joined(whole), strong_of(whole)
        if joined != whole:
            return joined
        return frozenset().union(*(grouped(each, strong) for each in known))

    # --- scalars --------------------------------------------------------------------------------

    def _of_scalar(self, scalar: str) -> Type | None:
        """The type of a scalar, which may be a number of Python's own of one kind."""
        if scalar not in self._scalars:
            self._scalars[scalar] = None  # while it is looked at: a scalar made from itself
            self._scalars[scalar] = self._promoted(scalar)
        return self._scalars[scalar]

    def _promoted(self, scalar: str) -> Type | None:
        assigned = self._assigned.get(scalar)
        if scalar in self._names.arguments or scalar in self._counts or not assigned:
            return None
        values = [each for each in assigned if each is not None]
        starts = [each for each in values if not _computes_with(each, scalar)]
        found = {id(each): self._of_value(each, scalar) for each in starts}
        kinds = set(found.values())
        if len(starts) < len(values):
            if len(kinds) != 1:
                return None  # what the updates compute with depends on the way that was taken
            self._starts[scalar] = kinds.pop()
            found |= {id(e): self._of_value(e, scalar) for e in values if e not in starts}
        parts = [None if each is None else found[id(each)] for each in assigned]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts):
            return None
        whole = self._assumed.joined(frozenset().union(*known))
        strong = strong_of(whole)
        for value, part in zip(values, known, strict=True):
            if strong_of(part) == strong:
                continue
            # a value of some of the types is cast when it is stored, and would be computed with
            # in these types only: neither shows in a short number that is copied or added to
            if not (self._is_short(value) or _is_short_update(value, scalar)):
                return None
            if strong_of(part) and not self._is_only_copied(scalar):
                return None
        return whole if strong or len(whole) == 1 else None

    def _is_only_copied(self, scalar: str) -> bool:
        """Whether nothing but an update of its own computes with a scalar."""
        loads = copies = 0
        for node in ast.walk(self._function):
            match node:
                case ast.Name(id=name, ctx=ast.Load()) if name == scalar:
                    loads += 1
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == scalar:
                    copies += sum(
                        isinstance(each, ast.Name) and each.id == scalar for each in ast.walk(value)
                    )
                case ast.Assign(value=ast.Name(id=name)) if name == scalar:
                    copies += 1
        return loads == copies

    def _of_value(self, value: ast.expr, scalar: str) -> Type | None:
        match value:
            case ast.Constant(value=constant) if type(constant).__name__ in WEAK:
                return frozenset([type(constant).__name__])
            case ast.Name(id=name):
                return self._of_name(name, scalar)
            case ast.Attribute() if self._is_infinity(value):
                return frozenset(["float"])
            case ast.Subscript() if (base := query.base_name(value)) in self.arrays:
                assert base is not None
                whole = len(query.indices(value)) == self._names.ranks[base]
                return self.of_array(base) if whole else None
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._of_value(operand, scalar)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
                return self._joined([self._of_value(e, scalar) for e in (left, right)])
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                parts = [self._of_value(e, scalar) for e in (left, right)]
                return self._joined([*parts, frozenset(["float"])])
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._of_call(function, arguments, scalar)
        return None

    def _of_name(self, name: str, scalar: str) -> Type | None:
        if name == scalar:
            return self._starts.get(name, frozenset())
        if name in self._names.integers or name in self._counts:
            return frozenset(["int"])
        return self._of_scalar(name)

    def _of_call(self, function: ast.expr, arguments: list[ast.expr], scalar: str) -> Type | None:
        path = self._calls.path(function) or ""
        if path in ("min", "max", "abs"):
            joined = self._joined([self._of_value(each, scalar) for each in arguments])
            return joined if joined is not None and len(strong_of(joined)) <= 1 else None
        if path.startswith("math."):
            return frozenset(["float"]) if path not in _WHOLE else None
        array = array_of_type(function)
        if array in self.arrays:
            assert array is not None
            return self.of_array(array)
        if len(arguments) == 1 and _is_type(path):
            return frozenset([path])
        if len(arguments) == 1 and path in _FLOATING:
            return self._of_floating(self._of_value(arguments[0], scalar))
        return None

    def _of_floating(self, argument: Type | None) -> Type | None:
        """The type of ``np.exp(x)``: the least floating one that holds all that x's type does."""
        if argument is None or argument & {"bool", "complex"}:
            return None
        if not strong_of(argument):
            return frozenset(["numpy.float64"])  # of a number of Python
        is_floating = self._assumed.is_floating(argument)
        if "float" in argument or is_floating or argument <= {"numpy.float32", "numpy.float64"}:
            return argument
        return self._joined([argument, frozenset(["numpy.float16"])])

    def _is_infinity(self, value: ast.expr) -> bool:
        return self._calls.path(value) in ("numpy.inf", "math.inf")

    def _is_short(self, value: ast.expr, *, signed: bool = False) -> bool:
        """Whether a number is held exactly by every type that it is promoted to.

        That is so of 0.0, -0.5, -np.inf, np.float32(2), but not of -1, which unsigned integers
        lack.

        Args:
            value: the number.
            signed: whether the type is known to hold numbers below zero.
        """
        match value:
            case ast.Call(func=function, args=[inner], keywords=[]):
                path = self._calls.path(function) or ""
                below_zero = not path.startswith("numpy.uint")
                return _is_type(path) and self._is_short(inner, signed=below_zero)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=number) as operand):
                return (signed or isinstance(number, float)) and self._is_short(operand)
            case ast.Attribute():
                return self._is_infinity(value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Attribute() as operand):
                return self._is_infinity(operand)
            case ast.Constant(value=number) if isinstance(number, (int, float)):
                return number < 128 and number * 16 % 1 == 0  # eleven bits, as float16 has
        return False


#: Functions of NumPy whose values are floating-point numbers, of integers too.
_FLOATING = frozenset(
    f"numpy.{word}"
    for word in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan",
        "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
    )
)  # fmt: skip
#: Functions of math that give integers.
_WHOLE = ("math.floor", "math.ceil", "math.trunc", "math.gcd", "math.lcm", "math.comb")


def _is_type(path: str) -> bool:
    """Whether a dotted path is a type of NumPy's numbers."""
    kind = path.removeprefix("numpy.").rstrip("0123456789")
    return path.startswith("numpy.") and kind in ("float", "int", "uint", "complex")


def _computes_with(value: ast.expr, scalar: str) -> bool:
    """Whether a value is made from a scalar by arithmetic: ``s + x * w``."""
    match value:
        case ast.Name(id=name):
            return name == scalar
        case ast.UnaryOp(operand=operand):
            return _computes_with(operand, scalar)
        case ast.BinOp(left=left, right=right):
            return _computes_with(left, scalar) or _computes_with(right, scalar)
    return False


def _is_short_update(value: ast.expr, scalar: str) -> bool:
    """Whether this counts: ``s + 1``."""
    match value:
        case ast.BinOp(left=ast.Name(id=name), op=ast.Add() | ast.Sub(), right=right):
            counts = isinstance(right, ast.Constant) and isinstance(right.value, int)
            return name == scalar and counts
    return False
