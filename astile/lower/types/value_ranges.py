"""Between which integers a value lies, whatever the data are: by its type, and by what made it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import NamedTuple

import numpy as np

from astile.ir import query
from astile.ir.program import Program
from astile.lower.types import call_kinds, reaching
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import family, native
from astile.lower.types.stores import Counted, Store

#: Types in which a sum is what Python's is, as long as it fits into 64 bits.
_WIDE = ("int", "int64")
#: Shifts by more are no use, and not the same in Python and in NumPy.
_BITS = 63
_LOWEST = ("min", "numpy.minimum")
_HIGHEST = ("max", "numpy.maximum")


class ValueRange(NamedTuple):
    """The least and the greatest integer that a value may be."""

    low: int
    high: int


class ValueRanges:
    """The ranges of a program's integers.

    They hold for the values of the program as it was written, which those of every text are, at
    any place and time: no condition and no loop around an expression is taken into account.

    Args:
        program: the program.
        types: parameter -> its type, see `Kinds`.
    """

    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self._program, self._kinds = program, Kinds(program, types)
        self._parameters = frozenset(query.parameters(program.function))
        self._counted = _headers(program.function)
        self._sources = reaching.find(program.function, self._kinds.definitions, (), reaching.never)
        self._found: dict[ast.expr, ValueRange | None] = {}

    def is_wide(self, value: ast.expr) -> bool:
        """Whether arithmetic gives what it gives in Python, and does not wrap around earlier."""
        return self._kinds.of(value) in _WIDE

    def of(self, value: ast.expr) -> ValueRange | None:
        """The range of an integer; None where it may be none, as truth values are not."""
        kind = self._kinds.of(value)
        return None if kind in ("bool", "bool_") else self._of(value)

    def _of(self, value: ast.expr) -> ValueRange | None:
        """The range of an integer or of a truth value, which counts as 0 or 1."""
        kind = self._kinds.of(value)
        if kind is None or kind == "?" or self._kinds.is_array(value):
            return None
        if family(kind) not in "biu":
            return None
        whole = _of_kind(kind)
        found = self._made(value)
        # what does not fit wraps around
        return found if found is not None and _contains(whole, found) else whole

    def _made(self, value: ast.expr) -> ValueRange | None:
        """The range by how a value is computed, as if its type held all integers."""
        match value:
            case ast.Constant(value=int(number)):
                return ValueRange(int(number), int(number))
            case ast.Name():
                return self._of_name(value)
            case ast.BinOp(left=left, op=op, right=right):
                return _computed(self._of(left), op, self._of(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._of(operand)
                return None if found is None else ValueRange(-found.high, -found.low)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._of(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return _union([self._of(body), self._of(orelse)])
            case ast.Call(keywords=[]):
                return self._of_call(value)
        return None

    def _of_call(self, call: ast.Call) -> ValueRange | None:
        word = query.dotted(call.func) or ""
        if word in self._program.helper_programs:
            return None
        path = call_kinds.path_of(self._program, call.func) or word
        parts = [self._of(each) for each in call.args]
        known = [each for each in parts if each is not None]
        if len(known) < len(parts) or not parts:
            return None
        if path in _LOWEST and len(parts) > 1:
            return ValueRange(min(e.low for e in known), min(e.high for e in known))
        if path in _HIGHEST and len(parts) > 1:
            return ValueRange(max(e.low for e in known), max(e.high for e in known))
        if path == "numpy.clip" and len(known) == 3:
            value, low, high = known  # the upper limit goes before the lower one
            least, most = max(value.low, low.low), max(value.high, low.high)
            return ValueRange(min(least, high.low), min(most, high.high))
        if path == "abs" and len(known) == 1:
            [only] = known
            ends = (abs(only.low), abs(only.high))
            return ValueRange(0 if only.low <= 0 <= only.high else min(ends), max(ends))
        is_cast = path == "int" or path.startswith(("numpy.int", "numpy.uint"))
        return known[0] if is_cast and len(known) == 1 else None

    # --- names ----------------------------------------------------------------------------------

    def sources(self, load: ast.Name) -> list[ast.expr] | None:
        """What a name may have been set to where it is read; None where that is not known."""
        stores = self._stores(load)
        found = [each for each in stores if isinstance(each, ast.expr)]
        return found if found and len(found) == len(stores) else None

    def _stores(self, load: ast.Name) -> list[Store]:
        """All that a name may have been set to where it is read; nothing where not known."""
        if load.id in self._parameters:
            return []
        if load in self._sources:
            return [each.value for each in self._sources[load]]
        return self._kinds.stores.get(load.id, [])

    def _of_name(self, load: ast.Name) -> ValueRange | None:
        frozen = self._program.constants.get(load.id)
        if type(frozen) is int and load.id not in self._kinds.stores:
            is_constant = load.id not in self._parameters
            return ValueRange(frozen, frozen) if is_constant else None
        return _union(self._of_store(load.id, each) for each in self._stores(load))

    def _of_store(self, name: str, store: Store) -> ValueRange | None:
        if isinstance(store, Counted):
            return _union(self._of_header(each) for each in self._counted.get(name, [None]))
        if not isinstance(store, ast.expr):
            return None
        if store not in self._found:
            self._found[store] = None  # while it is looked at: a name made from itself
            self._found[store] = self._of(store)
        return self._found[store]

    def _of_header(self, header: query.Header | None) -> ValueRange | None:
        step = None if header is None else query.integer(header.step)
        if header is None or not step:
            return None
        start, stop = self._of(header.start), self._of(header.stop)
        if start is None or stop is None:
            return None
        if step > 0:
            return ValueRange(start.low, max(start.low, stop.high - 1))
        return ValueRange(min(start.high, stop.low + 1), start.high)


def _headers(function: ast.FunctionDef) -> dict[str, list[query.Header | None]]:
    """Variables of loops -> the headers of all loops that set them; None for `enumerate`."""
    found: dict[str, list[query.Header | None]] = {}
    for loop in ast.walk(function):
        if isinstance(loop, ast.For):
            for name in query.names_written(loop.target):
                found.setdefault(name, []).append(query.header(loop))
    return found


def _of_kind(kind: str) -> ValueRange:
    if family(kind) == "b":
        return ValueRange(0, 1)
    info = np.iinfo(native(kind))
    return ValueRange(int(info.min), int(info.max))


def _contains(outer: ValueRange, inner: ValueRange) -> bool:
    return outer.low <= inner.low and inner.high <= outer.high


def _union(found: Iterable[ValueRange | None]) -> ValueRange | None:
    parts = list(found)
    known = [each for each in parts if each is not None]
    if len(known) < len(parts) or not parts:
        return None
    return ValueRange(min(each.low for each in known), max(each.high for each in known))


def _computed(
    left: ValueRange | None, op: ast.operator, right: ValueRange | None
) -> ValueRange | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return ValueRange(left.low + right.low, left.high + right.high)
        case ast.Sub():
            return ValueRange(left.low - right.high, left.high - right.low)
        case ast.Mult():
            return _of_corners(left, right, lambda a, b: a * b)
        case ast.FloorDiv() if right.low > 0:
            return _of_corners(left, right, lambda a, b: a // b)
        case ast.Mod() if right.low > 0:
            is_below = left.low >= 0 and left.high < right.low
            return left if is_below else ValueRange(0, right.high - 1)
        case ast.RShift() if right.low >= 0 and right.high <= _BITS:
            return _of_corners(left, right, lambda a, b: a >> b)
        case ast.LShift() if right.low >= 0 and right.high <= _BITS:
            return _of_corners(left, right, lambda a, b: a << b)
        case ast.BitAnd():
            highs = [each.high for each in (left, right) if each.low >= 0]
            return ValueRange(0, min(highs)) if highs else None
        case ast.BitOr() | ast.BitXor() if left.low >= 0 and right.low >= 0:
            return ValueRange(0, (1 << (left.high | right.high).bit_length()) - 1)
    return None


def _of_corners(
    left: ValueRange, right: ValueRange, compute: Callable[[int, int], int]
) -> ValueRange:
    """The range of what grows or falls with each of its two operands."""
    corners = [compute(first, second) for first, second in product(left, right)]
    return ValueRange(min(corners), max(corners))
