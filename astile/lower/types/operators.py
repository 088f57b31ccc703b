"""Operators whose type in numba is their type in the plain program; see `numeric`."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace

from astile.analysis.forms import affine, intervals
from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower.indices import IndexWriter
from astile.lower.types import possible, powers, promotion, unheld
from astile.lower.types.checked import DIVISIONS
from astile.lower.types.kinds import Kinds
from astile.lower.types.large_numbers import as_real
from astile.lower.types.promotion import FRAGILE, NARROW, PYTHON, Kind, family, native, number_of
from astile.lower.types.whole_arrays import WholeArrays

_WIDTH = 64


def inside(writer: IndexWriter, loop: ast.For) -> IndexWriter:
    """What is known of integers in the body of a loop: its range, and that it is not empty."""
    inner = writer.inside(loop)
    found = intervals.range_of(loop)
    if found is None or found not in inner.ranges:
        return inner
    return replace(inner, guards=(*inner.guards, found.last - found.first))


class Operators(WholeArrays):
    """Rewrites operators of one program.

    Args:
        program: the program.
        kinds: of its names.
        writer: what is known of integers where the next expression stands.
    """

    def __init__(self, program: Program, kinds: Kinds, writer: IndexWriter) -> None:
        super().__init__(program, kinds)
        self.writer = writer
        self.imports: dict[str, str] = {}
        self.place: ast.AST = program.function
        #: Calls of `math` in the text whose arguments are all float32 -> these arguments.
        self.doubled: dict[int, list[ast.expr]] = {}
        self._casts: dict[str, str] = {}

    # --- what the program's side of it decides ----------------------------------------------------

    @abstractmethod
    def quotient(self, made: ast.BinOp) -> ast.expr:
        """A division of numbers of Python whose divisor may be 0."""

    @abstractmethod
    def near_remainder(self, made: ast.BinOp) -> ast.expr:
        """A remainder of what is less than one divisor away from it."""

    @abstractmethod
    def check_held(self, wrong: str | None, value: ast.AST) -> None:
        """Refuse a number of the text that a type does not hold."""

    @abstractmethod
    def integer_quotient(self, divisor: ast.expr, made: ast.expr, kind: str) -> ast.expr:
        """A whole division of integers of NumPy, which is 0 where the divisor is 0."""

    @abstractmethod
    def complex_quotient(self, made: ast.BinOp) -> ast.expr:
        """A division of complex numbers of NumPy, which never raises."""

    @abstractmethod
    def check_half(self, kind: Kind, value: ast.expr) -> None:
        """Refuse float16 where the target does not have it."""

    @abstractmethod
    def taken(self) -> set[str]:
        """Names that were added so far."""

    @abstractmethod
    def fixed(self, value: ast.expr) -> ast.expr:
        """An expression whose type in numba is its type in the plain program."""

    # --- casts ----------------------------------------------------------------------------------

    def cast(self, kind: str, value: ast.expr) -> ast.expr:
        """``kind(value)``; a cast to the same type is not doubled."""
        if isinstance(value, ast.Call) and query.dotted(value.func) == self._casts.get(kind):
            return value
        if kind not in self._casts:
            self._casts[kind] = self.cast_name(kind)
        value = self.single(value) if kind == "float32" else value
        value = as_real(kind, value)
        return nodes.call(self._casts[kind], [value])

    def single(self, value: ast.expr) -> ast.expr:
        """A value that is rounded to float32 at once: `math` need not compute it in float64."""
        arguments = self.doubled.get(id(value))
        if arguments is None:
            return value
        assert isinstance(value, ast.Call)
        return nodes.copy_place(value, nodes.call(value.func, arguments))

    def cast_name(self, kind: str) -> str:
        """The name of a type in the text."""
        path = f"numpy.{kind}"
        if self.program.imports.get(kind) in (path, f"numba.{kind}", f"astile.loops.{kind}"):
            return kind
        return self.imported(path)

    def imported(self, path: str) -> str:
        """The name in the text for something that is imported."""
        for name, known in {**self.program.imports, **self.imports}.items():
            if known == path:
                return name
        name = self.program.fresh_name(path.rpartition(".")[2], self.taken())
        self.imports[name] = path
        return name

    def started(self, kind: Kind, plain: ast.expr) -> ast.expr:
        """A value that is stored where a kind is held: numbers of Python take that type."""
        value = self.fixed(plain)
        given = self.kinds.of(plain)
        if kind is None or given is None or kind == given or kind in PYTHON:
            return value
        if given in PYTHON and native(given) != kind and not self.kinds.is_array(plain):
            return self.cast(kind, value)
        return value

    def wraps(self, kind: Kind) -> bool:
        """Whether integers of a kind wrap around earlier than in numba."""
        return kind is not None and kind in (*NARROW, "bool_")

    def _operand(self, kind: str, plain: ast.expr, value: ast.expr) -> ast.expr:
        own = self.kinds.of(plain)
        if own == kind or self.kinds.is_array(plain):
            return value
        return self.cast(kind, value)

    # --- operators ------------------------------------------------------------------------------

    def binary(self, plain: ast.BinOp, made: ast.BinOp) -> ast.expr:
        """``left op right`` whose operands are rewritten already.

        Args:
            plain: as the program has it.
            made: the same, with the operands of the text.
        """
        left, right, kind = map(self.kinds.of, (plain.left, plain.right, plain))
        if isinstance(plain.op, ast.Pow):
            self._check_power(plain, left, right)
        self._check_choices(plain)
        self.check_held(unheld.in_arithmetic(self.kinds.choices, plain), plain)
        is_known = promotion.is_arithmetic(type(plain.op))
        if is_known and self.are_whole((plain.left, plain.right)):
            if kind is None:
                self._check_exists(plain, left, right)
            return self.whole_operator(plain, made)
        if kind is None:
            self._check_exists(plain, left, right)
            return made
        self.check_half(kind, plain)
        made.left, made.right = as_real(kind, made.left), as_real(kind, made.right)
        if kind in PYTHON:
            made.left, made.right = (
                self.cast(native(kind), text) if own not in PYTHON else text
                for own, text in ((left, made.left), (right, made.right))
            )
            return self._of_python(plain, made)
        if isinstance(plain.op, ast.Pow):
            return self._power(plain, made, kind)
        if isinstance(plain.op, (ast.LShift, ast.RShift)):
            return self._shift(plain, made, kind)
        divisor = made.right
        result = self._typed(plain, made, kind)
        whole = isinstance(plain.op, (ast.FloorDiv, ast.Mod)) and family(kind) in "iu"
        if not whole or self._is_not_zero(plain.right):
            return result
        return self.integer_quotient(divisor, result, kind)

    def _typed(self, plain: ast.BinOp, made: ast.BinOp, kind: str) -> ast.expr:
        """Arithmetic of which at least one operand has a type of NumPy."""
        sides = ((plain.left, made.left), (plain.right, made.right))
        if isinstance(plain.op, ast.Div) and family(kind) == "c":
            return self.complex_quotient(nodes.binary(*self._operands(kind, sides, plain.op)))
        if kind in FRAGILE:
            made.left, made.right = (self._operand(kind, *each) for each in sides)
            if kind == "float16" and isinstance(plain.op, (ast.FloorDiv, ast.Mod, ast.Pow)):
                return self.cast(kind, made)  # a GPU computes these in float32
        elif self._found(plain) == kind and not self._divides_truths(plain):
            return made
        elif self.wraps(kind) or kind == "int64":
            return self.cast(kind, made)
        else:
            made.left, made.right = (self._operand(kind, *each) for each in sides)
        return made

    def _divides_truths(self, plain: ast.BinOp) -> bool:
        """Whether truth values are divided, which would be by an integer that may be 0."""
        return isinstance(plain.op, ast.Div) and all(
            self.kinds.of(each) in ("bool", "bool_") for each in (plain.left, plain.right)
        )

    def _found(self, plain: ast.BinOp) -> Kind:
        """The type in which numba computes an operator by itself."""
        left, right = map(self.kinds.of, (plain.left, plain.right))
        if left is None or right is None:
            return None
        return promotion.in_numba(native(left), type(plain.op), native(right))

    def _operands(
        self,
        kind: str,
        sides: Sequence[tuple[ast.expr, ast.expr]],
        operator: ast.operator,
    ) -> tuple[ast.expr, type[ast.operator], ast.expr]:
        left, right = (self._operand(kind, *each) for each in sides)
        return left, type(operator), right

    def _check_exists(self, plain: ast.BinOp, left: Kind, right: Kind) -> None:
        """Refuse what raises a TypeError in the plain program, and is a number in numba."""
        if None not in (left, right) and promotion.is_arithmetic(type(plain.op)):
            self.refuse_types(plain, f"{left} and {right}")

    def refuse_types(self, value: ast.expr, names: str) -> None:
        """Say that the plain program raises a TypeError here."""
        self.refuse(
            f"NumPy does not define this for {names}: the plain function raises a TypeError",
            value,
            "write int(...) or float(...) around the operands, or use ~ and ^ for truth values",
        )

    def _check_choices(self, plain: ast.BinOp) -> None:
        """Refuse arithmetic whose type, and where it rounds or wraps, depends on the data."""
        found = self.kinds.results(plain)
        if found is None or len(found) < 2:
            return
        unsure = found & {*FRAGILE, *NARROW, "bool_", "uint64", None}  # None raises a TypeError
        if unsure or promotion.may_round_integers(found):
            self._refuse_either(plain.left, plain.right)

    def _refuse_either(self, left: ast.expr, right: ast.expr) -> None:
        """Refuse the operand whose type depends on the data."""
        kinds = [self.kinds.choices.of(each) or () for each in (left, right)]
        self.refuse_choice([left, right][len(kinds[1]) > 1 and len(kinds[0]) < 2])

    def refuse_choice(self, value: ast.expr, others: Sequence[ast.expr] = ()) -> None:
        """Say that the type of a value depends on the data.

        Args:
            value: shown in the message.
            others: all that the value may be, where it is not the only one.
        """
        found = self.kinds.choices.one_of(others or [value]) or frozenset()
        kinds = sorted({each.kind for each in found})
        numbers = [each for each in found if each.number is not None]
        typed = [each for each in kinds if each not in PYTHON]
        cast = "int(...) or float(...)"
        if len(numbers) == 1 and len(typed) == 1 and possible.are_of(found, typed[0]):
            cast = f"np.{typed[0]}({numbers[0].number!r})"
        elif {*FRAGILE} & {*kinds}:
            cast = "np.float32(...) or float(...)"
        text = printer.print_expression(value)
        self.refuse(
            f"the type of {text} depends on the data: {' or '.join(kinds)}",
            value,
            f"write {cast} where it gets its value, or use two names",
        )

    def check_arguments(self, arguments: Iterable[ast.expr]) -> None:
        """Refuse arguments of functions whose type, and so that of the result, the data decide."""
        for each in arguments:
            kinds = self.kinds.choices.of(each)
            if kinds is not None and len(kinds) > 1 and (kinds & {*FRAGILE}):
                self.refuse_choice(each)

    def check_signs(self, value: ast.expr) -> None:
        """Refuse a choice between integers that numba makes a float64, which rounds them."""
        self.check_signs_of([value], value)

    def check_signs_of(self, values: Sequence[ast.expr], shown: ast.expr) -> None:
        """The same for a value that is one of several."""
        found = [self.kinds.choices.of(each) for each in values]
        kinds = frozenset(kind for each in found for kind in each or ())
        if promotion.may_round_integers(kinds):
            self.refuse_choice(shown, values)

    def _of_python(self, plain: ast.BinOp, made: ast.BinOp) -> ast.expr:
        """Arithmetic of numbers of Python, which numba holds in 64 bits."""
        if isinstance(plain.op, (ast.LShift, ast.RShift)):
            return self._shift(plain, made, "int")
        divides = type(plain.op) in DIVISIONS
        if not divides or "complex" in (self.kinds.of(plain.left), self.kinds.of(plain.right)):
            return made
        if isinstance(plain.op, ast.Mod) and self._is_near(plain.left, plain.right):
            return self.near_remainder(made)
        return made if self._is_not_zero(plain.right) else self.quotient(made)

    def _is_near(self, value: ast.expr, divisor: ast.expr) -> bool:
        """Whether ``-divisor <= value < 2 * divisor`` and ``divisor > 0``, a size, is proved here.

        Inside a loop up to a size, the size is at least the loop's variable and 1.
        """
        facts = self.writer.facts
        if facts.number(divisor) is not None:
            return False  # compilers divide by a number without a division
        if not facts.is_integer(value) or not facts.is_integer(divisor):
            return False
        form, whole = facts.form(value), facts.form(divisor)
        known = [whole]
        for each in self.writer.ranges:
            gap = (whole - each.last.substituted(facts.sizes)).value
            if gap is not None:
                known.append(affine.variable(each.variable) + gap)
        return any(
            facts.is_nonnegative(least - 1, self.writer.ranges)
            and facts.is_nonnegative(form + least, self.writer.ranges)
            and facts.is_nonnegative(least * 2 - 1 - form, self.writer.ranges)
            for least in known
        )

    def _is_not_zero(self, divisor: ast.expr) -> bool:
        number = number_of(divisor)
        if number is not None:
            return number != 0
        if not self.writer.facts.is_integer(divisor):
            return False
        one = nodes.const(1)
        above = nodes.binary(nodes.clone(divisor), ast.Sub, one)
        below = nodes.binary(nodes.const(-1), ast.Sub, nodes.clone(divisor))
        return self.writer.is_nonnegative(above) or self.writer.is_nonnegative(below)

    def _check_power(self, plain: ast.BinOp, left: Kind, right: Kind) -> None:
        """Refuse an integer to the power of what may be a negative integer."""
        if not (promotion.is_integer(left) and promotion.is_integer(right)):
            return
        assert right is not None
        if family(right) == "u" or self.is_nonnegative(plain.right):
            return
        self.refuse(
            "an integer to the power of an integer that may be negative",
            plain,
            "write float(...) around the base, or an exponent that is a literal or a loop variable",
        )

    def is_nonnegative(self, value: ast.expr) -> bool:
        """Whether an integer is proved not to be negative here."""
        number = number_of(value)
        if number is not None:
            return number >= 0
        return self.writer.facts.is_integer(value) and self.writer.is_nonnegative(value)

    def _power(self, plain: ast.BinOp, made: ast.BinOp, kind: str) -> ast.expr:
        exponent = query.integer(plain.right)
        if family(kind) == "f" and promotion.is_integer(self.kinds.of(plain.right)):
            if exponent is not None and exponent < 0:
                return powers.inverted(made.left, -exponent, kind, self.cast)
            if not self.is_nonnegative(plain.right):  # numba's raises where the base is 0
                made.right = self.cast(kind, made.right)
        if exponent is None or kind not in (*FRAGILE, *NARROW):
            return self._typed(plain, made, kind)
        if exponent == 2 and isinstance(plain.left, (ast.Name, ast.Subscript)):
            square = nodes.binary(made.left, ast.Mult, nodes.clone(made.left))
            return self.cast(kind, square) if kind in NARROW else square
        return self.cast(kind, made)

    def _shift(self, plain: ast.BinOp, made: ast.BinOp, kind: str) -> ast.expr:
        """A shift; one by more than 63 places gives 0 or -1, which no machine does by itself."""
        if self._is_shift_amount(plain.right):
            return self._shifted(plain, made, kind)
        amount = made.right
        fits = nodes.comparison(
            [nodes.const(0), nodes.clone(amount), nodes.const(_WIDTH)], [ast.LtE(), ast.Lt()]
        )
        if isinstance(plain.op, ast.RShift) and family(kind) == "i":
            made.right = ast.IfExp(fits, amount, nodes.const(_WIDTH - 1))
            return self._shifted(plain, made, kind)
        nothing: ast.expr = nodes.const(0)
        if kind not in PYTHON:
            nothing = self.cast(kind, nothing)
        return ast.IfExp(fits, self._shifted(plain, made, kind), nothing)

    def _shifted(self, plain: ast.BinOp, made: ast.BinOp, kind: str) -> ast.expr:
        left, right = (native(self.kinds.of(each) or "int") for each in (plain.left, plain.right))
        if kind in PYTHON:
            return made
        found = promotion.in_numba(left, type(plain.op), right)
        return made if found == kind else self.cast(kind, made)

    def _is_shift_amount(self, value: ast.expr) -> bool:
        number = number_of(value)
        if number is not None:
            return 0 <= number < _WIDTH
        last = nodes.binary(nodes.const(_WIDTH - 1), ast.Sub, nodes.clone(value))
        return self.is_nonnegative(value) and self.writer.is_nonnegative(last)
