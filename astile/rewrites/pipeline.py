"""`pipeline`: the loads of later iterations of a loop run before the computation of this one."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.query import Header
from astile.rewrites.parts.result import (
    Editor,
    Rewritten,
    check_replaceable,
    check_unbound,
    named,
    range_call,
    whole_number,
)
from astile.rewrites.parts.storage import intermediate
from astile.rewrites.parts.trips import trip_count, value_at
from astile.rewrites.parts.turns import take_out, take_turns


def pipeline(program: Program, loop: int, stages: int = 2) -> Rewritten:
    """Fill tiles some iterations ahead of the computation that reads them.

    The loop becomes three: a prologue that fills tiles for the first iterations, a steady state
    that fills tiles for a later iteration and computes this one, and an epilogue that computes
    the last ones. Each tile has as many slots as there are stages. Loads then have the time of a
    computation to arrive, and one barrier for each iteration is enough. The source of the method
    is M. Lam, "Software pipelining" (1988).

    Args:
        program: the program before.
        loop: identity of a loop that runs in order; in its body tiles are allocated, and whole
            statements fill them without reading any of them.
        stages: how many iterations are under way at a time, 2 or more.

    Raises:
        ScheduleError: when no tile is filled in the loop or nothing is computed from it, a tile's
            shape depends on the loop, the loop is bound, or has no more iterations than stages.

    Before:
        for k in range(n):
            tile = shared.empty(16, np.float32)
            for i in range(16):
                tile[i] = x[k, i]
            for i in range(16):
                y[i] += tile[15 - i]

    After ``pipeline(k, 2)``:
        tile = shared.empty((2, 16), np.float32)
        # prologue of the loop over k
        for k in range(min(n, 1)):
            for i in range(16):
                tile[k % 2, i] = x[k, i]
        # steady state of the loop over k
        for k in range(n - 1):
            for i in range(16):
                tile[(k + 1) % 2, i] = x[k + 1, i]
            for i in range(16):
                y[i] += tile[k % 2, 15 - i]
        # epilogue of the loop over k
        for k in range(max(n - 1, 0), n):
            for i in range(16):
                y[i] += tile[k % 2, 15 - i]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.counted(node)
    ahead = whole_number("stages", stages) - 1
    count = trip_count(header)
    _check_stages(edit, node, ahead, count)
    check_unbound(edit, node, header, "pipeline a loop that runs in order, inside the bound ones")
    check_replaceable(edit, node, header)
    loads = _loads(edit, node)
    rest = _allocate(edit, node, loads, ahead + 1)
    return _three_loops(edit, node, (loads, rest), count, ahead)


def _three_loops(
    edit: Editor,
    node: ast.For,
    parts: tuple[list[ast.stmt], list[ast.stmt]],
    count: Affine,
    ahead: int,
) -> Rewritten:
    """Prologue, steady state and epilogue in place of a loop.

    Args:
        edit: the program.
        node: the loop.
        parts: the statements of its body that fill tiles, and the others.
        count: how many iterations it has.
        ahead: how many iterations before their use tiles are filled.
    """
    (loads, rest), header = parts, edit.counted(node)
    step = query.integer(header.step)
    assert step
    last = nodes.clone_body(rest)
    in_time = _in_time(header, loads, ahead * step)
    for body in (in_time, last):
        edit.renumber(body)
        _own_arrays(edit, body)
    filling = range_call(header.start, _filled(header, ahead * step), header.step)
    prologue = edit.new_loop(header.variable, filling, loads, node)
    draining = range_call(_drained(header, count - ahead, step), header.stop, header.step)
    epilogue = edit.new_loop(header.variable, draining, last, node)
    stop = affine.of(header.stop) - ahead * step
    node.iter = range_call(header.start, stop.expression(), header.step)
    node.body = [*in_time, *rest]
    three = [prologue, node, epilogue]
    edit.replace(node, three)
    for part, text in zip(three, ("prologue", "steady state", "epilogue"), strict=True):
        nodes.add_comment(part, f"{text} of the loop over {header.variable}")
    return edit.finish(three)


