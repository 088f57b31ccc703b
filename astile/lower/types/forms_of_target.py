"""Expressions whose text a target decides: divisions, signs, helper functions, what it refuses.

A CPU can raise where a number is divided by zero, and has arithmetic on whole arrays but none in
float16; with a GPU it is the other way round.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from astile.errors import LoweringError
from astile.ir import nodes
from astile.ir.program import Program
from astile.lower import facts
from astile.lower.indices import IndexWriter
from astile.lower.types import axisless, checked, promotion
from astile.lower.types.expressions import Expressions
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import Kind


@dataclass
class Typed:
    """Programs of one text whose types are being written out.

    Args:
        is_checked: whether a number of Python that is divided by zero has to raise.
        has_half: whether the target computes in float16.
        is_written: whether the program is the user's own, and no step was taken.
        helpers: helper function and types of its arguments -> the function made for them.
    """

    is_checked: bool
    has_half: bool
    is_written: bool = False
    helpers: dict[tuple[object, ...], tuple[Callable[..., object], Program]] = field(
        default_factory=dict
    )


class FormsOfTarget(Expressions):
    """What `Expressions` leaves to the target.

    Args:
        program: is edited; a clone.
        kinds: of its expressions.
        whole: what all programs of the text share.
    """

    def __init__(self, program: Program, kinds: Kinds, whole: Typed) -> None:
        super().__init__(program, kinds, IndexWriter(facts.of(program)))
        self.whole = whole
        self.helpers: dict[str, Callable[..., object]] = {}
        self.helper_programs: dict[str, Program] = {}
        self.axisless = axisless.find(kinds)

    def beside_array(self, kind: str, plain: ast.expr, value: ast.expr) -> ast.expr:
        """An operand of arithmetic on whole arrays, which a GPU does not have at all."""
        return super().beside_array(kind, plain, value) if self.whole.is_checked else value

    def quotient(self, made: ast.BinOp) -> ast.expr:
        """A division of numbers of Python: it raises where the divisor is 0, as Python does."""
        if not self.whole.is_checked:
            return made
        return self._helped((made.left, made.right), *checked.checked_division(type(made.op)))

    def near_remainder(self, made: ast.BinOp) -> ast.expr:
        """A remainder of what is less than one divisor away from it, by comparisons."""
        if not self.whole.is_checked:
            return made
        return self._helped((made.left, made.right), *checked.near_remainder())

    def of_numbers(self, word: str, made: ast.Call) -> ast.expr:
        """``np.where`` or ``np.clip`` of numbers, of which numba makes an array or nothing."""
        if not self.whole.is_checked or (word == "where" and not self.axisless.are_numbers):
            return made
        return self._helped(made.args, *checked.of_numbers(word))

    def whole_remainder(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """``np.fmod`` of integers, of which numba gives any number."""
        if not self.whole.is_checked or self.kinds.is_array(plain):
            hint = (
                "write it as a loop over cells with target='cpu', or a - a // b * b where a, b > 0"
            )
            self.refuse("numba has no np.fmod of integers here", plain, hint)
        return self._helped(made.args, *checked.of_numbers("fmod"))

    def step(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        """``np.heaviside`` of numbers, written out."""
        if self.kinds.is_array(plain):
            self.refuse("numba has no np.heaviside", plain, "write it as a loop over cells")
        if self.whole.is_checked:
            return self._helped(made.args, *checked.of_numbers("heaviside"))
        value, at_zero = made.args
        if not isinstance(value, (ast.Name, ast.Subscript)):
            self.refuse("numba.cuda has no np.heaviside", plain, "give its argument a name before")
        one, zero = nodes.const(1.0), nodes.const(0.0)
        step = ast.IfExp(nodes.compare(nodes.clone(value), ast.Gt, nodes.const(0)), one, zero)
        step = ast.IfExp(nodes.compare(nodes.clone(value), ast.Eq, nodes.const(0)), at_zero, step)
        is_nan = nodes.compare(nodes.clone(value), ast.NotEq, nodes.clone(value))
        return nodes.copy_place(plain, ast.IfExp(is_nan, nodes.clone(value), step))

    def beside_unsigned(self, plain: ast.Compare, made: ast.Compare) -> ast.expr:
        """A comparison of uint64 with a signed integer: numba's own rounds both to float64."""
        sides, texts = [plain.left, *plain.comparators], [made.left, *made.comparators]
        kinds = [self.kinds.of(each) for each in sides]
        pairs = [(k, k + step) for k in range(len(sides)) for step in (-1, 1)]
        found = [
            signed
            for signed, other in pairs
            if 0 <= other < len(sides) and kinds[other] == "uint64" and _is_signed(kinds[signed])
        ]
        below = [k for k in found if not self.is_nonnegative(sides[k])]
        if below and (
            len(sides) > 2 or any(isinstance(each, ast.Call) for each in ast.walk(sides[below[0]]))
        ):
            self.refuse(
                "numba rounds a signed integer to float64 where it compares it with one of uint64",
                plain,
                "give it a name and compare that alone, or write np.uint64(...) around it",
            )
        for k in found:
            texts[k] = self.cast("uint64", texts[k])
        made.left, made.comparators = texts[0], texts[1:]
        if not below:
            return made
        negative = nodes.compare(self.fixed(sides[below[0]]), ast.Lt, nodes.const(0))
        less = (ast.Gt, ast.GtE) if below[0] else (ast.Lt, ast.LtE)
        if isinstance(plain.ops[0], (ast.NotEq, *less)):
            return nodes.copy_place(plain, ast.BoolOp(ast.Or(), [negative, made]))
        positive = ast.UnaryOp(ast.Not(), negative)
        return nodes.copy_place(plain, ast.BoolOp(ast.And(), [positive, made]))

    def check_update_of_number(self, name: ast.Name, plain: ast.BinOp) -> None:
        """Refuse an update in place that other names see, or that rounds to another type."""
        if name.id not in self.axisless.names or self.kinds.is_array(plain.left):
            return
        if name.id in self.axisless.shared or self.kinds.of(plain) != self.kinds.of(plain.left):
            self.refuse(
                f"{name.id} is an array without axes, which np.where gave, and changed in place",
                plain,
                f"write {name.id} = {name.id} ..., or float(...) around np.where",
            )

    def integer_quotient(self, divisor: ast.expr, made: ast.expr, kind: str) -> ast.expr:
        """A whole division of integers of NumPy, which is 0 where the divisor is 0.

        numba's error model of NumPy has it so on the CPU; a GPU gives any number.
        """
        if self.whole.is_checked:
            return made
        test = nodes.compare(nodes.clone(divisor), ast.NotEq, nodes.const(0))
        return ast.IfExp(test, made, self.cast(kind, nodes.const(0)))

    def complex_quotient(self, made: ast.BinOp) -> ast.expr:
        """A division of complex numbers of NumPy: numba's own raises where the divisor is 0."""
        if not self.whole.is_checked:
            return made
        return nodes.call(self.imported("numpy.true_divide"), [made.left, made.right])

    def sign(self, kind: Kind, plain: ast.Call, made: ast.Call) -> ast.expr:
        """``np.sign(x) + 0.0``, and of an unsigned x the least of x and 1.

        numba keeps -0.0, and takes unsigned numbers for signed ones.
        """
        if not self.whole.is_checked or kind is None or promotion.family(kind) not in "fu":
            return made
        if promotion.family(kind) == "f":
            return nodes.binary(made, ast.Add, self.cast(kind, nodes.const(0.0)))
        least = self.imported("numpy.minimum")
        return nodes.call(least, [made.args[0], self.cast(kind, nodes.const(1))])

    def bounded_index(self, index: ast.expr) -> ast.expr:
        """An index of uint64 that keeps its sign where it becomes one of int64."""
        if self.whole.is_checked:
            return index
        largest = self.cast("uint64", nodes.const(np.iinfo(np.int64).max))
        return nodes.call("min", [index, largest])

    def only_cell(self, made: ast.Subscript) -> ast.expr:
        """``A[()]``, which numba does not read in a loop that runs on several cores."""
        if not self.whole.is_checked:
            return made
        return nodes.copy_place(made, nodes.call(nodes.attribute(made.value, "item")))

    # --- helper functions -----------------------------------------------------------------------

    def _helped(
        self,
        given: Sequence[ast.expr],
        word: str,
        function: Callable[..., object],
        program: Program,
    ) -> ast.expr:
        """A call of a function that the text is given."""
        self.whole.helpers.setdefault((function,), (function, program))
        found = [n for n, other in self.helpers.items() if other is function]
        name = found[0] if found else self.program.fresh_name(word, self.taken())
        self.helpers[name] = function
        self.helper_programs[name] = program
        return nodes.call(name, given)

    def helper_name(self, name: str, function: Callable[..., object]) -> str:
        """The name in the text of a helper function, by `name` where that is free."""
        for known, other in self.helpers.items():
            if other is function:
                return known
        if name in self.helpers:
            name = self.program.fresh_name(name, self.taken())
        self.helpers[name] = function
        return name

    def taken(self) -> set[str]:
        """Names that were added so far."""
        return {*self.imports, *self.helpers}

    # --- refusals -------------------------------------------------------------------------------

    def check_half(self, kind: Kind, value: ast.expr) -> None:
        """Refuse float16, which numba does not compute in on the CPU."""
        if kind == "float16" and not self.whole.has_half:
            self.refuse(
                "this is computed in float16, which numba does not have on the CPU",
                value,
                "write float(...) or np.float32(...) around the operands",
            )

    def check_held(self, wrong: str | None, value: ast.AST) -> None:
        """Refuse a number of the text that a type does not hold."""
        if wrong is not None:
            hint = "write a number that the type holds, or np.int64(...) to compute in 64 bits"
            self.refuse(wrong, value, hint)

    def refuse(self, message: str, value: ast.AST, hint: str) -> None:
        """Say that numba has no arithmetic that gives the plain value.

        Raises:
            LoweringError: always.
        """
        span = self.program.source.span(value) or self.program.source.span(self.place)
        raise LoweringError(message, code="lowering.types", span=span, hints=[hint])


def _is_signed(kind: Kind) -> bool:
    return kind is not None and promotion.family(kind) == "i"
