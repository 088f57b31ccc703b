"""Names of arrays that an expression makes: allocated, and filled by loops over their cells."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.cell_types import cell_type, types_of
from astile.frontend.cells import Cells, accesses, covered, place
from astile.frontend.guards import guarded
from astile.frontend.lengths import Lengths
from astile.frontend.new_names import NewNames
from astile.frontend.numpy_types import is_known
from astile.frontend.spans import Assumed, Kept, Part, SpanReader
from astile.frontend.vocabulary import TRUTHS, numpy_word
from astile.frontend.walk import edited
from astile.ir import nodes, query
from astile.ir.needs import JoinedType, Source, joined_type
from astile.ir.printer import print_expression
from astile.ir.program import Program

_LOGICAL = (ast.BitAnd, ast.BitOr, ast.BitXor)


def new_arrays(program: Program) -> Program:
    """Turn ``name = expression`` into an allocation and loops, where the expression is an array.

    Args:
        program: is not changed.

    Before::

        def f(A, B, out):
            scaled = 2 * A[:, 0] + B[:]
            out[:] = scaled
            return scaled - B[:]

    After::

        def f(A, B, out):
            scaled = np.empty(A.shape[0], A.dtype)
            for i in range(A.shape[0]):
                scaled[i] = 2 * A[i, 0] + B[i]
            out[:] = scaled
            result = np.empty(A.shape[0], A.dtype)
            for i in range(A.shape[0]):
                result[i] = scaled[i] - B[i]
            return result
    """
    while True:  # what is made of an array is one once the first is known to be
        new, assumed = program.cloned(), Assumed()
        maker = _Maker(new, assumed)
        if not edited(new.function, maker.facts.known(), maker.rewritten):
            return program
        new = guarded(new, assumed)
        program = replace(
            new,
            imports={**new.imports, **maker.names.imports},
            needs=tuple(dict.fromkeys((*program.needs, *assumed.needs))),
        )


class _Maker:
    def __init__(self, program: Program, assumed: Assumed) -> None:
        self.assumed = assumed
        self.facts = Facts(program)
        self.names = NewNames(program)

    def rewritten(self, statement: ast.stmt, known: Lengths) -> list[ast.stmt] | None:
        """The statements in place of one, or None where it stays."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                self.facts.rebound[name] == [statement] and name not in self.facts.parameters
            ):
                return self._made(statement, name, value, known)
            case ast.Return(value=ast.expr() as value):
                return self._returned(statement, value, known)
        return None

    def _returned(
        self, statement: ast.Return, value: ast.expr, known: Lengths
    ) -> list[ast.stmt] | None:
        parts = value.elts if isinstance(value, ast.Tuple) else [value]
        before: list[ast.stmt] = []
        for position, part in enumerate(parts):
            name = self.names.fresh("result")
            made = self._made(statement, name, part, known)
            if made is not None:
                before += made
                parts[position] = nodes.copy_place(part, nodes.name(name))
            else:
                self.names.taken.discard(name)
        if not before:
            return None
        if not isinstance(value, ast.Tuple):
            (statement.value,) = parts
        return [*before, statement]

    def _made(
        self, statement: ast.stmt, name: str, value: ast.expr, known: Lengths
    ) -> list[ast.stmt] | None:
        if isinstance(value, (ast.Name, ast.Subscript)) or self.facts.is_number(value):
            return None  # another name of the same cells
        own = Assumed()
        try:
            made = self._loops(name, value, SpanReader(self.facts, known, own))
        except Kept:
            return None
        for each in made:
            place(statement, each)
        self.assumed.join(own)
        return made

    def _loops(self, name: str, value: ast.expr, reader: SpanReader) -> list[ast.stmt]:
        """The allocation, and the loops over all cells.

        Raises:
            Kept: where they would not do the same.
        """
        found = [(each, reader.part(each)) for each in accesses(self.facts, value)]
        parts = [(each, part) for each, part in found if part is not None and part.spans]
        if not parts:
            raise Kept("no array")
        widest, part = max(parts, key=lambda each: len(each[1].placed))
        spans = covered([each for _, each in parts])
        if any(each.step != 1 for each in spans):
            raise Kept("a slice with a step")
        cells = Cells(self.names, reader, spans, print_expression(widest))
        cell = cells.cell(value)
        dtype = self._dtype(value, [each for _, each in parts], reader)
        allocated = nodes.assign(name, self._allocation(widest, part, dtype, cells))
        forms = [
            sums.symbol(variable).minus(span.start)
            for variable, span in zip(cells.variables, spans, strict=True)
        ]
        at = nodes.subscript(name, [sums.expression(e) for e in forms], store=True)
        reader.assumed.add(self.facts.needs_of(query.names_read(value)))
        return [*cells.before, allocated, cells.nest(nodes.assign(at, cell))]

    def _allocation(self, widest: ast.expr, part: Part, dtype: Source, cells: Cells) -> ast.expr:
        if isinstance(widest, ast.Name) and dtype == cell_type(self.facts, part.array):
            return nodes.call(self.names.numpy("empty_like"), [nodes.name(part.array)])
        shape = [cells.length(each) for each in cells.spans]
        kind, name = dtype
        spelled = name if name != "bool" else "bool_"
        shown = nodes.attribute(name, "dtype") if kind == "like" else self.names.numpy(spelled)
        extents = shape[0] if len(shape) == 1 else nodes.tuple_of(shape)
        return nodes.call(self.names.numpy("empty"), [extents, shown])

    def _dtype(self, value: ast.expr, parts: Sequence[Part], reader: SpanReader) -> Source:
        """The type of the cells, which all operands are assumed to join to.

        Raises:
            Kept: where it is not known.
        """
        if _is_truth(self.facts.program, value):
            return ("dtype", "bool")
        sources = types_of(self.facts, value)
        if sources is None or any(
            numpy_word(self.facts.program, call.func) in TRUTHS
            for call in ast.walk(value)
            if isinstance(call, ast.Call)
        ):
            raise Kept("a value of a type that is not known")
        kept = self._kept(sources, parts)
        need = JoinedType(kept, tuple(sorted(sources)), "iuf")
        if not is_known(sources):
            reader.assumed.add([need])
        elif not need.holds({}):
            raise Kept("truth values, or complex numbers")
        return kept

    def _kept(self, sources: set[Source], parts: Sequence[Part]) -> Source:
        """The type of one of the operands, which all are expected to join to.

        Raises:
            Kept: where there is none.
        """
        if ("dtype", "float64") not in sources:
            for each in parts:
                found = cell_type(self.facts, each.array)
                if found is not None and found[0] == "like":
                    return found
        joined = joined_type({each for each in sources if is_known([each])}, {})
        if joined is None:
            raise Kept("a type that no array has")
        return ("dtype", joined.name)


def _is_truth(program: Program, value: ast.expr) -> bool:
    """Whether the cells of an expression are truth values."""
    match value:
        case ast.Compare(ops=[_]):
            return True
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _LOGICAL):
            return _is_truth(program, left) and _is_truth(program, right)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_truth(program, operand)
        case ast.Call(func=function):
            return numpy_word(program, function) in TRUTHS
    return False
