"""The text of a kernel, rewritten: accesses become calls, waits become yields.

What is not known stays as it is: arrays check their plain subscripts too, only slower.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from astile.ir import nodes
from astile.runtime.emulator.arithmetic import THREAD, Arithmetic
from astile.runtime.emulator.copy_words import CopyWord
from astile.runtime.emulator.errors import Places
from astile.runtime.emulator.inference import MISSING, Inference
from astile.runtime.emulator.kinds import Integer, Real, Type, binary, dtype_of
from astile.runtime.emulator.matrix_words import MatrixWord
from astile.runtime.emulator.wide import WideAccess
from astile.runtime.emulator.words import (
    ATOMICS,
    BLOCK_WORDS,
    CUDA_FUNCTIONS,
    FENCES,
    FUNCTIONS,
    WARP_WORDS,
    DeviceFunction,
    DeviceWord,
    math_function,
    numpy_function,
)

#: Numbers of indices for which arrays have a load and a store of their own.
_WRITTEN_OUT = (1, 2, 3)
Translate = Callable[[DeviceFunction, tuple[Type, ...]], tuple[FunctionType, bool, bool]]


class Rewrite(Arithmetic, ast.NodeTransformer):
    """Rewrites the body of one function.

    Args:
        inference: types of the function; made from the very nodes that are rewritten.
        places: numbers the places of accesses.
        translate: gives the function that a device function became, whether it waits, and
            whether it waits for its warp.
    """

    def __init__(self, inference: Inference, places: Places, translate: Translate) -> None:
        super().__init__(inference, places)
        self.translate = translate
        self.collective = False
        self.warp = False
        self._target: str | None = None
        self._temporaries = 0

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
        if len(indices) in _WRITTEN_OUT:
            return nodes.call(nodes.attribute(array, f"load{len(indices)}"), [*indices, place])
        return nodes.call(nodes.attribute(array, "load"), [nodes.tuple_of(indices), place])

    def _store(self, node: ast.Subscript, indices: list[ast.expr], value: ast.expr) -> ast.stmt:
        place = nodes.const(self.places.number(node))
        array = _array_of(node)
        if len(indices) in _WRITTEN_OUT:
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
        if len(node.targets) == 1 and isinstance(first, ast.Name):
            kind = self.inference.of(node.value)
            node.value = self.coerced(value, kind, self.inference.names[first.id])
            return node
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
            value = self.operate(
                node.op, nodes.name(target.id), first, self.visit(node.value), second
            )
            value = self.coerced(value, binary(node.op, first, second), first)
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
        value = self.operate(node.op, old, first, self.visit(node.value), second)
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
        if isinstance(function, WideAccess):
            place = nodes.const(self.places.number(node))
            return nodes.call(self.bind(function.on), [*self._visited(node.args), place])
        if isinstance(function, CopyWord):
            place = nodes.const(self.places.number(node))
            arguments = [nodes.name(THREAD), *self._visited(node.args), place]
            return nodes.call(self.bind(function.on), arguments)
        if isinstance(function, MatrixWord):
            self.collective = self.warp = True
            place = nodes.const(self.places.number(node))
            arguments = [nodes.name(THREAD), *self._visited(node.args), nodes.clone(place)]
            brought = nodes.call(self.bind(function.brought), arguments)
            return ast.Yield(nodes.tuple_of([nodes.const(function.name), place, brought]))
        if isinstance(function, type) and issubclass(function, np.generic):
            return self.cast(np.dtype(function), node)
        if function is float:
            kind = self.inference.of(node)
            width = kind.bits if isinstance(kind, Real) else 64
            return self.cast(np.dtype(f"f{width // 8}"), node)
        if function is min or function is max:
            return self.extreme(node)
        if function is int and node.args and isinstance(self.inference.of(node.args[0]), Integer):
            return self.visit(node.args[0])  # type: ignore[no-any-return]
        if isinstance(function, FunctionType) and self._is_ours(function):
            self.refuse(f"{function.__name__} is not a device function", node)
        if isinstance(function, np.ufunc) or function in CUDA_FUNCTIONS.values():
            return self._numpy_call(function, node)
        name = getattr(function, "__name__", "")
        if name and getattr(math, name, None) is function:
            called = self.bind(math_function(name), ("math", name))
            return nodes.call(called, self._visited(node.args))
        return self.generic_visit(node)

    def _numpy_call(self, function: Callable[..., Any], node: ast.Call) -> ast.AST:
        """A function of NumPy, of the types that its arguments have on the device."""
        dtypes = tuple(dtype_of(self.inference.of(each)) for each in node.args)
        if node.keywords or not any(each is not None and each.kind in "iu" for each in dtypes):
            return self.generic_visit(node)
        called = self.bind(numpy_function(function, dtypes), ("numpy", function, dtypes))
        return nodes.call(called, self._visited(node.args))

    def _is_ours(self, function: FunctionType) -> bool:
        return function.__code__.co_filename == self.places.source.name

    def _visited(self, expressions: list[ast.expr]) -> list[ast.expr]:
        return [self.visit(each) for each in expressions]

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
            return self._allocation(name.partition(".")[0], node)
        if name == "shared_array":
            return self._allocation("part", node)
        if node.keywords:
            self.refuse(f"cuda.{name} takes no keywords", node)
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
        self.refuse(f"cuda.{name} is not a function", node)

    def _allocation(self, word: str, node: ast.Call) -> ast.expr:
        """An array that a thread asks for by one of its methods: `shared`, `part` or `local`."""
        called = self._target or f"an array ({word})"
        place = nodes.const(self.places.number(node))
        function = nodes.attribute(THREAD, word)
        call = nodes.call(
            function, [place, nodes.const(called), *(nodes.clone(each) for each in node.args)]
        )
        call.keywords = [nodes.clone(keyword) for keyword in node.keywords]
        return call


def _array_of(node: ast.Subscript) -> ast.expr:
    return nodes.clone(node.value)