def _in_time(header: Header, loads: Sequence[ast.stmt], ahead: int) -> list[ast.stmt]:
    """Statements that fill tiles as a later iteration finds them."""
    later = (affine.variable(header.variable) + ahead).expression()
    return [nodes.substitute(each, {header.variable: later}) for each in loads]


def _check_stages(edit: Editor, node: ast.For, ahead: int, count: Affine) -> None:
    if ahead < 1:
        raise ScheduleError(
            "stages says how many iterations are under way at a time, 2 at least",
            code="schedule.bad-factor",
            hints=["write `pipeline(loop, 2)`"],
        )
    if count.value is not None and count.value <= ahead:
        raise ScheduleError(
            f"{named(node)} has only {max(count.value, 0)} iterations",
            code="schedule.bad-factor",
            span=edit.span(node),
            hints=["pipeline a loop with more iterations than stages"],
        )


def _tiles(node: ast.For) -> set[str]:
    made = [query.allocation(each) for each in node.body]
    return {each.array for each in made if each is not None}


def _loads(edit: Editor, node: ast.For) -> list[ast.stmt]:
    """The statements that fill tiles of the loop and read none.

    Raises:
        ScheduleError: when there are none, or nothing else.
    """
    tiles = _tiles(node)
    loads = [
        each
        for each in node.body
        if query.allocation(each) is None
        and (written := set(query.written_arrays(each)))
        and written <= tiles
        and not any(_reads(each, tile) for tile in tiles)
    ]
    others = [each for each in node.body if query.allocation(each) is None and each not in loads]
    if not loads or not others:
        what = "fills a tile of it" if not loads else "computes from its tiles"
        raise ScheduleError(
            f"nothing in {named(node)} {what}",
            code="schedule.no-stage",
            span=edit.span(node),
            hints=['stage what it reads: `cache_read(array, "shared", at=loop)`'],
        )
    return loads


def _reads(statement: ast.stmt, array: str) -> bool:
    return any(isinstance(e.ctx, ast.Load) for e in query.accesses(statement, array))


def _allocate(edit: Editor, node: ast.For, loads: Sequence[ast.stmt], slots: int) -> list[ast.stmt]:
    """Allocate all tiles before the loop, with slots where loads fill them; what computes."""
    filled = {array for each in loads for array in query.written_arrays(each)}
    for array in sorted(_tiles(node)):
        held = intermediate(edit, array)
        if array in filled:
            take_turns(edit, held, node, slots)
        else:
            take_out(edit, held, node)
    return [each for each in node.body if not any(each is load for load in loads)]


def _own_arrays(edit: Editor, body: Sequence[ast.stmt]) -> None:
    """Give arrays that copied statements allocate names of their own."""
    names: dict[str, str] = {}
    for statement in (e for each in body for e in query.statements(each)):
        made = query.allocation(statement)
        if made is not None:
            names[made.array] = edit.fresh_name(made.array)
            nodes.set_origin(statement, None)  # it makes another array than that of the source
    for node in (node for each in body for node in ast.walk(each)):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


def _filled(header: Header, distance: int) -> ast.expr:
    """Where the prologue stops: before the first iteration that the steady state loads for."""
    until, stop = affine.of(header.start) + distance, affine.of(header.stop)
    if (stop - until).value is not None:
        return until.expression()
    return affine.extreme("min" if distance > 0 else "max", [stop, until]).expression()


def _drained(header: Header, trips: Affine, step: int) -> ast.expr:
    """Where the epilogue starts: after the iterations of the steady state, if it has any."""
    start, value = affine.of(header.start), value_at(header, trips)
    if trips.value is not None:
        return value
    return affine.extreme("max" if step > 0 else "min", [affine.of(value), start]).expression()
