"""`rolling_buffer`: keeps only the rows that are still needed, and computes only new ones."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from astile.analysis.extents import footprint
from astile.analysis.extents.footprint import AtMost, Side
from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.query import Header
from astile.ir.stages import Stage
from astile.rewrites.parts.region import at_most_in, restricted_nest
from astile.rewrites.parts.result import Editor, Rewritten, named
from astile.rewrites.parts.storage import accesses_of, intermediate, reindex


def rolling_buffer(program: Program, stage: Stage, loop: int) -> Rewritten:
    """Keep values of a stage from one iteration of a loop to the next.

    Where each iteration needs a window of rows that moves along, only the rows new in it are
    computed; the first window is filled before the loop. The array has as many rows as a
    window, used in turns.

    Args:
        program: the program before, with the stage computed inside the loop (`compute_at`).
        stage: the producer.
        loop: identity of a loop that runs in order.

    Raises:
        ScheduleError: when the stage is not computed directly inside the loop, is read outside
            of it, or its window does not move along one axis by less than its length.

    Before:
        a = np.empty(n)
        for i in range(n - 2):
            for k in range(3):
                a[i + k] = x[i + k] * 2
            y[i] = a[i] + a[i + 1] + a[i + 2]

    After ``rolling_buffer("a", i)``:
        a = np.empty(3)
        if n - 2 > 0:
            for k in range(2):
                a[k % 3] = x[k] * 2
        for i in range(n - 2):
            a[(i + 2) % 3] = x[i + 2] * 2
            y[i] = a[i % 3] + a[(i + 1) % 3] + a[(i + 2) % 3]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    header = edit.counted(node)
    if header.kind not in ("range", "unroll"):
        raise ScheduleError(
            f"{named(node)} is {header.kind}: its iterations do not follow each other",
            code="schedule.already-bound",
            span=edit.span(node),
            hints=["keep values along a loop that runs in order"],
        )
    held = intermediate(edit, stage.array)
    position = _producer(edit, stage, node, held.statement)
    window = _window(edit, stage, node, header, position)
    producer = node.body[position]
    first = _first_window(edit, stage.array, producer, node, window)
    later = window.box(window.side.last - (window.step - 1), window.side.last)
    boxes = {stage.array: later}
    moved = restricted_nest(edit, producer, boxes, node, window.at_most, writes=True, stays=True)
    node.body[position : position + 1] = moved
    _wrap(edit, stage.array, window)
    shape = [nodes.clone(each) for each in held.shape]
    shape[window.axis] = nodes.const(window.length)
    edit.replace(held.statement, [held.remade(shape)])
    made = [each for part in (first, *moved) for each in query.loops(part)]
    return edit.finish(made)


@dataclass(frozen=True)
class _Window:
    """The cells that one iteration needs.

    Args:
        sides: their box, side by side.
        axis: the axis along which it moves.
        length: how many indices it has along this axis.
        step: by how many it moves from one iteration to the next.
        at_most: decides which of two forms inside the loop is the smaller one.
    """

    sides: tuple[Side | None, ...]
    axis: int
    length: int
    step: int
    at_most: AtMost

    @property
    def side(self) -> Side:
        """The side along the axis."""
        found = self.sides[self.axis]
        assert found is not None
        return found

    def box(self, first: Affine, last: Affine) -> list[Side | None]:
        """The same box with another side along the axis."""
        sides = list(self.sides)
        sides[self.axis] = Side(first, last)
        return sides


def _wrap(edit: Editor, array: str, window: _Window) -> None:
    """Let the indices along the window's axis begin again when they reach its length."""
    for access in accesses_of(edit, array):
        indices = [nodes.clone(each) for each in query.indices(access)]
        form = affine.of(indices[window.axis])
        indices[window.axis] = affine.modulo(form, window.length).expression()
        reindex(access, array, indices)


