"""Names that may be read before they are set: Python raises there, numba would read anything.

The value of a loop variable after the loop is the usual case: after no iteration there is none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import facts
from astile.lower.indices import IndexWriter
from astile.lower.types import operators


@dataclass(frozen=True, eq=False)
class Reading:
    """A statement that may read a name before it is set.

    Args:
        name: the name.
        statement: reads it itself, not in a statement inside it.
        is_certain: whether it is read whenever the statement runs, and not behind `and`, `or` or
            a conditional expression.
    """

    name: str
    statement: ast.stmt
    is_certain: bool


def readings(program: Program) -> list[Reading]:
    """What may be read before it is set, in textual order.

    Args:
        program: any form of a kernel.
    """
    function = program.function
    local = query.names_written(function) - set(query.parameters(function))
    search = _Search(local)
    search.body(function.body, frozenset(), IndexWriter(facts.of(program)))
    return search.found


@dataclass
class _Search:
    """Follows which names are certainly set; None stands for a place that is never reached."""

    local: set[str]
    found: list[Reading] = field(default_factory=list)

    def body(
        self, body: Sequence[ast.stmt], known: frozenset[str] | None, writer: IndexWriter
    ) -> frozenset[str] | None:
        for statement in body:
            if known is None:
                return None
            known = self.statement(statement, known, writer)
        return known

    def statement(
        self, statement: ast.stmt, known: frozenset[str], writer: IndexWriter
    ) -> frozenset[str] | None:
        self._read(statement, known)
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return None
        if isinstance(statement, ast.If):
            then = self.body(statement.body, known, writer.under(statement.test, statement.body))
            return _met(then, self.body(statement.orelse, known, writer))
        if isinstance(statement, ast.For):
            return self._for(statement, known, writer)
        if isinstance(statement, ast.While):
            self.body(statement.body, known, writer)
            self.body(statement.orelse, known, writer)
            return known
        for body in query.bodies(statement):
            self.body(body, known, writer)
        return known if query.bodies(statement) else known | query.names_written(statement)

    def _for(
        self, loop: ast.For, known: frozenset[str], writer: IndexWriter
    ) -> frozenset[str] | None:
        entered = known | query.names_written(loop.target)
        end = self.body(loop.body, entered, operators.inside(writer, loop))
        self.body(loop.orelse, known, writer)
        if not _runs(loop, writer):
            return known
        jumps = any(isinstance(each, (ast.Break, ast.Continue)) for each in query.statements(loop))
        return entered if end is None or jumps else end

    def _read(self, statement: ast.stmt, known: frozenset[str]) -> None:
        missing = self.local - known
        if not missing:
            return
        certain = set(_certain_names(statement))
        for name in sorted(missing & set(_own_names(statement))):
            self.found.append(Reading(name, statement, name in certain))


def _met(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _runs(loop: ast.For, writer: IndexWriter) -> bool:
    """Whether a counted loop certainly has an iteration."""
    header = query.header(loop)
    step = None if header is None else query.integer(header.step)
    if header is None or not step:
        return False
    low, high = (header.start, header.stop) if step > 0 else (header.stop, header.start)
    distance = nodes.binary(nodes.clone(high), ast.Sub, nodes.clone(low))
    return writer.is_nonnegative(nodes.binary(distance, ast.Sub, nodes.const(1)))


def _expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement, those of statements inside it left out."""
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            yield child
        elif isinstance(child, ast.withitem):
            yield child.context_expr


def _own_names(statement: ast.stmt) -> Iterator[str]:
    for expression in _expressions(statement):
        yield from query.names_read(expression)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id


