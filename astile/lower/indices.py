"""Index arithmetic of CUDA text: unsigned where it is proved not negative, else 64 bit signed.

numba makes an index that may be negative count from the end (``i < 0 ? i + n : i``), for each
signed type; unsigned types skip that, and let LLVM merge neighbouring accesses. A literal is
64 bit signed for numba, so it is written ``uint32(16)``; unsigned operands of 32 bit give 64 bit.
Where a part of an expression may be negative (the halo test ``i - 1 >= 0``), all of it is computed
in ``int64`` and the result is cast once it is proved not negative.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.ir import nodes, printer, query
from astile.lower import bounds, counters
from astile.lower.checks import Checks
from astile.lower.facts import Facts, is_size
from astile.lower.layouts import Layout

#: Name, axis by axis, of what an access of an array becomes.
Reshape = Callable[[Sequence[ast.expr]], list[ast.expr]]
_UNSIGNED_LIMIT = 2**32


@dataclass(frozen=True)
class Casts:
    """The names of the integer types in the text."""

    int32: str = "int32"
    uint32: str = "uint32"
    uint64: str = "uint64"
    int64: str = "int64"


@dataclass(frozen=True)
class IndexWriter:
    """Rewrites expressions of a kernel at one place of it.

    Args:
        facts: the program's integers.
        unsigned: names that hold an unsigned integer in the text.
        casts: names of the integer types.
        reshaped: arrays whose indices change (private tiles) -> how.
        ranges: the loop variables in scope, outermost first.
        guards: forms that are proved ``>= 0`` here.
        checks: how indices are checked that may leave their array; None where nothing may.
        layout: of the arrays, for accesses of several cells at once; None where there are none.
        inner: loop variables that nothing reads outside of their loops, which may then go.
    """

    facts: Facts
    unsigned: frozenset[str] = frozenset()
    casts: Casts = Casts()
    reshaped: Mapping[str, Reshape] = field(default_factory=dict)
    ranges: tuple[Range, ...] = ()
    guards: tuple[Affine, ...] = ()
    checks: Checks | None = None
    layout: Layout | None = None
    inner: frozenset[str] = frozenset()

    # --- places ---------------------------------------------------------------------------------

    def inside(self, loop: ast.For) -> IndexWriter:
        """The writer for the body of a loop."""
        changed = {name for each in loop.body for name in query.names_written(each)}
        here = self._forgetting(changed | query.names_written(loop.target))
        found = intervals.range_of(loop)
        if found is None or found.variable in changed:
            return here
        if (found.first.names() | found.last.names()) & (changed | {found.variable}):
            return here
        return replace(here, ranges=(*here.ranges, found))

    def under(self, condition: ast.expr, body: Sequence[ast.stmt] = ()) -> IndexWriter:
        """The writer for what runs only where a condition holds."""
        changed = {name for each in body for name in query.names_written(each)}
        forms = [
            form
            for each in bounds.conjuncts(condition)
            if (form := bounds.nonnegative_form(each, self.facts)) is not None
            and not form.names() & changed
        ]
        return replace(self, guards=(*self.guards, *forms))

    def _forgetting(self, names: set[str]) -> IndexWriter:
        return replace(
            self,
            guards=tuple(g for g in self.guards if not g.names() & names),
            ranges=tuple(
                r
                for r in self.ranges
                if r.variable not in names and not (r.first.names() | r.last.names()) & names
            ),
        )

    def is_nonnegative(self, expression: ast.expr) -> bool:
        """Whether an integer expression is proved ``>= 0`` here."""
        form, (ranges, guards) = self.facts.form(expression), self._resolved
        if intervals.is_nonnegative(form, ranges):
            return True
        return any(intervals.is_nonnegative(form - guard, ranges) for guard in guards)

    @cached_property
    def _resolved(self) -> tuple[list[Range], list[Affine]]:
        """The ranges and the guards, names of sizes and constants resolved."""
        sizes = self.facts.sizes
        return self.facts.ranges(self.ranges), [each.substituted(sizes) for each in self.guards]

    # --- integers -------------------------------------------------------------------------------

    def index(self, expression: ast.expr) -> ast.expr:
        """An index of an array."""
        if isinstance(expression, ast.Slice) or query.integer(expression) is not None:
            return self.value(expression)
        if not self.facts.is_integer(expression):
            return self.value(expression)
        unsigned = self.as_unsigned(expression)
        if unsigned is not None:
            return unsigned
        signed = self.as_signed(expression)
        if self.is_nonnegative(expression):
            return nodes.call(self.casts.uint64, [signed])
        return signed

    def as_unsigned(self, expression: ast.expr) -> ast.expr | None:
        """The expression in unsigned arithmetic, or None where a part may be negative."""
        number = self.facts.number(expression) if self._is_literal(expression) else None
        if number is not None:
            if not 0 <= number < _UNSIGNED_LIMIT:
                return None
            return nodes.call(self.casts.uint32, [nodes.clone(expression)])
        if isinstance(expression, ast.Name) and expression.id in self.unsigned:
            return nodes.clone(expression)
        if isinstance(expression, ast.Name) or is_size(expression):
            if not self.is_nonnegative(expression):
                return None
            return nodes.call(self.casts.uint64, [nodes.clone(expression)])
        if isinstance(expression, ast.BinOp):
            return self._unsigned_binary(expression)
        if isinstance(expression, ast.Call) and query.dotted(expression.func) in ("min", "max"):
            parts = [self.as_unsigned(each) for each in expression.args]
            known = [each for each in parts if each is not None]
            if len(known) == len(parts):
                return nodes.call(nodes.clone(expression.func), known)
        return None

    def _is_literal(self, expression: ast.expr) -> bool:
        if query.integer(expression) is not None:
            return True
        return isinstance(expression, ast.Name) and expression.id in self.facts.constants

    def _unsigned_binary(self, expression: ast.BinOp) -> ast.expr | None:
        left, right = self.as_unsigned(expression.left), self.as_unsigned(expression.right)
        if left is None or right is None:
            return None
        operator = expression.op
        if isinstance(operator, ast.Sub) and not self.is_nonnegative(expression):
            return None
        if isinstance(operator, (ast.FloorDiv, ast.Mod)):
            divisor = self.facts.number(expression.right)
            if divisor is None or divisor <= 0:
                return None
        elif not isinstance(operator, (ast.Add, ast.Sub, ast.Mult)):
            return None
        return nodes.binary(left, type(operator), right)

    def as_signed(self, expression: ast.expr) -> ast.expr:
        """The expression in 64 bit signed arithmetic."""
        values = {
            name: nodes.call(self.casts.int64, [nodes.name(name)])
            for name in query.names_read(expression) & self.unsigned
        }
        return nodes.substitute(expression, values)

    def condition(self, expression: ast.expr) -> ast.expr:
        """A condition; integer comparisons are unsigned as a whole or signed as a whole."""
        if isinstance(expression, ast.BoolOp):
            here, parts = self, []
            for each in expression.values:
                parts.append(here.condition(each))
                if isinstance(expression.op, ast.And):
                    here = here.under(each)
            if isinstance(expression.op, ast.And):
                return nodes.conjunction(parts)
            return ast.BoolOp(ast.Or(), parts)
        if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not):
            return ast.UnaryOp(ast.Not(), self.condition(expression.operand))
        if not isinstance(expression, ast.Compare) or not self.facts.is_static(expression):
            return self.value(expression)
        sides = [expression.left, *expression.comparators]
        parts = [part for each in sides if (part := self.as_unsigned(each)) is not None]
        if len(parts) == len(sides):
            return nodes.comparison(parts, expression.ops)
        pairs = zip(sides, expression.ops, sides[1:], strict=False)
        balanced = [self._balanced(*each) for each in pairs]
        known = [each for each in balanced if each is not None]
        if len(known) == len(balanced):
            return nodes.conjunction(known)
        parts = [self.as_signed(each) for each in sides]
        return nodes.comparison(parts, expression.ops)

    def _balanced(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr | None:
        """A comparison with what is subtracted on one side added to the other.

        ``i - 1 >= 0`` becomes ``i >= 1``: no part of it is negative.
        """
        difference = affine.of(left) - affine.of(right)
        sides = []
        for sign in (1, -1):
            terms = {
                key: (coefficient * sign, atom)
                for key, (coefficient, atom) in difference.terms.items()
                if coefficient * sign > 0
            }
            side = Affine(terms, max(difference.constant * sign, 0))
            unsigned = self.as_unsigned(side.expression())
            if unsigned is None:
                return None
            sides.append(unsigned)
        return nodes.compare(sides[0], type(operator), sides[1])

    def can_count_unsigned(self, loop: ast.For) -> bool:
        """Whether a counted loop may count in unsigned integers."""
        header = query.header(loop)
        if header is None:
            return False
        step = query.integer(header.step)
        if step is None or step <= 0:
            return False
        if self._counts_in_32_bits(loop):
            return False
        return all(self.as_unsigned(e) is not None for e in (header.start, header.stop))

    def _counts_in_32_bits(self, loop: ast.For) -> bool:
        """Whether a loop counts in int32, which takes fewer instructions than 64 bits."""
        if self.layout is None:
            return False
        bound = counters.stop_of(loop, self.facts)
        own = {*self.layout.shared, *self.layout.local}  # which the host does not have
        if bound is None or not bound.arrays <= self.layout.sizes.keys() - own:
            return False
        self.layout.short.update(bound.arrays)
        return True

    def range_call(self, loop: ast.For) -> ast.expr:
        """The iterator of a sequential loop."""
        header = query.header(loop)
        if header is None:
            return self.value(loop.iter)
        assert isinstance(loop.iter, ast.Call)
        if self._counts_in_32_bits(loop):
            return nodes.call(
                "range", [nodes.call(self.casts.int32, [self.as_signed(header.stop)])]
            )
        if header.variable in self.unsigned:
            convert: Callable[[ast.expr], ast.expr | None] = self.as_unsigned
        else:
            convert = self.as_signed
        arguments = [part for e in loop.iter.args if (part := convert(e)) is not None]
        return nodes.call("range", arguments)

    # --- values ---------------------------------------------------------------------------------

    def value(self, expression: ast.expr) -> ast.expr:
        """An expression whose value matters: loop variables are signed, indices are indices."""
        made = self._rewritten(expression)
        assert isinstance(made, ast.expr)
        return made

    def _rewritten(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Subscript) and query.base_name(node) is not None:
            return self.access(node)
        if isinstance(node, ast.Name):
            if node.id in self.unsigned and isinstance(node.ctx, ast.Load):
                return nodes.call(self.casts.int64, [nodes.clone(node)])
            return nodes.clone(node)
        if isinstance(node, ast.IfExp):
            here = self.under(node.test)
            return ast.IfExp(
                self.condition(node.test), here.value(node.body), self.value(node.orelse)
            )
        if isinstance(node, (ast.Compare, ast.BoolOp)) and self._has_condition(node):
            return self.condition(node)
        if isinstance(node, ast.Call):
            compared = self._compared(node)
            if compared is not None:
                return compared
        made = nodes.clone(node)
        for name, value in ast.iter_fields(made):
            if isinstance(value, ast.AST):
                setattr(made, name, self._rewritten(value))
            elif isinstance(value, list):
                setattr(
                    made, name, [self._rewritten(v) if isinstance(v, ast.AST) else v for v in value]
                )
        return made

    def _has_condition(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            return True
        return self.facts.is_static(node)

    def access(self, node: ast.Subscript) -> ast.Subscript:
        """An access of cells, its indices as unsigned as they can be."""
        base = query.base_name(node)
        assert base is not None
        if base in self.reshaped:
            kept = [self.index(each) for each in self.reshaped[base](query.indices(node))]
            return nodes.subscript(base, kept, store=isinstance(node.ctx, ast.Store))
        inner = node.value
        container: ast.expr = nodes.name(base)
        if isinstance(inner, ast.Subscript):
            container = self.access(inner)
        offset = len(query.indices(inner)) if isinstance(inner, ast.Subscript) else 0
        own = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        made_indices = [self._on_axis(base, offset + k, each) for k, each in enumerate(own)]
        made = nodes.subscript(container, made_indices, store=isinstance(node.ctx, ast.Store))
        return nodes.copy_place(node, made)

    def _on_axis(self, array: str, axis: int, index: ast.expr) -> ast.expr:
        """An index along an axis; one that is always negative counts from the end, in the text."""
        if not isinstance(index, ast.Slice) and self._may_leave(array, axis, index):
            return self._checked(array, axis, index)
        if isinstance(index, ast.Slice):
            return self.index(index)
        if self.facts.is_integer(index):
            form = self.facts.form(index)
            if self.facts.is_nonnegative(-form - 1, self.ranges):
                size = affine.of(self._extent(array, axis))
                return self.as_signed((size + affine.of(index)).expression())
        if self.checks is not None and self.checks.negative:
            text = printer.print_expression(index)
            if (array, axis, text) in self.checks.negative:
                return self._from_end(array, axis, index)
        return self.index(index)

    def _from_end(self, array: str, axis: int, index: ast.expr) -> ast.expr:
        """An index that counts from the end where it is negative."""
        size = affine.of(self._extent(array, axis))
        counted = self.as_signed((size + affine.of(index)).expression())
        within = nodes.compare(self.as_signed(index), ast.GtE, nodes.const(0))
        return ast.IfExp(within, self.as_signed(index), counted)

    def _extent(self, array: str, axis: int) -> ast.expr:
        """The length of an axis; a tuple has no shape, its length is a number."""
        number = None if self.checks is None else self.checks.extent(array, axis)
        if number is not None:
            return nodes.const(number)
        return nodes.subscript(nodes.attribute(array, "shape"), [nodes.const(axis)])

    def _may_leave(self, array: str, axis: int, index: ast.expr) -> bool:
        if self.checks is None or array not in self.checks.arrays or _is_many(index):
            return False
        is_known = self.facts.is_integer(index)
        return not (is_known and self.checks.stays(array, axis, index, self))

    def _checked(self, array: str, axis: int, index: ast.expr) -> ast.expr:
        """An index that is checked when the kernel runs, of whatever integer type it is."""
        assert self.checks is not None
        size = self._extent(array, axis)
        value = nodes.clone(index) if isinstance(index, ast.Name) else self.value(index)
        return nodes.call(self.checks.word, [value, size, nodes.name(self.checks.failed)])

    def _compared(self, node: ast.Call) -> ast.expr | None:
        """``max(a, b)`` as a comparison, which keeps Python's rule for NaN; None for others.

        Python's ``max`` returns the first argument unless a later one is greater; the GPU's
        instruction returns the number where the other is NaN.
        """
        word = query.dotted(node.func)
        if word not in ("min", "max") or len(node.args) < 2 or node.keywords:
            return None
        if self.facts.is_integer(node) or any(isinstance(a, ast.Starred) for a in node.args):
            return None
        operator: type[ast.cmpop] = ast.Gt if word == "max" else ast.Lt
        result = self.value(node.args[0])
        for each in node.args[1:]:
            later = self.value(each)
            test = nodes.compare(nodes.clone(later), operator, nodes.clone(result))
            result = ast.IfExp(test, later, nodes.clone(result))
        return result


def _is_many(index: ast.expr) -> bool:
    """Whether an index adds an axis, or stands for several."""
    return isinstance(index, ast.Starred) or (
        isinstance(index, ast.Constant) and (index.value is None or index.value is Ellipsis)
    )
