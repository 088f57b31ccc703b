"""Loops over numbers of mixed radix, in the affine form that is proved.

``f // w`` and ``f % w`` are not affine where ``w`` is a size, and neither is ``a * m + b``. They
are the digits of a number, though, and the number itself::

    for f in range(h * w):              for f_high in range(h):
        y[f // w, f % w] = 1      ->        for f_low in range(w):
                                                y[f_high, f_low] = 1

    for a in range(3):                  for a_b in range(3 * m):
        for b in range(m):        ->        if a_b < n:
            if a * m + b < n:                   y[a_b] = 1
                y[a * m + b] = 1

Both forms run the same iterations in the same order for all sizes, so that a proof about the
second is one about the first. Where neither applies, a short loop whose variable scales a size is
written out, one copy of its body for each value, if iterations are spelled with it.

A loop whose iterations are concurrent stays so: the two forms differ in how its iterations are
numbered. Loops that are bound to blocks and threads together become one over blocks, whose
iterations must be as independent as those of different blocks: more than is needed.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from astile import analysis
from astile.analysis.forms import affine, affine_sets
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.affine_sets import Quasi
from astile.analysis.forms.digits import (
    Digits,
    Numbers,
    divisors,
    factors,
    is_mixed,
    is_spelled,
    without,
)
from astile.analysis.forms.integers import integers_of, is_integer
from astile.analysis.forms.numbering import IN_ORDER, Kinds
from astile.analysis.forms.params import first_scope, names_of
from astile.analysis.forms.sizes import is_size
from astile.ir import loop_variables, nodes, query
from astile.ir.nodes import Origin
from astile.ir.program import Program
from astile.ir.query import Header

#: The most iterations of a loop that is written out.
_MOST = 16


def affine_form(program: Program, *, unrolls: bool = True) -> Program:
    """The program with its loops over numbers of mixed radix in affine form.

    Args:
        program: the program; it is not changed.
        unrolls: whether loops may be written out, which makes copies of statements.
    """
    return _Former(program.cloned(), unrolls=unrolls).run() if _is_any_mixed(program) else program


def scaled_digit(program: Program) -> str | None:
    """The variable of a loop that only writing it out makes affine; None where there is none.

    Args:
        program: the program.
    """
    for loop in query.loops(affine_form(program, unrolls=False).function):
        if is_spelled(loop):
            header = query.header(loop)
            return None if header is None else header.variable
    return None


def is_quotient(program: Program, variable: str) -> bool:
    """Whether a loop counts two others at once, as those do that were fused.

    Args:
        program: the program.
        variable: of the loop.
    """
    return any(
        is_mixed(node, {variable}) and isinstance(node.op, (ast.FloorDiv, ast.Mod))
        for node in query.preorder(program.function)
    )


def parted(program: Program) -> tuple[Program, dict[str, ast.expr]]:
    """The program with loops over the digits of a variable, and what each digit is of it.

    For a function as it was written: every statement stays one, in as many loops or more.

    Args:
        program: the program; it is not changed.
    """
    if not _is_any_mixed(program):
        return program, {}
    former = _Former(program.cloned(), unrolls=False, joins=False)
    return former.run(), former.digits


def _is_any_mixed(program: Program) -> bool:
    """Whether a program has loops over numbers of mixed radix."""
    variables = {h.variable for e in query.loops(program.function) if (h := query.header(e))}
    found = [e for e in query.preorder(program.function) if is_mixed(e, variables)]
    if not found:
        return False
    integers = integers_of(program)
    if not any(is_integer(each, integers) for each in found):  # x * dx
        return False
    return not first_scope(program, names_of(program)).hidden  # min and max are Python's


class _Former:
    """Rewrites the loops of one program in place.

    Args:
        program: the program.
        unrolls: whether loops may be written out.
        joins: whether loops may be made one.
    """

    def __init__(self, program: Program, *, unrolls: bool, joins: bool = True) -> None:
        self._program, self._unrolls, self._joins = program, unrolls, joins
        #: Digit -> its value, in terms of the number.
        self.digits: dict[str, ast.expr] = {}
        self._integers = integers_of(program)
        self._kinds = Kinds(program.function)
        self._taken: set[str] = set()

    def run(self) -> Program:
        """The program in its other form."""
        self._block(self._program.function.body)
        return self._program

    def _block(self, body: list[ast.stmt]) -> None:
        for statement in list(body):
            made: list[ast.stmt] = [statement]
            if isinstance(statement, ast.For) and self._has_digits(statement):
                made = self._loop(statement)
                position = next(k for k, each in enumerate(body) if each is statement)
                body[position : position + 1] = made
            for each in made:
                for inner in query.bodies(each):
                    self._block(inner)

    def _has_digits(self, loop: ast.For) -> bool:
        """Whether the loop's variable is scaled or taken apart, or is among those that are."""
        header = query.header(loop)
        if header is None or loop.orelse:
            return False
        return any(
            is_mixed(each, {header.variable}) and is_integer(each, self._integers)
            for each in query.preorder(loop)
        )

    def _loop(self, loop: ast.For) -> list[ast.stmt]:
        """A loop, in its other form where there is one."""
        if self._joins:
            loop = self._joined(loop) or loop
        split = self._parted(loop)
        while split is not None:
            loop, split = split, self._parted(split)
        if self._unrolls and is_spelled(loop):
            return self._written_out(loop) or [loop]
        return [loop]

    # --- digits that make a number --------------------------------------------------------------

    def _joined(self, loop: ast.For) -> ast.For | None:
        """One loop for nested ones of whose variables only the number is used."""
        chain = [loop]
        while isinstance(only := query.only_statement(chain[-1].body), ast.For):
            chain.append(only)
        for length in range(len(chain), 1, -1):
            made = self._one_loop(chain[:length])
            if made is not None:
                return made
        return None

    def _one_loop(self, chain: Sequence[ast.For]) -> ast.For | None:
        found = [plain_header(each, self._integers) for each in chain]
        headers = [each for each in found if each is not None]
        if len(headers) < len(chain) or not self._is_invariant(chain, headers):
            return None
        kind = self._kinds.joined([each.kind for each in headers], chain[-1])
        if kind is None:
            return None
        number, count = affine.variable(headers[0].variable), affine.constant(1)
        for header in headers[1:]:
            number = times(number, header.stop) + affine.variable(header.variable)
        unsure = False
        for stop in (each.stop for each in headers):
            if is_size(self._program.function, stop):
                count = times(count, stop)
                continue  # of the others, two that are negative would make a positive number
            count = times(count, nodes.call("max", [nodes.const(0), stop]) if unsure else stop)
            unsure = True
        variable = self._fresh("_".join(each.variable for each in headers))
        digits = [each.variable for each in headers]
        inner = Numbers(self._integers, number, digits, variable)
        body = [inner.rewritten(each) for each in chain[-1].body]
        if mentions(body, {each.variable for each in headers}):
            return None
        self._integers.add(variable)
        made = nodes.for_loop(variable, nodes.call(kind, [count.expression()]), body, 0)
        self._absorb_guard(made, variable, count)
        return nodes.copy_place(chain[0], made)

    def _absorb_guard(self, loop: ast.For, variable: str, count: Affine) -> None:
        """Let a loop run to the bound in the guard around its body, where that is no further."""
        guard = query.only_statement(loop.body)
        if not isinstance(guard, ast.If) or guard.orelse:
            return
        both = isinstance(guard.test, ast.BoolOp) and isinstance(guard.test.op, ast.And)
        assert isinstance(guard.test, ast.BoolOp) or not both
        tests = guard.test.values if isinstance(guard.test, ast.BoolOp) and both else [guard.test]
        for test in tests:
            match test:
                case ast.Compare(left=ast.Name(id=name), ops=[ast.Lt()], comparators=[bound]):
                    is_bound = name == variable and is_integer(bound, self._integers)
                    if not is_bound or query.names(bound) & (changed(loop) | {variable}):
                        continue
                    if not _is_at_most(affine.of(bound), count):
                        continue
                    assert isinstance(loop.iter, ast.Call)
                    loop.iter.args = [nodes.clone(bound)]
                    rest = [each for each in tests if each is not test]
                    if rest:
                        guard.test = nodes.conjunction(rest)
                    else:
                        loop.body = guard.body
                    return

    def _is_invariant(self, chain: Sequence[ast.For], headers: Sequence[Header]) -> bool:
        """Whether variables hold their values in the loops only, and extents stay as they are."""
        variables = {each.variable for each in headers}
        inside = changed(chain[-1])
        if len(variables) < len(headers) or variables & inside:
            return False
        if any(query.names(each.stop) & (inside | variables) for each in headers):
            return False
        body = self._program.function.body
        return all(loop_variables.read_outside_loops(body, each) is None for each in variables)

    def _fresh(self, wanted: str) -> str:
        name = self._program.fresh_name(wanted, self._taken)
        self._taken.add(name)
        return name

    # --- a number of which the digits are used --------------------------------------------------

    def _parted(self, loop: ast.For) -> ast.For | None:
        """Two loops for one of whose variable only a quotient and the remainder are used."""
        header = plain_header(loop, self._integers)
        if header is None or not self._is_invariant([loop], [header]):
            return None
        for divisor in divisors(loop, header.variable):
            if is_integer(divisor, self._integers):
                made = self._two_loops(loop, header, divisor)
                if made is not None:
                    return made
        return None

    def _two_loops(self, loop: ast.For, header: Header, divisor: ast.expr) -> ast.For | None:
        rest = without(factors(affine.of(header.stop)), divisor)
        if rest is None or query.names(divisor) & (changed(loop) | {header.variable}):
            return None
        count = affine.constant(1)
        for each in rest.factors:
            count = times(count, each.expression())
        sizes = (count.expression(), divisor)
        if not rest.is_sure and not any(is_size(self._program.function, each) for each in sizes):
            return None  # two that are negative make a positive number
        kinds = self._kinds.parted(header.kind)
        if kinds is None:
            return None
        high, low = self._fresh(f"{header.variable}_high"), self._fresh(f"{header.variable}_low")
        is_never_negative = partial(is_size, self._program.function)
        inner = Digits(header.variable, divisor, high, low, is_never_negative)
        body = [inner.rewritten(each) for each in loop.body]
        if mentions(body, {header.variable}):
            return None
        self._integers |= {high, low}
        for name, operator in ((high, ast.FloorDiv), (low, ast.Mod)):
            digit = nodes.binary(nodes.name(header.variable), operator, nodes.clone(divisor))
            self.digits[name] = nodes.substitute(digit, self.digits)
        iterator = nodes.call(kinds[1], [nodes.clone(divisor)])
        second = nodes.copy_place(loop, nodes.for_loop(low, iterator, body, 0))
        first = nodes.for_loop(high, nodes.call(kinds[0], [sizes[0]]), [second], 0)
        held = nodes.origin(loop)
        if held is not None:
            nodes.set_origin(first, held)
            values = tuple(inner.expression(nodes.clone(each)) for each in held.iteration)
            nodes.set_origin(second, Origin(held.statement, values))
        return nodes.copy_place(loop, first)

    # --- short loops ----------------------------------------------------------------------------

    def _written_out(self, loop: ast.For) -> list[ast.stmt] | None:
        """The body of a short loop, once for each value of its variable."""
        header = plain_header(loop, self._integers)
        trips = None if header is None else query.integer(header.stop)
        if header is None or trips is None or not 0 < trips <= _MOST:
            return None
        if header.kind not in IN_ORDER or not self._is_invariant([loop], [header]):
            return None
        return [
            nodes.substitute(each, {header.variable: nodes.const(value)})
            for value in range(trips)
            for each in loop.body
        ]


