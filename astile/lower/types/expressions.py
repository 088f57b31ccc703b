"""Expressions whose type in numba is their type in the plain program; see `numeric`."""

from __future__ import annotations

import ast
import itertools
from abc import abstractmethod
from collections.abc import Sequence

from astile.ir import nodes, query
from astile.ir.casts import array_of_type
from astile.lower.types import call_kinds, dtypes, possible
from astile.lower.types.numpy_calls import NumpyCalls
from astile.lower.types.promotion import (
    FRAGILE,
    NARROW,
    PYTHON,
    Kind,
    family,
    is_held,
    native,
    number_of,
)

#: Integer type -> the one that NumPy makes of a floating-point number first. Only then do numbers
#: that the type does not hold wrap around; processors by themselves give any.
_BY_WAY_OF = {
    "int8": "int32",
    "uint8": "int32",
    "int16": "int32",
    "uint16": "int32",
    "uint32": "int64",
    "uint64": "int64",
}


class Expressions(NumpyCalls):
    """Rewrites expressions of one program."""

    @abstractmethod
    def helper_call(self, plain: ast.Call, made: ast.Call) -> ast.expr | None:
        """A call of a helper function; None for other calls."""

    @abstractmethod
    def only_cell(self, made: ast.Subscript) -> ast.expr:
        """``A[()]``, the number in an array without axes."""

    @abstractmethod
    def beside_unsigned(self, plain: ast.Compare, made: ast.Compare) -> ast.expr:
        """A comparison of uint64 with a signed integer, exact as in NumPy."""

    @abstractmethod
    def bounded_index(self, index: ast.expr) -> ast.expr:
        """An index of uint64 that keeps its sign where it becomes one of int64."""

    def fixed(self, value: ast.expr) -> ast.expr:
        """An expression whose type in numba is its type in the plain program."""
        made = self._with_fixed_parts(value)
        if isinstance(value, ast.Subscript):
            self._subscript(value, made)
        match value:
            case ast.BinOp():
                assert isinstance(made, ast.BinOp)
                return self.binary(value, made)
            case ast.UnaryOp():
                assert isinstance(made, ast.UnaryOp)
                return self._unary(value, made)
            case ast.Compare():
                assert isinstance(made, ast.Compare)
                return self._compare(value, made)
            case ast.IfExp():
                assert isinstance(made, ast.IfExp)
                kind = self.kinds.of(value)
                self.check_signs(value)
                made.body = self.started(kind, value.body)
                made.orelse = self.started(kind, value.orelse)
            case ast.Call():
                assert isinstance(made, ast.Call)
                return self._call(value, made)
            case ast.Name(ctx=ast.Load()):
                return self._load(value, made)
            case ast.Subscript(ctx=ast.Load(), slice=ast.Tuple(elts=[])):
                assert isinstance(made, ast.Subscript)
                return self.only_cell(made)
        return made

    def _subscript(self, plain: ast.Subscript, made: ast.expr) -> None:
        """On a GPU, stop an index of uint64 at the largest one of int64, which no array has.

        Beyond it, it would count from the end.
        """
        assert isinstance(made, ast.Subscript)
        is_tuple = isinstance(plain.slice, ast.Tuple)
        parts = plain.slice.elts if isinstance(plain.slice, ast.Tuple) else [plain.slice]
        texts = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
        for position, each in enumerate(parts):
            if self.kinds.is_array(each):
                continue
            kinds = {self.kinds.of(each), *(self.kinds.choices.of(each) or ())}
            if "uint64" in kinds:
                texts[position] = self.bounded_index(texts[position])
        made.slice = nodes.tuple_of(texts) if is_tuple else texts[0]

    def _check_range(self, plain: ast.Call) -> None:
        """Refuse what Python does not count with: truth values of NumPy."""
        for each in plain.args:
            if "bool_" in {self.kinds.of(each), *(self.kinds.choices.of(each) or ())}:
                self.refuse(
                    "range of a truth value of NumPy, which raises in Python",
                    each,
                    "write int(...) around it",
                )

    def _with_fixed_parts(self, value: ast.expr) -> ast.expr:
        made = nodes.copy_place(value, nodes.blank(value))
        for name, field in ast.iter_fields(value):
            if isinstance(field, ast.expr):
                setattr(made, name, self.fixed(field))
            elif isinstance(field, list):
                setattr(made, name, [self._part(each) for each in field])
            else:
                setattr(made, name, field)
        return made

    def _part(self, part: object) -> object:
        if isinstance(part, ast.expr):
            return self.fixed(part)
        if isinstance(part, ast.keyword):
            return ast.keyword(part.arg, self.fixed(part.value))
        return part

    def _load(self, plain: ast.Name, made: ast.expr) -> ast.expr:
        """A name, which numba may hold in a wider type than what is there at this place."""
        kind = self.kinds.of(plain)
        if kind is None or plain.id in self.kinds.arrays or plain.id not in self.kinds.names:
            return made
        held = self.kinds.names[plain.id]
        is_wide = native(kind) in ("int64", "float64", "complex128")
        if native(kind) == native(held or "") or (held is None and is_wide):
            return made
        return self.cast(native(kind), made)

    def _unary(self, plain: ast.UnaryOp, made: ast.UnaryOp) -> ast.expr:
        kind, held = self.kinds.of(plain), self.kinds.of(plain.operand)
        if kind is None and held is not None:
            self.refuse_types(plain, held)
        if isinstance(plain.op, (ast.USub, ast.Invert)):
            self.check_wrapping(plain, plain.operand)
        if kind is None or isinstance(plain.op, (ast.Not, ast.UAdd)):
            return made
        if self.kinds.is_array(plain):
            return made
        if isinstance(plain.op, ast.Invert) and held == "bool_":
            return ast.UnaryOp(ast.Not(), made.operand)
        if isinstance(plain.op, ast.Invert) and held == "bool":
            made.operand = self.cast("int64", made.operand)
            return made
        return self.cast(kind, made) if kind in NARROW else made

    def check_wrapping(self, plain: ast.expr, operand: ast.expr) -> None:
        """Refuse signs and complements of integers that the data make wrap around, or not."""
        found, given = self.kinds.choices.all_of(plain), self.kinds.choices.of(operand)
        if found is None or given is None or len(given) < 2:
            return
        narrow = {each.kind for each in found} & {*NARROW, "uint64", "bool_"}
        is_defined = not isinstance(plain, ast.UnaryOp) or {each.kind for each in found} == given
        if not is_defined or (narrow and not possible.are_of(found, self.kinds.of(plain))):
            self.refuse_choice(operand)

    def _compare(self, plain: ast.Compare, made: ast.Compare) -> ast.expr:
        """A number of Python beside a float32 compares as float32."""
        sides = [plain.left, *plain.comparators]
        if self.are_whole(sides):
            return self.whole_comparison(plain, made)
        texts = [made.left, *made.comparators]
        kinds = [self.kinds.of(each) for each in sides]
        for position, kind in enumerate(kinds):
            near = {kinds[k] for k in (position - 1, position + 1) if 0 <= k < len(kinds)}
            typed = {each for each in near if each not in PYTHON}
            wanted = next(iter(typed)) if len(typed) == 1 else None
            if kind in PYTHON and kind != "complex" and wanted in FRAGILE:
                assert wanted is not None
                texts[position] = self.cast(wanted, texts[position])
        for position in range(1, len(sides)):
            pair = slice(position - 1, position + 1)
            is_mixed = any(len(self.kinds.choices.of(each) or ()) > 1 for each in sides[pair])
            operator = plain.ops[position - 1]
            kind = (
                self.rounds_to(sides[position - 1], operator, sides[position]) if is_mixed else None
            )
            if kind is not None:
                texts[pair] = [
                    self._operand(kind, *each) for each in _pairs(sides[pair], texts[pair])
                ]
        made.left, made.comparators = texts[0], texts[1:]
        return self.beside_unsigned(plain, made)

    def rounds_to(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str | None:
        """The type that a comparison rounds a number of Python to; refused where data decide.

        Numbers of NumPy compare as they are: float64 holds all that float32 does.
        """
        choices = self.kinds.choices
        first, second = choices.all_of(left), choices.all_of(right)
        if first is None or second is None:
            return None
        found: set[str | None] = set()
        numbers = []
        for one, other in itertools.product(first, second):
            weak = [each for each in (one, other) if each.kind in PYTHON]
            typed = other.kind if one.kind in PYTHON else one.kind
            if len(weak) == 2:
                numbers.append((one, other))
            elif len(weak) == 1 and typed in FRAGILE:
                value = weak[0].number
                found |= set() if value is not None and possible.is_held(value, typed) else {typed}
            elif one.kind != other.kind or one.kind not in FRAGILE:
                found.add(None)
        kinds = found or {None}
        if any(
            kind is not None and not possible.compares_alike(one, operator, other, kind)
            for kind in kinds
            for one, other in numbers
        ):
            found.add(None)
        if len(found) > 1:
            self._refuse_either(left, right)
        return next(iter(found), None)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        helper = self.helper_call(plain, made)
        if helper is not None:
            return helper
        word = query.dotted(plain.func) or ""
        path = call_kinds.path_of(self.program, plain.func)
        one = len(plain.args) == 1 and not plain.keywords
        kind = self.kinds.of(plain)
        if word == "range":
            self._check_range(plain)
        if isinstance(plain.func, ast.Attribute) and plain.func.attr == "astype":
            return self._retyped(plain, made)
        if self._is_whole_already(path or word, plain):
            return self.cast(native(kind or "int"), made.args[0])
        if word == "int" and one:
            # numba's int() of an unsigned number is unsigned: int(a) - int(b) would wrap
            return self.cast("int64", made.args[0])
        if word == "float" and one:
            # numba's float() of a float32 is one
            given = self.kinds.of(plain.args[0])
            plain_already = given in ("float", "float64")
            return made.args[0] if plain_already else self.cast("float64", made.args[0])
        if array_of_type(plain.func) is not None and one and kind is not None:
            self.check_cast(kind, plain.args[0])
            return self.cast(kind, self.wrapped(kind, plain.args[0], made.args[0]))
        cast = dtypes.name_of(self.program, plain.func, {}) if path and one else None
        if cast is not None and not self.kinds.is_array(plain.args[0]):
            self.check_cast(cast, plain.args[0])
            made.args = [self.wrapped(cast, plain.args[0], made.args[0])]
            return made
        if word in ("min", "max") and not path and len(plain.args) > 1 and not plain.keywords:
            if kind is None:
                return self._extreme(word, plain, made)
            made.args = self._alike(kind, plain.args, made.args)
        elif word == "abs" and one:
            self.check_wrapping(plain, plain.args[0])
            if self.kinds.is_array(plain.args[0]):
                made.func = nodes.name(self.imported("numpy.absolute"))
                return made
            return self.cast(kind, made) if kind in NARROW else made
        elif path.startswith("math."):
            return self.of_math(plain, made)
        elif path.startswith("numpy."):
            return self.of_numpy(path, plain, made, kind)
        elif word == "round" and len(plain.args) > 1:
            self.check_arguments(plain.args)
        return made

    def _retyped(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """``x.astype(np.float32)`` without keywords, which numba does not read.

        With ``copy=False`` it is x itself where x has that type.
        """
        if not plain.keywords:
            return made
        assert isinstance(plain.func, ast.Attribute)
        assert isinstance(made.func, ast.Attribute)
        given = {each.arg: each.value for each in plain.keywords}
        texts = {each.arg: each.value for each in made.keywords}
        copied = given.pop("copy", nodes.const(True))
        dtype = made.args[0] if made.args else texts.get("dtype")
        if given.keys() - {"dtype"} or not isinstance(copied, ast.Constant) or dtype is None:
            self.refuse("numba reads only the type in astype(...)", plain, "write x.astype(dtype)")
        own, kind = self.kinds.of(plain.func.value), self.kinds.of(plain)
        may_be_same = isinstance(copied, ast.Constant) and not copied.value
        if may_be_same and self.kinds.is_array(plain.func.value):
            if own is None or kind is None:
                hint = "write .astype(dtype) for a copy, or name the type, as in np.float32"
                self.refuse(
                    "whether this is a copy depends on types that are not known", plain, hint
                )
            if own == kind:
                return made.func.value
        assert dtype is not None
        made.args, made.keywords = [dtype], []
        return made

    def _is_whole_already(self, path: str, plain: ast.Call) -> bool:
        """Whether a call rounds an integer, which numba does by way of float64."""
        if path not in ("round", "numpy.round", "numpy.around") or plain.keywords:
            return False
        own = self.kinds.of(plain.args[0]) if plain.args else None
        if own is None or family(own) not in "iu" or self.kinds.is_array(plain.args[0]):
            return False
        digits = number_of(plain.args[1]) if len(plain.args) == 2 else None
        return len(plain.args) == 1 or (isinstance(digits, int) and digits >= 0)

    def wrapped(self, kind: Kind, plain: ast.expr, value: ast.expr) -> ast.expr:
        """A floating-point number that becomes an integer of a kind: what it cannot hold wraps.

        Args:
            kind: of the integer.
            plain: the number as the program has it.
            value: the same in the text.
        """
        way = _BY_WAY_OF.get(kind or "")
        own = self.kinds.of(plain)
        kinds = [own] if own is not None else list(self.kinds.choices.of(plain) or ())
        is_float = any(each is not None and family(each) == "f" for each in kinds)
        if way is None or kind is None or not is_float or number_of(plain) is not None:
            return value
        if kind != "uint64":
            return self.cast(way, value)
        signed = self.cast(kind, self.cast(way, nodes.clone(value)))
        test = nodes.compare(nodes.clone(value), ast.Lt, nodes.const(0))
        return ast.IfExp(test, signed, self.cast(kind, value))

    def _extreme(self, word: str, plain: ast.Call, made: ast.Call) -> ast.expr:
        """`min` or `max` of what has several types: each is compared as the plain program does."""
        self.check_signs(plain)
        for first, second in itertools.combinations(plain.args, 2):
            kind = self.rounds_to(first, ast.Lt(), second)
            if kind is None:
                continue
            if len(plain.args) > 2 or not all(map(_is_simple, plain.args)):
                self.refuse_choice(plain)
            sides = [nodes.clone(e) for e in made.args]
            typed = [self._operand(kind, *each) for each in _pairs(plain.args, sides)]
            operator = ast.Gt if word == "max" else ast.Lt
            test = nodes.compare(typed[1], operator, typed[0])
            return nodes.copy_place(made, ast.IfExp(test, made.args[1], made.args[0]))
        return made

    def _alike(
        self, kind: Kind, plain: Sequence[ast.expr], made: Sequence[ast.expr]
    ) -> list[ast.expr]:
        """Arguments of `min` and `max`; a number that the type does not hold stays as it is."""
        found = []
        for each, text in _pairs(plain, made):
            own = self.kinds.of(each)
            if kind is not None and own in PYTHON and kind not in PYTHON:
                held = is_held(each, kind)
                if kind == "uint64" and not held:
                    held = self.is_nonnegative(each)
                    if not held:
                        self.refuse_choice(each, plain)
                if kind in FRAGILE or held:
                    text = self.cast(kind, text)
            found.append(text)
        return found


def _pairs(plain: Sequence[ast.expr], made: Sequence[ast.expr]) -> list[tuple[ast.expr, ast.expr]]:
    return list(zip(plain, made, strict=True))


def _is_simple(value: ast.expr) -> bool:
    """Whether an expression may stand twice in the text."""
    return isinstance(value, (ast.Name, ast.Subscript)) or number_of(value) is not None
