"""What a rewrite returns, and the steps that several rewrites share."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from astile.errors import ScheduleError
from astile.ir import loop_variables, nodes, query
from astile.ir.program import Program
from astile.ir.query import Header, Place
from astile.source import Span


@dataclass(frozen=True)
class Rewritten:
    """The new program and the loops that a user may want to name next.

    Args:
        program: the program after the rewrite.
        loops: identities of the loops made or changed, outermost first.
    """

    program: Program
    loops: tuple[int, ...] = ()


class Editor:
    """A cloned program that one rewrite edits, and the identities it hands out.

    Args:
        program: the program before; it is not changed.
    """

    def __init__(self, program: Program) -> None:
        self.before = program
        self.program = program.cloned()
        self._next_loop = program.next_loop
        self._gone = dict(program.gone)
        self._names: set[str] = set()
        self._imports = dict(program.imports)

    @property
    def function(self) -> ast.FunctionDef:
        """The tree that may be edited."""
        return self.program.function

    def loop(self, identity: int) -> ast.For:
        """The loop with an identity.

        Raises:
            ScheduleError: when it is gone.
        """
        found = self.program.loop(identity)
        if found is None:
            became = self._gone.get(identity, "it is no longer in the program")
            raise ScheduleError(
                f"this loop is gone: {became}",
                code="schedule.loop-gone",
                hints=["use the handles that this step returned"],
            )
        return found

    def header(self, loop: ast.For) -> Header:
        """The header of a loop.

        Raises:
            ScheduleError: when the loop does not count over a range from end to end.
        """
        found = query.header(loop)
        if found is None:
            raise ScheduleError(
                f"{named(loop)} does not count over a range",
                code="schedule.not-counted",
                span=self.span(loop),
                hints=["write it as `for i in range(...)`"],
            )
        if loop.orelse or query.leaves_early(loop.body):
            word = "has an else" if loop.orelse else "may be left early"
            raise ScheduleError(
                f"{named(loop)} {word}, so its iterations must stay together",
                code="schedule.not-counted",
                span=self.span(loop.orelse[0] if loop.orelse else loop),
                hints=["write it without break, continue, return and else"],
            )
        return found

    def counted(self, loop: ast.For) -> Header:
        """The header of a loop whose step is a literal.

        Raises:
            ScheduleError: when it is none, or 0.
        """
        found = self.header(loop)
        if not query.integer(found.step):
            raise ScheduleError(
                f"the step of the loop over {found.variable} is no literal, or 0",
                code="schedule.not-counted",
                span=self.span(loop),
                hints=["write the step as a number"],
            )
        return found

    def place(self, statement: ast.stmt) -> Place:
        """Where a statement stands."""
        found = query.find_place(self.function, statement)
        assert found is not None, "the statement is not in the program that is edited"
        return found

    def span(self, node: ast.AST) -> Span | None:
        """The place in the user's file that a node came from."""
        return self.program.source.span(node)

    def fresh_name(self, wanted: str) -> str:
        """A free name, taken from now on."""
        result = self.program.fresh_name(wanted, self._names)
        self._names.add(result)
        return result

    def numpy(self, attribute: str) -> ast.expr:
        """``np.attribute``, by the name that the program has for NumPy."""
        for name, path in self._imports.items():
            if path == "numpy":
                return nodes.attribute(name, attribute)
        name = self.fresh_name("np")
        self._imports[name] = "numpy"
        return nodes.attribute(name, attribute)

    def new_loop(
        self,
        variable: str,
        iterator: ast.expr,
        body: Sequence[ast.stmt],
        like: ast.For | None = None,
    ) -> ast.For:
        """A loop with an identity of its own, at the user's place of the loop it is made from."""
        loop = nodes.for_loop(variable, iterator, body, self._next_loop)
        self._next_loop += 1
        return loop if like is None else nodes.copy_place(like, loop)

    def renumber(self, body: Iterable[ast.stmt]) -> None:
        """Give all loops of a copied body identities of their own."""
        for statement in body:
            for loop in query.loops(statement):
                nodes.set_loop_id(loop, self._next_loop)
                self._next_loop += 1

    def replace(self, statement: ast.stmt, by: Sequence[ast.stmt]) -> None:
        """Put statements in the place of one."""
        place = self.place(statement)
        place.block[place.index : place.index + 1] = by

    def forget(self, loop: ast.For, became: str) -> None:
        """Record what became of a loop that this rewrite removes."""
        identity = nodes.loop_id(loop)
        if identity is not None:
            self._gone[identity] = became

    def finish(self, loops: Iterable[ast.For] = ()) -> Rewritten:
        """The edited program, with the identities of the loops to hand to the user."""
        program = replace(
            self.program, next_loop=self._next_loop, gone=self._gone, imports=self._imports
        )
        identities = tuple(
            identity for each in loops if (identity := nodes.loop_id(each)) is not None
        )
        return Rewritten(program, identities)


def named(loop: ast.For) -> str:
    """``the loop over i``, for messages."""
    variables = ", ".join(sorted(query.names_written(loop.target)))
    return f"the loop over {variables}"


