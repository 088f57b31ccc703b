"""Expressions of a kernel, rewritten so that their values are the device's.

Arithmetic is changed only where Python or NumPy would give another value: an unsigned difference
wraps, a real literal is a float64, an integer that meets a float32 makes a float64.
"""

from __future__ import annotations

import ast
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from astile.ir import nodes
from astile.runtime.emulator.errors import EmulationError, Places
from astile.runtime.emulator.inference import Inference
from astile.runtime.emulator.kinds import (
    FLOAT64,
    Boolean,
    Integer,
    Real,
    Type,
    as_integer,
    binary,
    of_dtype,
)
from astile.runtime.emulator.meeting import Narrow, Small, meeting
from astile.runtime.emulator.scalars import caster
from astile.runtime.emulator.words import AXES, DeviceWord

THREAD = "_astile_thread"
COMPARED = "_astile_compared_"
_INDICES = {
    f"{head}.{axis}": f"{short}{axis}"
    for head, short in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "d"), ("gridDim", "g"))
    for axis in AXES
}


class Arithmetic(ast.NodeTransformer):
    """Rewrites expressions so that their values are the device's.

    Args:
        inference: types of the function; made from the very nodes that are rewritten.
        places: numbers the places of accesses.
    """

    def __init__(self, inference: Inference, places: Places) -> None:
        self.inference = inference
        self.places = places
        self.bound: dict[str, Any] = {}
        self._known: dict[object, str] = {}

    def bind(self, value: Any, key: object = None) -> ast.Name:
        """A name in the function's globals for a value.

        Args:
            value: the value.
            key: equal keys share a name; the identity of the value when not given.
        """
        key = id(value) if key is None else key
        if key not in self._known:
            self._known[key] = f"_astile_{len(self._known)}"
            self.bound[self._known[key]] = value
        return nodes.name(self._known[key])

    def refuse(self, message: str, node: ast.AST) -> NoReturn:
        """Report what is not emulated.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(message, span=self.places.source.span(node))

    # --- names and constants --------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Functions inside a kernel stay as they are."""
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """Functions inside a kernel stay as they are."""
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """A real literal is a float64, not one of Python's that adapt to what they meet."""
        return self._real(node.value) if isinstance(node.value, float) else node

    def _real(self, value: float) -> ast.expr:
        return self.bind(np.float64(value), ("float", value.hex()))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Numbers of the module are typed as numba types them."""
        return self._outside(node) or node if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``cuda.threadIdx.x`` and its like are fields of the running thread."""
        return self._outside(node) or self.generic_visit(node)

    def _outside(self, node: ast.expr) -> ast.expr | None:
        """What stands for a dotted name of the module, where it is not the name itself."""
        value = self.inference.resolve(node)
        if type(value) is float:
            return self._real(value)
        if isinstance(value, np.integer):
            return nodes.const(int(value))
        if not isinstance(value, DeviceWord):
            return None
        if value.name in _INDICES:
            return nodes.attribute(THREAD, _INDICES[value.name])
        if value.name == "laneid":
            return nodes.attribute(THREAD, "lane")
        if value.name == "warpsize":
            return nodes.const(32)
        self.refuse(f"cuda.{value.name} is not a value", node)

    # --- arithmetic -----------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Arithmetic with the device's types."""
        left, right = self.inference.of(node.left), self.inference.of(node.right)
        return self.operate(node.op, self.visit(node.left), left, self.visit(node.right), right)

    def operate(
        self, operator: ast.operator, left: ast.expr, first: Type, right: ast.expr, second: Type
    ) -> ast.expr:
        """``left op right`` of operands that are rewritten already, with their types before."""
        result = binary(operator, first, second)
        if _may_meet(first, second):
            met = self._meeting(operator)
            if met is not None:
                return nodes.call(met, [left, right])
        is_power = isinstance(operator, ast.Pow) and isinstance(second, Integer)
        left = self.coerced(left, first, result)
        if not (is_power and isinstance(first, Real)):
            right = self.coerced(right, second, result)
        made = nodes.binary(left, type(operator), right)
        first, second = as_integer(first), as_integer(second)
        if not isinstance(first, Integer) or not isinstance(second, Integer):
            return made
        if not _may_wrap(operator, first, second):
            return made
        return _wrapped_signed(made) if first.signed or second.signed else _wrapped(made, 64)

    def coerced(self, node: ast.expr, kind: Type, wanted: Type) -> ast.expr:
        """A value of one type as one of another that it was found to become."""
        if isinstance(wanted, Integer) and isinstance(kind, Boolean):
            return nodes.call(self.bind(int), [node])  # NumPy's booleans are no numbers
        if isinstance(wanted, Integer) and isinstance(kind, Integer):
            if wanted.signed and not kind.signed and kind.bits > 63:
                return nodes.call(self.bind(caster(np.dtype(np.int64))), [node])
            return node
        if wanted is None and isinstance(kind, Integer) and kind.meets(Real(16)) != FLOAT64:
            held = Narrow if kind.meets(Real(16)) == Real(16) else Small
            return nodes.call(self.bind(held), [node])
        if not isinstance(wanted, Real) or not isinstance(kind, (Boolean, Integer, Real)):
            return node
        if isinstance(kind, Real) and kind.bits >= wanted.bits:
            return node
        scalar = {16: np.float16, 32: np.float32}.get(wanted.bits, np.float64)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return self.bind(scalar(node.value), (scalar, float(node.value).hex()))
        return nodes.call(self.bind(scalar), [node])

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """An integer and a float32 are compared as float64."""
        sides = [node.left, *node.comparators]
        kinds = [self.inference.of(each) for each in sides]
        visited = [self.visit(each) for each in sides]
        pairs = list(pairwise(kinds))
        if not any(_may_meet(*pair) or _is_mixed(*pair) for pair in pairs):
            return nodes.comparison(visited, node.ops)
        made: list[ast.expr] = []
        for place, each in enumerate(node.ops):
            first, second = visited[place : place + 2]
            if place + 1 < len(node.ops):  # computed once, and not unless all before are true
                held = f"{COMPARED}{place}"
                second = ast.NamedExpr(nodes.target(held), second)
                visited[place + 1] = nodes.name(held)
            met = self._meeting(each)
            if met is None:
                made.append(nodes.comparison([first, second], [each]))
            else:
                made.append(nodes.call(met, [first, second]))
        return made[0] if len(made) == 1 else ast.BoolOp(ast.And(), made)

    def _meeting(self, operator: ast.operator | ast.cmpop) -> ast.expr | None:
        """The name of an operation that asks for the types of its operands; None without one."""
        met = meeting(operator)
        return None if met is None else self.bind(met, ("meeting", type(operator).__name__))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Negation and complement of an unsigned number are unsigned, and of its width."""
        kind = self.inference.of(node.operand)
        node.operand = self.visit(node.operand)
        if isinstance(node.op, (ast.USub, ast.UAdd)):
            node.operand = self.coerced(node.operand, kind, as_integer(kind))
        wraps = isinstance(node.op, (ast.USub, ast.Invert))
        if wraps and isinstance(kind, Integer) and not kind.signed:
            return _wrapped(node, kind.width)
        if wraps and isinstance(kind, Integer) and kind.bits >= 64:
            return _wrapped_signed(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Both values have the type of the expression."""
        kinds = [self.inference.of(each) for each in (node.body, node.orelse)]
        wanted = self.inference.of(node)
        node.test = self.visit(node.test)
        node.body = self.coerced(self.visit(node.body), kinds[0], wanted)
        node.orelse = self.coerced(self.visit(node.orelse), kinds[1], wanted)
        return node

    # --- conversions ----------------------------------------------------------------------------

    def cast(self, dtype: np.dtype[Any], node: ast.Call) -> ast.expr:
        """``dtype(value)``, by the cheapest means that are right."""
        if len(node.args) != 1 or node.keywords:
            self.refuse(f"{dtype} takes one value", node)
        argument = node.args[0]
        given, wanted = self.inference.of(argument), of_dtype(dtype)
        if isinstance(given, Integer) and isinstance(wanted, Integer):
            visited: ast.expr = self.visit(argument)
            if given.natural and given.bits <= wanted.bits - wanted.signed:
                return visited
            if not wanted.signed:
                mask = nodes.const((1 << wanted.bits) - 1)
                return nodes.binary(visited, ast.BitAnd, mask)
            return nodes.call(self.bind(caster(dtype)), [visited])
        if isinstance(wanted, Real):
            literal = _literal(argument)
            if literal is not None:
                return self.bind(dtype.type(literal), (dtype, float(literal).hex()))
            if given == wanted:
                return self.visit(argument)  # type: ignore[no-any-return]
        return nodes.call(self.bind(caster(dtype)), [self.visit(argument)])

    def extreme(self, node: ast.Call) -> ast.expr:
        """`min` and `max` of values that all have the type of the result."""
        wanted = self.inference.of(node)
        kinds = [self.inference.of(each) for each in node.args]
        visited = [
            self.coerced(self.visit(each), kind, wanted)
            for each, kind in zip(node.args, kinds, strict=True)
        ]
        return nodes.call(node.func, visited)


