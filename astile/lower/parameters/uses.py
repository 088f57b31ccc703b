"""How a function uses its parameters: as an array of some rank, as a number, written or not."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from astile.frontend.evidence import index_counts
from astile.ir import query
from astile.ir.program import Program
from astile.lower.parameters.operands import Flow, is_many
from astile.lower.parameters.size_names import SizeNames
from astile.source import Span

Role = Literal["array", "number", "integer", "either", "open"]

#: Functions and methods that make a number of an array.
_TO_NUMBERS = ("all", "any", "argmax", "argmin", "max", "mean", "min", "prod", "std", "sum", "var")
#: Attributes that tell about an array without giving away its cells.
_HARMLESS_ATTRIBUTES = ("shape", "ndim", "size", "dtype", "itemsize", "nbytes")


@dataclass(frozen=True)
class Use:
    """How a function uses one parameter.

    Args:
        name: the parameter.
        role: ``"array"``, ``"number"``, ``"integer"`` (sets a range or an index), ``"either"`` (a
            number, or an array that is computed with as a whole) or ``"open"`` (not to be told from
            the text, or different from place to place).
        rank: number of axes of an array that is always used with as many indices, else None.
        written: whether cells are certainly stored through this name.
        may_be_written: whether they may be, through a function or another name too.
        span: the place in the user's file that shows it.
        valued: whether an integer enters values too, so that its type decides what they are.
        computed: whether arithmetic is done with an integer, so that its type may be too narrow.
        operand: whether the name itself stands in arithmetic that takes whole arrays too.
        reduced: whether a function of NumPy takes it as a whole.
    """

    name: str
    role: Role
    rank: int | None
    written: bool
    may_be_written: bool
    span: Span | None
    valued: bool = False
    computed: bool = False
    operand: bool = False
    reduced: bool = False


def uses(program: Program) -> tuple[Use, ...]:
    """The use of every parameter, in order.

    Args:
        program: the function as the user wrote it.
    """
    function = program.function
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    sizes = SizeNames(function)
    rebound = query.names_written(function)
    reader = _Reader(program, parents)
    return tuple(_use(reader, name, sizes, name in rebound) for name in query.parameters(function))


def _use(reader: _Reader, name: str, sizes: SizeNames, rebound: bool) -> Use:
    program = reader.program
    seen = [
        reader.sight(node)
        for node in query.preorder(program.function)
        if isinstance(node, ast.Name) and node.id == name
    ]
    span = next((program.source.span(each.node) for each in seen), None)
    kinds = {each.kind for each in seen}
    whole = {"operand": "operand" in kinds, "reduced": "reduced" in kinds}
    if rebound:  # the name stands for other things too
        return Use(name, "open", None, False, True, span, **whole)
    written = any(each.written for each in seen)
    escapes = any(each.kind in ("escape", "reduced", "view") for each in seen)
    if kinds & {"cell", "facts", "view"}:
        rank = program.ranks.get(name) or _common_rank(seen)
        if rank is not None and reader.least.get(name, 0) > rank:
            rank = None  # np.mean(A[i]): what looks like cells are rows
        shown = next((each for each in seen if each.kind in ("cell", "view")), seen[0])
        span = program.source.span(shown.node)
        return Use(name, "array", rank, written, written or escapes, span, **whole)
    if name in sizes.names:
        valued = sizes.is_valued(name)
        computed = sizes.is_computed_with(name)
        return Use(name, "integer", None, False, False, span, valued, computed)
    if kinds == {"number"}:
        return Use(name, "number", None, False, False, span)
    if kinds and kinds <= {"number", "operand"}:
        return Use(name, "either", None, False, False, span, **whole)
    return Use(name, "open", None, False, bool(seen), span, **whole)


@dataclass(frozen=True)
class _Sight:
    """One place where a name stands.

    A ``view`` is an access that may be a row, of an array with more axes than it has indices. An
    ``operand`` is a number or an array that arithmetic takes as a whole, and ``reduced`` what a
    function of NumPy takes.
    """

    node: ast.expr
    kind: Literal["cell", "view", "facts", "number", "operand", "reduced", "escape", "returned"]
    rank: int | None = None
    written: bool = False


def _common_rank(seen: list[_Sight]) -> int | None:
    """The number of indices that all accesses of cells have; None when they differ."""
    exact = {each.rank for each in seen if each.kind in ("cell", "facts")} - {None}
    is_open = any(each.kind == "cell" and each.rank is None for each in seen)
    if len(exact) != 1 or is_open:
        return None
    (rank,) = exact
    assert rank is not None
    least = max((each.rank or 0 for each in seen if each.kind == "view"), default=0)
    return rank if least <= rank else None


class _Reader:
    """Tells what the places of names in one function mean."""

    def __init__(self, program: Program, parents: dict[ast.AST, ast.AST]) -> None:
        self.program = program
        self.parents = parents
        self.flow = Flow(program, parents)
        #: Name -> how many axes it has at least.
        self.least = index_counts(program.function)
        #: Name -> the most indices that it is used with.
        self.most: dict[str | None, int] = {}
        for access in query.accesses(program.function):
            name, count = query.base_name(access), len(query.indices(access))
            self.most[name] = max(count, self.most.get(name, 0))
        self.opened = {  # names whose own cells or attributes are used
            node.value.id
            for node in ast.walk(program.function)
            if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.value, ast.Name)
        }

    def sight(self, node: ast.Name) -> _Sight:
        """What one place of a name shows."""
        parent = self.parents[node]
        if isinstance(parent, ast.Subscript) and parent.value is node:
            return self._cell(parent)
        if isinstance(parent, ast.Attribute):
            return self._attribute(parent)
        if isinstance(parent, ast.Call) and query.dotted(parent.func) == "len":
            return _Sight(node, "facts")
        if isinstance(parent, ast.Call) and query.dotted(parent.func) in query.LOOP_WORDS:
            return _Sight(node, "number")
        if self.flow.is_computed(node, parent):
            return _Sight(node, "operand" if self.flow.takes_arrays(node) else "number")
        if isinstance(parent, ast.Call) and self.flow.numpy_function(parent) is not None:
            return _Sight(node, "reduced")
        if isinstance(parent, ast.Subscript):  # an index
            return _Sight(node, "number")
        if isinstance(parent, ast.Tuple) and isinstance(self.parents[parent], ast.Subscript):
            return _Sight(node, "number")
        if isinstance(parent, ast.Return):
            return _Sight(node, "returned")
        if self._is_output(parent):
            return _Sight(node, "cell", None, written=True)
        return _Sight(node, "escape")

    def _cell(self, access: ast.Subscript) -> _Sight:
        while True:  # A[i][j] is one access
            parent = self.parents[access]
            if not (isinstance(parent, ast.Subscript) and parent.value is access):
                break
            access = parent
        if isinstance(parent, ast.Attribute):  # A[i].something
            return _Sight(access, "escape")
        indices = query.indices(access)
        written = isinstance(access.ctx, (ast.Store, ast.Del)) or self._is_output(parent)
        if any(is_many(each) or isinstance(each, ast.Compare) for each in indices):
            # a slice that is stored writes cells; one that is read is a view under another name
            return _Sight(access, "cell", None, written) if written else _Sight(access, "escape")
        is_row = self._stores_row(parent) if written else self._may_be_row(access, parent)
        kind: Literal["cell", "view"] = "view" if is_row else "cell"
        return _Sight(access, kind, len(indices), written)

    def _stores_row(self, parent: ast.AST) -> bool:
        """Whether what is stored may be a row: a product of matrices, a call, other rows."""
        if not isinstance(parent, (ast.Assign, ast.AugAssign)):
            return self._is_output(parent)
        if isinstance(parent.value, ast.Tuple):
            return True
        return any(map(self._gives_row, ast.walk(parent.value)))

    def _gives_row(self, node: ast.AST) -> bool:
        match node:
            case ast.BinOp(op=ast.MatMult()):
                return True
            case ast.Call(func=ast.Attribute(attr=word) as function):
                return word not in _TO_NUMBERS and not self.flow.takes_numbers(function)
            case ast.Subscript(ctx=ast.Load()):
                return len(query.indices(node)) < self.most.get(query.base_name(node) or "", 0)
        return False

    def _may_be_row(self, access: ast.Subscript, parent: ast.AST) -> bool:
        """Whether what is read may be a row that the program goes on to use as an array."""
        value: ast.expr = access
        while self._computes(parent):  # np.sum(A[i] * B[i])
            assert isinstance(parent, ast.expr)
            if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.MatMult):
                return True
            value, parent = parent, self.parents[parent]
        if value is not access and not isinstance(parent, (ast.Call, ast.Attribute, ast.Expr)):
            return False
        if isinstance(parent, ast.Assign) and parent.value is access:
            if any(isinstance(each, ast.Tuple) for each in parent.targets):
                return True  # x, y = A[i]
            return not self.opened.isdisjoint(query.names_written(parent))
        if isinstance(parent, ast.Call):
            return value in parent.args and not self.flow.takes_numbers(parent.func)
        if isinstance(parent, ast.Attribute | ast.Expr):  # (A[i] - B[j]).sum(), np.add(..., out=C)
            return value is not access
        return isinstance(parent, (ast.Return, ast.For, ast.Starred, ast.keyword))

    def _is_output(self, parent: ast.AST) -> bool:
        """Whether NumPy stores into what stands there: ``np.sqrt(A, out=B)``."""
        if not isinstance(parent, ast.keyword) or parent.arg != "out":
            return False
        call = self.parents[parent]
        return isinstance(call, ast.Call) and self.flow.numpy_function(call) is not None

    def _computes(self, node: ast.AST) -> bool:
        """Whether an expression is arithmetic on numbers, or on arrays cell by cell."""
        if isinstance(node, ast.Call):
            return self.flow.takes_numbers(node.func)
        return isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Compare))

    def _attribute(self, attribute: ast.Attribute) -> _Sight:
        if attribute.attr not in _HARMLESS_ATTRIBUTES:
            return _Sight(attribute, "escape")
        parent = self.parents[attribute]
        if attribute.attr == "shape" and isinstance(parent, ast.Assign):
            made = parent.targets[0]
            if isinstance(made, (ast.Tuple, ast.List)):  # H, W = A.shape
                starred = any(isinstance(each, ast.Starred) for each in made.elts)
                return _Sight(attribute, "facts", None if starred else len(made.elts))
        return _Sight(attribute, "facts")
