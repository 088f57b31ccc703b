"""`specialize`: two versions of a nest, one of them for sizes that make it simpler."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from astile.analysis.forms import affine, affine_sets
from astile.analysis.forms.affine import Affine
from astile.analysis.reading.context import Context, Contexts
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten, is_guard

#: How long the text of a condition may be.
_LONGEST = 400


def specialize(program: Program, condition: str, loop: int | None = None) -> Rewritten:
    """Run a version of its own where a condition on sizes holds.

    Both versions do the same; in each of them bounds and conditions are simplified by what is
    known there. Handles stay with the version for which the condition holds.

    Args:
        program: the program before.
        condition: comparisons of integers, joined by and, or and not; its names are integer
            parameters, and variables of loops around the loop.
        loop: identity of the loop to specialize; None for all loops of the function.

    Raises:
        ScheduleError: for a condition that is not read, or one that holds always or never.

    Before:
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = 0

    After ``specialize("n % 16 == 0")``:
        if n % 16 == 0:
            for i_0 in range(n // 16):
                for i_1 in range(16):
                    y[i_0 * 16 + i_1] = 0
        else:
            for i_0 in range((n + 15) // 16):
                for i_1 in range(16):
                    if i_0 * 16 + i_1 < n:
                        y[i_0 * 16 + i_1] = 0
    """
    edit = Editor(program)
    test = _parsed(condition)
    block, first, last = _span(edit, loop)
    _check(edit, condition, test, block[first])
    hoisted, body = _hoisted(block[first:last])
    copies = nodes.clone_body(body)
    edit.renumber(copies)
    branch = nodes.if_then(test, body, copies)
    block[first:last] = [*hoisted, branch]
    for version in (branch.body, branch.orelse):
        _Narrowed(Contexts(edit.program), version[0]).block(version)
    return edit.finish([each for copy in copies for each in query.loops(copy)])


def _parsed(condition: str) -> ast.expr:
    """The condition as a tree; it is never run."""
    if not isinstance(condition, str) or len(condition) > _LONGEST:
        raise _unread(condition, "it is no text, or too long a one")
    try:
        parsed = ast.parse(condition.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unread(condition, "it is no expression of Python") from None
    return nodes.clone(_without_places(parsed))


def _without_places(root: ast.expr) -> ast.expr:
    """The same tree without positions, which would be places in the user's file."""
    for node in ast.walk(root):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(node, field):
                delattr(node, field)
    return root


def _unread(condition: object, why: str) -> ScheduleError:
    return ScheduleError(
        f"the condition {condition!r} is not read: {why}",
        code="schedule.bad-condition",
        hints=['write a comparison of integer parameters, such as "n % 16 == 0"'],
    )


def _span(edit: Editor, loop: int | None) -> tuple[list[ast.stmt], int, int]:
    """The statements to specialize: the block that holds them, and where they begin and end."""
    if loop is not None:
        node = edit.loop(loop)
        place = edit.place(node)
        return place.block, place.index, place.index + 1
    body = edit.function.body
    holding = [k for k, each in enumerate(body) if query.loops(each)]
    if not holding:
        raise ScheduleError(
            "the function has no loop",
            code="schedule.no-loop",
            hints=["name a condition for a function of loops"],
        )
    return body, holding[0], holding[-1] + 1


def _check(edit: Editor, condition: str, test: ast.expr, before: ast.stmt) -> None:
    """Refuse a condition over anything but known integers, and one that decides nothing."""
    context = Context.at(edit.program, before)
    if affine_sets.formula(test, context.place.scope) is None:
        known = context.place.scope.values
        unknown = [each for each in sorted(query.names(test)) if each not in known]
        shapes = context.place.scope.shapes
        odd = [each for each in unknown if each not in shapes and each not in ("min", "max", "len")]
        why = f"{odd[0]} is no known integer here" if odd else "it compares no known integers"
        raise _unread(condition, why)
    holds = context.implies(test)
    fails = context.implies(ast.UnaryOp(ast.Not(), test))
    if holds or fails:
        raise ScheduleError(
            f"{condition!r} {'always' if holds else 'never'} holds here",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(before),
        )


def _hoisted(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Allocations that can be made before all other statements, and the other statements."""
    hoisted: list[ast.stmt] = []
    rest: list[ast.stmt] = []
    used: set[str] = set()
    written: set[str] = set()
    for each in body:
        made = query.allocation(each)
        if made and made.array not in used and not query.names_read(each) & written:
            hoisted.append(each)
            continue
        used |= query.names(each)
        written |= query.names_written(each) | set(query.written_arrays(each))
        rest.append(each)
    return hoisted, rest


class _Narrowed:
    """Simplifies statements by what holds in their version, in place.

    Args:
        contexts: contexts of the program with both versions.
        first: the first statement of the version.
    """

    def __init__(self, contexts: Contexts, first: ast.stmt) -> None:
        self._contexts = contexts
        self._sizes = contexts.at(first)
        self._known: dict[str, Affine | None] = {}

    def block(self, body: list[ast.stmt]) -> None:
        """A list of statements; conditions that are decided are left out."""
        body[:] = [made for each in body for made in self._statement(each)] or [ast.Pass()]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        context = self._contexts.at(statement)
        if isinstance(statement, ast.If):
            decided = self._decided(statement.test, context)
            if decided is not None:
                chosen = statement.body if decided else statement.orelse
                return [made for each in chosen for made in self._statement(each)]
            if is_guard(statement):
                self._sides(statement.test, context)
        if isinstance(statement, ast.For) and query.header(statement) is not None:
            assert isinstance(statement.iter, ast.Call)
            statement.iter.args = [self._integer(e, context) for e in statement.iter.args]
        for each in query.bodies(statement):
            self.block(each)
        if not query.bodies(statement):
            self._indices(statement, context)
        return [statement]

    def _decided(self, test: ast.expr, context: Context) -> bool | None:
        """Whether a condition over known integers always holds, or never; None for neither."""
        if context.implies(test):
            return True
        return False if context.implies(ast.UnaryOp(ast.Not(), test)) else None

    def _sides(self, test: ast.expr, context: Context) -> None:
        """The integers that a condition compares."""
        for each in test.values if isinstance(test, ast.BoolOp) else [test]:
            if isinstance(each, ast.Compare):
                each.left = self._integer(each.left, context)
                each.comparators = [self._integer(e, context) for e in each.comparators]

    def _indices(self, statement: ast.stmt, context: Context) -> None:
        for access in query.accesses(statement):
            index = access.slice
            if isinstance(index, ast.Tuple):
                index.elts = [self._integer(each, context) for each in index.elts]
            else:
                access.slice = self._integer(index, context)

    def _integer(self, expression: ast.expr, context: Context) -> ast.expr:
        if isinstance(expression, (ast.Slice, ast.Starred)):
            return expression
        form = affine.of(expression)
        result = self._form(form, context)
        return expression if result == form else result.expression()

    def _form(self, form: Affine, context: Context) -> Affine:
        result = affine.constant(form.constant)
        for key, (coefficient, atom) in form.terms.items():
            known = self._atom(key, atom, context)
            if known is None and isinstance(atom, ast.BinOp):
                left = self._form(affine.of(atom.left), context).expression()
                known = affine.of(nodes.binary(left, type(atom.op), nodes.clone(atom.right)))
            part = Affine({key: (1, atom)}) if known is None else known
            result = result + part * coefficient
        return result

    def _atom(self, key: str, atom: ast.expr, context: Context) -> Affine | None:
        """What an atom is equal to that reads better."""
        is_size = not query.names(atom) & set(context.place.scope.values) - set(
            self._sizes.place.scope.values
        )
        if not is_size:
            return _equal(atom, context) if isinstance(atom, ast.Call) else None
        if key not in self._known:
            self._known[key] = _equal(atom, self._sizes)
        return self._known[key]


def _equal(atom: ast.expr, context: Context) -> Affine | None:
    least, most = context.constant_bounds(atom)
    if least is not None and least == most:
        return affine.constant(least)
    for other in _simpler(atom):
        if context.equal(atom, other.expression()):
            return other
    return None


def _simpler(atom: ast.expr) -> Iterable[Affine]:
    """Forms that an atom may be equal to: an end of a minimum, a division without its rest."""
    if isinstance(atom, ast.Call) and query.dotted(atom.func) in ("min", "max"):
        yield from map(affine.of, atom.args)
    elif isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.FloorDiv):
        inner, divisor = affine.of(atom.left), query.integer(atom.right)
        if inner.constant and divisor is not None and divisor > 0:
            yield affine.floor_div(inner - inner.constant, divisor)
