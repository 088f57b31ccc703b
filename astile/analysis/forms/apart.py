"""Digits of one number whose loops are not side by side, in the form that is proved.

Where `split` made blocks of a size that is not literal, and `reorder` moved the loop over blocks
away from the one inside a block, the inner one of the two counts the number that both make::

    for a in range(2):                      for a in range(2):
        for i in range(n):                      for i in range(n):
            for b in range(m):       ->             for a_b in range(2 * m):
                y[i, a * m + b] = 1                     if (a == 0 and 0 <= a_b < m
                                                                or a == 1 and m <= a_b < 2 * m):
                                                            y[i, a_b] = 1

    for b in range(m):                      for b in range(m):
        for i in range(n):                      for i in range(n):
            for a in range(2):       ->             for a_b in range(2 * m):
                y[i, a * m + b] = 1                     if a_b == b or a_b == m + b:
                                                            y[i, a_b] = 1

Both forms run the same iterations in the same order for all sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.digits import Numbers, is_spelled
from astile.analysis.forms.integers import integers_of
from astile.analysis.forms.numbering import IN_ORDER
from astile.analysis.forms.radix import affine_form, changed, mentions, plain_header, times
from astile.ir import loop_variables, nodes, query
from astile.ir.program import Program
from astile.ir.query import Header

#: The most blocks: each is a case that is looked at.
_MOST = 64


def apart_form(program: Program) -> Program | None:
    """The program with digits that are apart in affine form; None where there are none.

    Args:
        program: the program; it is not changed.
    """
    form = affine_form(program, unrolls=False)
    if not any(is_spelled(each) for each in query.loops(form.function)):
        return None
    former = _Former(form.cloned())
    former.block(former.program.function.body, ())
    return former.program if former.has_changed else None


class _Former:
    """Rewrites the loops of one program in place."""

    def __init__(self, program: Program) -> None:
        self.program, self.has_changed = program, False
        self._integers = integers_of(program)
        self._taken: set[str] = set()

    def block(self, body: list[ast.stmt], around: Sequence[ast.For]) -> None:
        """Rewrite the loops of a list of statements.

        Args:
            body: the statements.
            around: the loops that they stand in, outermost first.
        """
        for position, statement in enumerate(body):
            inside = around
            if isinstance(statement, ast.For):
                if is_spelled(statement) and self._count(statement) is not None:
                    body[position] = self._by_number(statement, around)
                inside = (*around, statement)
            for each in query.bodies(body[position]):
                self.block(each, inside)

    def _by_number(self, loop: ast.For, around: Sequence[ast.For]) -> ast.For:
        """A loop over blocks, in its other form where there is one."""
        if self._replaced_inside(loop.body, loop):
            return loop
        for each in reversed(around):
            header = self._fixed(each)
            if header is not None and self._is_in_order(loop):
                made = self._counted(loop, loop, header, each)
                if made is not None:
                    return made
        return loop

    def _replaced_inside(self, body: list[ast.stmt], blocks: ast.For) -> bool:
        """Whether loops inside a loop over blocks now count the number."""
        found = False
        for position, statement in enumerate(body):
            made = None
            if isinstance(statement, ast.For):
                header = self._fixed(statement)
                if header is not None and self._is_in_order(statement):
                    made = self._counted(statement, blocks, header, blocks)
            if made is not None:
                body[position] = made
                found = True
                continue
            inner = [self._replaced_inside(each, blocks) for each in query.bodies(statement)]
            found = any(inner) or found
        return found

    def _counted(
        self, replaced: ast.For, blocks: ast.For, low: Header, outer: ast.For
    ) -> ast.For | None:
        """A loop over the number in place of one over a digit of it.

        Args:
            replaced: the loop that is replaced.
            blocks: the loop over blocks.
            low: the header of the loop over places in a block.
            outer: the outer one of both; the size holds its value all through it.
        """
        high = plain_header(blocks, self._integers)
        count = self._count(blocks)
        assert high is not None
        assert count is not None
        digits = (high.variable, low.variable)
        gone = digits[replaced is not blocks]
        size = nodes.clone(low.stop)
        if query.integer(size) is not None or query.names(size) & (changed(outer) | set(digits)):
            return None
        number = times(affine.variable(high.variable), size) + affine.variable(low.variable)
        variable = self.program.fresh_name("_".join(digits), self._taken)
        rewriter = Numbers(self._integers | {variable}, number, digits, variable)
        body = [rewriter.rewritten(each) for each in replaced.body]
        if mentions(body, {gone}) or not mentions(body, {variable}):
            return None
        self._taken.add(variable)
        self._integers.add(variable)
        self.has_changed = True
        cases = [
            _ends_in(variable, low, size, block)
            if replaced is blocks
            else _is_in_block(variable, high, size, block)
            for block in range(count)
        ]
        stop = times(affine.of(size), nodes.const(count)).expression()
        test = cases[0] if count == 1 else ast.BoolOp(ast.Or(), cases)
        made = nodes.for_loop(variable, nodes.call("range", [stop]), [nodes.if_then(test, body)], 0)
        return nodes.copy_place(replaced, made)

    def _count(self, loop: ast.For) -> int | None:
        """How many iterations a loop over blocks has, None for another loop."""
        header = self._fixed(loop)
        count = None if header is None else query.integer(header.stop)
        return count if count is not None and 0 < count <= _MOST else None

    def _fixed(self, loop: ast.For) -> Header | None:
        """The header of a loop from 0 whose variable holds its values in the loop only."""
        header = plain_header(loop, self._integers)
        if header is None or header.variable in changed(loop):
            return None
        outside = loop_variables.read_outside_loops(self.program.function.body, header.variable)
        return header if outside is None else None

    def _is_in_order(self, loop: ast.For) -> bool:
        header = query.header(loop)
        return header is not None and header.kind in IN_ORDER


def _is_in_block(variable: str, high: Header, size: ast.expr, block: int) -> ast.expr:
    """``a == 1 and m <= a_b < 2 * m``."""
    ends = [times(affine.constant(each), size).expression() for each in (block, block + 1)]
    inside = nodes.comparison([ends[0], nodes.name(variable), ends[1]], [ast.LtE(), ast.Lt()])
    here = nodes.compare(nodes.name(high.variable), ast.Eq, nodes.const(block))
    return nodes.conjunction([here, inside])


def _ends_in(variable: str, low: Header, size: ast.expr, block: int) -> ast.expr:
    """``a_b == m + b``."""
    number: Affine = times(affine.constant(block), size) + affine.variable(low.variable)
    return nodes.compare(nodes.name(variable), ast.Eq, number.expression())