def plain_header(loop: ast.For, integers: set[str]) -> Header | None:
    """The header of a loop that counts from 0 in steps of 1 to a known integer.

    Args:
        loop: the loop.
        integers: names of integers.
    """
    header = query.header(loop)
    if header is None or not query.is_constant(header.start, 0):
        return None
    if loop.orelse or query.leaves_early(loop.body):
        return None
    known = query.is_constant(header.step, 1) and is_integer(header.stop, integers)
    return header if known else None


def times(form: Affine, factor: ast.expr) -> Affine:
    """``form * factor``."""
    return affine.of(nodes.binary(form.expression(), ast.Mult, nodes.clone(factor)))


def changed(loop: ast.For) -> set[str]:
    """The names that the body of a loop assigns."""
    return {name for each in loop.body for name in query.names_written(each)}


def mentions(body: Sequence[ast.stmt], names: set[str]) -> bool:
    """Whether names occur in statements, or in what these stand for."""
    for statement in body:
        for node in query.preorder(statement):
            if isinstance(node, ast.Name) and node.id in names:
                return True
            held = nodes.origin(node) if isinstance(node, (ast.stmt, ast.expr)) else None
            if held is not None and any(query.names(each) & names for each in held.iteration):
                return True
    return False


def _is_at_most(one: Affine, other: Affine) -> bool:
    """Whether a number is never greater than another, products and the like being any number."""
    unknown: dict[str, str] = {}
    gap = _opaque(other, unknown).plus(_opaque(one, unknown), -1)
    session = analysis.isl.Session(analysis.isl.Budget(1.0))
    names = ", ".join(unknown.values())
    try:
        return bool(session.set(f"[{names}] -> {{ : {gap.text} < 0 }}").is_empty())
    except analysis.isl.Error:
        return False


def _opaque(form: Affine, unknown: dict[str, str]) -> Quasi:
    """A form in which all is a parameter but sums and quotients by literals."""
    result = affine_sets.const(form.constant)
    for key, (coefficient, atom) in form.terms.items():
        divisor = query.integer(atom.right) if isinstance(atom, ast.BinOp) else None
        if isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.FloorDiv) and divisor:
            part = affine_sets.floor_div(_opaque(affine.of(atom.left), unknown), divisor)
        else:
            part = affine_sets.atom(unknown.setdefault(key, f"n_{len(unknown)}"))
        result = result.plus(part, coefficient)
    return result
