"""Casts that make numba compute in the types in which the plain program computes.

Plain Python with NumPy 2 keeps ``x[i] * 0.1`` in float32 where x is, and wraps ``a[i] + b[i]`` of
uint8 at 256; numba takes a literal for float64, and all integers for 64 bit ones. Where the types
are known, the text says the plain type: ``x[i] * float32(0.1)``, ``uint8(a[i] + b[i])``. That is
also the fast form: no arithmetic in float64 that nobody asked for.

Every expression of a known kind keeps this: the type that numba gives its text is the one in
which numba holds values of that kind (`promotion.native`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.lower.indices import IndexWriter
from astile.lower.types import flags, operators, rounding, spelled, unknown, whole_numbers
from astile.lower.types.forms_of_target import FormsOfTarget, Typed
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import native


def explicit(program: Program, types: Mapping[str, str], target: str = "cpu") -> Program:
    """The program with the types of its arithmetic written out, where numba's own would differ.

    Args:
        program: the program.
        types: parameter -> its type, see `Kinds`.
        target: ``"cpu"`` or ``"cuda"``; a GPU computes in float16, and cannot raise.

    Raises:
        LoweringError: where numba has no arithmetic that gives the plain program's values.

    Before, x and y float32:
        y[i] = 0.5 * x[i] + y[i]

    After:
        y[i] = float32(0.5) * x[i] + y[i]
    """
    return _explicit(program, types, _for_target(program, types, target))


def check(program: Program, types: Mapping[str, str], target: str) -> None:
    """Refuse a function of which the data decide the types, as it was written.

    Steps add conditions and loops that may be empty, and change no type.

    Args:
        program: the function as the user wrote it.
        types: parameter -> its type, see `Kinds`.
        target: see `explicit`.

    Raises:
        LoweringError: where numba has no arithmetic that gives the plain program's values.
    """
    _explicit(program, types, _for_target(program, types, target, is_written=True))


def _for_target(
    program: Program, types: Mapping[str, str], target: str, *, is_written: bool = False
) -> Typed:
    whole = Typed(target == "cpu", target == "cuda", is_written)
    if not whole.has_half:
        _require_no_half(program, types)
    return whole


def _require_no_half(program: Program, types: Mapping[str, str]) -> None:
    """Refuse arguments of float16, which numba cannot even read on the CPU."""
    for name, kind in types.items():
        if kind.startswith("float16"):
            raise LoweringError(
                f"argument {name!r} is of float16, which numba does not have on the CPU",
                code="lowering.types",
                span=program.source.span(program.function),
                hints=[f"pass {name}.astype(np.float32), or use target='python'"],
            )


def _explicit(program: Program, types: Mapping[str, str], whole: Typed) -> Program:
    new = spelled.spell(program.cloned(), has_views=whole.is_checked)
    caster = _Caster(new, Kinds(new, types, is_written=whole.is_written), whole)
    caster.check_names()
    new.function.body = caster.block(new.function.body)
    return replace(
        new,
        imports={**new.imports, **caster.imports},
        helpers={**new.helpers, **caster.helpers},
        helper_programs={**new.helper_programs, **caster.helper_programs},
    )


class _Caster(FormsOfTarget):
    """Edits the statements of one cloned program."""

    def check_names(self) -> None:
        """Refuse names whose values float64 may round, and indices that are no integers."""
        flags.check_indices(self.program, self.kinds)
        whole_numbers.check(self.program, self.kinds)
        for load in rounding.rounded_loads(self.kinds):
            self.refuse_choice(load)
        for value in unknown.operands(self.kinds) if self.whole.is_written else ():
            self.refuse(
                f"the type of {print_expression(value)}, which is computed with, is not known",
                value,
                "write it out, as in np.float64(...), or .astype(...) where the array is made",
            )

    # --- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a body, edited."""
        return [self.statement(each) for each in body]

    def statement(self, statement: ast.stmt) -> ast.stmt:
        """One statement, edited in place where its form stays."""
        self.place = statement
        allocated = query.allocation(statement)
        if allocated is not None:
            if allocated.fill is not None:
                self.check_cast(self.kinds.arrays.get(allocated.array), allocated.fill)
            return statement
        if isinstance(statement, ast.AugAssign):
            return self._update(statement)
        if isinstance(statement, ast.Assign):
            statement.value = self._stored(statement.targets[0], statement.value)
            statement.targets = [self.fixed(each) for each in statement.targets]
            return statement
        if isinstance(statement, ast.Return) and statement.value is not None:
            statement.value = self._returned(statement.value)
            return statement
        here = self.writer
        for name, value in ast.iter_fields(statement):
            if isinstance(value, ast.expr):
                setattr(statement, name, self.fixed(value))
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.writer = self._inside(statement, name, here)
                setattr(statement, name, self.block(value))
                self.writer = here
            elif isinstance(value, list):
                made = [self.fixed(v) if isinstance(v, ast.expr) else v for v in value]
                setattr(statement, name, made)
        return statement

    def _inside(self, statement: ast.stmt, part: str, here: IndexWriter) -> IndexWriter:
        """What is known of integers in a body of a statement."""
        if part != "body":
            return here
        if isinstance(statement, ast.For):
            return operators.inside(here, statement)
        return here.under(statement.test, statement.body) if isinstance(statement, ast.If) else here

    def _stored(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """The value of an assignment; a name holds one type from its start on."""
        pairs = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
        if pairs and len(target.elts) == len(value.elts):  # type: ignore[attr-defined]
            made = nodes.tuple_of(
                [self._stored(*pair) for pair in zip(target.elts, value.elts, strict=True)]  # type: ignore[attr-defined]
            )
            return nodes.copy_place(value, made)
        if isinstance(target, ast.Subscript):
            kind = self.kinds.of(nodes.as_load(target))
            self.check_cast(kind, value)
            fixed = self.fixed(value)
            return self.single(fixed) if kind == "float32" else self.wrapped(kind, value, fixed)
        kind = self.kinds.names.get(target.id) if isinstance(target, ast.Name) else None
        return self.started(kind, value)

    def _returned(self, value: ast.expr) -> ast.expr:
        """The value of a return; what a function returns has one type in numba."""
        if self.kinds.is_array(value):
            return self.fixed(value)
        parts = self.kinds.returned_parts()
        if parts is not None:
            assert isinstance(value, ast.Tuple)
            pairs = zip(parts, value.elts, strict=True)
            return nodes.copy_place(value, nodes.tuple_of([self.started(*each) for each in pairs]))
        kind = self.kinds.returned()
        if kind is None:
            self.check_signs_of(self.kinds.returned_values(), value)
        return self.started(kind, value)

    def _update(self, statement: ast.AugAssign) -> ast.stmt:
        """``a op= b`` stays one where only `b` changes."""
        target = statement.target
        loaded = nodes.as_load(target)
        self.kinds.choices.same_load(loaded, target)
        plain = nodes.binary(loaded, type(statement.op), statement.value)
        nodes.copy_place(statement, plain)
        if self.whole.is_checked and self.kinds.is_array(loaded):
            return self._update_of_array(statement, plain)
        if isinstance(target, ast.Name):
            self.check_update_of_number(target, plain)
            made = self.started(self.kinds.names.get(target.id), plain)
        else:
            made = self.wrapped(self.kinds.of(loaded), plain, self.fixed(plain))
        narrowed = self._is_narrowed_by_store(target, plain)
        if narrowed and isinstance(made, ast.Call):
            made = made.args[0]
        left = self.fixed(nodes.as_load(target))
        if isinstance(made, ast.BinOp) and nodes.same(made.left, left):
            statement.value = made.right
            statement.target = self._target(target)
            return statement
        whole = nodes.assign(self._target(target), made)
        nodes.set_origin(whole, nodes.origin(statement))
        for comment in nodes.comments(statement):
            nodes.add_comment(whole, comment)
        return nodes.copy_place(statement, whole)

    def _update_of_array(self, statement: ast.AugAssign, plain: ast.BinOp) -> ast.stmt:
        """``A[...] = np.broadcast_to(A + B, A.shape)`` for ``A += B``.

        In place, numba goes past the end of a shorter B, and reads cells of A that it has stored.
        """
        self._check_update_of_array(plain)
        target = self._target(statement.target)
        left = self.fixed(nodes.as_load(statement.target))
        shape = nodes.attribute(left, "shape")
        value = nodes.call(self.imported("numpy.broadcast_to"), [self.fixed(plain), shape])
        if isinstance(target, ast.Name):
            target = nodes.subscript(target.id, [nodes.const(Ellipsis)], store=True)
        whole = nodes.assign(target, value)
        nodes.set_origin(whole, nodes.origin(statement))
        for comment in nodes.comments(statement):
            nodes.add_comment(whole, comment)
        return nodes.copy_place(statement, whole)

    def _check_update_of_array(self, plain: ast.BinOp) -> None:
        """Refuse what NumPy does not store into cells of a type in place."""
        cells, value = self.kinds.of(plain.left), self.kinds.of(plain)
        if cells is None or value is None:
            self.refuse("the type of this is not known", plain, "name the types of arrays")
            return
        if not np.can_cast(native(value), native(cells), "same_kind"):
            hint = "store it in an array of that type, or write .astype(...) around what is added"
            self.refuse(f"NumPy does not store {value} into cells of {cells}", plain, hint)

    def _is_narrowed_by_store(self, target: ast.expr, value: ast.BinOp) -> bool:
        """Whether a store into a cell wraps an integer as the cast of the value does."""
        kind = self.kinds.of(value)
        return isinstance(target, ast.Subscript) and self.wraps(kind) and kind != "bool_"

    def _target(
        self, target: ast.Name | ast.Attribute | ast.Subscript
    ) -> ast.Name | ast.Attribute | ast.Subscript:
        fixed = self.fixed(target)
        assert isinstance(fixed, (ast.Name, ast.Attribute, ast.Subscript))
        return fixed

    # --- helper functions -----------------------------------------------------------------------

    def helper_call(self, plain: ast.Call, made: ast.Call) -> ast.expr | None:
        """A call of a helper function, made for the types of its arguments."""
        inner = self.kinds.inside(plain)
        if inner is None:
            return None
        self.check_arguments(plain.args)
        name = query.dotted(plain.func) or ""
        original = self.program.helpers[name]
        key = (original, *sorted(inner.types.items()))
        if key not in self.whole.helpers:
            written = _explicit(inner.program, inner.types, self.whole)
            self.whole.helpers[key] = (functools.partial(original), written)
        function, written = self.whole.helpers[key]
        made.func = nodes.name(self.helper_name(name, function))
        self.helper_programs[made.func.id] = written
        return made
