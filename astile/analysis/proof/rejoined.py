"""Loops that were split inside of what is not modelled, in the form that is proved.

Where data decide how far a loop runs, it is one statement for the model, with all that is inside.
What `split` made of such loops is one loop again here::

    for p_0 in range(begin[i] // 4, begin[i + 1] // 4 + 1):
        for p_1 in range(4):
            if begin[i] <= p_0 * 4 + p_1 < begin[i + 1]:       ->
                s += x[p_0 * 4 + p_1]

    for p in range(begin[i], begin[i + 1]):
        s += x[p]

Both forms run the same iterations in the same order: the test lets through all numbers of the range
and no others, and nothing inside changes what it reads.
"""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.digits import Numbers
from astile.analysis.forms.integers import integers_of, is_integer
from astile.analysis.forms.radix import changed, mentions
from astile.analysis.reading.statements import survey
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.query import Header

#: Functions of Python that change nothing.
_PURE = frozenset({"abs", "bool", "float", "int", "len", "max", "min", "range", "round"})


def rejoined(program: Program) -> Program | None:
    """The program with one loop for two in what is not modelled; None where there are none.

    Args:
        program: it is not changed.
    """
    new = program.cloned()
    joiner = _Joiner(new)
    for leaf in survey(new).leaves:
        if not leaf.is_simple:
            joiner.statement(leaf.node)
    return new if joiner.has_changed else None


class _Joiner:
    """Rewrites statements of a program in place."""

    def __init__(self, program: Program) -> None:
        self._program, self.has_changed = program, False
        self._integers = integers_of(program)

    def statement(self, node: ast.stmt) -> None:
        """Rewrite the loops of a statement, inner ones first."""
        for body in query.bodies(node):
            for each in body:
                self.statement(each)
        while isinstance(node, ast.For) and self._join(node):
            self.has_changed = True

    def _join(self, outer: ast.For) -> bool:
        """Make two loops one, where they are of that kind."""
        high, inner = _plain(outer), outer.body[0]
        low = _plain(inner) if isinstance(inner, ast.For) and len(outer.body) == 1 else None
        if high is None or low is None or not isinstance(inner, ast.For):
            return False
        size = query.integer(low.stop)
        variable = _stem(high.variable, low.variable)
        if size is None or size < 1 or not query.is_constant(low.start, 0) or variable is None:
            return False
        number = affine.variable(high.variable) * size + affine.variable(low.variable)
        found = self._guarded(inner.body, number)
        if found is not None and not self._counts_tiles(high, found[0], found[1], size):
            return False
        if found is None and size > 1:
            return False
        start, stop, body = found or (high.start, high.stop, inner.body)
        bounds = query.names(start) | query.names(stop)
        digits = {high.variable, low.variable}
        used = {name for each in body for name in query.names(each)}
        if (digits | {variable}) & bounds or variable in used or not self._leaves(inner, bounds):
            return False
        rewriter = Numbers(
            self._integers | digits | {variable}, number, (high.variable, low.variable), variable
        )
        made = [rewriter.rewritten(each) for each in body]
        if mentions(made, digits):
            return False
        ends = [stop] if query.is_constant(start, 0) else [start, stop]
        outer.target = nodes.target(variable)
        outer.iter = nodes.call("range", [nodes.clone(each) for each in ends])
        outer.body = made
        return True

    def _guarded(
        self, body: list[ast.stmt], number: Affine
    ) -> tuple[ast.expr, ast.expr, list[ast.stmt]] | None:
        """The first value, the one that is not reached, and what is done for those between."""
        match body:
            case [
                ast.If(test=ast.BoolOp(op=ast.And(), values=[one, *rest]), body=inside, orelse=[])
            ]:
                more = rest[0] if len(rest) == 1 else ast.BoolOp(ast.And(), rest)
                guarded = nodes.if_then(one, [nodes.if_then(more, inside)])
                return self._guarded([guarded], number)
            case [ast.If(test=ast.Compare() as test, body=inside, orelse=[])]:
                sides = [test.left, *test.comparators]
                if [type(each) for each in test.ops] == [ast.Lt]:
                    sides = [nodes.const(0), *sides]
                elif [type(each) for each in test.ops] != [ast.LtE, ast.Lt]:
                    return None
                start, value, stop = sides
                return (start, stop, inside) if affine.of(value) == number else None
        return None

    def _counts_tiles(self, tiles: Header, start: ast.expr, stop: ast.expr, size: int) -> bool:
        """Whether a loop counts all tiles of a size that have numbers between two.

        One tile more does nothing. That many are counted without adding to numbers of arrays, which
        may have few bits and wrap around: of these the text decides.
        """
        if is_integer(start, self._integers) and is_integer(stop, self._integers):
            first = affine.floor_div(affine.of(start), size)
            last = affine.floor_div(affine.of(stop) + (size - 1), size)
            more = affine.floor_div(affine.of(stop), size) + 1
            return affine.of(tiles.start) == first and affine.of(tiles.stop) in (last, more)
        return nodes.same(tiles.start, _quotient(start, size)) and nodes.same(
            tiles.stop,
            stop if size == 1 else nodes.binary(_quotient(stop, size), ast.Add, nodes.const(1)),
        )

    def _leaves(self, inner: ast.For, names: set[str]) -> bool:
        """Whether the body of a loop leaves all that some names stand for as it is."""
        imports = self._program.imports
        for node in query.preorder(inner):
            if isinstance(node, (ast.Break, ast.While, ast.Return, ast.Expr)):
                return False
            if isinstance(node, ast.Call):
                head = (query.dotted(node.func) or "").partition(".")[0]
                known = head in _PURE or imports.get(head, "").split(".")[0] in ("math", "numpy")
                if node.keywords or not known or head in self._program.helpers:
                    return False
                if head not in _PURE and names & query.names(node):  # which may be written there
                    return False
        return not names & (changed(inner) | set(query.written_arrays(inner)))


def _plain(loop: ast.For) -> Header | None:
    """The header of a loop that runs in order in steps of 1."""
    header = query.header(loop)
    is_plain = header is not None and header.kind == "range" and not loop.orelse
    return header if is_plain and header and query.is_constant(header.step, 1) else None


def _quotient(number: ast.expr, size: int) -> ast.expr:
    """``number // size``, spelled out here so that what `split` writes is checked, not repeated."""
    if size == 1 or query.is_constant(number, 0):
        return number
    return nodes.binary(number, ast.FloorDiv, nodes.const(size))


def _stem(high: str, low: str) -> str | None:
    """``p`` for ``p_0`` and ``p_1``, as `split` names them."""
    stem = high.removesuffix("_0")
    return stem if high == f"{stem}_0" and low == f"{stem}_1" else None
