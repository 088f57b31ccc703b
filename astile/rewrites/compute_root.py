"""`compute_root`: compute a stage as a whole, before the nest that it stands in."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.analysis.reading.context import Contexts
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.parts.collapse import collapsed
from astile.rewrites.parts.inlining import allocation_of
from astile.rewrites.parts.places import reads_cells, statement_at
from astile.rewrites.parts.region import cuttable_loops
from astile.rewrites.parts.result import Editor, Rewritten, conditions, is_guard, range_call


def compute_root(program: Program, stage: Stage) -> Rewritten:
    """Move a stage out of the loops of its consumer, to the top level before them.

    The inverse of `compute_at`. Loops of the consumer stand around the stage for as long as it
    takes to run all its iterations; where they only cut its region into tiles they are put
    together again, and what overlaps is computed once.

    Args:
        program: the program before.
        stage: a stage inside loops that read what it computes.

    Raises:
        ScheduleError: when the stage is at the top level already, its array is made inside the
            loops, or one of them is bound.

    Before:
        a = np.empty(n)
        for i_0 in range((n + 15) // 16):
            for i in range(16):
                if i_0 * 16 + i < n:
                    a[i_0 * 16 + i] = x[i_0 * 16 + i] * 2
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]

    After ``compute_root("a")``:
        a = np.empty(n)
        for i in range(n):
            a[i] = x[i] * 2
        for i_0 in range((n + 15) // 16):
            for i_1 in range(16):
                if i_0 * 16 + i_1 < n:
                    y[i_0 * 16 + i_1] = a[i_0 * 16 + i_1]
    """
    edit = Editor(program)
    _check_array(edit, stage)
    nest = _nest(edit, stage)
    around = list(edit.place(nest).parents)
    _check(edit, stage, nest, around)
    place = edit.place(nest)
    del place.block[place.index]
    _prune(edit, around)
    body = edit.function.body
    top = next((k for k, each in enumerate(body) if each is around[0]), None)
    assert top is not None, "the loops of a consumer hold the consumer"
    moved = _surrounded(edit, nest, around)
    body.insert(top, moved)
    whole = collapsed(
        edit, moved, stage.array, cuttable_loops(edit, moved), writes=True, overlapping=True
    )
    body[top] = whole
    _tighten(edit, whole)
    return edit.finish(query.loops(body[top]))


def _nest(edit: Editor, stage: Stage) -> ast.stmt:
    """The largest statement around a stage that holds none of its consumers."""
    own = [statement_at(edit, each) for each in stage.positions]
    chains = [[*edit.place(each).parents, each] for each in own]
    depth = next(k for k, each in enumerate(chains[0]) if not _is_read(each, stage, own))
    nest = chains[0][depth]
    apart = [chain[-1] for chain in chains if len(chain) <= depth or chain[depth] is not nest]
    if apart:
        raise ScheduleError(
            f"{stage.name} is computed in several places of these loops",
            code="schedule.several-nests",
            span=edit.span(apart[0]),
            hints=["name the loop of one of them instead of the stage"],
        )
    return nest


def _is_read(statement: ast.stmt, stage: Stage, own: Sequence[ast.stmt]) -> bool:
    """Whether a statement holds one that reads what a stage computes, besides itself."""
    return any(
        reads_cells(each, stage.array)
        for each in query.statements(statement)
        if not query.bodies(each) and not any(each is one for one in own)
    )


def _check_array(edit: Editor, stage: Stage) -> None:
    """Refuse a scalar, and an array that each iteration makes anew."""
    made = allocation_of(edit, stage.array)
    is_argument = stage.array in query.parameters(edit.function)
    if (made is None and not is_argument) or (made is not None and edit.place(made).loops):
        raise ScheduleError(
            f"{stage.array} is no array that is made outside of the loops",
            code="schedule.not-an-array",
            span=edit.span(made or statement_at(edit, stage.positions[0])),
            hints=[f'`expand("{stage.array}", ...)` makes one of a scalar']
            if made is None
            else ["`compute_root` comes before `set_scope`"],
        )


def _check(edit: Editor, stage: Stage, nest: ast.stmt, around: Sequence[ast.stmt]) -> None:
    loops = [each for each in around if isinstance(each, ast.For)]
    if not loops:
        raise ScheduleError(
            f"{stage.name} is computed at the top level already",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
            span=edit.span(nest),
        )
    for each in around:
        header = query.header(each) if isinstance(each, ast.For) else None
        if header is not None and header.kind != "range":
            raise ScheduleError(
                f"{header.variable} is already {header.kind}",
                code="schedule.already-bound",
                span=edit.span(each),
                hints=["move the stage first, then bind the loops"],
            )
        if not isinstance(each, ast.For) and not (isinstance(each, ast.If) and not each.orelse):
            raise ScheduleError(
                f"{stage.name} stands in something that is no loop and no plain condition",
                code="schedule.not-nested",
                hints=["write it in loops and plain conditions"],
                span=edit.span(each),
            )


def _prune(edit: Editor, around: list[ast.stmt]) -> None:
    """Take out guards that held nothing but the stage."""
    for each in reversed(around):
        assert isinstance(each, (ast.For, ast.If))
        if each.body:
            return
        place = edit.place(each)
        del place.block[place.index]


def _surrounded(edit: Editor, nest: ast.stmt, around: Sequence[ast.stmt]) -> ast.stmt:
    """A nest inside copies of the loops and conditions around it."""
    moved = nest
    for each in reversed(around):
        if isinstance(each, ast.For):
            header = edit.header(each)
            moved = edit.new_loop(header.variable, nodes.clone(each.iter), [moved], each)
        else:
            assert isinstance(each, ast.If)
            guard = nodes.if_then(nodes.clone(each.test), [moved])
            moved = guard if is_guard(each) else nodes.copy_place(each, guard)
    return moved


def _tighten(edit: Editor, nest: ast.stmt) -> None:
    """Let loops in steps of 1 begin and end where the guards inside of them say."""
    for loop in query.loops(nest):
        header = query.header(loop)
        if header is None or not query.is_constant(header.step, 1):
            continue
        variable = affine.variable(header.variable)
        context = Contexts(edit.program).at(loop)
        hidden = {n for each in query.loops(loop) for n in query.names_written(each.target)}
        start, stop = affine.of(header.start), affine.of(header.stop)
        for low, high in (pair for test in _tests(loop) for pair in _orders(test)):
            gap = high - low
            sign = gap.coefficient(header.variable)
            bound = variable - gap if sign > 0 else gap + variable + 1
            sides = (start, bound) if sign > 0 else (bound, stop)
            closer = nodes.compare(sides[0].expression(), ast.LtE, sides[1].expression())
            if abs(sign) != 1 or bound.names() & hidden or not context.implies(closer):
                continue
            start, stop = (bound, stop) if sign > 0 else (start, bound)
        loop.iter = range_call(start.expression(), stop.expression())


def _tests(loop: ast.For) -> list[ast.expr]:
    """The conditions of the guards between a loop and whatever stands beside others."""
    tests: list[ast.expr] = []
    only = query.only_statement(loop.body)
    while isinstance(only, (ast.If, ast.For)):
        if isinstance(only, ast.If):
            if not is_guard(only):
                break
            tests += conditions(only)
        only = query.only_statement(only.body)
    return tests


def _orders(test: ast.expr) -> list[tuple[Affine, Affine]]:
    """A comparison as ``low <= high``."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return []
    left, right = affine.of(test.left), affine.of(test.comparators[0])
    match test.ops[0]:
        case ast.Lt():
            return [(left + 1, right)]
        case ast.LtE():
            return [(left, right)]
        case ast.Gt():
            return [(right + 1, left)]
        case ast.GtE():
            return [(right, left)]
    return []
