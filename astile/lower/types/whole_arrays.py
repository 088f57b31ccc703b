"""Arithmetic on whole arrays in the types of the plain program; see `numeric`.

numba computes ``A + B`` of int64 and float32 in float32, where NumPy takes float64, and divides
int16 in float32. Where the types of the operands differ from those that NumPy computes in, the text
converts them first.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from astile.ir import nodes
from astile.ir.program import Program
from astile.lower.types import promotion
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import FRAGILE, PYTHON, Kind, family, native

_COMPARED: dict[type[ast.cmpop], np.ufunc] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}


class WholeArrays(ABC):
    """Rewrites operators and functions of one program that take whole arrays.

    Args:
        program: the program.
        kinds: of its names and expressions.
    """

    def __init__(self, program: Program, kinds: Kinds) -> None:
        self.program, self.kinds = program, kinds

    @abstractmethod
    def cast(self, kind: str, value: ast.expr) -> ast.expr:
        """``kind(value)``."""

    @abstractmethod
    def cast_name(self, kind: str) -> str:
        """The name of a type in the text."""

    @abstractmethod
    def refuse(self, message: str, value: ast.AST, hint: str) -> None:
        """Say that numba has no arithmetic that gives the plain value."""

    def are_whole(self, values: Sequence[ast.expr]) -> bool:
        """Whether one of several operands is an array."""
        return any(map(self.kinds.is_array, values))

    def beside_array(self, kind: str, plain: ast.expr, value: ast.expr) -> ast.expr:
        """An operand of arithmetic on whole arrays, in the type in which it is computed.

        Args:
            kind: the type.
            plain: the operand as the program has it.
            value: the same in the text.
        """
        own = self.kinds.of(plain)
        if self.kinds.is_array(plain):
            if own == kind:
                return value
            name = nodes.name(self.cast_name(kind))
            return nodes.call(nodes.attribute(value, "astype"), [name])
        return value if own is not None and native(own) == kind else self.cast(kind, value)

    def whole_operator(self, plain: ast.BinOp, made: ast.BinOp) -> ast.expr:
        """``A + B`` where one of both is an array."""
        sides = [plain.left, plain.right]
        left, right = self._known(plain, sides)
        wanted = promotion.operands(left, type(plain.op), right)
        if wanted is None or (isinstance(plain.op, ast.Pow) and left == "bool_"):
            self._refuse_types(plain, sides)
            return made
        made.left = self.beside_array(wanted[0], plain.left, made.left)
        made.right = self.beside_array(wanted[1], plain.right, made.right)
        return made

    def whole_comparison(self, plain: ast.Compare, made: ast.Compare) -> ast.expr:
        """``A < B`` where one of both is an array."""
        sides = [plain.left, *plain.comparators]
        function = _COMPARED.get(type(plain.ops[0]))
        if function is None or len(sides) > 2:
            return made
        wanted = promotion.of_ufunc(function, *self._known(plain, sides))
        if wanted is None:
            self._refuse_types(plain, sides)
            return made
        families = {family(native(self.kinds.of(each) or "")) for each in sides}
        if families == {"i", "u"} and "uint64" in wanted:
            self._refuse_types(plain, sides)  # NumPy compares these without a common type
        texts = [made.left, *made.comparators]
        made.left, *made.comparators = (
            self._compared(*each) for each in zip(wanted, sides, texts, strict=False)
        )
        return made

    def _compared(self, kind: str, plain: ast.expr, value: ast.expr) -> ast.expr:
        """An operand of a comparison; one of Python is compared as the number that it is."""
        if self.kinds.of(plain) in PYTHON and kind not in FRAGILE:
            return value
        return self.beside_array(kind, plain, value)

    def whole_call(self, function: np.ufunc, plain: ast.Call, made: ast.Call) -> None:
        """``np.maximum(A, B)`` where one of both is an array."""
        wanted = promotion.of_ufunc(function, *self._known(plain, plain.args))
        if wanted is None:
            self._refuse_types(plain, plain.args)
            return
        made.args = [
            self.beside_array(kind, own, text)
            for kind, own, text in zip(wanted, plain.args, made.args, strict=False)
        ]

    def _known(self, plain: ast.expr, values: Sequence[ast.expr]) -> list[str]:
        kinds: list[Kind] = [self.kinds.of(each) for each in values]
        known = [each for each in kinds if each is not None]
        if len(known) < len(kinds):
            hint = "write .astype(...) around what may have several types"
            self.refuse("arithmetic on arrays of which a type is not known", plain, hint)
        return known

    def _refuse_types(self, plain: ast.expr, values: Sequence[ast.expr]) -> None:
        names = " and ".join(str(self.kinds.of(each)) for each in values)
        hint = "write .astype(...) around one of them"
        self.refuse(f"numba has no arithmetic on arrays of {names} as NumPy does it", plain, hint)
