"""Expressions of a vector loop, in all lanes of one vector at once."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, printer, query
from astile.lower import bounds
from astile.lower.types import promotion
from astile.lower.types.dtypes import SIZES
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import native
from astile.lower.vectors import registers
from astile.lower.vectors.functions import ALIKE, NEARLY, OF_FLOATS, OF_TWO
from astile.lower.vectors.places import DoesNotFitError, Lanes, Places
from astile.lower.vectors.registers import Register
from astile.lower.vectors.words import Words

#: Types that a lane holds.
NUMBERS = tuple(
    name for name in SIZES if name.rstrip("0123456789") in ("int", "uint") or name == "float32"
) + ("float64",)
_LANE_BY_LANE = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.BitAnd, ast.BitOr, ast.BitXor)
#: A mask of more nodes is not written: each term of an `or` holds those before it again.
_LARGEST_MASK = 250


class Values:
    """Writes expressions of one program.

    Args:
        kinds: of its names.
        words: names of functions and types in the text.
        held: the arrays that registers hold.
        rows: local array -> its last extent, where that is a number.
        places: what is known of integers.
        exact: leave out functions that are nearly those of NumPy.
    """

    def __init__(
        self,
        kinds: Kinds,
        words: Words,
        held: Mapping[str, Register],
        rows: Mapping[str, int],
        places: Places,
        *,
        exact: bool,
    ) -> None:
        self.kinds, self.words, self.held = kinds, words, held
        #: Name of a vector in a register -> texts of the masks under which it is used.
        self.masks: dict[str, set[str]] = {}
        self._imports = words.imports
        self._rows = rows
        self.places = places
        self._functions = ALIKE if exact else ALIKE | NEARLY

    # --- types ----------------------------------------------------------------------------------

    def dtype(self, value: ast.expr) -> str:
        """The type of a value, one that vectors hold."""
        kind = self.kinds.of(value)
        found = "" if kind in (None, "?") else native(str(kind))
        if found not in (*NUMBERS, "bool_"):
            raise DoesNotFitError
        return found

    def varies(self, value: ast.AST, lanes: Lanes) -> bool:
        """Whether a value may differ from lane to lane."""
        return not query.names(value).isdisjoint({lanes.variable, *lanes.vectors})

    def call(self, name: str, *arguments: ast.expr) -> ast.expr:
        """A call of a function of vectors."""
        return nodes.call(self.words.intrinsic(name), list(arguments))

    def type_word(self, dtype: str) -> ast.expr:
        """The name of a type in the text."""
        return nodes.name(self.words.dtype(dtype))

    # --- values that are the same in all lanes --------------------------------------------------

    def scalar(self, value: ast.expr, lanes: Lanes) -> ast.expr:
        """A value that is the same in all lanes, computed once."""
        if isinstance(value, ast.Subscript) and query.base_name(value) is not None:
            return self._cell(value, lanes)
        if isinstance(value, ast.Call) and lanes.mask is not None:
            self._require_harmless(value)
        made = nodes.clone(value)
        for name, part in ast.iter_fields(value):
            if isinstance(part, ast.expr):
                setattr(made, name, self.scalar(part, lanes))
            elif isinstance(part, list):
                parts = [self.scalar(e, lanes) if isinstance(e, ast.expr) else e for e in part]
                setattr(made, name, parts)
        return made

    def _require_harmless(self, call: ast.Call) -> None:
        """Only what cannot raise runs where no lane does."""
        if self._function(call) is None and self._cast(call) is None:
            raise DoesNotFitError

    def _cell(self, access: ast.Subscript, lanes: Lanes) -> ast.expr:
        array = query.base_name(access) or ""
        if array in self.held:
            one = {array: self.held[array]}
            return registers.replaced(access, one, lanes.writer.facts, self.words)
        indices = query.indices(access)
        proved = array in self.kinds.arrays and self.kinds.arrays[array] in (*NUMBERS, "bool_")
        if proved and self._are_nonnegative(indices, lanes):
            where = nodes.tuple_of([nodes.clone(each) for each in indices])
            place = where if len(indices) > 1 else where.elts[0]
            if lanes.mask is None or lanes.is_entered:
                return self.call("get", nodes.name(array), place)
            return self.call("get_where", nodes.clone(lanes.mask), nodes.name(array), place)
        if lanes.mask is not None:
            raise DoesNotFitError
        return nodes.clone(access)

    def _are_nonnegative(self, indices: Sequence[ast.expr], lanes: Lanes) -> bool:
        return all(self.places.is_nonnegative(each, lanes.writer) for each in indices)

    # --- vectors --------------------------------------------------------------------------------

    def converted(self, value: ast.expr, dtype: str, lanes: Lanes) -> ast.expr:
        """A value as a vector of a type."""
        own = self.dtype(value)
        if not self.varies(value, lanes):
            made = self.scalar(value, lanes)
            computed = not isinstance(value, (ast.Name, ast.Subscript, ast.Call))
            is_narrow = computed and own in promotion.NARROW
            if own != dtype or is_narrow or self._is_widened(value):
                made = nodes.call(self.words.dtype(dtype), [made])
            return self.call("splat", made, nodes.const(lanes.count))
        vector = self.vector(value, lanes)
        return vector if own == dtype else self.call("convert", vector, self.type_word(dtype))

    def _is_widened(self, value: ast.expr) -> bool:
        """Whether a name has another type first: numba, which widens it, keeps vectors as made."""
        of, stores = self.kinds.of_store, self.kinds.stores
        names = {each.id: each for each in ast.walk(value) if isinstance(each, ast.Name)}
        return any(
            of(name, each) != self.kinds.of(read)
            for name, read in names.items()
            for each in stores.get(name, ())
        )

    def vector(self, value: ast.expr, lanes: Lanes) -> ast.expr:
        """A value that differs from lane to lane."""
        match value:
            case ast.Name(id=name):
                if name == lanes.variable:
                    first = lanes.base.expression()
                    return self.call("count", first, nodes.const(lanes.count))
                return nodes.name(lanes.vectors[name])
            case ast.Subscript():
                return self.cells(value, lanes)
            case ast.BinOp():
                return self._operation(value, lanes)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                dtype = self.dtype(value)
                if dtype not in NUMBERS:
                    raise DoesNotFitError
                return ast.UnaryOp(ast.USub(), self.converted(operand, dtype, lanes))
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                if self.dtype(value) != "bool_":
                    raise DoesNotFitError
                return self.mask(value, lanes)
            case ast.IfExp():
                return self._choice(value, lanes)
            case ast.Call():
                return self._call(value, lanes)
        raise DoesNotFitError

    def _operation(self, value: ast.BinOp, lanes: Lanes) -> ast.expr:
        dtype = self.dtype(value)
        if not isinstance(value.op, _LANE_BY_LANE) or dtype not in NUMBERS:
            raise DoesNotFitError
        is_float = dtype.startswith("float")
        bits = isinstance(value.op, (ast.BitAnd, ast.BitOr, ast.BitXor))
        if (isinstance(value.op, ast.Div) and not is_float) or (bits and is_float):
            raise DoesNotFitError
        sides = [self.converted(each, dtype, lanes) for each in (value.left, value.right)]
        return nodes.binary(sides[0], type(value.op), sides[1])

    def _choice(self, value: ast.IfExp, lanes: Lanes) -> ast.expr:
        dtype = self.dtype(value)
        if not self.varies(value.test, lanes):
            raise DoesNotFitError
        test = self.mask(value.test, lanes)
        then = replace(lanes, writer=lanes.writer.under(value.test)).where(test)
        other = lanes.where(ast.UnaryOp(ast.Invert(), nodes.clone(test)))
        return self.call(
            "select",
            nodes.clone(test),
            self.converted(value.body, dtype, then),
            self.converted(value.orelse, dtype, other),
        )

    def _cast(self, value: ast.Call) -> str | None:
        """The type that a call converts its argument to."""
        path = self._path(value.func)
        name = {"float": "float64", "int": "int64", "bool": "bool_"}.get(path)
        name = name or path.removeprefix("numpy.").removeprefix("astile.loops.")
        is_cast = name in (*NUMBERS, "bool_") and len(value.args) == 1 and not value.keywords
        return name if is_cast else None

    def _function(self, value: ast.Call) -> str | None:
        word = self._functions.get(self._path(value.func))
        arity = 2 if word in OF_TWO else 1
        return word if len(value.args) == arity and not value.keywords else None

    def _path(self, function: ast.expr) -> str:
        word = query.dotted(function) or ""
        head, _, rest = word.partition(".")
        path = self._imports.get(head)
        if path is None:
            return word if not rest and head not in self.kinds.names else ""
        return f"{path}.{rest}" if rest else path

    def _call(self, value: ast.Call, lanes: Lanes) -> ast.expr:
        cast = self._cast(value)
        if cast is not None:
            return self.converted(value.args[0], cast, lanes)
        word, dtype = self._function(value), self.dtype(value)
        if word is None or dtype not in NUMBERS:
            raise DoesNotFitError
        if word in OF_FLOATS and not dtype.startswith("float"):
            raise DoesNotFitError
        if word in ("smaller", "larger") and any(self.dtype(e) != dtype for e in value.args):
            raise DoesNotFitError
        return self.call(word, *(self.converted(each, dtype, lanes) for each in value.args))

    # --- conditions -----------------------------------------------------------------------------

    def mask(self, test: ast.expr, lanes: Lanes) -> ast.expr:
        """The lanes in which a condition holds."""
        if not self.varies(test, lanes):
            if self.dtype(test) != "bool_":
                raise DoesNotFitError
            return self.call("splat", self.scalar(test, lanes), nodes.const(lanes.count))
        match test:
            case ast.BoolOp(values=[first, *others]):
                made = self.mask(first, lanes)
                is_and = isinstance(test.op, ast.And)
                for each in others:
                    if len(query.preorder(made)) > _LARGEST_MASK:
                        raise DoesNotFitError
                    here = nodes.clone(made)
                    inner = lanes.where(here if is_and else ast.UnaryOp(ast.Invert(), here))
                    joint = ast.BitAnd if is_and else ast.BitOr
                    made = nodes.binary(made, joint, self.mask(each, inner))
                return made
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return ast.UnaryOp(ast.Invert(), self.mask(operand, lanes))
            case ast.Compare():
                parts = [self._comparison(each, lanes) for each in bounds.conjuncts(test)]
                made = parts[0]
                for each in parts[1:]:
                    made = nodes.binary(made, ast.BitAnd, each)
                return made
        vector = self.vector(test, lanes)
        if self.dtype(test) == "bool_":
            return vector
        raise DoesNotFitError

    def _comparison(self, test: ast.expr, lanes: Lanes) -> ast.expr:
        if not self.varies(test, lanes):
            return self.mask(test, lanes)
        assert isinstance(test, ast.Compare)
        form = bounds.nonnegative_form(test, lanes.writer.facts)
        if form is not None and form.names().isdisjoint(lanes.vectors):
            rest, sign = form.without(lanes.variable), form.coefficient(lanes.variable)
            if sign in (1, -1) and not rest.mentions(lanes.variable):
                return self._below(rest, sign, lanes)
        left, right = test.left, test.comparators[0]
        dtype = _common(self.dtype(left), self.dtype(right))
        operator = type(test.ops[0])
        if operator in (ast.Is, ast.IsNot, ast.In, ast.NotIn):
            raise DoesNotFitError
        return nodes.compare(
            self.converted(left, dtype, lanes), operator, self.converted(right, dtype, lanes)
        )

    def _below(self, rest: Affine, sign: int, lanes: Lanes) -> ast.expr:
        """The lanes in which ``rest + sign * variable >= 0``."""
        limit = rest + 1 if sign < 0 else -rest  # variable < limit, or not
        less = {key: term for key, term in limit.terms.items() if term[0] < 0}
        moved = Affine(less)
        ends = (lanes.base - moved).expression(), (limit - moved).expression()
        made = self.call("below", *ends, nodes.const(lanes.count))
        return made if sign < 0 else ast.UnaryOp(ast.Invert(), made)

    # --- cells ----------------------------------------------------------------------------------

    def cells(self, access: ast.Subscript, lanes: Lanes) -> ast.expr:
        """Cells that differ from lane to lane."""
        array = query.base_name(access) or ""
        if array in self.held:
            return nodes.name(self.register(access, lanes))
        self.dtype(access)
        if lanes.is_loose and lanes.is_entered and self._fills(access, lanes):
            lanes = replace(lanes, mask=None)
        place, axis = self.place(access, lanes)
        count = nodes.const(lanes.count)
        if axis is not None:
            if lanes.mask is not None:
                raise DoesNotFitError
            return self.call("load_along", nodes.name(array), place, nodes.const(axis), count)
        if lanes.mask is not None:
            return self.call("load_where", nodes.clone(lanes.mask), nodes.name(array), place)
        return self.call("load", nodes.name(array), place, count)

    def register(self, access: ast.Subscript, lanes: Lanes) -> str:
        """The name of the vector that an access means."""
        register = self.held[query.base_name(access) or ""]
        cells, strip = registers.cells_of(access, (lanes.strip,), lanes.writer.facts)
        found = None if cells is None or strip is None else register.name_at(cells[0])
        if found is None or found[1] or register.lanes != lanes.count:
            raise DoesNotFitError
        mask = "" if lanes.mask is None else printer.print_expression(lanes.mask)
        self.masks.setdefault(found[0], set()).add(mask)
        return found[0]

    def _fills(self, access: ast.Subscript, lanes: Lanes) -> bool:
        """Whether all lanes lie in a row of a local array, those that do not run as well."""
        width = self._rows.get(query.base_name(access) or "")
        last = lanes.writer.facts.form(query.indices(access)[-1])
        start = last.substituted({lanes.variable: lanes.base}).value
        return width is not None and start is not None and 0 <= start <= width - lanes.count

    def place(self, access: ast.Subscript, lanes: Lanes) -> tuple[ast.expr, int | None]:
        """The index of the first lane, and the axis of the lanes where it is not the last one."""
        array = query.base_name(access) or ""
        indices = query.indices(access)
        if array not in self.kinds.arrays or not self._are_nonnegative(indices, lanes):
            raise DoesNotFitError
        found: list[int] = []
        made: list[ast.expr] = []
        for axis, each in enumerate(indices):
            if query.names(each) & lanes.vectors.keys():
                raise DoesNotFitError
            form = lanes.writer.facts.form(each)
            if form.mentions(lanes.variable):
                rest = form.without(lanes.variable)
                if form.coefficient(lanes.variable) != 1 or rest.mentions(lanes.variable):
                    raise DoesNotFitError
                found.append(axis)
                each = _first(each, lanes)
            made.append(nodes.clone(each))
        if len(found) != 1:
            raise DoesNotFitError
        place = nodes.tuple_of(made) if len(made) > 1 else made[0]
        return place, None if found[0] == len(made) - 1 else found[0]


def _first(index: ast.expr, lanes: Lanes) -> ast.expr:
    """An index in the first lane."""
    return affine.of(index).substituted({lanes.variable: lanes.base}).expression()


def _common(left: str, right: str) -> str:
    """The type in which two numbers are compared."""
    if left == right:
        return left
    families = {promotion.family(each) for each in (left, right)}
    if families == {"i", "u"} or "b" in families:
        raise DoesNotFitError
    return str(np.result_type(left, right))