def spelled(edit: Editor, loops: Iterable[ast.For]) -> list[str]:
    """What users write for loops: ``i``, or ``out.i`` where several loops have this variable."""
    names: list[str] = []
    for loop in loops:
        header = query.header(loop)
        if header is None:
            continue
        variable = header.variable
        same = [e for e in query.loops(edit.function) if variable in query.names_written(e.target)]
        for stage in reversed(query.written_arrays(loop) if len(same) > 1 else []):
            if sum(stage in query.written_arrays(each) for each in same) == 1:
                variable = f"{stage}.{variable}"
                break
        names.append(variable)
    return list(dict.fromkeys(names))


def range_call(
    start: ast.expr, stop: ast.expr, step: ast.expr | None = None, kind: str = "range"
) -> ast.Call:
    """``kind(start, stop, step)`` with what is 0 or 1 by default left out."""
    stepped = step is not None and not query.is_constant(step, 1)
    if stepped:
        assert step is not None
        return nodes.call(kind, [nodes.clone(start), nodes.clone(stop), nodes.clone(step)])
    if query.is_constant(start, 0):
        return nodes.call(kind, [nodes.clone(stop)])
    return nodes.call(kind, [nodes.clone(start), nodes.clone(stop)])


def check_unbound(edit: Editor, loop: ast.For, header: Header, hint: str) -> None:
    """Refuse a loop that is not run one iteration after the other.

    Raises:
        ScheduleError: with what to do instead as the hint.
    """
    if header.kind != "range":
        raise ScheduleError(
            f"{header.variable} is already {header.kind}",
            code="schedule.already-bound",
            span=edit.span(loop),
            hints=[hint],
        )


def check_listed(what: str, value: object, code: str, hint: str) -> None:
    """Refuse an argument that has to be a list and is none.

    Args:
        what: it holds, in the plural.
        value: as it was given.
        code: of the error.
        hint: what to write.

    Raises:
        ScheduleError: for anything but a list or a tuple.
    """
    if not isinstance(value, (list, tuple)):
        raise ScheduleError(
            f"{what} are given as a list, not as {value!r}", code=code, hints=[hint]
        )


def whole_number(name: str, value: object) -> int:
    """An argument that has to be an integer; NumPy's become Python's own.

    Raises:
        ScheduleError: for anything else.
    """
    index = getattr(value, "__index__", None)
    if isinstance(value, bool) or index is None:
        raise ScheduleError(
            f"{name}={value!r} is no integer",
            code="schedule.bad-factor",
            hints=["write an integer"],
        )
    return int(index())


def is_guard(statement: ast.stmt) -> bool:
    """Whether this is a guard that a rewrite made: an `if` without `else` and without a place."""
    return (
        isinstance(statement, ast.If) and not statement.orelse and not hasattr(statement, "lineno")
    )


def conditions(guard: ast.If) -> list[ast.expr]:
    """The comparisons that a guard joins with `and`; ``a <= e < b`` counts as two."""
    test = guard.test
    joined = (
        test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    )
    return [single for each in joined for single in _comparisons(each)]


def _comparisons(test: ast.expr) -> list[ast.expr]:
    if not isinstance(test, ast.Compare) or len(test.ops) == 1:
        return [test]
    sides = [test.left, *test.comparators]
    return [
        nodes.compare(nodes.clone(left), type(operator), nodes.clone(right))
        for left, operator, right in zip(sides, test.ops, sides[1:], strict=False)
    ]


def check_replaceable(edit: Editor, loop: ast.For, header: Header) -> None:
    """Refuse to replace a loop variable whose values the new text could not give.

    Raises:
        ScheduleError: when the body assigns the variable or changes what the range is made of,
            or the variable is read after the loop; showing the place.
    """
    variable = header.variable
    bounds = query.names(header.start) | query.names(header.stop) | query.names(header.step)
    for statement in loop.body:
        for child in query.preorder(statement):
            if not isinstance(child, ast.Name) or isinstance(child.ctx, ast.Load):
                continue
            if child.id == variable:
                raise ScheduleError(
                    f"the body of the loop over {variable} assigns {variable} itself",
                    code="schedule.variable-assigned",
                    span=edit.span(child),
                    hints=["use another name inside the loop"],
                )
            if child.id in bounds:
                raise _changed_bounds(edit, variable, child.id, child)
        for access in query.accesses(statement):
            base = query.base_name(access)
            if isinstance(access.ctx, ast.Store) and base in bounds and _is_data(header, base):
                raise _changed_bounds(edit, variable, str(base), access)
    outside = loop_variables.read_outside_loops(edit.function.body, variable)
    if outside is not None:
        raise ScheduleError(
            f"{variable} is read outside of the loops over it, where it holds their last value",
            code="schedule.variable-live",
            span=edit.span(outside),
            hints=["store the value in a variable of its own inside the loop"],
        )


def _is_data(header: Header, array: str) -> bool:
    """Whether cells of an array decide the range, and not its shape alone."""
    return any(query.accesses(each, array) for each in (header.start, header.stop, header.step))


def _changed_bounds(edit: Editor, variable: str, name: str, node: ast.AST) -> ScheduleError:
    return ScheduleError(
        f"the body of the loop over {variable} changes {name}, which its range is made of",
        code="schedule.bad-bounds",
        span=edit.span(node),
        hints=["put the bounds into names of their own before the loop"],
    )