def _producer(edit: Editor, stage: Stage, node: ast.For, made: ast.stmt) -> int:
    """The position in the loop's body of the nest that computes the stage."""
    every = list(query.statements(edit.function))
    own = {id(every[position]) for position in stage.positions}
    holders = [
        k
        for k, each in enumerate(node.body)
        if any(id(inner) in own for inner in query.statements(each))
    ]
    if len(holders) != 1 or not isinstance(node.body[holders[0]], (ast.For, ast.If)):
        raise ScheduleError(
            f"{stage.name} is not computed by one nest of its own in the body of {named(node)}",
            code="schedule.not-nested",
            span=edit.span(node),
            hints=[f'bring it there with `compute_at("{stage.name}", ...)`'],
        )
    inside = {id(each) for body in node.body for each in query.accesses(body, stage.array)}
    outside = [each for each in accesses_of(edit, stage.array) if id(each) not in inside]
    if outside:
        raise ScheduleError(
            f"{stage.array} is used outside of {named(node)} too, where rows would be missing",
            code="schedule.used-outside",
            hints=["name a loop around all that reads it"],
            span=edit.span(outside[0]),
        )
    if any(each is node for each in edit.place(made).loops):
        raise ScheduleError(
            f"{stage.array} is allocated anew in each iteration of {named(node)}",
            code="schedule.inside-loop",
            span=edit.span(made),
            hints=["`store_at` a loop further outside first"],
        )
    return holders[0]


def _window(edit: Editor, stage: Stage, node: ast.For, header: Header, position: int) -> _Window:
    consumers = [each for k, each in enumerate(node.body) if k != position]
    reads = [e for e in footprint.accesses_inside(consumers, stage.array) if e.is_read]
    if not reads:
        raise ScheduleError(
            f"nothing else in {named(node)} reads {stage.array}",
            code="schedule.not-a-consumer",
            hints=["bring its consumer into the loop first, by `compute_at`"],
            span=edit.span(node),
        )
    at_most = at_most_in(edit, node)
    hidden = {name for each in node.body for name in query.names_written(each)}
    sides = [each and _literal(each) for each in footprint.box(reads, at_most, hidden)]
    moving = [
        (axis, side)
        for axis, side in enumerate(sides)
        if side is None or header.variable in side.first.names() | side.last.names()
    ]
    step = query.integer(header.step)
    assert step
    if len(moving) == 1 and moving[0][1] is not None:
        axis, side = moving[0]
        assert side is not None
        by = side.first.coefficient(header.variable) * step
        rest = side.first.without(header.variable)
        length = side.extent.value
        if length is not None and 0 < by < length and not rest.mentions(header.variable):
            return _Window(tuple(sides), axis, length, by, at_most)
    raise ScheduleError(
        f"no rows of {stage.array} are needed again in the next iteration of {named(node)}",
        code="schedule.no-window",
        span=edit.span(node),
        hints=["the cells needed must move along one axis, forwards, by less than they are many"],
    )


def _literal(side: Side) -> Side:
    """A side of literal length around one that is clamped, ``max(i - 1, 0)`` to ``i + 1``."""
    for first in _arguments(side.first, "max"):
        for last in _arguments(side.last, "min"):
            if (last - first).value is not None:
                return Side(first, last)
    return side


def _arguments(form: Affine, word: str) -> list[Affine]:
    """The form, and what it is without a `max` (or `min`) that it ends in."""
    found = [form]
    for key, (coefficient, atom) in form.terms.items():
        if coefficient == 1 and isinstance(atom, ast.Call) and query.dotted(atom.func) == word:
            rest = Affine({k: v for k, v in form.terms.items() if k != key}, form.constant)
            found += [rest + affine.of(each) for each in atom.args]
    return found


def _first_window(
    edit: Editor, array: str, producer: ast.stmt, node: ast.For, window: _Window
) -> ast.stmt:
    """What fills, before the loop, the rows that its first iteration needs but does not compute."""
    header = edit.counted(node)
    at_start = {header.variable: affine.of(header.start)}
    box = [
        None
        if each is None
        else Side(each.first.substituted(at_start), each.last.substituted(at_start))
        for each in window.box(window.side.first, window.side.last - window.step)
    ]
    copied: ast.stmt = nodes.substitute(producer, {header.variable: header.start})
    edit.renumber([copied])
    step = query.integer(header.step) or 1
    order = ast.Gt if step > 0 else ast.Lt
    runs = nodes.compare(nodes.clone(header.stop), order, nodes.clone(header.start))
    guard = nodes.if_then(runs, [copied])
    place = edit.place(node)
    place.block.insert(place.index, guard)
    guard.body = restricted_nest(
        edit, copied, {array: box}, node, window.at_most, writes=True, stays=True
    )
    return guard