def _may_meet(first: Type, second: Type) -> bool:
    """Whether an integer may meet a narrow real, which only the run can tell."""
    if first is not None and second is not None:
        return False
    return all(each is None or isinstance(each, (Integer, Real)) for each in (first, second))


def _is_mixed(first: Type, second: Type) -> bool:
    """Whether an integer meets a real that may not hold it."""
    for whole, real in ((first, second), (second, first)):
        if isinstance(whole, Integer) and isinstance(real, Real):
            return real.bits < 64 and whole.bits > (11 if real.bits == 16 else 24)
    return False


def _wrapped(node: ast.expr, width: int) -> ast.expr:
    return nodes.binary(node, ast.BitAnd, nodes.const((1 << width) - 1))


def _wrapped_signed(node: ast.expr) -> ast.expr:
    """A signed number of more than 64 bits, as what is left of it in 64."""
    least = nodes.const(1 << 63)
    wrapped = _wrapped(nodes.binary(node, ast.Add, least), 64)
    return nodes.binary(wrapped, ast.Sub, nodes.clone(least))


def _may_wrap(operator: ast.operator, left: Integer, right: Integer) -> bool:
    """Whether an operation can leave 64 bits."""
    signed = left.signed or right.signed
    match operator:
        case ast.LShift() | ast.Pow():
            return True
        case ast.Sub() if not signed:
            return True
        case ast.Add() | ast.Sub():
            return max(left.bits, right.bits) + 1 > 64
        case ast.Mult():
            return left.bits + right.bits > 64
    return False


def _literal(node: ast.expr) -> int | float | None:
    """The number that an expression spells, with or without a sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _literal(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None
