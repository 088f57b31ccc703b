"""Small helper functions are written out where they are called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from astile.frontend.call_arguments import defaults, given, may_stand_again
from astile.frontend.helper_bodies import Body, body_of, ends
from astile.frontend.views import views
from astile.ir import nodes, query
from astile.ir.program import Program


def inline(program: Program) -> Program:
    """Write out the bodies of helpers in place of their calls, arguments computed once.

    Args:
        program: is not changed.

    Before::

        def mean(x, y):
            s = x + y
            return s / 2

        def f(A, n):
            for i in range(1, n):
                A[i] = mean(A[i - 1], A[i])

    After::

        def f(A, n):
            for i in range(1, n):
                s = A[i - 1] + A[i]
                A[i] = s / 2
    """
    helpers = {name: inline(each) for name, each in program.helper_programs.items()}
    bodies = {name: found for name, each in helpers.items() if (found := body_of(each))}
    while bodies:
        inliner = _Inliner(program.cloned(), helpers, bodies)
        function = inliner.program.function
        function.body = inliner.block(function.body)
        if not inliner.has_changed:
            break
        result = inliner.result()
        # a row that stays a second name of an array hides more than the call did
        named = query.names_written(views(result).function) if inliner.rows else set()
        kept = {helper for row, helper in inliner.rows.items() if row in named}
        if not kept:
            return result
        bodies = {name: each for name, each in bodies.items() if name not in kept}
    return program


@dataclass
class _Inliner:
    """Writes out calls in one function.

    Args:
        program: its tree is edited.
        helpers: by the name that the function uses.
        bodies: of those that may be written out.
    """

    program: Program
    helpers: Mapping[str, Program]
    bodies: Mapping[str, Body]

    def __post_init__(self) -> None:
        self.constants: dict[str, Any] = dict(self.program.constants)
        self.imports: dict[str, Any] = dict(self.program.imports)
        self.functions: dict[str, Any] = dict(self.program.helpers)
        self.programs: dict[str, Any] = dict(self.program.helper_programs)
        #: Names given to parts of arrays that were arguments -> the helper.
        self.rows: dict[str, str] = {}
        self.taken = self.program.used_names()
        self.has_changed = False

    def result(self) -> Program:
        """The program with what the bodies brought along, and without helpers that are gone."""
        read = query.names_read(self.program.function)
        return replace(
            self.program,
            constants=_kept(self.constants, read),
            imports=_kept(self.imports, read),
            helpers=_kept(self.functions, read),
            helper_programs=_kept(self.programs, read),
        )

    # --- statements -----------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements with their calls written out."""
        done: list[ast.stmt] = []
        for statement in body:
            for inner in query.bodies(statement):
                inner[:] = self.block(inner)
            done += self._statement(statement)
        return done or [ast.Pass()]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        before: list[ast.stmt] = []
        match statement:
            case ast.Expr(value=ast.Call() as call):
                self._arguments(call, before)
                made = self._whole(call, statement, lambda _: [])
                if made is not None:
                    return [*before, *made]
            case ast.Assign(targets=[target], value=ast.Call() as call):
                self._arguments(call, before)
                made = self._whole(call, statement, lambda value: [nodes.assign(target, value)])
                if made is not None:
                    return [*before, *made]
        for field in ("value", "test", "iter"):
            held = getattr(statement, field, None)
            if isinstance(held, ast.expr):
                can_hoist = not isinstance(statement, ast.While)
                setattr(statement, field, self._expression(held, before if can_hoist else None))
        if isinstance(statement, ast.Assign):
            statement.targets = [self._expression(each, None) for each in statement.targets]
        return [*before, statement]

    def _arguments(self, call: ast.Call, before: list[ast.stmt]) -> None:
        """Write out the calls among the arguments of a call that is a whole statement's value."""
        call.args = [self._expression(each, before) for each in call.args]
        for keyword in call.keywords:
            keyword.value = self._expression(keyword.value, before)

    def _whole(
        self,
        call: ast.Call,
        statement: ast.stmt,
        store: Callable[[ast.expr], list[ast.stmt]],
    ) -> list[ast.stmt] | None:
        """The statements in place of one that is a call and what is done with its value."""
        name, body = self._called(call)
        if body is None:
            return None
        is_used = isinstance(statement, ast.Assign)
        last = ends(body.statements)
        values = [None if each is None else each.value for each in last]
        if is_used and (None in values or not values):
            return None
        if not is_used and any(_calls(each) for each in values if each is not None):
            return None
        placed = self._placed(name, body, call, can_hoist=True)
        if placed is None:
            return None
        bound, statements = placed
        made = _with_ends(statements, store)
        self.has_changed = True
        return _at(call, [*bound, *made])

    # --- expressions ----------------------------------------------------------------------------

    def _expression(self, value: ast.expr, before: list[ast.stmt] | None) -> ast.expr:
        """An expression with its calls written out; what has to come first goes to `before`.

        `before` is None where an expression may not be evaluated, or more than once.
        """
        for field, held in ast.iter_fields(value):
            if isinstance(held, ast.expr):
                setattr(value, field, self._expression(held, self._sure(value, field, 0, before)))
            elif isinstance(held, list):
                made = [
                    self._expression(each, self._sure(value, field, position, before))
                    if isinstance(each, ast.expr)
                    else each
                    for position, each in enumerate(held)
                ]
                setattr(value, field, made)
        if isinstance(value, ast.Call):
            for keyword in value.keywords:
                keyword.value = self._expression(keyword.value, before)
            return self._call(value, before)
        return value

    @staticmethod
    def _sure(
        parent: ast.expr, field: str, position: int, before: list[ast.stmt] | None
    ) -> list[ast.stmt] | None:
        """Where to put what comes before a part that is evaluated whenever its parent is."""
        match parent:
            case ast.IfExp():
                return before if field == "test" else None
            case ast.BoolOp():
                return before if position == 0 else None
            case ast.Compare():
                return before if field == "left" or position == 0 else None
        return before

    def _call(self, call: ast.Call, before: list[ast.stmt] | None) -> ast.expr:
        name, body = self._called(call)
        if body is None or body.stores or not body.is_plain:
            return call
        placed = self._placed(name, body, call, can_hoist=before is not None)
        if placed is None:
            return call
        bound, statements = placed
        last = statements[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        first = _at(call, [*bound, *statements[:-1]])
        if before is not None:
            before += first
        self.has_changed = True
        _place(call, last.value)
        return last.value

    # --- one call -------------------------------------------------------------------------------

    def _called(self, call: ast.Call) -> tuple[str, Body | None]:
        name = query.dotted(call.func) or ""
        return name, self.bodies.get(name)

    def _placed(
        self, name: str, body: Body, call: ast.Call, *, can_hoist: bool
    ) -> tuple[list[ast.stmt], list[ast.stmt]] | None:
        """Bindings of arguments, and the body with its names changed to fit; None: not here."""
        helper = self.helpers[name].function
        arguments = given(helper, call)
        if arguments is None or (len(body.statements) > 1 and not can_hoist):
            return None
        own_defaults = {id(each) for each in defaults(helper).values()}
        values: dict[str, ast.expr] = {}
        bound: list[tuple[str, ast.expr]] = []
        for parameter, argument in arguments.items():
            if parameter not in body.written and may_stand_again(argument, parameter, body):
                values[parameter] = argument
            else:
                bound.append((parameter, argument))
        if bound and not can_hoist:
            return None
        names = self._foreign_names(self.helpers[name])
        for each, argument in arguments.items():
            if id(argument) in own_defaults and each in values:
                values[each] = nodes.rename(argument, names)
        taken = query.names(helper)
        own = query.names_written(helper) | {parameter for parameter, _ in bound}
        names |= {each: self._fresh(each, taken) for each in sorted(own)}
        before: list[ast.stmt] = []
        for parameter, argument in bound:
            is_default = id(argument) in own_defaults
            value = nodes.rename(argument, names) if is_default else nodes.clone(argument)
            before.append(nodes.assign(names[parameter], value))
            if parameter in body.opened:
                self.rows[names[parameter]] = name
        made = [_filled(each, values, names) for each in body.statements]
        return before, made

    def _foreign_names(self, helper: Program) -> dict[str, str]:
        """What a helper reads from outside, under names that the function has for it."""
        names: dict[str, str] = {}
        read = query.names_read(helper.function)
        tables: tuple[tuple[Mapping[str, Any], dict[str, Any]], ...] = (
            (helper.constants, self.constants),
            (helper.imports, self.imports),
            (helper.helpers, self.functions),
        )
        for theirs, ours in tables:
            for name in sorted(theirs.keys() & read):
                names[name] = self._shared(name, theirs[name], ours)
        for name in helper.helper_programs.keys() & names.keys():
            self.programs[names[name]] = helper.helper_programs[name]
        return names

    def _shared(self, name: str, value: Any, ours: dict[str, Any]) -> str:
        for known, other in ours.items():
            if _is_same(value, other) and (known == name or name in self.taken):
                return known
        chosen = self._fresh(name)
        ours[chosen] = value
        return chosen

    def _fresh(self, wanted: str, avoided: Collection[str] = ()) -> str:
        """`wanted`, or with a number where it is taken; no other name of `avoided`."""
        number, result = 0, wanted
        while result in self.taken or (number and result in avoided):
            number += 1
            result = f"{wanted}_{number}"
        self.taken.add(result)
        return result


def _kept(table: dict[str, Any], read: set[str]) -> dict[str, Any]:
    return {name: value for name, value in table.items() if name in read}


def _is_same(first: object, second: object) -> bool:
    if type(first) is not type(second):
        return False
    if isinstance(first, (int, float, complex, np.generic)):
        return repr(first) == repr(second)  # 0.0 and -0.0 are equal, NaN is not
    return first is second or first == second


# --- bodies --------------------------------------------------------------------------------------


def _filled(
    statement: ast.stmt, values: Mapping[str, ast.expr], names: Mapping[str, str]
) -> ast.stmt:
    """A statement of a helper with its own names changed, and its parameters filled in."""
    renamed = nodes.rename(statement, {old: new for old, new in names.items() if old != new})
    return nodes.substitute(renamed, values)


def _with_ends(
    statements: Sequence[ast.stmt], store: Callable[[ast.expr], list[ast.stmt]]
) -> list[ast.stmt]:
    """Statements in which every ``return value`` stores the value."""
    *rest, last = statements
    if isinstance(last, ast.Return):
        return [*rest, *([] if last.value is None else store(last.value))]
    if isinstance(last, ast.If):
        last.body = _with_ends(last.body, store) or [ast.Pass()]
        last.orelse = _with_ends(last.orelse, store) if last.orelse else []
    return [*rest, last]


def _calls(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(value))


def _at(call: ast.Call, made: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements that stand where the call does; loops stand nowhere in the user's text."""
    for each in made:
        _place(call, each)
    return list(made)


def _place(call: ast.Call, made: ast.AST) -> None:
    for node in ast.walk(made):
        if isinstance(node, ast.For):
            for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                if hasattr(node, field):
                    delattr(node, field)
        elif isinstance(node, (ast.stmt, ast.expr)):
            nodes.copy_place(call, node)
