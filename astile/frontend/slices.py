"""Statements over slices become loops over their cells."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from astile.frontend import lengths
from astile.frontend.arrays import Facts
from astile.frontend.cell_types import cell_type, types_of
from astile.frontend.guards import guarded
from astile.frontend.lengths import Lengths
from astile.frontend.spans import Assumed, Kept, Part, Span, SpanReader, first_reads
from astile.frontend.vocabulary import CELLWISE, numpy_word, path_of
from astile.frontend.walk import edited
from astile.ir import nodes, query
from astile.ir.needs import Arithmetic, Fits
from astile.ir.printer import print_expression
from astile.ir.program import Program

_CELLWISE_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip
_LETTERS = ("i", "j", "k", "l", "p", "q", "r")


def slices(program: Program) -> Program:
    """Turn statements that store into slices into loops, where both do the same.

    NumPy computes the whole value before it stores the first cell. Where a loop would store a cell
    that a later iteration reads, the values wait in an array of their own, or the statement stays.

    Args:
        program: is not changed.

    Before::

        def f(A, B, n):
            for i in range(n):
                A[i, 1:] = 0.5 * B[i, :-1]

    After::

        def f(A, B, n):
            if A.shape[1] != B.shape[1]:
                raise ValueError("A[i, 1:] and B[i, :-1] have different lengths")
            for i in range(n):
                for j in range(1, A.shape[1]):
                    A[i, j] = 0.5 * B[i, j - 1]
    """
    new = program.cloned()
    assumed = Assumed()
    slicer = _Slicer(new, assumed)
    changed = edited(new.function, slicer.facts.sizes, slicer.rewritten)
    if not changed:
        return program
    new = guarded(new, assumed)
    return replace(
        new,
        imports={**new.imports, **slicer.imports},
        needs=tuple(dict.fromkeys((*program.needs, *assumed.needs))),
    )


class _Slicer:
    def __init__(self, program: Program, assumed: Assumed) -> None:
        self.program, self.assumed = program, assumed
        self.facts = Facts(program)
        self.taken = program.used_names()
        self.letters: list[str] = []
        self.imports: dict[str, str] = {}

    def rewritten(self, statement: ast.stmt, known: Lengths) -> list[ast.stmt] | None:
        """The loops in place of a statement, or None where it stays."""
        found = _stored(statement, self.facts)
        if found is None:
            return None
        own = Assumed()
        try:
            made = _Statement(self, known, own).loops(statement, *found)
        except Kept:
            return None
        self.assumed.add(own.needs)
        for need, message in own.guards.items():
            self.assumed.guard(need, message)
        return made

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the program has."""
        number, result = 0, wanted
        while result in self.taken:
            number += 1
            result = f"{wanted}_{number}"
        self.taken.add(result)
        return result

    def variables(self, count: int) -> list[str]:
        """Variables for made loops; the same ones for each statement."""
        while len(self.letters) < count:
            free = [each for each in _LETTERS if each not in self.taken]
            self.letters.append(self.fresh(free[0] if free else "i"))
            self.taken.add(self.letters[-1])
        return self.letters[:count]

    def numpy(self, word: str) -> ast.expr:
        """``np.word``."""
        imports = {**self.program.imports, **self.imports}
        for name, path in imports.items():
            if path == "numpy":
                return nodes.attribute(name, word)
        name = self.fresh("np")
        self.imports[name] = "numpy"
        return nodes.attribute(name, word)


