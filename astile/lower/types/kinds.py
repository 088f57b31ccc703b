"""Types of values in the plain program: what NumPy 2 computes in, and where Python's numbers stand.

See `promotion` for what a kind is. Kinds of names do not depend on the place: a name that holds a
number of Python first and a NumPy value later has the kind of the latter.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence

from astile.analysis.forms import params
from astile.ir import query
from astile.ir.program import Program
from astile.lower import shapes
from astile.lower.types import call_kinds, possible, promotion, rounded, stores
from astile.lower.types.choices import Choices
from astile.lower.types.promotion import FRAGILE, PYTHON, Kind, is_held, joined
from astile.lower.types.stores import Counted, Item, Store

_ROUNDS = 12
#: Attributes of arrays and numbers that are integers of Python, or several of them.
_COUNTS = ("shape", "size", "ndim", "itemsize", "nbytes")
#: Ending of the type of a parameter that is one number of NumPy, and no array: ``"float32()"``.
SCALAR = "()"


class Kinds:
    """The kinds of a program's names and expressions.

    Args:
        program: the program.
        types: array parameter -> type of its elements; for other parameters ``"float"``,
            ``"int"``, ``"bool"`` or ``"complex"`` for a number of Python, and ``"float32()"``
            for one of NumPy.
        is_written: whether the program is the user's own, and no step was taken.
    """

    def __init__(
        self, program: Program, types: Mapping[str, str], *, is_written: bool = False
    ) -> None:
        self.program = program
        self.types = types
        self.is_written = is_written
        self.arrays: dict[str, Kind] = {}
        self.names: dict[str, Kind] = {}
        self.definitions = stores.of_nodes(program.function)
        self.stores: dict[str, list[Store]] = {}
        for each in itertools.chain.from_iterable(self.definitions.values()):
            self.stores.setdefault(each.name, []).append(each.value)
        self._axes = shapes.least_axes(program)
        self._returned: dict[tuple[str, ...], Kinds] = {}
        self._ranks = params.names_of(program).ranks
        self._knows_all = False  # while names are read, a number of Python may still become another
        self._read_parameters()
        self._read_names()

    # --- names ----------------------------------------------------------------------------------

    def _read_parameters(self) -> None:
        for name in query.parameters(self.program.function):
            given = self.types.get(name)
            if given is None:
                self.names[name] = None
            elif given in PYTHON:
                self.names[name] = given
            elif given.endswith(SCALAR) and name not in self._ranks:
                given = given.removesuffix(SCALAR)
                self.names[name] = "bool_" if given == "bool" else given
            else:
                given = given.removesuffix(SCALAR)
                self.arrays[name] = "bool_" if given == "bool" else given

    def _read_names(self) -> None:
        function = self.program.function
        for name, frozen in self.program.constants.items():
            if name not in self.stores and name not in self.names:
                self.names[name] = call_kinds.of_constant(frozen)
        first = {**self.names, **self.arrays}
        pending = [name for name in self.stores if first.get(name, "?") is not None]
        rows = {name for name in pending if name in self._ranks or name in self.arrays}
        for name in pending:
            holder = self.arrays if name in rows else self.names
            holder[name] = first.get(name, "?")
        for name in self.stores.keys() - set(pending):
            self.names[name] = None
        self._widen_all(pending, rows)
        self.choices = Choices(self)
        self._rounded = rounded.find(self, self.choices)
        self._knows_all = True
        for name in pending:
            if name in self.names:
                self.names[name] = first.get(name, "?")
        self._widen_all(pending, rows)
        for holder in (self.names, self.arrays):
            for name, kind in list(holder.items()):
                holder[name] = None if kind == "?" else kind
        parameters = set(query.parameters(function))
        self.names = {
            n: k for n, k in self.names.items() if n not in self.arrays or n in parameters
        }

    def _widen_all(self, pending: Sequence[str], rows: Iterable[str]) -> None:
        """Widen the kinds of names until they hold all that is stored."""
        for _ in range(_ROUNDS):
            before = dict(self.names), dict(self.arrays)
            for name in pending:
                self._widen(name)
            if before == (self.names, self.arrays):
                return
        self.names.update(dict.fromkeys(pending))
        self.arrays.update(dict.fromkeys(rows))

    def _widen(self, name: str) -> None:
        for value in self.stores[name]:
            found = self.of_store(name, value)
            if name not in self.arrays and self._is_whole(value):
                self.arrays[name] = self.names.pop(name)
            holder = self.arrays if name in self.arrays else self.names
            holder[name] = joined(holder[name], found)
            if self._knows_all and not self._holds(holder[name], found, value):
                holder[name] = None
        if self._knows_all and self.names.get(name) in FRAGILE and not self._is_rounded(name):
            self.names[name] = None

    def _is_rounded(self, name: str) -> bool:
        """Whether a name holds its type only, or every use rounds what it holds to that type."""
        return name in self._rounded.names or self.choices.is_only(name, self.names[name])

    def _holds(self, kind: Kind, given: Kind, value: Store) -> bool:
        """Whether a kind holds a value: an integer of Python may be any, a literal is known."""
        if kind in (None, "?") or given != "int" or not promotion.is_integer(kind):
            return True
        if kind in ("int", "int64"):
            return True
        assert kind is not None
        return isinstance(value, ast.expr) and is_held(value, kind)

    def of_store(self, name: str, value: Store) -> Kind:
        """The kind of one of the values that a name is set to."""
        if isinstance(value, ast.AugAssign):
            held = self.names.get(name, self.arrays.get(name))
            return self.of_binary(held, value.op, self.of(value.value))
        if isinstance(value, Item):
            return self._of_item(value)
        if isinstance(value, Counted):
            return "int"
        return None if value is None else self.of(value)

    def _is_whole(self, value: Store) -> bool:
        """Whether what is stored is an array."""
        if isinstance(value, ast.AugAssign):
            return self.is_array(value.value)
        return isinstance(value, ast.expr) and self.is_array(value)

    def _of_item(self, item: Item) -> Kind:
        value = item.value
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            return "int"
        if isinstance(value, ast.Tuple) and item.position is None:
            return self.of_each(value.elts)
        if isinstance(value, ast.Call) and item.position is not None:
            parts = self.of_parts(value)
            if parts is not None:
                return parts[item.position] if item.position < len(parts) else None
        return self.of(value) if self.is_array(value) else None

    # --- expressions ----------------------------------------------------------------------------

    def of(self, value: ast.expr) -> Kind:
        """The kind of an expression, or of an array's elements; ``"?"`` while names are read."""
        match value:
            case ast.Constant():
                return call_kinds.of_constant(value.value)
            case ast.Name(id=name):
                return self.arrays[name] if name in self.arrays else self._of_load(value)
            case ast.Subscript():
                return self._of_access(value)
            case ast.BinOp():
                return self._of_arithmetic(value)
            case ast.UnaryOp():
                return self._of_unary(value)
            case ast.Compare():
                sides = [self.of(each) for each in (value.left, *value.comparators)]
                if "?" in sides:
                    return "?"
                return "bool" if all(each in PYTHON for each in sides) else "bool_"
            case ast.BoolOp():
                return self.of_choice(value.values, value)
            case ast.IfExp():
                return self.of_choice([value.body, value.orelse], value)
            case ast.Attribute():
                return self._of_attribute(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self.of_each(parts)
            case ast.Call():
                found = call_kinds.of_call(self, value)
                return _only(self.choices.of(value), found) if self._knows_all else found
        return None

    def _of_load(self, load: ast.Name) -> Kind:
        """The kind of what a name holds at one place, which may have another there than elsewhere.

        A number of the text, and what the data choose, has the kind that the name is held in.
        """
        held = self.names.get(load.id)
        if not self._knows_all or load.id in self._rounded.names:
            return held
        found = self.choices.all_of(load)
        return held if possible.are_of(found, held) else _only(possible.kinds(found), held)

    def _of_arithmetic(self, value: ast.BinOp) -> Kind:
        found = self.of_binary(self.of(value.left), value.op, self.of(value.right))
        return _only(self.results(value), found) if self._knows_all else found

    def results(self, value: ast.BinOp) -> frozenset[str | None] | None:
        """The types in which arithmetic may be done, as far as its use shows the difference."""
        rounded = self._rounded.values.get(value)
        return self.choices.results(value.left, value.op, value.right, rounded)

    def of_binary(self, left: Kind, operator: ast.operator, right: Kind) -> Kind:
        """The kind of ``left operator right``."""
        if "?" in (left, right):
            return "?"
        return promotion.binary(left, type(operator), right)

    def of_choice(self, values: Sequence[ast.expr], whole: ast.expr | None = None) -> Kind:
        """The kind of a value that is one of several.

        Args:
            values: all of them.
            whole: the expression that gives one of them, where it is in the program.
        """
        kind: Kind = "?"
        for each in values:
            kind = joined(kind, self.of(each))
        if self._knows_all and not all(self._holds(kind, self.of(e), e) for e in values):
            return None
        if self._knows_all and kind in FRAGILE:
            is_rounded = whole is not None and self._rounded.values.get(whole) == kind
            found = self.choices.one_of(values)
            return kind if is_rounded or possible.are_of(found, kind) else None
        return kind

    def of_each(self, values: Sequence[ast.expr]) -> Kind:
        """The kind that all of several values have."""
        found = {self.of(each) for each in values}
        return "?" if "?" in found else _only(found, None)

    def _of_position(self, name: str, index: ast.expr) -> Kind:
        """The kind of a part of a tuple, by the position that the text says."""
        position, values = query.integer(index), self.stores.get(name, [])
        tuples = [each.elts for each in values if isinstance(each, ast.Tuple)]
        if position is None or not tuples or len(tuples) < len(values):
            return None
        if not all(-len(each) <= position < len(each) for each in tuples):
            return None
        return self.of_each([each[position] for each in tuples])

    def _of_access(self, access: ast.Subscript) -> Kind:
        if query.is_shape_of(access):
            attribute = access.value
            assert isinstance(attribute, ast.Attribute)
            return "int" if attribute.attr == "shape" else self.of(attribute)
        base = query.base_name(access)
        if base is None:
            return None
        found = self.arrays.get(base)
        return self._of_position(base, access.slice) if found is None else found

    def _of_unary(self, value: ast.UnaryOp) -> Kind:
        held = self.of(value.operand)
        if isinstance(value.op, ast.Not):
            return "bool"
        if held == "bool":
            return "int"
        if isinstance(value.op, ast.Invert) and held not in (None, "?"):
            assert held is not None
            return held if promotion.family(held) in "biu" else None
        return held if held != "bool_" else None

    def _of_attribute(self, value: ast.Attribute) -> Kind:
        if value.attr in _COUNTS:
            return "int"
        if value.attr == "T":
            return self.of(value.value)
        if value.attr in ("real", "imag"):
            return call_kinds.real_part(self.of(value.value))
        if isinstance(value.value, ast.Call):
            return call_kinds.of_limit(self, value.value, value.attr)
        return call_kinds.of_path(call_kinds.path_of(self.program, value))

    def is_array(self, value: ast.expr) -> bool:
        """Whether an expression is known to be an array, computed element by element."""
        match value:
            case ast.Name(id=name):
                return name in self.arrays
            case ast.Subscript():
                base = query.base_name(value)
                return base in self.arrays and (_is_part(value) or self._is_row(base, value))
            case ast.BinOp():
                return self.is_array(value.left) or self.is_array(value.right)
            case ast.UnaryOp():
                return self.is_array(value.operand)
            case ast.Compare():
                return any(map(self.is_array, (value.left, *value.comparators)))
            case ast.Attribute(attr="T"):
                return True
            case ast.Call():
                return call_kinds.gives_array(self, value)
        return False

    def _is_row(self, array: str, access: ast.Subscript) -> bool:
        """Whether an access has fewer indices than its array is known to have axes."""
        return len(query.indices(access)) < self._axes.get(array or "", 0)

    # --- helper functions -----------------------------------------------------------------------

    def inside(self, call: ast.Call) -> Kinds | None:
        """The kinds of a helper function for the arguments of a call; None for other calls."""
        name = query.dotted(call.func) or ""
        helper = self.program.helper_programs.get(name)
        if helper is None:
            return None
        types = call_kinds.types_of_arguments(self, helper, call)
        if types is None:
            return None
        key = (name, *(f"{each}={types[each]}" for each in sorted(types)))
        if key not in self._returned:
            self._returned[key] = Kinds(helper, types, is_written=self.is_written)
        return self._returned[key]

    def returned(self) -> Kind:
        """The kind of what the function returns."""
        values = _returned_values(self.program.function)
        if not values or any(each is None for each in values):
            return None
        return self.of_choice([each for each in values if each is not None])

    def returned_parts(self) -> list[Kind] | None:
        """The kinds of the values of the tuples that the function returns; None for no tuples."""
        values = _returned_values(self.program.function)
        tuples = [each.elts for each in values if isinstance(each, ast.Tuple)]
        if not tuples or len(tuples) < len(values) or len({len(each) for each in tuples}) != 1:
            return None
        return [self.of_choice(each) for each in zip(*tuples, strict=True)]

    def returned_kinds(self) -> tuple[Kind, ...]:
        """The kinds of the number, or of the numbers in a tuple, that the function returns."""
        parts = self.returned_parts()
        return (self.returned(),) if parts is None else tuple(parts)

    def returned_values(self) -> list[ast.expr]:
        """All values that the function returns."""
        return [e for e in _returned_values(self.program.function) if e is not None]

    def of_parts(self, call: ast.Call) -> list[Kind] | None:
        """The kinds of the values of a tuple that a helper function returns."""
        inner = self.inside(call)
        return None if inner is None else inner.returned_parts()


def returned_kinds(program: Program, types: Mapping[str, str]) -> tuple[Kind, ...]:
    """`Kinds.returned_kinds` of a program, of which nothing is found out where it returns nothing.

    Args:
        program: as for `Kinds`.
        types: as for `Kinds`.
    """
    ends = [each for each in query.statements(program.function) if isinstance(each, ast.Return)]
    if any(each.value is not None for each in ends):
        return Kinds(program, types).returned_kinds()
    return (None,)


def _only(found: Collection[Kind] | None, otherwise: Kind) -> Kind:
    """The kind that a value has whatever the data are."""
    return next(iter(found)) if found is not None and len(found) == 1 else otherwise


def _returned_values(function: ast.FunctionDef) -> list[ast.expr | None]:
    return [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]


def _is_part(access: ast.Subscript) -> bool:
    """Whether an access takes a part of an array for certain: by a slice."""
    return any(isinstance(each, ast.Slice) for each in query.indices(access))
