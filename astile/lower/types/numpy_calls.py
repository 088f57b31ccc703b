"""Calls of functions of NumPy and `math` in the types of the plain program; see `numeric`."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.indices import IndexWriter
from astile.lower.types import dtypes, promotion, unheld
from astile.lower.types.choices import ufunc
from astile.lower.types.kinds import Kinds
from astile.lower.types.operators import Operators
from astile.lower.types.promotion import (
    FRAGILE,
    NARROW,
    PYTHON,
    Kind,
    family,
    native,
    number_of,
)

#: Functions of NumPy that give one number, in numba of another type than in NumPy.
_RETYPED = ("sum", "prod", "mean", "std", "var", "nansum", "nanmean", "nanstd", "nanvar", "median")
#: Functions of NumPy that do not round: the value is the same in wider types.
_EXACT = (
    "absolute",
    "fabs",
    "negative",
    "positive",
    "sign",
    "isnan",
    "isinf",
    "isfinite",
    "signbit",
)
#: Functions of NumPy of which numba has other values or types than of the operator, or on a GPU
#: nothing at all.
_OPERATORS: dict[np.ufunc, type[ast.operator]] = {
    np.add: ast.Add,
    np.subtract: ast.Sub,
    np.multiply: ast.Mult,
    np.bitwise_and: ast.BitAnd,
    np.bitwise_or: ast.BitOr,
    np.bitwise_xor: ast.BitXor,
    np.left_shift: ast.LShift,
    np.right_shift: ast.RShift,
    np.floor_divide: ast.FloorDiv,
    np.remainder: ast.Mod,
    np.true_divide: ast.Div,
    np.power: ast.Pow,
}
_SIGNS: dict[np.ufunc, type[ast.unaryop]] = {
    np.negative: ast.USub,
    np.positive: ast.UAdd,
    np.invert: ast.Invert,
}
#: Comparisons, which are exact: a number of Python does not take the type beside it.
_COMPARISONS: dict[np.ufunc, type[ast.cmpop]] = {
    np.less: ast.Lt,
    np.less_equal: ast.LtE,
    np.greater: ast.Gt,
    np.greater_equal: ast.GtE,
    np.equal: ast.Eq,
    np.not_equal: ast.NotEq,
}


#: Functions of `math` that take integers as they are; others make floating-point numbers of them,
#: for which numba takes uint64 for int64 in some.
_OF_INTEGERS = (
    "ceil",
    "comb",
    "factorial",
    "floor",
    "gcd",
    "isqrt",
    "lcm",
    "ldexp",
    "perm",
    "trunc",
)
_CAST = ("float16", "float32")
#: Functions of `math` that numba does not have for a CPU, and has of NumPy.
_OF_NUMPY = ("cbrt", "fmod")


class NumpyCalls(Operators):
    """Rewrites calls of one program."""

    def __init__(self, program: Program, kinds: Kinds, writer: IndexWriter) -> None:
        super().__init__(program, kinds, writer)
        self._kept: list[ast.expr] = []  # so that no other node gets the identity of one of them

    @abstractmethod
    def check_wrapping(self, plain: ast.expr, operand: ast.expr) -> None:
        """Refuse a least number whose own sign is wrapped around where the data choose."""

    @abstractmethod
    def sign(self, kind: Kind, plain: ast.Call, made: ast.Call) -> ast.expr:
        """A call of `np.sign`."""

    @abstractmethod
    def of_numbers(self, word: str, made: ast.Call) -> ast.expr:
        """A call of `np.where` or `np.clip` whose arguments are numbers."""

    @abstractmethod
    def whole_remainder(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """A call of `np.fmod` of integers."""

    @abstractmethod
    def step(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """A call of `np.heaviside`, which numba does not have."""

    def check_cast(self, kind: Kind, value: ast.expr) -> None:
        """Refuse a number of the text that becomes one of a type that does not hold it."""
        self.check_held(unheld.in_cast(self.kinds.choices.all_of(value), kind), value)

    def of_math(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """A call of a function of `math`: Python computes it in float64."""
        kinds = [self.kinds.of(each) for each in plain.args]
        narrow = list(made.args)
        word = (query.dotted(plain.func) or "").rpartition(".")[2]
        if word == "log" and len(plain.args) == 2 and not plain.keywords and None not in kinds:
            parts = [nodes.call(nodes.clone(plain.func), [each]) for each in plain.args]
            return self.fixed(nodes.copy_place(plain, nodes.binary(parts[0], ast.Div, parts[1])))
        if word in _OF_NUMPY and None not in kinds and not plain.keywords:
            made.func = nodes.name(self.imported(f"numpy.{word}"))
            narrow = [
                text if family(kind or "") == "f" else self.cast("float64", text)
                for kind, text in zip(kinds, narrow, strict=True)
            ]
            made.args = list(narrow)
        given = _CAST if word in _OF_INTEGERS else (*_CAST, "bool_", "uint64")
        made.args = [
            self.cast("float64", text) if kind in given else text
            for kind, text in zip(kinds, narrow, strict=True)
        ]
        if self.kinds.of(plain) == "int" and set(kinds) <= {*FRAGILE, "float", "float64"}:
            return self.cast("int64", made)  # math.floor: a GPU keeps a float, and -0.0
        if all(kind == "float32" for kind in kinds) and not made.keywords:
            self.doubled[id(made)] = narrow
            self._kept.append(made)
        return made

    def of_numpy(self, path: str, plain: ast.Call, made: ast.Call, kind: Kind) -> ast.expr:
        """A call of a function of NumPy."""
        name = path.rpartition(".")[2]
        if isinstance(getattr(np, name, None), np.ufunc):
            self.check_half(kind, plain)
            function = ufunc(path)
            operation = self._as_operator(function, plain)
            if operation is not None:
                return self.fixed(nodes.copy_place(plain, operation))
            if function is not None and len(plain.args) == function.nin and not plain.keywords:
                if self.are_whole(plain.args):
                    self.whole_call(function, plain, made)
                else:
                    self._of_ufunc(function, plain, made)
                if function in (np.absolute, np.negative):
                    self.check_wrapping(plain, plain.args[0])
                result = self.sign(kind, plain, made) if function is np.sign else made
                if function is np.fmod and kind is not None and family(kind) in "iu":
                    result = self.whole_remainder(plain, made)
                if function is np.spacing:
                    hint = "write np.nextafter(x, np.inf) - x"
                    self.refuse("numba has another np.spacing of -0.0", plain, hint)
                if function is np.reciprocal and kind is not None:
                    return self._reciprocal(kind, plain, made)
                if function is np.heaviside and kind is not None:
                    return self.cast(kind, self.step(plain, made))
                is_half = kind == "float16" and function.__name__ not in _EXACT
                is_narrow = kind in NARROW and not self.kinds.is_array(plain)
                if kind is not None and (is_half or is_narrow):
                    return self.cast(kind, result)  # a GPU computes float16 in float32
                return result
            return made
        if dtypes.name_of(self.program, plain.func, {}) is None:
            self.check_arguments(plain.args)
        if name in ("where", "clip") and len(plain.args) == 3:
            made.args = self._chosen(kind, name == "where", plain.args, made.args)
            if kind is not None and self._are_numbers(plain):
                return self.of_numbers(name, made)
        if name in ("round", "around"):
            rounded = self._rounded(plain, made)
            if rounded is not None:
                return rounded
        is_retyped = name in _RETYPED and len(plain.args) == 1
        if (is_retyped or name in ("round", "around")) and not plain.keywords:
            is_typed = kind is not None and kind not in PYTHON and kind not in ("float64", "int64")
            is_number = is_typed and not self.kinds.is_array(plain)
            return self.cast(kind, made) if is_number and kind is not None else made
        return made

    def _are_numbers(self, plain: ast.Call) -> bool:
        """Whether all arguments of a call are numbers of types that are known."""
        known = all(self.kinds.of(each) is not None for each in plain.args)
        return known and not plain.keywords and not any(map(self.kinds.is_array, plain.args))

    def _rounded(self, plain: ast.Call, made: ast.Call) -> ast.expr | None:
        """``np.rint(x * 100.0) / 100.0`` for ``np.round(x, 2)``, as NumPy does it; None to keep it.

        numba multiplies float32 as float64, and rounds no whole arrays.
        """
        given = [*plain.args[1:], *(e.value for e in plain.keywords if e.arg == "decimals")]
        kind = self.kinds.of(plain.args[0]) if plain.args else None
        if kind is None or len(plain.args) + len(plain.keywords) != 1 + len(given):
            return None
        digits = number_of(given[0]) if given else 0
        value, is_array = plain.args[0], self.kinds.is_array(plain.args[0])
        if family(kind) in "iu" and isinstance(digits, int) and digits >= 0:
            return nodes.call(nodes.attribute(made.args[0], "copy"), []) if is_array else None
        if family(kind) not in "bf" or not isinstance(digits, int):
            if is_array or kind == "float32":
                hint = (
                    "write np.rint(x * 100.0) / 100.0 for two digits, or a literal for their number"
                )
                self.refuse("numba does not round this as NumPy does", plain, hint)
            return None
        if not isinstance(plain.func, ast.Attribute):
            return None
        scale = nodes.const(10.0 ** abs(digits))
        first, last = (ast.Mult, ast.Div) if digits >= 0 else (ast.Div, ast.Mult)
        scaled = nodes.binary(value, first, scale) if digits else value
        whole = nodes.call(nodes.attribute(plain.func.value, "rint"), [scaled])
        operation = nodes.binary(whole, last, nodes.clone(scale)) if digits else whole
        return self.fixed(nodes.copy_place(plain, operation))

    def _reciprocal(self, kind: str, plain: ast.Call, made: ast.Call) -> ast.expr:
        """``1 / x``; of the integer 0 it is whatever a processor makes of that."""
        if family(kind) not in "fc":
            hint = "write float(...) around it, or 1 // x"
            self.refuse("NumPy does not define np.reciprocal of the integer 0", plain, hint)
        one = self.cast(kind, nodes.const(1.0))
        return nodes.copy_place(plain, nodes.binary(one, ast.Div, made.args[0]))

    def _as_operator(self, function: np.ufunc | None, plain: ast.Call) -> ast.expr | None:
        """What an operator says as well as a call of a function of NumPy; None for others."""
        if function is None or not self._has_typed(plain, function.nin):
            return None
        if function in _SIGNS:
            [operand] = plain.args
            sign = _SIGNS[function]()
            return None if self.kinds.is_array(operand) else ast.UnaryOp(sign, operand)
        if function in _OPERATORS:
            return nodes.binary(plain.args[0], _OPERATORS[function], plain.args[1])
        if function in _COMPARISONS:
            return nodes.compare(plain.args[0], _COMPARISONS[function], plain.args[1])
        return None

    def _has_typed(self, plain: ast.Call, count: int) -> bool:
        """Whether a call has a number of arguments of types that are known, and one is NumPy's."""
        kinds = [self.kinds.of(each) for each in plain.args]
        known = len(kinds) == count and None not in kinds and not plain.keywords
        return known and not {*kinds} <= {*PYTHON}

    def _chosen(
        self, kind: Kind, tested: bool, plain: Sequence[ast.expr], made: Sequence[ast.expr]
    ) -> list[ast.expr]:
        """Arguments of `np.where` and `np.clip`: numbers have the type of the result."""
        found = []
        whole = any(map(self.kinds.is_array, plain))
        if whole and not tested and self.kinds.of(plain[0]) != kind:
            hint = "write np.minimum(np.maximum(...), ...)"
            self.refuse("numba's `clip` keeps the type of the array", plain[0], hint)
        for each, text in zip(plain[tested:], made[tested:], strict=True):
            if len(self.kinds.choices.of(each) or ()) > 1:
                self.refuse_choice(each)
            self.check_cast(kind, each)
            cast = self.beside_array if whole else self._operand
            if not tested and each is not plain[0] and self.kinds.of(each) == "int":
                text = _held(kind, text)
            found.append(text if kind is None else cast(kind, each, text))
        return [*made[:tested], *found]

    def _of_ufunc(self, function: np.ufunc, plain: ast.Call, made: ast.Call) -> None:
        """Operands of a function of NumPy in the types that it computes in."""
        self.check_held(unheld.in_call(self.kinds.choices, function, plain.args), plain)
        found = self.kinds.choices.of_operands(function, plain.args) or set()
        narrow = {each for kinds in found for each in kinds} & {*FRAGILE}
        if len(found) > 1 and narrow and function.__name__ not in _EXACT:
            self.check_arguments(plain.args)
        given = [self.kinds.of(each) for each in plain.args]
        known = [each for each in given if each is not None]
        if len(known) == len(given):
            inputs = promotion.of_ufunc(function, *known)
        else:
            inputs = next(iter(found)) if len(found) == 1 and narrow else None
        if inputs is None:
            if known and len(known) == len(given) and "?" not in known:
                self.refuse_types(plain, " and ".join(known))
            return
        made.args = [
            self.cast(wanted, text)
            if own is None or (native(own) != wanted and (own in PYTHON or wanted in FRAGILE))
            else text
            for own, wanted, text in zip(given, inputs, made.args, strict=False)
        ]


def _held(kind: Kind | None, bound: ast.expr) -> ast.expr:
    """A bound of `np.clip`, an integer of Python: one that no cell reaches bounds nothing."""
    if kind is None or family(kind) not in ("i", "u") or isinstance(bound, ast.Constant):
        return bound
    limits = np.iinfo(kind)
    if limits.max < np.iinfo("int64").max:
        bound = nodes.call("min", [bound, nodes.const(int(limits.max))])
    if limits.min > np.iinfo("int64").min:
        bound = nodes.call("max", [bound, nodes.const(int(limits.min))])
    return bound