def _stored(
    statement: ast.stmt, facts: Facts
) -> tuple[ast.expr, type[ast.operator] | None, ast.expr] | None:
    """Target, operator of an update, and value of a statement that may store many cells."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, None, value
        case ast.AugAssign(target=ast.Subscript() as target, op=op, value=value):
            return target, type(op), value
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value) if (
            name in facts.ranks
        ):
            return target, type(op), value
    return None


@dataclass
class _Statement:
    """One statement while it is rewritten.

    Args:
        slicer: gives names.
        known: what is known of integers where it stands.
        assumed: collects what is assumed.
    """

    slicer: _Slicer
    known: Lengths
    assumed: Assumed

    def loops(
        self,
        statement: ast.stmt,
        target: ast.expr,
        operator: type[ast.operator] | None,
        value: ast.expr,
    ) -> list[ast.stmt] | None:
        """The statements in its place; None where it stores one cell.

        Raises:
            Kept: where they would not do the same.
        """
        facts = self.slicer.facts
        self.reader = SpanReader(facts, self.known, self.assumed)
        written = self.reader.part(target)
        if written is None or not written.spans:
            return None
        if operator is not None and not issubclass(operator, _CELLWISE_OPERATORS):
            raise Kept("an operator that is computed another way for whole arrays")
        self.reader.require_inside(written)
        self.written, self.before = written, list[ast.stmt]()
        self.shown = print_expression(nodes.substitute(target, {}))
        self.waits = False
        self.variables = self.slicer.variables(len(written.spans))
        self.written = replace(written, axes=tuple(map(self._settled, written.axes)))
        cell = self._cell(value)
        self._require_types(operator, value)
        self.assumed.add(facts.needs_of(query.names_read(statement) | {written.array}))
        made = self._with_wait(operator, cell) if self.waits else [self._plain(operator, cell)]
        nest = [*self.before, *made]
        for each in nest:
            _place(statement, each)
        return nest

    def _settled(self, axis: ast.expr | Span) -> ast.expr | Span:
        """An index that is no plain one is computed once."""
        if isinstance(axis, Span) or not any(
            isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(axis)
        ):
            return axis
        return self._computed_once(axis)

    # --- the value of one cell ------------------------------------------------------------------

    def _cell(self, value: ast.expr) -> ast.expr:
        """The value of one cell, over the variables of the loops.

        Raises:
            Kept: for what is not computed cell by cell.
        """
        if self.slicer.facts.is_number(value):
            return self._number(value)
        match value:
            case ast.Name() | ast.Subscript():
                part = self.reader.part(value)
                if part is None or not part.spans:
                    raise Kept("a name that is not known to be an array")
                return self._read(part, value)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(left, right)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _CELLWISE_OPERATORS):
                return nodes.binary(self._cell(left), type(op), self._cell(right))
            case ast.UnaryOp(op=op, operand=operand) if not isinstance(op, ast.Not):
                return ast.UnaryOp(type(op)(), self._cell(operand))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return nodes.compare(self._cell(left), type(op), self._cell(right))
            case ast.Call(func=function, args=arguments, keywords=[]):
                is_abs = path_of(self.slicer.program, function) == "abs"
                if is_abs or numpy_word(self.slicer.program, function) in CELLWISE:
                    return nodes.call(nodes.clone(function), [self._cell(e) for e in arguments])
        raise Kept("a value that is not computed cell by cell")

    def _power(self, base: ast.expr, exponent: ast.expr) -> ast.expr:
        """``A[i, :] ** 2``: NumPy squares whole arrays, and calls `pow` for single cells."""
        number = query.integer(exponent)
        if number is None or number < 2:
            raise Kept("a power that is computed another way for whole arrays")
        types = types_of(self.slicer.facts, base)
        if types is None:
            raise Kept("a power of an unknown type")
        self.assumed.add([Arithmetic(tuple(sorted(types)))])
        cell = self._cell(base)
        if number > 2:
            return nodes.call(self.slicer.numpy("power"), [cell, nodes.const(number)])
        if isinstance(cell, (ast.Name, ast.Subscript)):
            return nodes.binary(cell, ast.Mult, nodes.clone(cell))
        return nodes.call(self.slicer.numpy("square"), [cell])

    def _number(self, value: ast.expr) -> ast.expr:
        """A number that is the same for all cells: computed once where that may matter."""
        if _is_plain(value) or self._is_untouched_cell(value):
            return nodes.clone(value)
        return self._computed_once(value)

    def _is_untouched_cell(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Subscript) or isinstance(value.value, ast.Attribute):
            return False
        if not all(map(_is_plain, query.indices(value))):
            return False
        part = self.reader.part(value)
        if part is None or not all(
            self.reader.is_inside(part.array, axis, index)
            for axis, index in enumerate(query.indices(value))
        ):
            return False
        return part.array != self.written.array or first_reads(
            self.known, self.written, part, self.written.spans
        )

    def _computed_once(self, value: ast.expr) -> ast.expr:
        name = self.slicer.fresh("value")
        self.before.append(nodes.assign(name, nodes.clone(value)))
        return nodes.name(name)

    def _read(self, part: Part, access: ast.expr) -> ast.expr:
        """The cell of a part that belongs to the cell that is stored."""
        own = self.written.spans
        if len(part.spans) > len(own):
            raise Kept("a value with more axes than the place it is stored in")
        self.reader.require_inside(part)
        skipped = len(own) - len(part.spans)
        pairs = iter(zip(self.variables[skipped:], own[skipped:], strict=True))
        part = replace(part, axes=tuple(map(self._settled, part.axes)))
        shown = f"{self.shown} and {print_expression(access)} have different lengths"
        indices: list[ast.expr] = []
        for axis in part.axes:
            if isinstance(axis, Span):
                indices.append(self._index(*next(pairs), axis, shown))
            else:
                indices.append(nodes.clone(axis))
        if part.array == self.written.array:
            self.waits |= not first_reads(self.known, self.written, part, own)
        return nodes.subscript(part.array, indices)

    def _index(self, variable: str, own: Span, other: Span, shown: str) -> ast.expr:
        offset = self.reader.offset(own, other, shown)
        factor = 1 if own.step == other.step else -1
        return self._shown(lengths.Linear({variable: factor}).plus(offset))

    def _require_types(self, operator: type[ast.operator] | None, value: ast.expr) -> None:
        """Assume that cells take the value by casts that NumPy makes for whole arrays too."""
        if operator is None and _is_literal(value):
            return
        facts = self.slicer.facts
        target = cell_type(facts, self.written.array)
        sources = types_of(facts, value)
        if target is None or sources is None:
            raise Kept("a value of a type that is not known")
        if operator is not None and issubclass(operator, ast.Div):
            sources = {*sources, ("weak", "float")}
        if target[0] == "dtype" and all(each[0] == "weak" for each in sources):
            if not Fits(target, tuple(sources)).holds({}):
                raise Kept("a value that does not fit into the cells")
            return
        self.assumed.add([Fits(target, tuple(sorted(sources)))])

    # --- loops ----------------------------------------------------------------------------------

    def _plain(self, operator: type[ast.operator] | None, cell: ast.expr) -> ast.stmt:
        place = self._place(store=True)
        made: ast.stmt = nodes.assign(place, cell)
        if operator is not None:
            made = nodes.update(place, operator, cell)
        return self._nest(made)

    def _with_wait(self, operator: type[ast.operator] | None, cell: ast.expr) -> list[ast.stmt]:
        """All values are computed into an array of their own, and then stored."""
        if any(each.step != 1 for each in self.written.spans):
            raise Kept("overlapping slices with a step")
        array = self.written.array
        waiting = self.slicer.fresh(f"{array}_new")
        shape = [self._length(each) for each in self.written.spans]
        dtype = nodes.attribute(array, "dtype")
        arguments = [shape[0] if len(shape) == 1 else nodes.tuple_of(shape), dtype]
        allocated = nodes.assign(waiting, nodes.call(self.slicer.numpy("empty"), arguments))
        if operator is not None:
            cell = nodes.binary(self._place(), operator, cell)
        filled = self._nest(nodes.assign(self._waiting(waiting, store=True), cell))
        stored = nodes.assign(self._place(store=True), self._waiting(waiting))
        return [allocated, filled, self._nest(stored)]

    def _waiting(self, array: str, *, store: bool = False) -> ast.Subscript:
        pairs = zip(self.variables, self.written.spans, strict=True)
        forms = [lengths.symbol(name).minus(span.start) for name, span in pairs]
        return nodes.subscript(array, [lengths.expression(e) for e in forms], store=store)

    def _length(self, span: Span) -> ast.expr:
        form = span.stop.minus(span.start)
        if span.clipped is not None or not self.known.is_never_negative(form):
            end = span.clipped or self._shown(span.stop)
            if not span.start.is_zero():
                end = nodes.binary(nodes.clone(end), ast.Sub, self._shown(span.start))
                if span.clipped is None:
                    end = self._shown(form)
            return nodes.call("max", [nodes.clone(end), nodes.const(0)])
        return self._shown(form)

    def _place(self, *, store: bool = False) -> ast.Subscript:
        variables = iter(self.variables)
        indices = [
            nodes.name(next(variables)) if isinstance(each, Span) else nodes.clone(each)
            for each in self.written.axes
        ]
        return nodes.subscript(self.written.array, indices, store=store)

    def _nest(self, statement: ast.stmt) -> ast.stmt:
        pairs = list(zip(self.variables, self.written.spans, strict=True))
        for variable, span in reversed(pairs):
            statement = nodes.for_loop(variable, self._range(span), [statement])
        return statement

    def _range(self, span: Span) -> ast.expr:
        stop = nodes.clone(span.clipped) if span.clipped else self._shown(span.stop)
        arguments = [self._shown(span.start), stop, nodes.const(span.step)]
        if span.step == 1:
            arguments.pop()
            if span.start.is_zero():
                arguments.pop(0)
        return nodes.call("range", arguments)

    def _shown(self, form: lengths.Linear) -> ast.expr:
        """A sum, with the user's names of lengths."""
        return lengths.expression(form, self.known.spelled)


def _is_plain(value: ast.expr) -> bool:
    """Whether a number can be computed again and again: names, literals, sums and products."""
    match value:
        case ast.Constant() | ast.Name():
            return True
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_plain(operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return _is_plain(left) and _is_plain(right)
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as by)):
            return bool(by) and _is_plain(left)
    return False


def _is_literal(value: ast.expr) -> bool:
    match value:
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            return _is_literal(operand)
    return isinstance(value, ast.Constant)


def _place(source: ast.stmt, made: ast.AST) -> None:
    """Statements stand where the user wrote theirs; loops that astile made stand nowhere."""
    for node in ast.walk(made):
        if not isinstance(node, ast.For) and not hasattr(node, "lineno"):
            nodes.copy_place(source, node)
