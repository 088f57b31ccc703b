"""Types of the expressions of a kernel, by numba's rules for device code.

Known types make the instrumented text both right and fast: differences of unsigned numbers wrap,
an integer meeting a real makes a float64, casts that change nothing disappear, and accesses of
arrays of known rank become direct calls. An unknown type is always allowed; the text is then left
to Python and NumPy.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from astile import loops
from astile.ir import nodes
from astile.runtime.emulator.kinds import (
    BOOLEAN,
    EXTENT,
    FLOAT64,
    INT64,
    NOTHING,
    ArrayOf,
    Integer,
    Nothing,
    Real,
    TupleOf,
    Type,
    binary,
    cast_type,
    join,
    of_builtin,
    of_dtype,
    of_ufunc,
    of_value,
    unary,
    unify,
)
from astile.runtime.emulator.matrix_words import PART_WORDS, MatrixWord
from astile.runtime.emulator.wide import WideAccess
from astile.runtime.emulator.words import AXES, CUDA_FUNCTIONS, DeviceFunction, DeviceWord

MISSING = object()
_WORD = of_dtype(np.dtype(np.uint32))


_WORD_BITS = {"threadIdx": 10, "blockDim": 11, "blockIdx": 31, "gridDim": 31}


class Inference:
    """Types of one function's variables and expressions.

    Args:
        function: the function.
        parameters: types of its parameters.
        namespace: its globals, closure included.
        returned: type that a call of a device function gives for argument types.
    """

    def __init__(
        self,
        function: ast.FunctionDef,
        parameters: Mapping[str, Type],
        namespace: Mapping[str, Any],
        returned: Callable[[DeviceFunction, tuple[Type, ...]], Type],
    ) -> None:
        self.namespace = namespace
        self.returned = returned
        self.names: dict[str, Type] = dict(parameters)
        self.locals = set(parameters)
        self._memo: dict[int, tuple[ast.expr, Type]] = {}
        nodes = list(_own_nodes(function))
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.locals.add(node.id)
                self.names.setdefault(node.id, NOTHING)
        self._settle(nodes)

    def _settle(self, nodes: list[ast.AST]) -> None:
        for round_number in range(12):
            before = dict(self.names)
            self._memo.clear()
            for node in nodes:
                for target, kind in self._assigned(node):
                    self._widen(target, kind, before if round_number > 2 else None)
            if before == self.names:
                break
        self._memo.clear()

    def _widen(self, target: str, kind: Type, before: Mapping[str, Type] | None) -> None:
        joined = join(self.names[target], kind)
        grows = before is not None and before.get(target) != joined
        if grows and isinstance(joined, Integer):
            joined = replace(joined, bits=64)
        self.names[target] = joined

    # --- assignments ----------------------------------------------------------------------------

    def _assigned(self, node: ast.AST) -> Iterator[tuple[str, Type]]:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from self._unpacked(target, self.of(node.value))
        elif isinstance(node, (ast.AugAssign, ast.NamedExpr)):
            if isinstance(node.target, ast.Name):
                value = augmented(node) if isinstance(node, ast.AugAssign) else node.value
                yield node.target.id, self.of(value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from self._unpacked(node.target, self.of(node.value))
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield from self._unpacked(node.target, self._item_of(node.iter))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from self._unpacked(node.optional_vars, None)

    def _unpacked(self, target: ast.expr, kind: Type) -> Iterator[tuple[str, Type]]:
        if isinstance(target, ast.Name):
            yield target.id, kind
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, each in enumerate(target.elts):
                item: Type = NOTHING if kind is NOTHING else None
                if isinstance(kind, TupleOf):
                    known = kind.items is not None and place < len(kind.items)
                    item = kind.items[place] if known and kind.items is not None else kind.each
                yield from self._unpacked(each, item)
        elif isinstance(target, ast.Starred):
            yield from self._unpacked(target.value, None)

    def _item_of(self, iterable: ast.expr) -> Type:
        if not isinstance(iterable, ast.Call) or self.resolve(iterable.func) is not builtins.range:
            return None
        bounds = [self.of(argument) for argument in iterable.args]
        if any(bound is NOTHING for bound in bounds):
            return NOTHING
        integers = [bound for bound in bounds if isinstance(bound, Integer)]
        if len(integers) < len(bounds) or not integers:
            return None
        ends = integers[:2]
        return Integer(
            signed=any(bound.signed for bound in integers),
            bits=max(bound.bits for bound in ends),
            natural=all(bound.natural for bound in integers),
        )

    # --- names ----------------------------------------------------------------------------------

    def resolve(self, node: ast.expr) -> Any:
        """What a dotted name outside the function stands for; `MISSING` when that is unknown."""
        if isinstance(node, ast.Name):
            if node.id in self.locals:
                return MISSING
            return self.namespace.get(node.id, getattr(builtins, node.id, MISSING))
        if isinstance(node, ast.Attribute):
            owner = self.resolve(node.value)
            return MISSING if owner is MISSING else getattr(owner, node.attr, MISSING)
        return MISSING

    # --- expressions ----------------------------------------------------------------------------

    def of(self, node: ast.expr) -> Type:
        """Type of an expression; asked before the expression is changed, it stays."""
        known = self._memo.get(id(node))
        if known is None:
            # The node is kept too: a number freed with its node could come back for another.
            known = self._memo[id(node)] = (node, self._of(node))
        return known[1]

    def _of(self, node: ast.expr) -> Type:
        match node:
            case ast.Constant():
                return of_value(node.value)
            case ast.Name() if node.id in self.locals:
                return self.names.get(node.id)
            case ast.Name() | ast.Attribute():
                return self._of_name(node)
            case ast.BinOp():
                return binary(node.op, self.of(node.left), self.of(node.right))
            case ast.UnaryOp():
                return unary(node.op, self.of(node.operand))
            case ast.IfExp():
                return unify(self.of(node.body), self.of(node.orelse))
            case ast.Compare():
                return BOOLEAN
            case ast.NamedExpr():
                return self.of(node.value)
            case ast.Tuple():
                return TupleOf(tuple(self.of(each) for each in node.elts))
            case ast.Subscript():
                return self._of_subscript(node)
            case ast.Call():
                return self._of_call(node)
        return None

    def _of_name(self, node: ast.Name | ast.Attribute) -> Type:
        if isinstance(node, ast.Attribute):
            owner = self.of(node.value)
            if isinstance(owner, ArrayOf):
                extents = TupleOf((EXTENT,) * owner.rank)
                return extents if node.attr == "shape" else EXTENT if node.attr == "size" else None
            if owner is NOTHING:
                return NOTHING
        value = self.resolve(node)
        if not isinstance(value, DeviceWord):
            return of_value(value)
        head, _, axis = value.name.partition(".")
        if head in _WORD_BITS and axis in AXES:
            return Integer(signed=True, bits=_WORD_BITS[head], natural=True)
        return EXTENT if head in ("laneid", "warpsize") else None

    def _of_subscript(self, node: ast.Subscript) -> Type:
        owner = self.of(node.value)
        if owner is NOTHING:
            return NOTHING
        if isinstance(owner, ArrayOf):
            return of_dtype(owner.dtype) if self.element_indices(node) is not None else None
        if isinstance(owner, TupleOf) and isinstance(node.slice, ast.Constant):
            place, items = node.slice.value, owner.items
            if items is not None and isinstance(place, int) and -len(items) <= place < len(items):
                return items[place]
        return None

    def element_indices(self, node: ast.Subscript) -> list[ast.expr] | None:
        """The indices of an access that names one element of a known array; else None."""
        owner = self.of(node.value)
        if not isinstance(owner, ArrayOf) or not isinstance(node.value, ast.Name):
            return None
        index = node.slice
        indices = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        if len(indices) != owner.rank:
            return None
        plain = (Integer, Nothing, type(None))
        fits = all(
            not isinstance(i, (ast.Slice, ast.Starred)) and isinstance(self.of(i), plain)
            for i in indices
        )
        return indices if fits else None

    def _of_call(self, node: ast.Call) -> Type:
        function = self.resolve(node.func)
        arguments = [self.of(argument) for argument in node.args]
        if isinstance(function, DeviceWord):
            return self._of_word(function.name, node, arguments)
        if any(argument is NOTHING for argument in arguments):
            return NOTHING
        if isinstance(function, type) and issubclass(function, np.generic):
            return cast_type(np.dtype(function), arguments[0] if arguments else None)
        if isinstance(function, DeviceFunction):
            return self.returned(function, tuple(arguments))
        if isinstance(function, WideAccess):
            array = arguments[0]
            if function.stores or not isinstance(array, ArrayOf):
                return None
            return TupleOf((of_dtype(array.dtype),) * function.count)
        if isinstance(function, MatrixWord):
            return TupleOf((_loaded(function, arguments),) * function.count)
        for parts, each in PART_WORDS.values():
            if function is parts:
                taken = arguments[0]
                if not isinstance(taken, TupleOf) or taken.items is None:
                    return None
                return TupleOf((_WORD,) * (len(taken.items) // each))
        if isinstance(function, np.ufunc):
            return of_ufunc(function, arguments)
        if any(function is each for each in CUDA_FUNCTIONS.values()):
            return arguments[0]
        if function is loops.bf16 or function is loops.tf32:
            return Real(32)
        if any(function is each for each in (int, len, abs, min, max, float)):
            return of_builtin(function, arguments)
        if getattr(math, getattr(function, "__name__", "?"), None) is function:
            if function in (math.isnan, math.isinf, math.isfinite):
                return None
            return arguments[0] if arguments[:1] in ([Real(32)], [Real(16)]) else FLOAT64
        return None

    def _of_word(self, name: str, node: ast.Call, arguments: list[Type]) -> Type:
        if name in ("shared.array", "shared_array", "local.array"):
            return self._of_allocation(name, node)
        if name in ("grid", "gridsize"):
            one = isinstance(node.args[0], ast.Constant) and node.args[0].value == 1
            extent = Integer(signed=True, bits=42, natural=True)
            return extent if one else TupleOf(None, extent)
        if name.startswith("shfl") and len(arguments) > 1:
            return arguments[1]
        if name.startswith("atomic.") and arguments and isinstance(arguments[0], ArrayOf):
            return of_dtype(arguments[0].dtype)
        return INT64 if name.startswith(("syncthreads_", "ballot", "popc")) else None

    def _of_allocation(self, name: str, node: ast.Call) -> Type:
        given: dict[str, ast.expr] = dict(zip(("shape", "dtype"), node.args, strict=False))
        given.update({keyword.arg: keyword.value for keyword in node.keywords if keyword.arg})
        if "shape" not in given or "dtype" not in given:
            return None
        dtype = self.resolve(given["dtype"])
        if not isinstance(dtype, (type, np.dtype)) or dtype is MISSING:
            return None
        shape = given["shape"]
        rank = len(shape.elts) if isinstance(shape, ast.Tuple) else 1
        if isinstance(shape, (ast.Name, ast.Attribute)):
            value = self.resolve(shape)
            if not isinstance(value, (int, tuple)):
                return None
            rank = len(value) if isinstance(value, tuple) else 1
        return ArrayOf(rank, np.dtype(dtype), local=name == "local.array")


def _loaded(word: MatrixWord, arguments: list[Type]) -> Type:
    """The type of a register that a word of the matrix units gives."""
    array = arguments[0] if arguments else None
    is_single = isinstance(array, ArrayOf) and array.dtype == np.float32
    return Real(32) if is_single or not word.loads else _WORD


def augmented(node: ast.AugAssign) -> ast.BinOp:
    """The operation of ``a op= b``, at its place; the target is shared with the statement."""
    return nodes.copy_place(node, nodes.binary(node.target, type(node.op), node.value))


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function's body, those of functions inside it apart."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
