"""Integer expressions as linear forms: normalising, comparing, and printing them readably."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from astile.ir import nodes, query

#: Shifts by fewer bits than this are read as multiplications and divisions.
_WIDEST = 63


@dataclass(frozen=True, eq=False)
class Affine:
    """``constant + sum(coefficient * atom)`` over the integers.

    An atom is a name, ``A.shape[k]``, or an expression that is not linear (``x // 16``,
    ``min(a, b)``) whose parts are normalised; atoms are told apart by their text.

    Args:
        terms: text of an atom -> (coefficient, the atom), in order of appearance.
        constant: the constant part.
    """

    terms: Mapping[str, tuple[int, ast.expr]]
    constant: int = 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Affine):
            return NotImplemented
        return self.constant == other.constant and self.coefficients == other.coefficients

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.coefficients.items())))

    @property
    def coefficients(self) -> dict[str, int]:
        """Text of each atom -> its coefficient."""
        return {key: coefficient for key, (coefficient, _) in self.terms.items()}

    @property
    def value(self) -> int | None:
        """The value when there are no atoms, else None."""
        return None if self.terms else self.constant

    def coefficient(self, variable: str) -> int:
        """The coefficient of a name, 0 when it does not occur as an atom of its own."""
        return self.terms[variable][0] if variable in self.terms else 0

    def mentions(self, variable: str) -> bool:
        """Whether a name occurs anywhere, inside atoms too."""
        return any(variable in query.names(atom) for _, atom in self.terms.values())

    def names(self) -> set[str]:
        """All names that occur, inside atoms too."""
        found: set[str] = set()
        for _, atom in self.terms.values():
            found |= query.names(atom)
        return found

    def without(self, variable: str) -> Affine:
        """The same form less the term of a name."""
        return Affine({k: v for k, v in self.terms.items() if k != variable}, self.constant)

    def __add__(self, other: Affine | int) -> Affine:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        terms = dict(self.terms)
        for key, (coefficient, atom) in other.terms.items():
            total = coefficient + (terms[key][0] if key in terms else 0)
            if total:
                terms[key] = (total, atom)
            else:
                terms.pop(key, None)
        return Affine(terms, self.constant + other.constant)

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        return self + (-other)

    def __mul__(self, factor: int) -> Affine:
        if factor == 0:
            return Affine({})
        terms = {
            key: (coefficient * factor, atom) for key, (coefficient, atom) in self.terms.items()
        }
        return Affine(terms, self.constant * factor)

    def substituted(self, values: Mapping[str, Affine]) -> Affine:
        """The form with names replaced by forms, inside atoms too."""
        result = Affine({}, self.constant)
        for key, (coefficient, atom) in self.terms.items():
            if key in values:
                result = result + values[key] * coefficient
                continue
            inside = values.keys() & query.names(atom) if atom.__class__ is not ast.Name else ()
            if inside:
                expressions = {name: values[name].expression() for name in inside}
                result = result + of(nodes.substitute(atom, expressions)) * coefficient
            else:
                result = result + Affine({key: (coefficient, atom)})
        return result

    def expression(self) -> ast.expr:
        """The form as an expression: positive terms in order, negative ones, the constant."""
        positive = [item for item in self.terms.values() if item[0] > 0]
        negative = [item for item in self.terms.values() if item[0] < 0]
        constant = self.constant
        result: ast.expr | None = None
        if not positive and constant > 0:
            result, constant = nodes.const(constant), 0
        for coefficient, atom in positive:
            part = _scaled(coefficient, atom)
            result = part if result is None else nodes.binary(result, ast.Add, part)
        for coefficient, atom in negative:
            part = _scaled(-coefficient, atom)
            if result is None:
                result = ast.UnaryOp(ast.USub(), part)
            else:
                result = nodes.binary(result, ast.Sub, part)
        if result is None:
            return nodes.const(constant)
        if constant:
            operator = ast.Add if constant > 0 else ast.Sub
            result = nodes.binary(result, operator, nodes.const(abs(constant)))
        return result


def _scaled(coefficient: int, atom: ast.expr) -> ast.expr:
    copy = nodes.clone(atom)
    return copy if coefficient == 1 else nodes.binary(copy, ast.Mult, nodes.const(coefficient))


def constant(value: int) -> Affine:
    """The form of a number."""
    return Affine({}, value)


def variable(name: str) -> Affine:
    """The form of a name."""
    return Affine({name: (1, nodes.name(name))})


def atom(expression: ast.expr) -> Affine:
    """An expression as one opaque atom."""
    key = expression.id if isinstance(expression, ast.Name) else ast.dump(expression)
    return Affine({key: (1, expression)})


def of(expression: ast.expr) -> Affine:
    """The linear form of an integer expression; what is not linear becomes an atom.

    Args:
        expression: an expression known to be an integer (an index, a bound, a comparison's side).
    """
    number = query.integer(expression)
    if number is not None:
        return constant(number)
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        return -of(expression.operand)
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.UAdd):
        return of(expression.operand)
    if isinstance(expression, ast.BinOp):
        return _of_binary(expression)
    if isinstance(expression, ast.Call) and query.dotted(expression.func) in ("min", "max"):
        return _extreme(expression, [of(each) for each in expression.args])
    return atom(nodes.clone(expression))


def _extreme(call: ast.Call, arguments: list[Affine]) -> Affine:
    """A call of `min` or `max`; what says nothing about its arguments is kept as it is."""
    word = query.dotted(call.func)
    is_plain = not call.keywords and not any(isinstance(a, ast.Starred) for a in call.args)
    if word is None or not is_plain or len(arguments) < 2:
        return atom(nodes.call(nodes.clone(call.func), [each.expression() for each in arguments]))
    return extreme(word, arguments)


def extreme(word: str, forms: Sequence[Affine]) -> Affine:
    """The least or the greatest of some forms: of those that differ by a number, one is named.

    Args:
        word: ``min`` or ``max``; a form that is such a call stands for its arguments.
        forms: at least one.
    """
    pick = min if word == "min" else max
    chosen: list[Affine] = []
    for each in (part for form in forms for part in _arguments(word, form)):
        for position, known in enumerate(chosen):
            gap = (each - known).value
            if gap is not None:
                chosen[position] = known + pick(0, gap)
                break
        else:
            chosen.append(each)
    if len(chosen) == 1:
        return chosen[0]
    return atom(nodes.call(word, [each.expression() for each in chosen]))


def _arguments(word: str, form: Affine) -> list[Affine]:
    """What a form is the least or the greatest of: ``min(a, b) + 1`` of ``a + 1, b + 1``."""
    match list(form.terms.values()):
        case [(1, ast.Call(func=ast.Name(id=name), args=[_, _, *_] as args, keywords=[]))] if (
            name == word and not any(isinstance(each, ast.Starred) for each in args)
        ):
            return [of(each) + form.constant for each in args]
    return [form]


def _of_binary(expression: ast.BinOp) -> Affine:
    left, right = of(expression.left), of(expression.right)
    if isinstance(expression.op, ast.Add):
        return _joined(left + right)
    if isinstance(expression.op, ast.Sub):
        return _joined(left - right)
    if isinstance(expression.op, ast.Mult):
        if right.value is not None:
            return left * right.value
        if left.value is not None:
            return right * left.value
    divisor = right.value
    if divisor is not None and 0 <= divisor < _WIDEST:
        if isinstance(expression.op, ast.LShift):
            return left * (1 << divisor)
        if isinstance(expression.op, ast.RShift):
            return floor_div(left, 1 << divisor)
    if divisor is not None and divisor > 0:
        if isinstance(expression.op, ast.FloorDiv):
            return floor_div(left, divisor)
        if isinstance(expression.op, ast.Mod):
            return modulo(left, divisor)
    return atom(nodes.binary(left.expression(), type(expression.op), right.expression()))


def _joined(form: Affine) -> Affine:
    """Quotients and remainders that make a whole: ``x // 16 * 16 + x % 16 -> x``."""
    for key, (coefficient, each) in form.terms.items():
        if not isinstance(each, ast.BinOp) or not isinstance(each.op, ast.Mod):
            continue
        divisor = query.integer(each.right)
        if divisor is None or divisor <= 0:
            continue
        dividend = of(each.left)
        quotient = floor_div(dividend, divisor)
        whole = {k: c * coefficient * divisor for k, c in quotient.coefficients.items()}
        if whole.items() <= form.coefficients.items():
            rest = form - Affine({key: (coefficient, each)}) - quotient * (coefficient * divisor)
            return _joined(rest + dividend * coefficient)
    return form


def floor_div(form: Affine, divisor: int) -> Affine:
    """``form // divisor`` for a positive divisor; whole multiples come out of the division.

    ``(16 * i + j) // 16 -> i + j // 16`` and ``(x // a + c) // b -> (x + a * c) // (a * b)``
    """
    if divisor == 1:
        return form
    whole, rest = _divided(form, divisor)
    if rest.value is not None:
        return whole + rest.value // divisor
    if len(rest.terms) == 1:
        coefficient, inner = next(iter(rest.terms.values()))
        if coefficient == 1 and _is_division(inner):
            assert isinstance(inner, ast.BinOp)
            inner_divisor = query.integer(inner.right)
            if inner_divisor is not None and inner_divisor > 0:
                dividend = of(inner.left) + rest.constant * inner_divisor
                return whole + floor_div(dividend, inner_divisor * divisor)
    common = gcd(divisor, *(abs(c) for c, _ in rest.terms.values()))
    if common > 1:  # floor((g * x + r) / (g * d)) = floor((x + floor(r / g)) / d)
        scaled = Affine(
            {k: (c // common, e) for k, (c, e) in rest.terms.items()}, rest.constant // common
        )
        return whole + floor_div(scaled, divisor // common)
    quotient = nodes.binary(rest.expression(), ast.FloorDiv, nodes.const(divisor))
    return whole + atom(quotient)


def modulo(form: Affine, divisor: int) -> Affine:
    """``form % divisor`` for a positive divisor; whole multiples drop out."""
    if divisor == 1:
        return constant(0)
    _, rest = _divided(form, divisor)
    if rest.value is not None:
        return constant(rest.value % divisor)
    return atom(nodes.binary(rest.expression(), ast.Mod, nodes.const(divisor)))


def _divided(form: Affine, divisor: int) -> tuple[Affine, Affine]:
    """(whole, rest) with ``form = whole * divisor + rest`` and no multiple left in rest."""
    whole: dict[str, tuple[int, ast.expr]] = {}
    rest: dict[str, tuple[int, ast.expr]] = {}
    for key, (coefficient, each) in form.terms.items():
        if coefficient % divisor == 0:
            whole[key] = (coefficient // divisor, each)
        else:
            rest[key] = (coefficient, each)
    if rest:
        # a constant smaller than the divisor stays: (H + 15) // 16 and (H - 2) // 4 read well
        quotient = abs(form.constant) // divisor * (1 if form.constant >= 0 else -1)
        return Affine(whole, quotient), Affine(rest, form.constant - quotient * divisor)
    quotient, remainder = divmod(form.constant, divisor)
    return Affine(whole, quotient), constant(remainder)


def _is_division(expression: ast.expr) -> bool:
    return isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.FloorDiv)


def cost(expression: ast.expr) -> int:
    """How much there is to read in an expression: its parts, and parentheses on the right."""
    total = 0
    for node in query.preorder(expression):
        total += 1 if isinstance(node, ast.Constant) else 2
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, (ast.Add, ast.Sub))
            and isinstance(node.right, ast.BinOp)
            and isinstance(node.right.op, (ast.Add, ast.Sub))
        ):
            total += 1
    return total


def simplified(expression: ast.expr) -> ast.expr:
    """The normal form of an integer expression where it reads better, else the expression."""
    normal = of(expression).expression()
    return normal if cost(normal) < cost(expression) else expression
