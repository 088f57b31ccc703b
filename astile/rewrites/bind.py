"""`bind`: run a loop's iterations on a hardware index, blocks or threads."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.rewrites.distribute import shared_scalars
from astile.rewrites.expand import expand_scalars
from astile.rewrites.parts.marks import check_nesting, mark
from astile.rewrites.parts.result import Editor, Rewritten

#: TVM's names of hardware indices -> the words of printed programs.
AXES = {f"{unit}Idx.{axis}": f"{unit}.{axis}" for unit in ("block", "thread") for axis in "xyz"}


def bind(program: Program, loop: int, axis: str) -> Rewritten:
    """Bind a loop to a hardware index: its iterations run on different blocks or threads.

    The proof shows that the iterations are independent, or separated by barriers. A tile that is
    staged in shared memory inside a loop over threads is one for the whole block: what fills it
    leaves the loop, which is cut into parts around the rest, and a scalar that passes from part to
    part becomes local memory.

    Args:
        program: the program before.
        loop: identity of the loop.
        axis: ``"blockIdx.x"`` ... ``"threadIdx.z"``.

    Raises:
        ScheduleError: for an unknown axis, one that a loop around or inside is bound to, a
            block loop inside a thread loop, a loop that is bound already, or threads between
            whose parts a value cannot pass.

    Before:
        for i_0 in range(14):
            y[i_0] = x[i_0]

    After ``bind(i_0, "blockIdx.x")``:
        for i_0 in block.x(14):
            y[i_0] = x[i_0]

    Before:
        for i in range(n):
            s = 0.0
            for k in range(4):
                a_shared = shared.empty(8, a.dtype)
                for a_0 in range(8):
                    a_shared[a_0] = a[k * 8 + a_0]
                s += a_shared[i % 8]
            y[i] = s

    After ``bind(i, "threadIdx.x")``:
        for i_block in block.x(1):
            s_tile = local.empty(n, np.result_type(0.0, a))
            for i in thread.x(n):
                s_tile[i] = 0.0
            for k in range(4):
                a_shared = shared.empty(8, a.dtype)
                for a_0 in range(8):
                    a_shared[a_0] = a[k * 8 + a_0]
                for i in thread.x(n):
                    s_tile[i] += a_shared[i % 8]
            for i in thread.x(n):
                y[i] = s_tile[i]
    """
    edit = Editor(program)
    kind = _kind(axis)
    node = edit.loop(loop)
    check_nesting(edit, node, kind)
    bound = mark(edit, node, kind, from_zero=True)
    phases = _Phases(edit, node)
    if axis.startswith("thread") and phases.tiles and not phases.depend_on_thread():
        return edit.finish(_cut(edit, node, phases))
    return bound


def _kind(axis: str) -> str:
    """The kind of a loop that is bound to a hardware index."""
    if axis not in AXES:
        raise ScheduleError(
            f"no hardware index {axis!r}",
            code="schedule.bad-axis",
            hints=suggestions(str(axis), AXES, "indices"),
        )
    return AXES[axis]


# --- shared tiles inside of loops over threads ---------------------------------------------------


def _cut(edit: Editor, node: ast.For, phases: _Phases) -> list[ast.For]:
    """Cut a loop over threads into loops around what is not the whole block's, in place.

    Where no loop is around it, all of them are put into a single block.

    Args:
        edit: the program that is edited.
        node: the loop; it counts from 0 in steps of 1.
        phases: what is inside it.

    Returns:
        The loops over threads, in program order; the last one is the loop itself.

    Raises:
        ScheduleError: when nothing is left for threads, or a value cannot pass from part to part.
    """
    place = edit.place(node)
    made = phases.of(node.body)
    if not phases.loops:
        raise ScheduleError(
            f"nothing in the loop over {edit.header(node).variable} depends on it",
            code="schedule.bad-nesting",
            hints=["bind a loop that computes something else in each iteration"],
            span=edit.span(node),
        )
    identity = nodes.loop_id(node)
    assert identity is not None
    nodes.set_loop_id(phases.loops[-1], identity)
    names = shared_scalars(phases.loops)
    made = [*expand_scalars(edit, names, phases.loops, [node], scope="local"), *made]
    if not place.loops:
        variable = edit.fresh_name(f"{edit.header(node).variable}_block")
        made = [edit.new_loop(variable, nodes.call("block.x", [nodes.const(1)]), made, node)]
    place.block[place.index : place.index + 1] = made
    return phases.loops


class _Phases:
    """Sorts what is inside a loop over threads into what is the whole block's, and the rest."""

    def __init__(self, edit: Editor, node: ast.For) -> None:
        self.edit, self.node = edit, node
        allocated = map(query.allocation, query.statements(node))
        #: The arrays that are made in shared memory inside the loop.
        self.tiles = {e.array for e in allocated if e is not None and e.scope == "shared"}
        self.loops: list[ast.For] = []
        heads = {n for each in query.loops(node) for n in query.names_written(each.target)}
        variable = edit.header(node).variable
        #: Names whose value is a thread's own.
        self.own = {variable} | (query.names_written(node) - heads - self.tiles)

    def depend_on_thread(self) -> bool:
        """Whether what fills a tile, or how often, may differ from thread to thread."""
        return any(map(self._fills_alone, self.node.body))

    def _fills_alone(self, statement: ast.stmt) -> bool:
        if self._is_tile(statement) or not self.tiles & set(query.written_arrays(statement)):
            return False
        if not isinstance(statement, (ast.For, ast.If)):
            return True
        head = statement.iter if isinstance(statement, ast.For) else statement.test
        inside = (each for body in query.bodies(statement) for each in body)
        return self._differs(head) or any(map(self._fills_alone, inside))

    def _differs(self, head: ast.expr) -> bool:
        """Whether a range or condition may be another one for each thread."""
        return bool(query.names(head) & self.own or query.accesses(head))

    def of(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, those of threads inside loops over threads."""
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for statement in body:
            if not self._is_blocks(statement):
                run.append(statement)
                continue
            made += self._closed(run)
            run = []
            if not self._is_tile(statement):
                assert isinstance(statement, (ast.For, ast.If))
                for inner in query.bodies(statement):
                    inner[:] = self.of(inner)
            made.append(statement)
        return [*made, *self._closed(run)]

    def _closed(self, run: list[ast.stmt]) -> list[ast.stmt]:
        """Statements of each thread in a loop over threads."""
        if not run:
            return []
        for statement in run:
            made = query.allocation(statement)
            if made is not None:
                raise ScheduleError(
                    f"{made.array} is allocated inside {self.edit.header(self.node).variable}, "
                    "beside a tile that all threads share",
                    code="schedule.allocated-between",
                    span=self.edit.span(statement) or self.edit.span(self.node),
                    hints=["bind the loop first, and stage the array afterwards"],
                )
        header = self.edit.header(self.node)
        loop = self.edit.new_loop(header.variable, nodes.clone(self.node.iter), run, self.node)
        self.loops.append(loop)
        return [loop]

    def _is_blocks(self, statement: ast.stmt) -> bool:
        """Whether all threads of a block come by a statement together."""
        if self._is_tile(statement):
            return True
        if not isinstance(statement, (ast.For, ast.If)):
            return False
        head = statement.iter if isinstance(statement, ast.For) else statement.test
        inside = any(map(self._makes_tile, query.statements(statement)))
        return inside and not self._differs(head)

    def _makes_tile(self, statement: ast.stmt) -> bool:
        made = query.allocation(statement)
        return made is not None and made.array in self.tiles

    def _is_tile(self, statement: ast.stmt) -> bool:
        """Whether a statement makes or fills tiles, in the same way for all threads."""
        if self._makes_tile(statement):
            return True
        written = set(query.written_arrays(statement))
        if not written or not written <= self.tiles or query.names(statement) & self.own:
            return False
        origins = [o for e in query.statements(statement) if (o := nodes.origin(e)) is not None]
        told = {name for each in origins for part in each.iteration for name in query.names(part)}
        return not told & self.own  # the function as written fills it again for each thread
