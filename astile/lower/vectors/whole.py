"""Whole vectors in a loop of their own: masks are left to the iterations that need them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.lower import unsigned
from astile.lower.indices import IndexWriter
from astile.lower.types import operators
from astile.lower.vectors import dataflow
from astile.lower.vectors.words import Words

#: Function of vectors that takes a mask -> what does the same where the mask holds in all lanes.
_WITHOUT = {"load_where": "load", "store_where": "store", "get_where": "get", "select": ""}


def apart(body: Sequence[ast.stmt], words: Words, writer: IndexWriter) -> list[ast.stmt]:
    """The statements, with loops that load under masks cut where the masks begin to matter.

    A loop is cut whose innermost loops load vectors that begin beside multiples of the lanes, as
    those of a stencil do, if the masks compare counters with bounds. Such loads cost more under a
    mask, also where it holds in all lanes: up to a third of the time of a convolution (AMD EPYC of
    the fifth generation). Others gain nothing, and cutting makes the text longer, which numba takes
    time for. Loops on several cores stay whole.

    Args:
        body: it is edited in place.
        words: for the names of functions, and of the end of the first loop.
        writer: what is known of integers where the statements stand.

    Before:
        for j_0 in range((n + 15) // 16):
            c_0 = splat(float32(0), 16)
            for k in range(m):
                c_0 = fma(splat(get(a, k), 16), load_where(mask, b, j_0 * 16 + k), c_0)

    After:
        j_0_whole = n // 16
        for j_0 in range(j_0_whole):
            c_0 = splat(float32(0), 16)
            for k in range(m):
                c_0 = fma(splat(get(a, k), 16), load(b, j_0 * 16 + k, 16), c_0)
        for j_0 in range(j_0_whole, (n + 15) // 16):
            c_0 = splat(float32(0), 16)
            for k in range(m):
                c_0 = fma(splat(get(a, k), 16), load_where(mask, b, j_0 * 16 + k), c_0)

    where the mask is ``below(j_0 * 16, n, 16)``.
    """
    if not words.has("below") or not words.has("load_where"):
        return list(body)
    functions = {words.intrinsic(each): each for each in _WITHOUT if words.has(each)}
    return _Cut(words, functions, words.intrinsic("below")).block(body, writer)


@dataclass(frozen=True)
class _Cut:
    """Cuts the loops of one function.

    Args:
        words: for new names.
        functions: name in the text -> function of vectors that takes a mask.
        below: the name of the function that compares a counter with a bound.
    """

    words: Words
    functions: Mapping[str, str]
    below: str

    def block(self, body: Sequence[ast.stmt], writer: IndexWriter) -> list[ast.stmt]:
        """The statements of a block, loops cut; parts of a loop that is cut stay whole."""
        result: list[ast.stmt] = []
        for statement in body:
            made = self._cut(statement, writer) if isinstance(statement, ast.For) else None
            if made is not None:
                result += made
                continue
            inner = (
                operators.inside(writer, statement) if isinstance(statement, ast.For) else writer
            )
            for name in ("body", "orelse", "finalbody"):
                part = getattr(statement, name, None)
                if isinstance(part, list) and part and isinstance(part[0], ast.stmt):
                    setattr(statement, name, self.block(part, inner))
            result.append(statement)
        return result

    def _cut(self, loop: ast.For, writer: IndexWriter) -> list[ast.stmt] | None:
        header = query.header(loop)
        if header is None or header.kind.startswith(unsigned.ON_CORES) or loop.orelse:
            return None
        step = query.integer(header.step)
        if step is None or step < 1 or query.leaves_early(loop.body):
            return None
        changed = query.names_written(loop)
        if not changed.isdisjoint(query.names(loop.iter)):
            return None
        limits = _Limits(header.variable, changed, self.below)
        if not self._is_worth_it(loop, limits):
            return None
        return self._parts(loop, header, limits, writer)

    def _is_worth_it(self, loop: ast.For, limits: _Limits) -> bool:
        """Whether the innermost loops load under the masks, beside where the lanes begin."""
        for inner in _deepest(loop):
            for node in query.preorder(inner):
                if self._function(node) == "load_where":
                    assert isinstance(node, ast.Call)
                    if any(limits.is_beside(each, node.args[2]) for each in _joined(node.args[0])):
                        return True
        return False

    def _function(self, node: ast.AST) -> str | None:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self.functions.get(node.func.id)
        return None

    def _parts(
        self, loop: ast.For, header: query.Header, limits: _Limits, writer: IndexWriter
    ) -> list[ast.stmt]:
        """The iterations without masks, and those that are left."""
        start, stop = affine.of(header.start), affine.of(header.stop)
        step = query.integer(header.step) or 1
        ends = [
            affine.floor_div(each - start + (step - 1), step) * step + start
            for each in limits.ends(loop)
        ]
        name = self.words.fresh(f"{header.variable}_whole")
        value = affine.extreme("min", ends).expression()
        before: ast.expr = nodes.name(name)
        if not any(writer.is_nonnegative((stop - each).expression()) for each in ends):
            before = nodes.call("min", [before, nodes.clone(header.stop)])
        after: ast.expr = nodes.name(name)
        if not all(writer.is_nonnegative((each - start).expression()) for each in ends):
            after = nodes.call("max", [nodes.clone(header.start), after])
        whole = nodes.clone(loop)
        whole.iter = _ranged(loop, nodes.clone(header.start), before, step)
        whole.body = [self._freed(each, limits.governs) for each in whole.body]
        loop.iter = _ranged(loop, after, nodes.clone(header.stop), step)
        return [nodes.assign(name, value), whole, loop]

    def _freed(self, node: ast.stmt, holds: Callable[[ast.AST], bool]) -> ast.stmt:
        """A statement, edited, without the masks that hold in all lanes."""
        made = self._without(node, holds)
        assert isinstance(made, ast.stmt)
        return made

    def _without(self, node: ast.AST, holds: Callable[[ast.AST], bool]) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(node, name, self._without(value, holds))
            elif isinstance(value, list):
                made = [self._without(e, holds) if isinstance(e, ast.AST) else e for e in value]
                setattr(node, name, made)
        function = self._function(node)
        if function is None:
            return node
        assert isinstance(node, ast.Call)
        masks = _joined(node.args[0])
        left = [each for each in masks if not holds(each)]
        if left:
            node.args[0] = _all_of(left)
            return node
        if function == "select":
            return node.args[1]
        arguments = node.args[1:]
        if function == "load_where":
            assert isinstance(masks[0], ast.Call)
            arguments.append(masks[0].args[2])
        return nodes.call(self.words.intrinsic(_WITHOUT[function]), arguments)


@dataclass(frozen=True)
class _Limits:
    """The masks that depend on the variable of a loop, and on nothing else that changes in it.

    Args:
        variable: of the loop.
        changed: names that the loop writes, its variable among them.
        below: the name of the function that compares a counter with a bound.
    """

    variable: str
    changed: set[str]
    below: str

    def governs(self, node: ast.AST) -> bool:
        """Whether a node is a mask that holds in all lanes for the first iterations."""
        return self._room(node) is not None

    def is_beside(self, mask: ast.AST, place: ast.expr) -> bool:
        """Whether a place is no whole number of vectors away from the counter of such a mask."""
        if not self.governs(mask):
            return False
        assert isinstance(mask, ast.Call)
        last = place.elts[-1] if isinstance(place, ast.Tuple) else place
        away = (affine.of(last) - affine.of(mask.args[0])).value
        lanes = affine.of(mask.args[2]).value
        return away is None or lanes is None or away % lanes != 0

    def ends(self, loop: ast.For) -> list[Affine]:
        """Where the iterations end in which all such masks hold: the least of these."""
        least: dict[tuple[int, Affine], int] = {}
        for node in ast.walk(loop):
            found = self._room(node)
            if found is not None:
                factor, room = found
                key = (factor, room - room.constant)
                least[key] = min(least.get(key, room.constant), room.constant)
        return [
            affine.floor_div(room + constant, factor) + 1
            for (factor, room), constant in least.items()
        ]

    def _room(self, node: ast.AST) -> tuple[int, Affine] | None:
        """A mask holds in all lanes as long as ``factor * variable <= room``."""
        is_mask = isinstance(node, ast.Call) and query.dotted(node.func) == self.below
        if not is_mask or not dataflow.is_of_bounds(node, self.below):
            return None
        assert isinstance(node, ast.Call)
        first, stop, lanes = (affine.of(each) for each in node.args)
        factor, rest = first.coefficient(self.variable), first.without(self.variable)
        others = rest.names() | stop.names()
        if factor <= 0 or lanes.value is None or not others.isdisjoint(self.changed):
            return None
        return factor, stop - rest - lanes


def _joined(mask: ast.expr) -> list[ast.expr]:
    """The masks that all have to hold."""
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return _joined(mask.left) + _joined(mask.right)
    return [mask]


def _all_of(masks: Sequence[ast.expr]) -> ast.expr:
    made = masks[0]
    for each in masks[1:]:
        made = nodes.binary(made, ast.BitAnd, each)
    return made


def _deepest(loop: ast.For) -> list[ast.For]:
    """The loops with most loops around them; the loop itself where there is none inside."""
    level = [loop]
    while True:
        inner = [found for each in level for found in _next(each.body)]
        if not inner:
            return level
        level = inner


def _next(body: Sequence[ast.stmt]) -> Iterator[ast.For]:
    """The outermost loops in a block."""
    for statement in body:
        if isinstance(statement, ast.For):
            yield statement
            continue
        for part in query.bodies(statement):
            yield from _next(part)


def _ranged(loop: ast.For, start: ast.expr, stop: ast.expr, step: int) -> ast.expr:
    """``range(start, stop, step)``, or the word that the loop has for it."""
    assert isinstance(loop.iter, ast.Call)
    ends = [stop] if query.is_constant(start, 0) and step == 1 else [start, stop]
    if step != 1:
        ends.append(nodes.const(step))
    return nodes.call(nodes.clone(loop.iter.func), ends)
