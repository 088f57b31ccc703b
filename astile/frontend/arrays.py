"""What the names of a function hold: arrays of so many axes, numbers, or something not known.

The text does not say what its arguments are. That an argument has as many axes as it is indexed
with, or is a number, is assumed, and each assumption that is used becomes a need of the program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from astile.frontend import sums
from astile.frontend.evidence import bindings, index_counts, is_length, opened
from astile.frontend.lengths import Lengths
from astile.frontend.sums import Linear
from astile.frontend.told import Extreme
from astile.frontend.vocabulary import (
    CELLWISE,
    NORM,
    NUMBER_CALLS,
    PRODUCTS,
    REDUCTIONS,
    freedom,
    numpy_word,
    path_of,
)
from astile.ir import nodes, query
from astile.ir.casts import array_of_type
from astile.ir.needs import Need, Number, Rank
from astile.ir.program import Program


class Facts:
    """What is known of the names of one program.

    Args:
        program: the program; it is not changed.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.parameters = set(query.parameters(program.function))
        self.bindings = bindings(program.function)
        #: Names -> the statements that bind them to something else: ``A += 1`` is none for arrays.
        self.rebound = {
            name: kept
            for name, bound in self.bindings.items()
            if (kept := [each for each in bound if not isinstance(each, ast.AugAssign)])
        }
        self.sizes: dict[str, Linear] = {}
        self._made = self._allocations()
        self.ranks = self._ranks()
        self.numbers = self._numbers()
        self._read_sizes()

    # --- arrays ---------------------------------------------------------------------------------

    def _allocations(self) -> dict[str, ast.Assign]:
        """Names that are bound once, by a statement that makes a new array."""
        found = {}
        for name, bound in self.rebound.items():
            statement = bound[0]
            if len(bound) > 1 or name in self.parameters or not isinstance(statement, ast.Assign):
                continue
            if query.is_allocation(statement) or self._copied(statement.value) is not None:
                found[name] = statement
        return found

    def _copied(self, value: ast.expr) -> str | None:
        """``A`` for ``A.copy()`` and ``np.copy(A)``."""
        match value:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=array), attr="copy"), args=[], keywords=[]
            ):
                return array
            case ast.Call(func=function, args=[ast.Name(id=array)], keywords=[]) if (
                numpy_word(self.program, function) == "copy"
            ):
                return array
        return None

    def _ranks(self) -> dict[str, int]:
        seen = {**index_counts(self.program.function), **self.program.ranks}
        ranks = {
            name: seen[name]
            for name in self.parameters - self.rebound.keys()
            if seen.get(name, 0) > 0
        }
        changed = True
        while changed:
            changed = False
            for name, statement in self._made.items():
                rank = self._rank_made(statement, ranks)
                if name not in ranks and rank and seen.get(name, 0) <= rank:
                    ranks[name] = rank
                    changed = True
        return ranks

    def _rank_made(self, statement: ast.Assign, ranks: Mapping[str, int]) -> int | None:
        made = query.allocation(statement)
        if made is None:
            return ranks.get(self._copied(statement.value) or "")
        if made.shape is None:
            like = self.like(statement)
            return None if like is None else ranks.get(like)
        if len(made.shape) > 1:
            return len(made.shape)
        (shape,) = made.shape
        match shape:
            case ast.Attribute(value=ast.Name(id=array), attr="shape"):
                return ranks.get(array)
            case ast.Name(id=name):
                return 1 if self._sets_a_range(name) else None
            case ast.Call() | ast.Attribute():
                word = query.dotted(getattr(shape, "func", shape))
                return 1 if word in ("len", "int", "min", "max") else None
        return 1

    def like(self, statement: ast.Assign) -> str | None:
        """``A`` for a statement that makes an array of the shape of A."""
        copied = self._copied(statement.value)
        if copied is not None or not isinstance(statement.value, ast.Call):
            return copied
        made = query.allocation(statement)
        first = statement.value.args[0] if statement.value.args else None
        is_like = made is not None and made.shape is None
        return first.id if is_like and isinstance(first, ast.Name) else None

    def _sets_a_range(self, name: str) -> bool:
        """Whether a name is certainly an integer: it counts a loop, or is a length."""
        for loop in query.loops(self.program.function):
            header = query.header(loop)
            if header is not None and name in query.names_read(loop.iter):
                return True
        return any(is_length(each, name) for each in self.bindings.get(name, ()))

    def known(self) -> Lengths:
        """What is known of integers where the function starts."""
        constants = {
            name: Extreme("is", (sums.constant(value),))
            for name, value in self.program.constants.items()
            if type(value) is int and name not in self.bindings and name not in self.parameters
        }
        arguments = (self.parameters & self.numbers) - self.bindings.keys()
        words = [path_of(self.program, nodes.name(each)) for each in ("min", "max")]
        return Lengths(
            self.sizes,
            extremes=constants,
            integers=frozenset(arguments | constants.keys()),
            reads_extremes=words == ["min", "max"],
        )

    def statement_of(self, name: str) -> ast.Assign | None:
        """The statement that allocates an array; None for an argument."""
        return self._made.get(name)

    # --- numbers --------------------------------------------------------------------------------

    def _numbers(self) -> set[str]:
        """Names that hold numbers only: the largest set that does not contradict itself."""
        indexed = opened(self.program.function)
        names = (self.parameters | self.bindings.keys()) - self.ranks.keys() - indexed
        while True:
            kept = {
                name
                for name in names
                if all(
                    self._binds_number(each, name, names) for each in self.bindings.get(name, ())
                )
            }
            if kept == names:
                return kept
            names = kept

    def _binds_number(self, statement: ast.stmt, name: str, numbers: set[str]) -> bool:
        match statement:
            case ast.Assign(targets=[ast.Name()], value=value) | ast.AugAssign(value=value):
                return self._is_number(value, numbers)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)) if len(
                targets
            ) == len(parts):
                return all(
                    self._is_number(part, numbers)
                    for each, part in zip(targets, parts, strict=True)
                    if isinstance(each, ast.Name) and each.id == name
                )
            case ast.Assign(targets=[ast.Tuple()], value=ast.Attribute(attr="shape")):
                return True
            case ast.For():
                return query.header(statement) is not None
        return False

    def is_number(self, value: ast.expr) -> bool:
        """Whether an expression certainly gives one number, when the needs of its names hold."""
        return self._is_number(value, self.numbers)

    def _is_number(self, value: ast.expr, numbers: set[str]) -> bool:
        match value:
            case ast.Constant(value=constant):
                return isinstance(constant, (bool, int, float, complex))
            case ast.Name(id=name):
                frozen = self.program.constants.get(name)
                known = frozen is not None and not isinstance(frozen, str)
                return name in numbers or (known and name not in self.bindings)
            case ast.Subscript():
                return self._is_cell(value, numbers)
            case ast.Attribute():
                return self._is_number_attribute(value)
            case ast.Call():
                return self._is_number_call(value, numbers)
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare() | ast.IfExp():
                parts = [e for e in ast.iter_child_nodes(value) if isinstance(e, ast.expr)]
                return all(self._is_number(each, numbers) for each in parts)
        return False

    def _is_cell(self, access: ast.Subscript, numbers: set[str]) -> bool:
        if isinstance(access.value, ast.Attribute):
            return access.value.attr == "shape" and query.integer(access.slice) is not None
        base = query.base_name(access)
        indices = query.indices(access)
        if base not in self.ranks or len(indices) != self.ranks[base]:
            return False
        return all(self._is_number(each, numbers) for each in indices)

    def _is_number_attribute(self, value: ast.Attribute) -> bool:
        if isinstance(value.value, ast.Name) and value.value.id in self.ranks:
            return value.attr in ("size", "ndim")
        path = path_of(self.program, value) or ""
        return path in ("numpy.pi", "numpy.e", "numpy.inf", "numpy.nan", "math.pi", "math.e") or (
            path in ("math.inf", "math.nan", "math.tau")
        )

    def _is_number_call(self, call: ast.Call, numbers: set[str]) -> bool:
        path = path_of(self.program, call.func) or ""
        head, _, last = path.rpartition(".")
        if freedom(last or getattr(call.func, "attr", ""), call.keywords) is None:
            return False
        whole = all(self._is_number(each, numbers) for each in call.args)
        if path == "len":
            return True
        if array_of_type(call.func) in self.ranks:
            return whole
        if head == "" and path in NUMBER_CALLS:
            return whole
        if head in ("math", "cmath"):
            return whole
        if path == NORM or (head == "numpy" and last in REDUCTIONS):
            return self._reduces(last, call.args, numbers)
        if head == "numpy":
            is_type = isinstance(getattr(np, last, None), type)
            return whole and (last in CELLWISE or is_type)
        match call.func:
            case ast.Attribute(value=ast.BinOp(), attr=method):
                return method in REDUCTIONS - {"dot"} and not call.args
            case ast.Attribute(value=value, attr=method) if query.base_name(value) in self.ranks:
                return method in REDUCTIONS - {"dot"} and not call.args
        return False

    def _reduces(self, word: str, arguments: list[ast.expr], numbers: set[str]) -> bool:
        if word in PRODUCTS:
            return len(arguments) == 2 and all(self._axes(each, numbers) == 1 for each in arguments)
        return len(arguments) == 1

    def axes(self, value: ast.expr) -> int | None:
        """Number of axes of an array or part of an array, or None."""
        return self._axes(value, self.numbers)

    def _axes(self, value: ast.expr, numbers: set[str]) -> int | None:
        if isinstance(value, ast.Name):
            return self.ranks.get(value.id)
        base = query.base_name(value)
        if not isinstance(value, ast.Subscript) or base not in self.ranks:
            return None
        indices = query.indices(value)
        slices = [isinstance(each, ast.Slice) for each in indices]
        single = [e for e, is_slice in zip(indices, slices, strict=True) if not is_slice]
        if len(indices) > self.ranks[base] or not all(
            self._is_number(each, numbers) for each in single
        ):
            return None
        return self.ranks[base] - len(single)

    # --- sizes ----------------------------------------------------------------------------------

    def _read_sizes(self) -> None:
        """Names bound once, by a statement of the function's own body, to a sum of lengths."""
        known = Lengths(self.sizes)
        for statement in self.program.function.body:
            for name, form in _sizes_of(statement, known):
                bound_once = len(self.bindings[name]) == 1 and name not in self.parameters
                steady = all(self._is_steady(each) for each in sums.names_in([form]))
                if bound_once and steady:
                    self.sizes[name] = form
            self._read_extents(statement, known)
        for statement in self._made.values():  # made again and again, always of one shape
            self._read_extents(statement, known)

    def _read_extents(self, statement: ast.stmt, known: Lengths) -> None:
        """The extents of an array that a statement makes."""
        if not isinstance(statement, ast.Assign) or statement not in self._made.values():
            return
        (name,) = (each for each, made in self._made.items() if made is statement)
        made = query.allocation(statement)
        like = self.like(statement)
        match made.shape if made is not None else None:
            case (ast.Attribute(value=ast.Name(id=array), attr="shape"),):
                like = array
        if name not in self.ranks:
            return
        for axis in range(self.ranks[name]):
            if like is not None:
                text = sums.extent_symbol(like, axis)
                form: Linear | None = self.sizes.get(text, sums.symbol(text))
            else:
                shape = made.shape if made is not None else None
                form = known.linear(shape[axis]) if shape is not None else None
            if form is not None and all(map(self._is_steady, sums.names_in([form]))):
                self.sizes[sums.extent_symbol(name, axis)] = form

    def _is_steady(self, name: str) -> bool:
        """Whether a name stands for the same thing all through the function."""
        if name in self.parameters:
            return name not in (self.rebound if name in self.ranks else self.bindings)
        return name in self._made or name in self.program.constants or name in self.sizes

    # --- needs ----------------------------------------------------------------------------------

    def needs_of(self, names: Iterable[str]) -> Iterator[Need]:
        """What is assumed of arguments when names are taken for what `ranks` and `numbers` say."""
        for name in sorted(self.roots(names)):
            if name in self.parameters and name in self.ranks:
                yield Rank(name, self.ranks[name])
            elif name in self.parameters and name in self.numbers:
                yield Number(name)

    def roots(self, names: Iterable[str]) -> set[str]:
        """Names, and all names that what they hold was computed from."""
        found: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            for statement in self.bindings.get(name, ()):
                source = statement.iter if isinstance(statement, ast.For) else statement
                pending += query.names_read(source)
        return found


def _sizes_of(statement: ast.stmt, known: Lengths) -> Iterator[tuple[str, Linear]]:
    """``n, m = A.shape`` and ``n = len(A) - 1`` as sums."""
    match statement:
        case ast.Assign(
            targets=[ast.Tuple(elts=elements)],
            value=ast.Attribute(value=ast.Name(id=array), attr="shape"),
        ):
            for axis, each in enumerate(elements):
                if isinstance(each, ast.Name):
                    text = sums.extent_symbol(array, axis)
                    yield each.id, known.sizes.get(text, sums.symbol(text))
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            form = known.linear(value)
            if form is not None:
                yield name, form
