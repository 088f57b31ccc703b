"""Loops over the elements of arrays become loops over their indices."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.lengths import Lengths
from astile.frontend.spans import Assumed, Kept, Part, Span, SpanReader
from astile.frontend.sums import Linear
from astile.frontend.vocabulary import numpy_word, path_of
from astile.ir import nodes, query
from astile.ir.program import Program

_LETTERS = ("i", "j", "k", "l", "p", "q", "r")


def iterations(program: Program) -> Program:
    """Count loops over known arrays, and read the element at the start of the body.

    Args:
        program: is not changed.

    Before::

        def f(A, B, out):
            for k, x in enumerate(A):
                out[k] = x
            for x, y in zip(A, B):
                out[0] += x * y
            for n, x in enumerate(A, start=1):
                out[0] += n * x
            for x in reversed(A):
                out[0] = out[0] / 2 + x

    After::

        def f(A, B, out):
            for k in range(A.shape[0]):
                x = A[k]
                out[k] = x
            for i in range(min(A.shape[0], B.shape[0])):
                x = A[i]
                y = B[i]
                out[0] += x * y
            for n in range(1, A.shape[0] + 1):
                x = A[n - 1]
                out[0] += n * x
            for j in range(A.shape[0] - 1, -1, -1):
                x = A[j]
                out[0] = out[0] / 2 + x
    """
    if all(query.header(each) is not None for each in query.loops(program.function)):
        return program  # as most are: do not read all that is known of them
    new, assumed = program.cloned(), Assumed()
    counter = _Counter(new, assumed)
    counter.block(new.function.body, counter.facts.known())
    if not counter.has_changed:
        return program
    return replace(new, needs=tuple(dict.fromkeys((*program.needs, *assumed.needs))))


@dataclass(frozen=True)
class _Elements:
    """A loop over elements.

    Args:
        target: the names that they get.
        iterable: the arrays.
        variable: the name that counts them; None where there is none.
        first: what it counts from.
        is_reversed: whether the last element comes first.
    """

    target: ast.expr
    iterable: ast.expr
    variable: str | None = None
    first: int = 0
    is_reversed: bool = False


class _Counter:
    def __init__(self, program: Program, assumed: Assumed) -> None:
        self.program, self.assumed = program, assumed
        self.facts = Facts(program)
        self.taken = program.used_names()
        self.has_changed = False

    def block(self, body: Sequence[ast.stmt], known: Lengths, *, is_top: bool = True) -> None:
        """Edit the loops among statements, in place."""
        for statement in body:
            if isinstance(statement, ast.For):
                self._edit(statement, known)
            is_counted = isinstance(statement, ast.For) and query.header(statement) is not None
            inside = known.inside(statement) if is_counted else known  # type: ignore[arg-type]
            for inner in query.bodies(statement):
                self.block(inner, inside, is_top=False)
            if is_top:
                known = known.after(statement)

    def _edit(self, loop: ast.For, known: Lengths) -> None:
        if query.header(loop) is not None:
            return
        own = Assumed()
        try:
            made = self._made(loop, known, own)
        except Kept:
            return
        if made:
            self.has_changed = True
            self.assumed.add(own.needs)

    def _made(self, loop: ast.For, known: Lengths, own: Assumed) -> bool:
        """Edit one loop; False where it stays."""
        match loop.iter:
            case ast.Call(func=function, args=[inner], keywords=[]) if (
                path_of(self.program, function) == "reversed"
            ):
                if isinstance(inner, ast.Call):
                    return self._reverse(loop, inner, known)
                return self._count(
                    loop, _Elements(loop.target, inner, is_reversed=True), known, own
                )
            case ast.Call(func=function, args=[inner, *_]) as call if (
                path_of(self.program, function) == "enumerate"
            ):
                first = _first_number(call)
                match loop.target:
                    case ast.Tuple(elts=[ast.Name(id=word), target]) if first is not None:
                        counted = _Elements(target, inner, word, first)
                        return self._count(loop, counted, known, own)
                return False
            case ast.Call(func=function, args=[shape], keywords=[]) if (
                numpy_word(self.program, function) == "ndindex"
            ):
                return self._nest(loop, shape, known, own)
        return self._count(loop, _Elements(loop.target, loop.iter), known, own)

    # --- elements -------------------------------------------------------------------------------

    def _count(self, loop: ast.For, elements: _Elements, known: Lengths, own: Assumed) -> bool:
        pairs = self._pairs(elements.target, elements.iterable)
        reader = SpanReader(self.facts, known, own)
        parts = [(each, self._part(reader, array, loop, known, own)) for each, array in pairs]
        variable = elements.variable or self._letter()
        read = query.names_read(self.program.function)
        reads: list[ast.stmt] = [
            nodes.copy_place(
                loop, nodes.assign(nodes.clone(each), _element(part, variable, elements.first))
            )
            for each, part in parts
            if query.names_written(each) & read
        ]
        extents = _distinct([part.spans[0].stop.minus(part.spans[0].start) for _, part in parts])
        loop.target = nodes.copy_place(loop.target, nodes.target(variable))
        loop.iter = nodes.copy_place(loop.iter, _range(elements, extents, known))
        loop.body = [*reads, *loop.body]
        return True

    def _pairs(self, target: ast.expr, iterable: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
        """Names, or tuples of names, and the arrays whose elements they stand for."""
        match target, iterable:
            case ast.Tuple(elts=names), ast.Call(func=function, args=arrays, keywords=[]) if (
                path_of(self.program, function) == "zip" and len(names) == len(arrays) > 0
            ):
                found = [
                    pair for n, a in zip(names, arrays, strict=True) for pair in self._pairs(n, a)
                ]
                if len(found) == len(names):
                    return found
            case ast.Name(), ast.Name() | ast.Subscript():
                return [(target, iterable)]
            case ast.Tuple(elts=names), ast.Name() | ast.Subscript() if (
                all(isinstance(each, ast.Name) for each in names) and self.facts.axes(iterable) == 2
            ):
                return [(target, iterable)]
        raise Kept("a loop over something that is not known to be an array")

    def _part(
        self, reader: SpanReader, array: ast.expr, loop: ast.For, known: Lengths, own: Assumed
    ) -> Part:
        part = reader.part(array)
        if part is None or not part.spans or part.added:
            raise Kept("a loop over something that is not known to be an array")
        first, *others = part.spans
        if first.clipped is not None or first.step != 1 or not all(map(_is_whole, others)):
            raise Kept("a loop over a part of an array with a step, or that is cut")
        if sums.names_in([first.start, first.stop]) & query.names_written(loop):
            raise Kept("a part whose ends may change in the loop")
        reader.require_inside(part)
        single = [each for each in part.axes if isinstance(each, ast.expr)]
        names = {name for each in single for name in query.names_read(each)}
        if names & query.names_written(loop) or any(_computes(each) for each in single):
            raise Kept("an index that may change in the loop")
        own.add(self.facts.needs_of({part.array, *names}))
        return part

    def _letter(self) -> str:
        free = [each for each in _LETTERS if each not in self.taken]
        result, number = free[0] if free else "i", 0
        while result in self.taken:
            number += 1
            result = f"i_{number}"
        self.taken.add(result)
        return result

    # --- other iterators ------------------------------------------------------------------------

    def _reverse(self, loop: ast.For, inner: ast.Call, known: Lengths) -> bool:
        """``reversed(range(a, b))`` -> ``range(b - 1, a - 1, -1)``."""
        if path_of(self.program, inner.func) != "range":
            return False
        if not 1 <= len(inner.args) <= 2 or inner.keywords:
            return False
        ends = [nodes.const(0), *inner.args][-2:]
        forms = [known.linear(each) for each in ends]
        if None in forms or not isinstance(loop.target, ast.Name):
            return False
        one = sums.constant(-1)
        start, stop = (
            sums.expression(each.plus(one), known.spelled) for each in forms if each is not None
        )
        made = nodes.call("range", [stop, start, nodes.const(-1)])
        loop.iter = nodes.copy_place(loop.iter, made)
        return True

    def _nest(self, loop: ast.For, shape: ast.expr, known: Lengths, own: Assumed) -> bool:
        """``for i, j in np.ndindex(A.shape)`` -> a loop for each axis."""
        match loop.target, shape:
            case (
                ast.Tuple(elts=[*targets]),
                ast.Attribute(value=ast.Name(id=array), attr="shape"),
            ) if self.facts.ranks.get(array) == len(targets) > 1:
                names = [each.id for each in targets if isinstance(each, ast.Name)]
            case _:
                return False
        if len(set(names)) != len(targets) or _breaks(loop.body):
            return False
        own.add(self.facts.needs_of([array]))
        body = loop.body
        texts = [sums.extent_symbol(array, axis) for axis in range(len(names))]
        forms = [known.sizes.get(text, sums.symbol(text)) for text in texts]
        ends = [nodes.call("range", [sums.expression(e, known.spelled)]) for e in forms]
        for name, end in reversed(list(zip(names[1:], ends[1:], strict=True))):
            body = [nodes.copy_place(loop, nodes.for_loop(name, end, body))]
        loop.target, loop.iter, loop.body = nodes.target(names[0]), ends[0], body
        return True


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether statements leave the loop around them by ``break``."""
    return any(
        isinstance(each, ast.Break)
        or (not isinstance(each, (ast.For, ast.While)) and any(map(_breaks, query.bodies(each))))
        for each in body
    )


