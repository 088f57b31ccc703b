"""Uses of the name of a row or window, written as uses of the array that it is a part of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.lengths import Lengths
from astile.frontend.spans import Assumed, Kept, SpanReader
from astile.frontend.sums import Linear
from astile.ir import nodes, query
from astile.ir.printer import print_expression


def is_whole_slice(index: ast.expr) -> bool:
    """Whether an index is ``:``.

    Args:
        index: of an access.
    """
    return isinstance(index, ast.Slice) and all(
        each is None for each in (index.lower, index.upper, index.step)
    )


def seen_through(
    uses: Sequence[ast.stmt],
    name: str,
    value: ast.expr,
    known: Lengths,
    facts: Facts,
    assumed: Assumed,
) -> list[ast.stmt]:
    """Statements without the name of a part of an array.

    Args:
        uses: consecutive statements, which are not changed.
        name: the name.
        value: what it stands for, ``A[i]``, ``A[i : i + 3]`` or ``A.T``.
        known: what is known of integers where they start.
        facts: what the names of the program hold.
        assumed: is added to.

    Raises:
        Kept: where one of them cannot be said without the name.
    """
    replacer = _Replacer(name, value, facts, assumed)
    made: list[ast.stmt] = []
    for use in uses:
        each = nodes.clone(use)
        replacer.statement(each, known)
        made.append(each)
        known = known.next(use)
    return made


class _Replacer(ast.NodeTransformer):
    """Puts the array in place of the name of a part of it.

    Args:
        name: the name.
        value: what it stands for, ``A[i]``, ``A[i : i + 3]`` or ``A.T``.
        facts: what the names of the program hold.
        assumed: is added to.
    """

    def __init__(self, name: str, value: ast.expr, facts: Facts, assumed: Assumed) -> None:
        self.name, self.value, self.facts, self.assumed = name, value, facts, assumed
        self.known = Lengths()
        base = query.base_name(value.value if isinstance(value, ast.Attribute) else value)
        assert base is not None
        self.base = base
        given = query.indices(value) if isinstance(value, ast.Subscript) else []
        whole = [ast.Slice() for _ in range(facts.ranks[base] - len(given))]
        self.axes: list[ast.expr] = [*given, *whole]
        #: The axes of the array that are axes of the part, in its order.
        self.open = [axis for axis, each in enumerate(self.axes) if isinstance(each, ast.Slice)]
        if isinstance(value, ast.Attribute):
            self.open.reverse()

    def statement(self, statement: ast.stmt, known: Lengths) -> None:
        """Edit a statement and those inside of it.

        Args:
            statement: is edited.
            known: what is known of integers where it stands.

        Raises:
            Kept: where it cannot be said without the name.
        """
        self.known = known
        bodies = query.bodies(statement)
        if not bodies:
            self.generic_visit(statement)
            return
        for field in ("target", "iter", "test"):
            part = getattr(statement, field, None)
            if part is not None:
                setattr(
                    statement, field, self._header(part) if field == "iter" else self.visit(part)
                )
        for body in bodies:
            inner = known.within(statement, body)
            for each in body:
                self.statement(each, inner)
                inner = inner.next(each)

    def _header(self, iterable: ast.expr) -> ast.AST:
        """What a loop goes through: a range to a negative number is as empty as one to 0."""
        is_used = self.name in query.names_read(iterable)
        made = self.visit(iterable)
        match made:
            case ast.Call(
                func=ast.Name(id="range"),
                args=[ast.Call(func=ast.Name(id="max"), args=[end, ast.Constant(value=0)])],
            ) if is_used:
                made.args = [end]
        return made  # type: ignore[no-any-return]

    # --- cells and parts --------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.name:
            visited = self.visit(node.slice)
            assert isinstance(visited, ast.expr)
            node.slice = visited
            return self._access(node)
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis
            ) if name == self.name:
                number = query.integer(axis)
                if number is not None and -len(self.open) <= number < len(self.open):
                    return nodes.copy_place(node, self._extent(self.open[number]))
        self.generic_visit(node)
        return node

    def _access(self, node: ast.Subscript) -> ast.expr:
        shown = print_expression(nodes.substitute(node, {}))
        axes = [nodes.clone(each) for each in self.axes]
        for axis, index in zip(self.open, query.indices(node), strict=False):
            whole = is_whole_slice(axes[axis])
            axes[axis] = index if whole else _Window(self, axis, shown).index(index)
        while axes and is_whole_slice(axes[-1]) and len(axes) > 1:
            axes.pop()
        made = nodes.subscript(self.base, axes, store=isinstance(node.ctx, ast.Store))
        return nodes.copy_place(node, made)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name:
            return node
        return nodes.copy_place(node, nodes.clone(self.value))

    # --- lengths ----------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name == self.name:
                return nodes.copy_place(node, self._extent(self.open[0]))
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.name:
            made = self._attribute(node.attr)
            if made is not None:
                return nodes.copy_place(node, made)
        self.generic_visit(node)
        return node

    def _attribute(self, word: str) -> ast.expr | None:
        if word == "dtype":
            return nodes.attribute(self.base, "dtype")
        if word == "shape":
            return nodes.tuple_of([self._extent(each) for each in self.open])
        if word == "size" and len(self.open) == 1:
            return self._extent(self.open[0])
        return None

    def _extent(self, axis: int) -> ast.expr:
        index = self.axes[axis]
        if is_whole_slice(index) or not isinstance(index, ast.Slice):
            return sums.expression(sums.symbol(sums.extent_symbol(self.base, axis)))
        reader = self.reader(print_expression(nodes.clone(self.value)))
        span = reader.span(self.base, axis, index)
        if span.step != 1:
            raise Kept("a slice with a step")
        return reader.count(span)

    def reader(self, shown: str) -> SpanReader:
        """Reads slices where the replacer is.

        Args:
            shown: what messages show.
        """
        reader = SpanReader(self.facts, self.known, self.assumed)
        reader.shown = shown
        return reader


class _Window:
    """One axis of a part that is ``start:stop`` of an axis of the array.

    An index of the window is at least 0 and below ``stop - start``; where the array ends before
    that, so does the window, and the index is outside of both.

    Args:
        replacer: of the part.
        axis: of the array.
        shown: the access that is read, for messages.

    Raises:
        Kept: where the bounds are no sums.
    """

    def __init__(self, replacer: _Replacer, axis: int, shown: str) -> None:
        window = replacer.axes[axis]
        assert isinstance(window, ast.Slice)
        self.window, self.shown, self.name = window, shown, replacer.name
        self.known = replacer.known
        self.reader = replacer.reader(shown)
        text = sums.extent_symbol(replacer.base, axis)
        self.extent = self.known.sizes.get(text, sums.symbol(text))
        if window.step is not None:
            raise Kept("a slice with a step")
        self.start = self.reader.start(window.lower, self.extent)
        self.stop = self.extent if window.upper is None else self._form(window.upper)
        if self.stop.value is not None and self.stop.value < 0:
            self.stop = self.extent.plus(self.stop)
        self.size = self.stop.minus(self.start)

    def index(self, index: ast.expr) -> ast.expr:
        """An index of the window as one of the array.

        Args:
            index: a number or a slice.

        Raises:
            Kept: where it may be outside of the window.
        """
        if is_whole_slice(index):
            return nodes.clone(self.window)
        if isinstance(index, ast.Slice):
            return self._part(index)
        form = self._counted(self._form(index))
        left = self.size.minus(form).plus(sums.constant(-1))
        for each in (form, left):
            self.reader.require_not_negative(each, f"{self.shown} is outside of {self.name}")
        return self._sum(form, index)

    def _part(self, index: ast.Slice) -> ast.expr:
        if index.step is not None:
            raise Kept("a slice with a step")
        made = nodes.clone(self.window)
        if index.lower is not None:
            form = self._counted(self._form(index.lower))
            self.reader.require_not_negative(form, f"{self.shown} starts outside of {self.name}")
            made.lower = self._sum(form, index.lower)
        if index.upper is not None:
            form = self._counted(self._form(index.upper))
            for each in (form, self.size.minus(form)):
                self.reader.require_not_negative(each, f"{self.shown} ends outside of {self.name}")
            made.upper = self._sum(form, index.upper)
        return made

    def _form(self, index: ast.expr) -> Linear:
        form = self.known.linear(index)
        if form is None or not self.reader.facts.is_number(index):
            raise Kept("an index of a window that is no sum of integers")
        return form

    def _counted(self, form: Linear) -> Linear:
        """An index that counts from the end of the window as one from its start."""
        if form.value is None or form.value >= 0:
            return form
        beyond = self.extent.minus(self.stop)
        self.reader.require_not_negative(beyond, f"{self.shown} counts from the end of the array")
        return self.size.plus(form)

    def _sum(self, form: Linear, index: ast.expr) -> ast.expr:
        if self.start.is_zero() and self.known.linear(index) == form:
            return index
        return sums.expression(self.start.plus(form), self.known.spelled)