def _certain_names(statement: ast.stmt) -> Iterator[str]:
    """Names that are read whenever a statement runs."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id
    pending: list[ast.AST] = list(_expressions(statement))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, ast.BoolOp):
            pending.append(node.values[0])
        elif isinstance(node, ast.IfExp):
            pending.append(node.test)
        else:
            pending += ast.iter_child_nodes(node)


# --- what a text does about it ------------------------------------------------------------------


def guard(program: Program) -> None:
    """Let a text raise where Python would, in place.

    Args:
        program: its tree is edited.

    Raises:
        LoweringError: for a name behind `and`, `or` or a conditional expression.
    """
    found = readings(program)
    if not found:
        return
    for each in found:
        if not each.is_certain:
            refuse(program, each)
    flags: dict[str, str] = {}
    for name in dict.fromkeys(each.name for each in found):
        flags[name] = program.fresh_name(f"{name}_is_set", set(flags.values()))
    wanted: dict[int, list[str]] = {}
    for each in found:
        wanted.setdefault(id(each.statement), []).append(each.name)
    function = program.function
    never = _never_set(function, flags)
    flags = {name: flag for name, flag in flags.items() if name not in never}
    function.body = [
        *(nodes.assign(flag, nodes.const(False)) for flag in flags.values()),
        *_guarded(_stopped(function.body, never), flags, wanted),
    ]


def _never_set(function: ast.FunctionDef, names: Iterable[str]) -> set[str]:
    """Names that only statements set that read them first: numba does not know their type."""
    found = set(names)
    for each in query.statements(function):
        written = query.names_written(each.target if isinstance(each, ast.For) else each)
        if isinstance(each, ast.For) or not query.bodies(each):
            found -= written - set(_certain_names(each))
    return found


def _stopped(body: Sequence[ast.stmt], never: set[str]) -> list[ast.stmt]:
    """Statements up to the first one that reads a name which is never set."""
    made: list[ast.stmt] = []
    for statement in body if never else ():
        missing = sorted(never & set(_own_names(statement)))
        if missing:
            return [*made, _raised(missing[0])]
        for inner in query.bodies(statement):
            inner[:] = _stopped(inner, never)
        made.append(statement)
    return made or list(body)


def _guarded(
    body: Sequence[ast.stmt], flags: dict[str, str], wanted: dict[int, list[str]]
) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for statement in body:
        for name in wanted.get(id(statement), ()):
            test = ast.UnaryOp(ast.Not(), nodes.name(flags[name]))
            made.append(nodes.if_then(test, [_raised(name)]))
        for part in ("body", "orelse", "finalbody"):
            inner = getattr(statement, part, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, part, _guarded(inner, flags, wanted))
        if isinstance(statement, ast.For):
            own = sorted(query.names_written(statement.target) & flags.keys())
            statement.body = [*_set(own, flags), *statement.body]
        made.append(statement)
        if not query.bodies(statement):
            made += _set(sorted(query.names_written(statement) & flags.keys()), flags)
    return made


def _set(names: Sequence[str], flags: dict[str, str]) -> list[ast.stmt]:
    return [nodes.assign(flags[each], nodes.const(True)) for each in names]


def _raised(name: str) -> ast.stmt:
    text = f"cannot access local variable {name!r} where it is not associated with a value"
    return ast.Raise(nodes.call("UnboundLocalError", [nodes.const(text)]), None)


def check(program: Program, root: ast.stmt, found: Sequence[Reading]) -> None:
    """Refuse a nest of a GPU, which cannot raise, that may read a name before it is set.

    Args:
        program: the whole program.
        root: the nest.
        found: what `readings` gave.

    Raises:
        LoweringError: with the place.
    """
    inside = set(map(id, query.statements(root)))
    own = query.names_written(root)
    for each in found:
        if id(each.statement) in inside and each.name in own:
            refuse(program, each)


def refuse(program: Program, reading: Reading) -> None:
    """Say that a name may be read before it is set.

    Raises:
        LoweringError: always.
    """
    raise LoweringError(
        f"{reading.name} may be read before it is set",
        code="lowering.unbound",
        span=program.source.span(reading.statement),
        hints=[f"set {reading.name} before the loop or condition that sets it"],
    )
