"""Calls of functions of NumPy and `math` in the types of the plain program; see `numeric`."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from astile.ir import nodes
from astile.ir.program import Program
from astile.lower.indices import IndexWriter
from astile.lower.types import dtypes, promotion, unheld
from astile.lower.types.choices import ufunc
from astile.lower.types.kinds import Kinds
from astile.lower.types.operators import Operators
from astile.lower.types.promotion import FRAGILE, NARROW, PYTHON, Kind, family, native

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
#: Functions of NumPy of which numba has other values or types than of the operator.
_OPERATORS: dict[np.ufunc, type[ast.operator]] = {
    np.floor_divide: ast.FloorDiv,
    np.remainder: ast.Mod,
    np.true_divide: ast.Div,
    np.power: ast.Pow,
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

    def check_cast(self, kind: Kind, value: ast.expr) -> None:
        """Refuse a number of the text that becomes one of a type that does not hold it."""
        self.check_held(unheld.in_cast(self.kinds.choices.all_of(value), kind), value)

    def of_math(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """A call of a function of `math`: Python computes it in float64."""
        kinds = [self.kinds.of(each) for each in plain.args]
        narrow = list(made.args)
        made.args = [
            self.cast("float64", text) if kind in ("float16", "float32") else text
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
            if function in _OPERATORS and self._has_typed(plain):
                left, right = plain.args
                operation = nodes.binary(left, _OPERATORS[function], right)
                return self.fixed(nodes.copy_place(plain, operation))
            if function in _COMPARISONS and self._has_typed(plain):
                left, right = plain.args
                comparison = nodes.compare(left, _COMPARISONS[function], right)
                return self.fixed(nodes.copy_place(plain, comparison))
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

    def _has_typed(self, plain: ast.Call) -> bool:
        """Whether a call of a function of two has types that are known, and one is NumPy's."""
        kinds = [self.kinds.of(each) for each in plain.args]
        known = len(kinds) == 2 and None not in kinds and not plain.keywords
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
