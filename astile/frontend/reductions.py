"""Reductions of whole arrays become loops over their cells."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from astile.frontend.arrays import Facts
from astile.frontend.cell_types import cell_type, types_of
from astile.frontend.cells import Cells, accesses, covered, place
from astile.frontend.guards import guarded
from astile.frontend.lengths import Lengths
from astile.frontend.new_names import NewNames
from astile.frontend.numpy_types import COUNT, is_known
from astile.frontend.reduction_forms import Form, form, may_be_one
from astile.frontend.spans import Assumed, Kept, SpanReader
from astile.frontend.walk import edited
from astile.ir import nodes, query
from astile.ir.needs import Arithmetic, JoinedType, Source, joined_type
from astile.ir.printer import print_expression
from astile.ir.program import Program

#: Names for what is added up, by reduction.
_NAMES = {"prod": "product", "max": "largest", "min": "smallest", "any": "found", "all": "holds"}
#: Those of which integers give a floating-point number.
_REAL = ("mean", "var", "std", "norm")


def reductions(program: Program, *, exact: bool = False) -> Program:
    """Turn reductions of whole arrays to one number into loops.

    NumPy adds floating-point numbers in pairs, and its products of rows in an order of their own.
    A loop adds one cell after another; sums are taken in float64, so that they are no less exact
    than NumPy's, and products of rows in the type of their cells.

    Args:
        program: is not changed.
        exact: leave what would round otherwise.

    Before::

        def f(A, y):
            for i in range(y.shape[0]):
                y[i] = np.sum(A[i, :i])

    After::

        def f(A, y):
            for i in range(y.shape[0]):
                total = np.float64(0.0)
                for j in range(min(i, A.shape[1])):
                    total += A[i, j]
                y[i] = A.dtype.type(total)
    """
    if not any(may_be_one(program, each) for each in query.preorder(program.function)):
        return program
    new = program.cloned()
    reducer = _Reducer(new, exact)
    if not edited(new.function, reducer.facts.known(), reducer.rewritten):
        return program
    new = guarded(new, reducer.assumed)
    return replace(
        new,
        imports={**new.imports, **reducer.names.imports},
        needs=tuple(dict.fromkeys((*program.needs, *reducer.assumed.needs))),
        reassociated=program.reassociated or reducer.reassociated,
    )


class _Reducer:
    def __init__(self, program: Program, exact: bool) -> None:
        self.program, self.exact = program, exact
        self.assumed = Assumed()
        self.facts = Facts(program)
        self.names = NewNames(program)
        self.reassociated = False

    def rewritten(self, statement: ast.stmt, known: Lengths) -> list[ast.stmt] | None:
        """A statement and the loops before it, or None where it has no reduction."""
        if not isinstance(statement, (ast.Assign, ast.AugAssign, ast.Return, ast.If)):
            return None
        field = "test" if isinstance(statement, ast.If) else "value"
        value = getattr(statement, field)
        if value is None:
            return None
        replaced = _Replaced(self, known)
        setattr(statement, field, replaced.expression(value))
        if not replaced.before:
            return None
        for each in replaced.before:
            place(statement, each)
        return [*replaced.before, statement]

    def number(self, wanted: str, value: ast.expr) -> tuple[str, ast.stmt]:
        """A new name of a number, and the statement that sets it."""
        name = self.names.fresh(wanted)
        made = nodes.assign(name, value)
        self.facts.numbers.add(name)
        self.facts.bindings[name] = [made]
        return name, made


class _Replaced(ast.NodeTransformer):
    """Puts numbers in place of reductions, inner ones first.

    Args:
        reducer: gives names, and takes what is assumed.
        known: what is known of integers where the expression stands.
    """

    def __init__(self, reducer: _Reducer, known: Lengths) -> None:
        self.reducer, self.known = reducer, known
        #: The loops.
        self.before: list[ast.stmt] = []

    def expression(self, value: ast.expr) -> ast.expr:
        """An expression without the reductions that are certainly computed."""
        made = self.visit(value)
        assert isinstance(made, ast.expr)
        return made

    def visit(self, node: ast.AST) -> ast.AST:
        """As `expression`, for any part of one."""
        match node:
            case ast.IfExp():
                node.test = self.expression(node.test)
                return node
            case ast.BoolOp():
                node.values[0] = self.expression(node.values[0])
                return node
            case ast.Compare():
                node.left = self.expression(node.left)
                node.comparators[0] = self.expression(node.comparators[0])
                return node
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return node
            case ast.GeneratorExp() | ast.NamedExpr():
                return node
        self.generic_visit(node)
        found = form(self.reducer.facts, node)
        if found is None:
            return node
        own = Assumed()
        try:
            made = _Reduction(self.reducer, self.known, own).made(found)
        except Kept:
            return node
        self.reducer.assumed.join(own)
        self.before += made.before
        return nodes.copy_place(node, made.value)


@dataclass(frozen=True)
class _Made:
    """What stands in place of a reduction.

    Args:
        before: the loops.
        value: the number that they compute.
    """

    before: list[ast.stmt]
    value: ast.expr


@dataclass
class _Reduction:
    """One reduction while it is rewritten.

    Args:
        reducer: gives names.
        known: what is known of integers where it stands.
        assumed: collects what is assumed.
    """

    reducer: _Reducer
    known: Lengths
    assumed: Assumed

    def made(self, form: Form) -> _Made:
        """The loops and the number.

        Raises:
            Kept: where they would not do the same.
        """
        facts, word, value = self.reducer.facts, form.word, form.value
        reader = SpanReader(facts, self.known, self.assumed)
        read = [(each, reader.part(each)) for each in accesses(facts, value)]
        parts = [(each, part) for each, part in read if part is not None and part.spans]
        if not parts:
            raise Kept("no array")
        widest, _ = max(parts, key=lambda each: len(each[1].placed))
        self.parts = [each for _, each in parts]
        spans = covered(self.parts)
        self.cells = Cells(self.reducer.names, reader, spans, print_expression(widest))
        cell = self.cells.cell(value)
        sources = types_of(facts, value)
        if sources is None:
            raise Kept("a type that is not known")
        if (
            ("dtype", "bool") in sources
            and sources <= {("dtype", "bool"), ("weak", "float")}
            and (len(sources) > 1)
        ):
            raise Kept("functions of truth values, which are computed in float16")
        self.assumed.add(facts.needs_of(query.names_read(value)))
        sources = self._shown(sources)
        if word in ("max", "min"):
            return self._extreme(word, cell, sources)
        if word == "ptp":
            return self._range(cell, sources)
        if word in ("any", "all"):
            return self._truth(word, cell, sources)
        if word == "count_nonzero":
            return self._count(cell, sources)
        joined = _known(sources)
        if joined is not None and joined.kind in "biu" and word in ("sum", "prod"):
            start: complex = 0 if word == "sum" else 1
            wide = "uint64" if joined.kind == "u" else "int64"
            return self._summed(word, cell, self._typed(wide, nodes.const(start)))
        if self.reducer.exact:
            raise Kept("a sum that would round otherwise")
        made = self._floating(form, cell, sources)
        self.reducer.reassociated = True
        return made

    def _floating(self, form: Form, cell: ast.expr, sources: set[Source]) -> _Made:
        """A sum of floating-point numbers."""
        word, own = form.word, sources
        if word in _REAL and _known(sources) is not None:
            sources = {*sources, ("weak", "float")}
        kept = self._kept(sources)
        kinds = "iuf" if word == "dot" else "f"
        need = JoinedType(kept, tuple(sorted(sources)), kinds)
        if _known(sources) is None:
            self.assumed.add([need])
        elif not need.holds({}):
            raise Kept("a type in which sums are not taken in float64")
        if word == "dot":
            return self._summed(word, cell, self._cast(kept, nodes.const(0)))
        if word == "norm":
            cell = self._square(self._real(cell, own))
        made = self._summed(word, cell, self._float64(1.0 if word == "prod" else 0.0))
        value = made.value
        if word in ("mean", "var", "std"):
            value = nodes.binary(value, ast.Div, self.cells.count())
        if word in ("var", "std"):
            made = self._spread(made.before, value, cell, form.freedom)
            value = made.value
        if word in ("std", "norm"):
            value = nodes.call(self.reducer.names.numpy("sqrt"), [value])
        is_wide = kept == ("dtype", "float64")
        return replace(made, value=value if is_wide else self._cast(kept, value))

    def _spread(self, before: list[ast.stmt], mean: ast.expr, cell: ast.expr, less: int) -> _Made:
        """`np.var`: the mean of the squares of what cells are away from their mean.

        Args:
            before: the loops that give the mean.
            mean: as they give it.
            cell: in the loops.
            less: by how much the number of cells is lessened.
        """
        name, set_mean = self.reducer.number("mean", mean)
        away = nodes.binary(nodes.clone(cell), ast.Sub, nodes.name(name))
        total, started = self.reducer.number("squares", self._float64(0.0))
        loops = self.cells.nest(nodes.update(nodes.target(total), ast.Add, self._square(away)))
        count = self.cells.count()
        if less:
            count = nodes.binary(count, ast.Sub, nodes.const(less))
            count = nodes.call("max", [count, nodes.const(0)])
        value = nodes.binary(nodes.name(total), ast.Div, count)
        return _Made([*before, set_mean, started, loops], value)

    def _square(self, value: ast.expr) -> ast.expr:
        if isinstance(value, ast.Subscript):
            return nodes.binary(value, ast.Mult, nodes.clone(value))
        return nodes.call(self.reducer.names.numpy("square"), [value])

    def _real(self, cell: ast.expr, sources: set[Source]) -> ast.expr:
        """A cell as a floating-point number: integers are squared in float64."""
        arrays = [each for each in sorted(sources) if each[1] in self.reducer.facts.ranks]
        self.assumed.add([JoinedType(each, (each,), "f") for each in arrays])
        narrow = [name for kind, name in sources if kind == "dtype"]
        if all(np.dtype(name).kind == "f" for name in narrow):
            return cell
        return self._typed("float64", cell)

    def _shown(self, sources: set[Source]) -> set[Source]:
        """The sources, with the types of integers that a call showed."""
        found: set[Source] = set()
        for kind, name in sources:
            dtype = self.reducer.program.integers_of.get(name) if kind == "like" else None
            if dtype is not None:
                self.assumed.add([JoinedType(("dtype", dtype), ((kind, name),), "biu")])
            found.add((kind, name) if dtype is None else ("dtype", dtype))
        return found

    def _kept(self, sources: set[Source]) -> Source:
        """The type that all join to, or are expected to."""
        joined = _known(sources)
        if joined is not None:
            return ("dtype", joined.name)
        if ("dtype", "float64") in sources:
            return ("dtype", "float64")
        found = [cell_type(self.reducer.facts, each.array) for each in self.parts]
        arrays = [each for each in found if each is not None and each in sources]
        if not arrays:
            raise Kept("a type that no array has")
        return arrays[0]

    def _cast(self, kept: Source, value: ast.expr) -> ast.expr:
        kind, name = kept
        if kind == "dtype":
            return self._typed(name, value)
        return nodes.call(nodes.attribute(name, "dtype", "type"), [value])

    def _float64(self, value: float) -> ast.expr:
        return self._typed("float64", nodes.const(value))

    def _typed(self, dtype: str, value: ast.expr) -> ast.expr:
        return nodes.call(self.reducer.names.numpy(dtype), [value])

    # --- loops ----------------------------------------------------------------------------------

    def _summed(self, word: str, cell: ast.expr, start: ast.expr) -> _Made:
        operator = ast.Mult if word == "prod" else ast.Add
        name, started = self.reducer.number(_NAMES.get(word, "total"), start)
        loops = self.cells.nest(nodes.update(nodes.target(name), operator, cell))
        return _Made([*self.cells.before, started, loops], nodes.name(name))

    def _extreme(self, word: str, cell: ast.expr, sources: set[Source]) -> _Made:
        """`np.max`: NumPy has none of no cells, and passes NaN on."""
        self.assumed.add([Arithmetic(tuple(sorted(sources)))])
        name, started = self.reducer.number(_NAMES[word], self.cells.first(cell))
        function = self.reducer.names.numpy("maximum" if word == "max" else "minimum")
        joined = nodes.call(function, [nodes.name(name), cell])
        loops = self.cells.nest(nodes.assign(name, joined))
        return _Made([*self.cells.before, started, loops], nodes.name(name))

    def _range(self, cell: ast.expr, sources: set[Source]) -> _Made:
        """`np.ptp`: how far the largest cell is above the smallest."""
        most = self._extreme("max", cell, sources)
        self.cells.before = []
        least = self._extreme("min", nodes.clone(cell), sources)
        value = nodes.binary(most.value, ast.Sub, least.value)
        return _Made([*most.before, *least.before], value)

    def _count(self, cell: ast.expr, sources: set[Source]) -> _Made:
        """`np.count_nonzero`: before NumPy 2.4 it gives an integer of Python."""
        made = self._summed("sum", self._test(cell, sources), self._typed("int64", nodes.const(0)))
        is_pythons = COUNT == ("weak", "int")
        return replace(made, value=nodes.call("int", [made.value]) if is_pythons else made.value)

    def _test(self, cell: ast.expr, sources: set[Source]) -> ast.expr:
        """Whether a cell is not 0."""
        if sources == {("dtype", "bool")}:
            return cell
        self.assumed.add([Arithmetic(tuple(sorted(sources)))])
        return nodes.compare(cell, ast.NotEq, nodes.const(0))

    def _truth(self, word: str, cell: ast.expr, sources: set[Source]) -> _Made:
        cell = self._test(cell, sources)
        start = self._typed("bool_", nodes.const(word == "all"))
        name, started = self.reducer.number(_NAMES[word], start)
        operator = ast.BitAnd if word == "all" else ast.BitOr
        loops = self.cells.nest(nodes.update(nodes.target(name), operator, cell))
        return _Made([*self.cells.before, started, loops], nodes.name(name))


def _known(sources: set[Source]) -> np.dtype[Any] | None:
    """The type that sources join to, where no argument decides."""
    return joined_type(sources, {}) if is_known(sources) else None
