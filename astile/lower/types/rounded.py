"""Numbers of Python that every use rounds to the type that the data may put in their place.

``m = -1e30; if x[i] > m: m = x[i]`` may be held in float32, like x, if m is only stored into arrays
of float32, compared with such numbers and computed with them: the plain program rounds it there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from astile.ir import query
from astile.lower.types import call_kinds, dtypes, promotion
from astile.lower.types.choices import Choices
from astile.lower.types.promotion import FRAGILE, Kind

if TYPE_CHECKING:
    from astile.lower.types.kinds import Kinds


@dataclass
class Rounded:
    """What is rounded by its use.

    Args:
        names: that are only loaded where their values are rounded.
        values: expression -> the type that its use rounds it to.
    """

    names: frozenset[str]
    values: dict[ast.expr, str] = field(default_factory=dict)


def find(kinds: Kinds, choices: Choices) -> Rounded:
    """The names and expressions that are rounded by all of their uses.

    Args:
        kinds: of the program, where a number of Python takes the type that is stored later.
        choices: of the program.
    """
    names = {
        name: kind
        for name, kind in kinds.names.items()
        if kind in FRAGILE and not choices.is_only(name, kind)
    }
    while True:
        walk = _Uses(kinds, choices, names)
        walk.visit(kinds.program.function)
        left = {n: k for n, k in names.items() if walk.loads.get(n, set()) <= {k}}
        if left == names:
            return Rounded(frozenset(left), walk.values)
        names = left


class _Uses(ast.NodeVisitor):
    """Collects the types that uses round to, if some names are only used so."""

    def __init__(self, kinds: Kinds, choices: Choices, names: Mapping[str, Kind]) -> None:
        self.kinds, self.choices, self.names = kinds, choices, names
        self.values: dict[ast.expr, str] = {}
        self.loads: dict[str, set[Kind]] = {}
        self._parameters = query.parameters(kinds.program.function)

    # --- statements -----------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> None:
        """A store rounds to the type of the cell, or of a name that is only used rounded."""
        first, *others = node.targets
        pairs = [(first, node.value)]
        if isinstance(first, ast.Tuple) and isinstance(node.value, ast.Tuple):
            targets, values = first.elts, node.value.elts
            is_paired = not others and len(targets) == len(values)
            pairs = list(zip(targets, values, strict=True)) if is_paired else pairs
        for target, value in pairs:
            self.use(value, None if others else self._of_target(target))
        for each in node.targets:
            self.visit(each)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """An update loads its target beside its value."""
        load = node.target
        if isinstance(load, ast.Name):
            self._load(load.id, self._beside(node.value, node.op))
        else:
            self.visit(load)
        self.use(node.value, self._beside(load, node.op))

    def _of_target(self, target: ast.expr) -> Kind:
        if isinstance(target, ast.Name):
            return self.names.get(target.id)
        if isinstance(target, ast.Subscript):
            kind = self.kinds.arrays.get(query.base_name(target) or "")
            return kind if kind in FRAGILE else None
        return None

    # --- expressions ----------------------------------------------------------------------------

    def use(self, value: ast.expr, kind: Kind) -> None:
        """An expression whose use rounds it to a type, or not."""
        if kind is not None:
            self.values[value] = kind
        match value:
            case ast.Name(id=name):
                self._load(name, kind)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.use(test, None)
                self._use_all([body, orelse], kind)
            case ast.Call(func=ast.Name(id="min" | "max"), args=values, keywords=[]):
                self._use_all(values, kind)
            case ast.Call(args=[inner], keywords=[]):
                self.visit(value.func)
                self.use(inner, self._of_cast(value))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self.use(operand, kind)
            case ast.BinOp(left=left, op=operator, right=right):
                self.use(left, self._beside(right, operator))
                self.use(right, self._beside(left, operator))
            case ast.Compare(left=left, comparators=[right]):
                self.use(left, self._beside(right, ast.Add()))
                self.use(right, self._beside(left, ast.Add()))
            case _:
                self.generic_visit(value)

    def visit(self, node: ast.AST) -> None:
        """Expressions that nothing rounds, and everything else."""
        if isinstance(node, ast.expr):
            self.use(node, None)
        else:
            super().visit(node)

    def _use_all(self, values: Iterable[ast.expr], kind: Kind) -> None:
        for each in values:
            self.use(each, kind)

    def _load(self, name: str, kind: Kind) -> None:
        self.loads.setdefault(name, set()).add(kind)

    def _beside(self, other: ast.expr, operator: ast.operator) -> Kind:
        """The type that a number takes beside an operand that is certainly of NumPy."""
        found = self.choices.of(other)
        if found is None or len(found) != 1:
            return None
        (kind,) = found
        if kind not in FRAGILE or not promotion.is_arithmetic(type(operator)):
            return None
        return kind if promotion.operands("float", type(operator), kind) == (kind, kind) else None

    def _of_cast(self, call: ast.Call) -> Kind:
        if call_kinds.path_of(self.kinds.program, call.func) == "":
            return None
        kind = dtypes.name_of(self.kinds.program, call.func, self.kinds.types)
        return kind if kind in FRAGILE else None
