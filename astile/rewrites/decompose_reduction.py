"""`decompose_reduction`: the initialisation of a reduction becomes a nest of its own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.places import statements_inside
from astile.rewrites.parts.result import Editor, Rewritten, conditions, named


def decompose_reduction(program: Program, stage: Stage, loop: int) -> Rewritten:
    """Move the statements that initialise a reduction into a nest of their own before a loop.

    Loops over what is reduced are left out of the new nest; an initialisation under a condition
    such as ``k == 0`` is taken from their first iteration.

    Args:
        program: the program before.
        stage: the reduction: statements that write one array, of which some do not read it.
        loop: identity of the loop before which the new nest stands.

    Raises:
        ScheduleError: when the stage is a scalar, or is not both initialised and updated inside
            the loop.

    Before:
        for i in range(n):
            y[i] = 0.0
            for k in range(m):
                y[i] += x[i, k]

    After ``decompose_reduction("y", i)``:
        for i in range(n):
            y[i] = 0.0
        for i in range(n):
            for k in range(m):
                y[i] += x[i, k]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    edit.header(node)
    own = _own(edit, stage, node)
    first = [each for each in own if not reads_itself(each, stage.array)]
    if not first or len(first) == len(own):
        word = "initialised" if not first else "updated"
        raise ScheduleError(
            f"{stage.name} is not {word} inside {named(node)}",
            code="schedule.no-reduction",
            span=edit.span(own[0]),
            hints=["name a loop around both `y[i] = 0.0` and `y[i] += ...`"],
        )
    wanted = {id(each) for each in first}
    kept = set().union(*(query.names(each) for each in first))
    made = _Initialisation(edit, wanted, kept).block([node])
    place = edit.place(node)
    place.block[place.index : place.index] = made
    [updating] = _without([node], wanted)
    assert updating is node
    return edit.finish([each for part in made for each in query.loops(part)])


def _own(edit: Editor, stage: Stage, node: ast.For) -> list[ast.stmt]:
    """The statements of the stage inside the loop."""
    inside = statements_inside(edit, stage, node)
    for each in inside:
        if stage.array in query.names_written(each):
            raise ScheduleError(
                f"{stage.name} is a scalar, which all iterations of {named(node)} share",
                code="schedule.scalar",
                span=edit.span(each),
                hints=[f'`expand("{stage.array}", ...)` gives each iteration a cell of its own'],
            )
        for parent in edit.place(each).parents:
            if not isinstance(parent, ast.If):
                assert isinstance(parent, ast.stmt)
                _check_loop(edit, parent)
    return inside


def _check_loop(edit: Editor, parent: ast.stmt) -> None:
    if not isinstance(parent, ast.For):
        raise ScheduleError(
            "the reduction stands in a statement that cannot be taken apart",
            code="schedule.not-counted",
            span=edit.span(parent),
            hints=["write it inside counted loops and conditions only"],
        )
    edit.counted(parent)


def reads_itself(statement: ast.stmt, array: str) -> bool:
    """Whether a statement reads cells of an array, those that ``+=`` changes too, or a scalar."""
    if array in query.names_written(statement) & query.names_read(statement):
        return True
    return any(isinstance(each.ctx, ast.Load) for each in query.accesses(statement, array)) or any(
        isinstance(each, ast.AugAssign) and query.base_name(each.target) == array
        for each in query.statements(statement)
    )


class _Initialisation:
    """Copies of statements with the loops around them that they depend on.

    Args:
        edit: the program that is edited.
        wanted: ids of the statements.
        kept: names of the loop variables that they depend on.
    """

    def __init__(self, edit: Editor, wanted: set[int], kept: set[str]) -> None:
        self.edit, self.wanted, self.kept = edit, wanted, kept

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """What is wanted of some statements."""
        return [made for each in body for made in self._statement(each)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        if id(statement) in self.wanted:
            return [nodes.clone(statement)]
        if isinstance(statement, ast.For):
            inner = self.block(statement.body)
            return self._loop(statement, inner) if inner else []
        if isinstance(statement, ast.If):
            return self._condition(statement)
        return []

    def _loop(self, loop: ast.For, inner: list[ast.stmt]) -> list[ast.stmt]:
        header = self.edit.header(loop)
        if header.variable in self.kept:
            iterator = nodes.clone(loop.iter)
            return [self.edit.new_loop(header.variable, iterator, inner, loop)]
        values = {header.variable: header.start}
        first: list[ast.stmt] = [nodes.substitute(each, values) for each in inner]
        step = query.integer(header.step) or 1
        order = ast.Gt if step > 0 else ast.Lt
        runs = nodes.compare(nodes.clone(header.stop), order, nodes.clone(header.start))
        return [nodes.if_then(runs, _folded(first))]

    def _condition(self, statement: ast.If) -> list[ast.stmt]:
        then, orelse = self.block(statement.body), self.block(statement.orelse)
        made: list[ast.stmt] = []
        if then:
            guard = nodes.if_then(nodes.clone(statement.test), then, orelse)
            made = [nodes.copy_place(statement, guard)]
        elif orelse:
            made = [nodes.if_then(ast.UnaryOp(ast.Not(), nodes.clone(statement.test)), orelse)]
        return made


def _folded(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements without conditions on numbers that hold, such as ``0 == 0``."""
    made: list[ast.stmt] = []
    for each in body:
        if isinstance(each, ast.If):
            tests = [test for test in conditions(each) if not _holds(test)]
            inner = _folded(each.body)
            if not tests:
                made += inner
                continue
            each.test, each.body = nodes.conjunction(tests), inner
        elif isinstance(each, ast.For):
            each.body = _folded(each.body)
        made.append(each)
    return made


def _holds(test: ast.expr) -> bool:
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Eq, ast.LtE)):
        return False
    gap = affine.of(test.comparators[0]) - affine.of(test.left)
    return len(test.ops) == 1 and gap == affine.constant(0)


def _without(body: Sequence[ast.stmt], gone: set[int]) -> list[ast.stmt]:
    """Statements without some of those inside them, and without what is empty then."""
    kept: list[ast.stmt] = []
    for each in body:
        if id(each) in gone:
            continue
        if isinstance(each, (ast.For, ast.If)):
            inner = _without(each.body, gone)
            if isinstance(each, ast.If):
                each.orelse = _without(each.orelse, gone)
                if not inner and each.orelse:
                    each.test = ast.UnaryOp(ast.Not(), each.test)
                    inner, each.orelse = each.orelse, []
            if not inner:
                continue
            each.body = inner
        kept.append(each)
    return kept