def _computes(index: ast.expr) -> bool:
    return any(isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(index))


def _is_whole(span: Span) -> bool:
    if span.clipped is not None or span.step != 1:
        return False
    return span.start.is_zero() and span.stop == span.extent


def _distinct(forms: list[Linear]) -> list[Linear]:
    return [each for position, each in enumerate(forms) if each not in forms[:position]]


def _first_number(call: ast.Call) -> int | None:
    """What a call of `enumerate` counts from; None where it is no number of the text."""
    given = [*call.args[1:], *(each.value for each in call.keywords if each.arg == "start")]
    if not given and not call.keywords:
        return 0
    is_one = len(given) == 1 and len(call.args) + len(call.keywords) == 2
    return query.integer(given[0]) if is_one else None


def _range(elements: _Elements, extents: Sequence[Linear], known: Lengths) -> ast.Call:
    """The numbers by which elements are counted: as many as the shortest array has."""
    if elements.is_reversed:
        [extent] = extents
        last = sums.expression(extent.plus(sums.constant(-1)), known.spelled)
        return nodes.call("range", [last, nodes.const(-1), nodes.const(-1)])
    first = sums.constant(elements.first)
    if len(extents) == 1:
        stop = sums.expression(extents[0].plus(first), known.spelled)
    else:
        stop = nodes.call("min", [sums.expression(each, known.spelled) for each in extents])
        if elements.first:
            stop = nodes.binary(stop, ast.Add, nodes.const(elements.first))
    return nodes.call("range", [nodes.const(elements.first), stop] if elements.first else [stop])


def _element(part: Part, variable: str, first: int) -> ast.expr:
    """``A[k]``: the element of the first axis that is gone along, counted from a number."""
    indices: list[ast.expr] = []
    has_variable = False
    for each in part.axes:
        if isinstance(each, ast.expr):
            indices.append(nodes.clone(each))
        elif not has_variable:
            counted = sums.symbol(variable).plus(each.start).minus(sums.constant(first))
            indices.append(sums.expression(counted))
            has_variable = True
        else:
            indices.append(ast.Slice())
    while isinstance(indices[-1], ast.Slice):
        indices.pop()
    return nodes.subscript(part.array, indices)
