"""Undoes inlining for the proof: values that stand inside an expression get statements again.

An expression may say, like a statement, which statement and iteration of the original it stands
for (see `astile.rewrites.compute_inline`). ``y[i] = np.float32(x[i] * 2) + 1`` with such a hint on
``x[i] * 2`` does the same as::

    a_value = local.empty(1, np.float32)
    a_value[0] = x[i] * 2
    y[i] = a_value[0] + 1

because storing a number in a cell casts it as the call of the type does. The second form is what
the proof looks at: there the hint is one of a statement, verified like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from astile.analysis.forms.params import names_of
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.calls import Calls
from astile.ir import nodes, query
from astile.ir.nodes import Origin
from astile.ir.program import Program

#: NumPy's types of numbers, which cast when they are called as a store into an array does.
TYPES = frozenset(
    f"numpy.{each}"
    for each in (
        "bool_",
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
)


def unfolded(program: Program, original: Sequence[ast.stmt]) -> Program:
    """The program with statements for the values that are inlined in expressions.

    Args:
        program: the program; it is not changed.
        original: the leaf statements of the original function, by number.

    Raises:
        NotModelled: for an inlined value that does not only compute, or stands where no
            statement can be put before it.
    """
    if not any(_is_inlined(each) for each in query.preorder(program.function)):
        return program
    return _Unfolder(program.cloned(), original).run()


def _is_inlined(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and nodes.origin(node) is not None


class _Unfolder(ast.NodeTransformer):
    """Moves inlined values out of expressions, into statements before them."""

    def __init__(self, program: Program, original: Sequence[ast.stmt]) -> None:
        self._program, self._original = program, original
        names = names_of(program)
        self._calls = Calls(program, frozenset(names.arguments) | names.local)
        self._taken: set[str] = set()
        self._before: list[ast.stmt] = []

    def run(self) -> Program:
        """The program in its longer form."""
        self._block(self._program.function.body)
        return replace(self._program)

    def _block(self, body: list[ast.stmt]) -> None:
        result: list[ast.stmt] = []
        for statement in body:
            inner = query.bodies(statement)
            for each in inner:
                self._block(each)
            if inner:
                self._check_head(statement)
            else:
                self.visit(statement)
            result += [*self._before, statement]
            self._before = []
        body[:] = result

    def _check_head(self, statement: ast.stmt) -> None:
        for field in ast.iter_child_nodes(statement):
            for each in ast.walk(field) if isinstance(field, ast.expr) else ():
                if _is_inlined(each):
                    raise NotModelled("an inlined value that decides what runs", each)

    def visit(self, node: ast.AST) -> ast.AST:
        """A node; what is inlined in it is read from names and cells instead."""
        dtype = self._cast(node)
        if dtype is not None:
            assert isinstance(node, ast.Call)
            return self._unfold(node.args[0], dtype)
        if _is_inlined(node):
            assert isinstance(node, ast.expr)
            return self._unfold(node, None)
        visited = self.generic_visit(node)
        assert isinstance(visited, ast.AST)
        return visited

    def _cast(self, node: ast.AST) -> ast.expr | None:
        """The type to which a call casts an inlined value of an array, or None."""
        match node:
            case ast.Call(func=function, args=[value], keywords=[]) if (
                _is_inlined(value) and self._is_cell(value) and not _is_inlined(node)
            ):
                return function if self._calls.path(function) in TYPES else None
        return None

    def _is_cell(self, value: ast.expr) -> bool:
        """Whether a value stands for one that the original stores in an array."""
        held = nodes.origin(value)
        if held is None or not 0 <= held.statement < len(self._original):
            return False
        statement = self._original[held.statement]
        return isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)

    def _unfold(self, value: ast.expr, dtype: ast.expr | None) -> ast.expr:
        held = nodes.origin(value)
        assert held is not None
        is_cell = self._is_cell(value)
        nodes.set_origin(value, None)
        for each in ast.walk(value):
            if isinstance(each, ast.Call) and not self._calls.is_pure(each):
                raise NotModelled("an inlined value that does more than compute", each)
        inner = self.generic_visit(value)
        assert isinstance(inner, ast.expr)
        name = self._program.fresh_name("inlined", self._taken)
        self._taken.add(name)
        if not is_cell:
            self._put(nodes.assign(name, inner), value, held)
            return nodes.copy_place(value, nodes.name(name))
        made = nodes.call("local.empty", [nodes.const(1), self._type(inner, dtype)])
        self._put(nodes.assign(name, made), value, None)
        zero = [nodes.const(0)]
        self._put(nodes.assign(nodes.subscript(name, zero, store=True), inner), value, held)
        return nodes.copy_place(value, nodes.subscript(name, [nodes.const(0)]))

    def _type(self, value: ast.expr, dtype: ast.expr | None) -> ast.expr:
        """The type of the cell that a value is read from: it holds the value as it is."""
        match value:
            case _ if dtype is not None:
                return nodes.clone(dtype)
            case ast.Call(func=function) if self._calls.path(function) in TYPES:
                return nodes.clone(function)
            case ast.Subscript() if (array := query.base_name(value)) is not None:
                return nodes.attribute(array, "dtype")
        raise NotModelled("an inlined value whose type is not known", value)

    def _put(self, statement: ast.stmt, like: ast.expr, held: Origin | None) -> None:
        nodes.set_origin(nodes.copy_place(like, statement), held)
        self._before.append(statement)
