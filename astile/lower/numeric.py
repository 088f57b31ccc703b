"""Casts that make numba compute in the types in which the plain program computes.

Plain Python with NumPy 2 keeps ``x[i] * 0.1`` in float32 where x is, and wraps ``a[i] + b[i]`` of
uint8 at 256; numba takes a literal for float64, and all integers for 64 bit ones. Where the types
are known, the text says the plain type: ``x[i] * float32(0.1)``, ``uint8(a[i] + b[i])``. That is
also the fast form: no arithmetic in float64 that nobody asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.kinds import NARROW, PYTHON, TWO_ALIKE, Kind, Kinds

_WRAPPING = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
    ast.Mod,
    ast.LShift,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
)


def explicit(program: Program, types: Mapping[str, str], *, exact: bool = False) -> Program:
    """The program with the types of its arithmetic written out, where numba's own would differ.

    Args:
        program: the program.
        types: array parameter -> type of its elements; ``"float"``, ``"int"`` or ``"bool"`` for a
            parameter that is a number of Python.
        exact: leave floating-point arithmetic as numba types it.

    Before, x and y float32:
        y[i] = 0.5 * x[i] + y[i]

    After:
        y[i] = float32(0.5) * x[i] + y[i]
    """
    new = program.cloned()
    caster = _Caster(new, Kinds(new, types), exact)
    new.function.body = caster.block(new.function.body)
    return replace(new, imports={**new.imports, **caster.imports})


class _Caster:
    def __init__(self, program: Program, kinds: Kinds, exact: bool) -> None:
        self.program, self.kinds, self.exact = program, kinds, exact
        self.imports: dict[str, str] = {}
        self.names: dict[str, str] = {}

    def cast(self, kind: str, value: ast.expr) -> ast.expr:
        """``kind(value)``; a cast of a literal or of the same type is not doubled."""
        if isinstance(value, ast.Call) and query.dotted(value.func) == self.names.get(kind):
            return value
        if kind not in self.names:
            self.names[kind] = self._name(kind)
        return nodes.call(self.names[kind], [value])

    def _name(self, kind: str) -> str:
        path = f"numpy.{kind}"
        if self.program.imports.get(kind) in (path, f"numba.{kind}", f"astile.loops.{kind}"):
            return kind
        name = self.program.fresh_name(kind, set(self.imports))
        self.imports[name] = path
        return name

    # --- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a body, edited."""
        return [self.statement(each) for each in body]

    def statement(self, statement: ast.stmt) -> ast.stmt:
        """One statement, edited in place where its form stays."""
        if query.is_allocation(statement):
            return statement
        if isinstance(statement, ast.AugAssign):
            return self._update(statement)
        if isinstance(statement, ast.Assign):
            statement.targets = [self.fixed(each) for each in statement.targets]
            statement.value = self._stored(statement)
            return statement
        for name, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, name, self.fixed(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                setattr(statement, name, self.block(value))
            elif isinstance(value, list):
                made = [self.fixed(v) if isinstance(v, ast.expr) else v for v in value]
                setattr(statement, name, made)
        return statement

    def _stored(self, statement: ast.Assign) -> ast.expr:
        """The value of an assignment; a name starts in the type that it will have."""
        value = self.fixed(statement.value)
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            kind = self.kinds.names.get(target.id)
            if kind is not None and self._is_typed(kind) and self._is_plain(statement.value):
                return self._started(kind, statement.value, value)
        return value

    def _started(self, kind: str, plain: ast.expr, value: ast.expr) -> ast.expr:
        number = _number(plain)
        if number is not None and _is_representable(number, kind):
            return self.cast(kind, value)
        return value

    def _update(self, statement: ast.AugAssign) -> ast.stmt:
        target = statement.target
        held = self.kinds.of(_as_load(target))
        given = self.kinds.of(statement.value)
        kind = self.kinds.of_binary(held, statement.op, given)
        statement.value = self.fixed(statement.value)
        statement.target = self._target(target)
        if kind == "float32" and self._is_typed(kind) and held == kind:
            statement.value = self._operand(kind, given, statement.value)
        elif kind in NARROW and isinstance(target, ast.Name):
            whole = nodes.binary(nodes.name(target.id), type(statement.op), statement.value)
            made = nodes.assign(target.id, self.cast(kind, whole))
            nodes.set_origin(made, nodes.origin(statement))
            for comment in nodes.comments(statement):
                nodes.add_comment(made, comment)
            return nodes.copy_place(statement, made)
        return statement

    def _target(
        self, target: ast.Name | ast.Attribute | ast.Subscript
    ) -> ast.Name | ast.Attribute | ast.Subscript:
        fixed = self.fixed(target)
        assert isinstance(fixed, (ast.Name, ast.Attribute, ast.Subscript))
        return fixed

    # --- expressions ----------------------------------------------------------------------------

    def _is_typed(self, kind: Kind) -> bool:
        """Whether astile writes out arithmetic of a kind."""
        return (kind == "float32" and not self.exact) or kind in NARROW

    def _is_plain(self, value: ast.expr) -> bool:
        return self.kinds.of(value) in PYTHON

    def fixed(self, value: ast.expr) -> ast.expr:
        """An expression whose kind in numba is its kind in the plain program."""
        made = self._with_fixed_parts(value)
        if isinstance(value, ast.BinOp):
            assert isinstance(made, ast.BinOp)
            return self._binary(value, made)
        if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
            kind = self.kinds.of(value)
            return self.cast(kind, made) if kind is not None and kind in NARROW else made
        if isinstance(value, ast.Compare):
            assert isinstance(made, ast.Compare)
            return self._compare(value, made)
        if isinstance(value, ast.IfExp):
            assert isinstance(made, ast.IfExp)
            kind = self.kinds.of(value)
            if kind == "float32" and self._is_typed(kind):
                made.body = self._started(kind, value.body, made.body)
                made.orelse = self._started(kind, value.orelse, made.orelse)
            return made
        if isinstance(value, ast.Call):
            assert isinstance(made, ast.Call)
            return self._call(value, made)
        return made

    def _with_fixed_parts(self, value: ast.expr) -> ast.expr:
        made = nodes.copy_place(value, type(value)())
        for name, field in ast.iter_fields(value):
            if isinstance(field, ast.expr):
                setattr(made, name, self.fixed(field))
            elif isinstance(field, list):
                parts = [self.fixed(each) if isinstance(each, ast.expr) else each for each in field]
                setattr(made, name, parts)
            else:
                setattr(made, name, field)
        return made

    def _binary(self, plain: ast.BinOp, made: ast.BinOp) -> ast.expr:
        left, right = self.kinds.of(plain.left), self.kinds.of(plain.right)
        kind = self.kinds.of_binary(left, plain.op, right)
        if kind == "float32" and self._is_typed(kind):
            return self._float32(plain, made, left, right)
        if kind in NARROW and isinstance(plain.op, _WRAPPING):
            return self.cast(kind, made)
        if kind == "uint64":
            made.left = self._operand(kind, left, made.left)
            made.right = self._operand(kind, right, made.right)
        elif kind == "float64" and _is_integer(left) and _is_integer(right):
            made.left = self.cast(kind, made.left)
        return made

    def _float32(self, plain: ast.BinOp, made: ast.BinOp, left: Kind, right: Kind) -> ast.expr:
        if not isinstance(plain.op, ast.Pow):
            made.left = self._operand("float32", left, made.left)
            made.right = self._operand("float32", right, made.right)
            return made
        if query.integer(plain.right) == 2 and isinstance(plain.left, (ast.Name, ast.Subscript)):
            return nodes.binary(made.left, ast.Mult, nodes.clone(made.left))
        return self.cast("float32", made)

    def _operand(self, kind: str, own: Kind, value: ast.expr) -> ast.expr:
        return value if own == kind else self.cast(kind, value)

    def _compare(self, plain: ast.Compare, made: ast.Compare) -> ast.expr:
        """A float32 beside a number of Python compares as float32."""
        sides = [plain.left, *plain.comparators]
        kinds = [self.kinds.of(each) for each in sides]
        if self.exact or "float32" not in kinds:
            return made
        if any(kind != "float32" and kind not in PYTHON for kind in kinds):
            return made
        texts = [
            self._operand("float32", kind, each)
            for kind, each in zip(kinds, [made.left, *made.comparators], strict=True)
        ]
        made.left, made.comparators = texts[0], texts[1:]
        return made

    def _call(self, plain: ast.Call, made: ast.Call) -> ast.expr:
        word = query.dotted(plain.func)
        if word == "int" and len(plain.args) == 1 and not plain.keywords:
            # numba's int() of an unsigned number is unsigned: int(a) - int(b) would wrap
            return self.cast("int64", made.args[0])
        kind = self.kinds.of(plain)
        if kind != "float32" or not self._is_typed(kind) or len(plain.args) < 2:
            return made
        pairs = zip(plain.args, made.args, strict=True)
        if word in ("min", "max"):
            made.args = [
                self._started(kind, each, text) if self._is_plain(each) else text
                for each, text in pairs
            ]
        elif (word or "").rpartition(".")[2] in TWO_ALIKE:
            made.args = [self._operand(kind, self.kinds.of(each), text) for each, text in pairs]
        return made


def _as_load(target: ast.expr) -> ast.expr:
    made = nodes.clone(target)
    if isinstance(made, (ast.Name, ast.Subscript, ast.Attribute)):
        made.ctx = ast.Load()
    return made


def _is_integer(kind: Kind) -> bool:
    return kind is not None and kind not in PYTHON and np.dtype(kind).kind in "iu"


def _number(value: ast.expr) -> float | None:
    """The value of a literal."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = _number(value.operand)
        return None if inner is None else -inner
    if isinstance(value, ast.Constant) and type(value.value) in (int, float):
        return value.value  # type: ignore[return-value]
    return None


def _is_representable(number: float, kind: str) -> bool:
    """Whether a NumPy type holds a number exactly."""
    if np.dtype(kind).kind in "iu":
        info = np.iinfo(kind)
        return number == int(number) and info.min <= number <= info.max
    with np.errstate(over="ignore"):
        return float(np.float32(number)) == number
