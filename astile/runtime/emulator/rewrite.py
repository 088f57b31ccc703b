"""The text of a kernel, rewritten: accesses become calls, waits become yields.

Arithmetic is changed only where Python or NumPy would give another value than the device: an
unsigned difference wraps, a real literal is a float64, an integer that meets a float32 makes a
float64. What is not known stays as it is: arrays check their plain subscripts too.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from astile.ir import nodes
from astile.runtime.emulator.errors import EmulationError, Places
from astile.runtime.emulator.inference import MISSING, Inference
from astile.runtime.emulator.kinds import Integer, Real, Type, of_dtype
from astile.runtime.emulator.scalars import MASK64, caster
from astile.runtime.emulator.words import (
    ATOMICS,
    AXES,
    BLOCK_WORDS,
    FENCES,
    FUNCTIONS,
    WARP_WORDS,
    DeviceFunction,
    DeviceWord,
    math_function,
)

THREAD = "_astile_thread"
_INDICES = {
    f"{head}.{axis}": f"{short}{axis}"
    for head, short in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "d"), ("gridDim", "g"))
    for axis in AXES
}
Translate = Callable[[DeviceFunction, tuple[Type, ...]], tuple[FunctionType, bool, bool]]


class Rewrite(ast.NodeTransformer):
    """Rewrites the body of one function.

    Args:
        inference: types of the function; made from the very nodes that are rewritten.
        places: numbers the places of accesses.
        translate: gives the function that a device function became, whether it waits, and
            whether it waits for its warp.
    """

    def __init__(self, inference: Inference, places: Places, translate: Translate) -> None:
        self.inference = inference
        self.places = places
        self.translate = translate
        self.bound: dict[str, Any] = {}
        self.collective = False
        self.warp = False
        self._known: dict[object, str] = {}
        self._target: str | None = None
        self._temporaries = 0

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

    def _refuse(self, message: str, node: ast.AST) -> NoReturn:
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
        self._refuse(f"cuda.{value.name} is not a value", node)

    # --- arithmetic -----------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Arithmetic with the device's types."""
        left, right = self.inference.of(node.left), self.inference.of(node.right)
        return self._operate(node.op, self.visit(node.left), left, self.visit(node.right), right)

    def _operate(
        self, operator: ast.operator, left: ast.expr, first: Type, right: ast.expr, second: Type
    ) -> ast.expr:
        if isinstance(first, Integer) and isinstance(second, Integer):
            if isinstance(operator, ast.Div):
                left = self._widened(left)
            result = nodes.binary(left, type(operator), right)
            return _wrapped(result) if _may_wrap(operator, first, second) else result
        if not isinstance(operator, ast.Pow):
            if isinstance(first, Integer) and isinstance(second, Real):
                left = self._widened(left)
            elif isinstance(first, Real) and isinstance(second, Integer):
                right = self._widened(right)
        return nodes.binary(left, type(operator), right)

    def _widened(self, node: ast.expr) -> ast.expr:
        """An integer as a float64."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return self._real(float(node.value))
        return nodes.call(self.bind(np.float64), [node])

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """The complement of an unsigned number is unsigned."""
        kind = self.inference.of(node.operand)
        wraps = isinstance(node.op, ast.Invert) and isinstance(kind, Integer) and not kind.signed
        node.operand = self.visit(node.operand)
        return _wrapped(node) if wraps else node

    # --- accesses -------------------------------------------------------------------------------

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """An element of a known array is loaded by a call."""
        indices = self.inference.element_indices(node)
        if indices is None or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)
        return self._load(node, [self.visit(index) for index in indices])

    def _load(self, node: ast.Subscript, indices: list[ast.expr]) -> ast.expr:
        place = nodes.const(self.places.number(node))
        array = _array_of(node)
        if len(indices) in (1, 2):
            return nodes.call(nodes.attribute(array, f"load{len(indices)}"), [*indices, place])
        return nodes.call(nodes.attribute(array, "load"), [nodes.tuple_of(indices), place])

    def _store(self, node: ast.Subscript, indices: list[ast.expr], value: ast.expr) -> ast.stmt:
        place = nodes.const(self.places.number(node))
        array = _array_of(node)
        if len(indices) in (1, 2):
            function, where = f"store{len(indices)}", indices
        else:
            function, where = "store", [nodes.tuple_of(indices)]
        call = nodes.call(nodes.attribute(array, function), [*where, value, place])
        return nodes.copy_place(node, ast.Expr(call))

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Elements of known arrays are stored by calls."""
        first = node.targets[0]
        self._target = first.id if isinstance(first, ast.Name) else None
        value = self.visit(node.value)
        self._target = None
        if len(node.targets) == 1 and isinstance(first, ast.Subscript):
            indices = self.inference.element_indices(first)
            if indices is not None:
                return self._store(first, [self.visit(index) for index in indices], value)
        if len(node.targets) == 1 and isinstance(first, ast.Tuple):
            known = [
                (each, self.inference.element_indices(each))
                for each in first.elts
                if isinstance(each, ast.Subscript)
            ]
            if len(known) == len(first.elts) and all(indices is not None for _, indices in known):
                return self._stores(node, known, value)
        node.value = value
        node.targets = [self.visit(target) for target in node.targets]
        return node

    def _stores(
        self,
        node: ast.Assign,
        known: list[tuple[ast.Subscript, list[ast.expr] | None]],
        value: ast.expr,
    ) -> list[ast.stmt]:
        names = [self._temporary() for _ in known]
        whole = nodes.tuple_of([nodes.target(each) for each in names])
        whole.ctx = ast.Store()
        result: list[ast.stmt] = [nodes.copy_place(node, nodes.assign(whole, value))]
        for name, (target, indices) in zip(names, known, strict=True):
            visited = [self.visit(index) for index in indices or ()]
            result.append(self._store(target, visited, nodes.name(name)))
        return result

    def _temporary(self) -> str:
        self._temporaries += 1
        return f"_astile_value_{self._temporaries}"

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        """An annotation has no meaning here."""
        if node.value is None:
            return nodes.copy_place(node, ast.Pass())
        return self.visit_Assign(nodes.copy_place(node, nodes.assign(node.target, node.value)))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """``a op= b`` is typed arithmetic too, and its indices are computed once."""
        first, second = self.inference.of(node.target), self.inference.of(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            value = self._operate(
                node.op, nodes.name(target.id), first, self.visit(node.value), second
            )
            return nodes.copy_place(node, nodes.assign(target.id, value))
        indices = None
        if isinstance(target, ast.Subscript):
            indices = self.inference.element_indices(target)
        if not isinstance(target, ast.Subscript) or indices is None:
            return self.generic_visit(node)
        result: list[ast.stmt] = []
        held: list[ast.expr] = []
        for index in indices:
            visited = self.visit(index)
            if not isinstance(visited, (ast.Name, ast.Constant)):
                temporary = self._temporary()
                result.append(nodes.copy_place(node, nodes.assign(temporary, visited)))
                visited = nodes.name(temporary)
            held.append(visited)
        old = self._load(target, [nodes.clone(index) for index in held])
        value = self._operate(node.op, old, first, self.visit(node.value), second)
        return [*result, self._store(target, held, value)]

    # --- calls ----------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Calls of casts, device words, device functions and functions of `math`."""
        function = self.inference.resolve(node.func)
        if function is MISSING:
            return self.generic_visit(node)
        if isinstance(function, DeviceWord):
            return self._word(function.name, node)
        if isinstance(function, DeviceFunction):
            return self._device_call(function, node)
        if isinstance(function, type) and issubclass(function, np.generic):
            return self._cast(np.dtype(function), node)
        if function is float:
            return self._cast(np.dtype(np.float64), node)
        if function is int and node.args and isinstance(self.inference.of(node.args[0]), Integer):
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        if isinstance(function, FunctionType) and self._is_ours(function):
            self._refuse(f"{function.__name__} is not a device function", node)
        name = getattr(function, "__name__", "")
        if name and getattr(math, name, None) is function:
            called = self.bind(math_function(name), ("math", name))
            return nodes.call(called, self._visited(node.args))
        return self.generic_visit(node)

    def _is_ours(self, function: FunctionType) -> bool:
        return function.__code__.co_filename == self.places.source.name

    def _visited(self, expressions: list[ast.expr]) -> list[ast.expr]:
        return [self.visit(each) for each in expressions]

    def _cast(self, dtype: np.dtype[Any], node: ast.Call) -> ast.expr:
        if len(node.args) != 1 or node.keywords:
            self._refuse(f"{dtype} takes one value", node)
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

    def _device_call(self, function: DeviceFunction, node: ast.Call) -> ast.expr:
        types = tuple(self.inference.of(argument) for argument in node.args)
        translated, collective, warp = self.translate(function, types)
        call = nodes.call(self.bind(translated), [nodes.name(THREAD), *self._visited(node.args)])
        call.keywords = [ast.keyword(each.arg, self.visit(each.value)) for each in node.keywords]
        self.collective |= collective
        self.warp |= warp
        return ast.YieldFrom(call) if collective else call

    def _word(self, name: str, node: ast.Call) -> ast.expr:
        if name in ("shared.array", "local.array"):
            return self._allocation(name, node)
        if node.keywords:
            self._refuse(f"cuda.{name} takes no keywords", node)
        place = nodes.const(self.places.number(node))
        if name in BLOCK_WORDS or name in WARP_WORDS:
            self.collective = True
            self.warp |= name in WARP_WORDS
            arguments = nodes.tuple_of(self._visited(node.args))
            return ast.Yield(nodes.tuple_of([nodes.const(name), place, arguments]))
        if name in FENCES:
            return nodes.const(None)
        if name in ("grid", "gridsize"):
            return nodes.call(nodes.attribute(THREAD, name), self._visited(node.args))
        if name in ATOMICS:
            return nodes.call(self.bind(ATOMICS[name]), [*self._visited(node.args), place])
        if name in FUNCTIONS:
            return nodes.call(self.bind(FUNCTIONS[name]), self._visited(node.args))
        self._refuse(f"cuda.{name} is not a function", node)

    def _allocation(self, name: str, node: ast.Call) -> ast.expr:
        called = self._target or name
        place = nodes.const(self.places.number(node))
        function = nodes.attribute(THREAD, "shared" if name == "shared.array" else "local")
        call = nodes.call(
            function, [place, nodes.const(called), *(nodes.clone(each) for each in node.args)]
        )
        call.keywords = [nodes.clone(keyword) for keyword in node.keywords]
        return call


def _array_of(node: ast.Subscript) -> ast.expr:
    return nodes.clone(node.value)


def _wrapped(node: ast.expr) -> ast.expr:
    return nodes.binary(node, ast.BitAnd, nodes.const(MASK64))


def _may_wrap(operator: ast.operator, left: Integer, right: Integer) -> bool:
    """Whether an operation on unsigned numbers can leave 64 bits.

    Signed overflow has no defined value; the exact result of Python's integers serves.
    """
    if left.signed or right.signed:
        return False
    match operator:
        case ast.Sub() | ast.LShift():
            return True
        case ast.Add():
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
