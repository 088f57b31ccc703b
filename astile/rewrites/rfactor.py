"""`rfactor`: a reduction in parts, one for each iteration of a loop, and then over the parts."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import pairwise

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.proof.reductions import IDEMPOTENT
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.rewrites.expand import dtype_of_scalar
from astile.rewrites.parts import copies, storage
from astile.rewrites.parts.reduction import Reduction, reduction_of
from astile.rewrites.parts.result import Editor, Rewritten, conditions, is_guard, named, range_call
from astile.rewrites.parts.trips import at_least_0, trip_count

#: Family of a reduction -> what a part starts with and what joins it; None where that is a call.
_NEUTRAL = {"sum": 0, "product": 1, "bitwise exclusive or": 0}
_JOINS: dict[str, type[ast.operator]] = {
    "sum": ast.Add,
    "product": ast.Mult,
    "bitwise and": ast.BitAnd,
    "bitwise or": ast.BitOr,
    "bitwise exclusive or": ast.BitXor,
}


def rfactor(program: Program, stage: Stage, loop: int) -> Rewritten:
    """Reduce each iteration of a loop into a part of its own, then reduce the parts.

    The parts are a new array with one axis more. They start with what changes nothing (0 for a
    sum, 1 for a product; for a minimum or maximum with the value so far), so that an iteration
    that a tail leaves out adds nothing. Afterwards the iterations of the loop are independent.

    Args:
        program: the program before.
        stage: the reduction, a sum, product, minimum or maximum.
        loop: identity of a loop over what is reduced.

    Raises:
        ScheduleError: when the stage is no such reduction, its result depends on the loop, or
            the extent of the loop is not known outside of it.

    Before:
        for i in range(n):
            y[i] = 0.0
            for k_0 in range((m + 7) // 8):
                for k_1 in range(8):
                    if k_0 * 8 + k_1 < m:
                        y[i] += x[i, k_0 * 8 + k_1]

    After ``rfactor("y", k_1)``:
        y_rf = np.empty((y.shape[0], 8), y.dtype)
        for i in range(n):
            y[i] = 0.0
            for k_1 in range(8):
                y_rf[i, k_1] = 0
            for k_0 in range((m + 7) // 8):
                for k_1 in range(8):
                    if k_0 * 8 + k_1 < m:
                        y_rf[i, k_1] += x[i, k_0 * 8 + k_1]
            for k_1 in range(8):
                y[i] += y_rf[i, k_1]
    """
    edit = Editor(program)
    node = edit.loop(loop)
    if edit.counted(node).kind != "range":
        raise ScheduleError(
            f"{named(node)} is already {edit.header(node).kind}",
            code="schedule.already-bound",
            span=edit.span(node),
            hints=["rfactor first, then bind the loops that come of it"],
        )
    found = reduction_of(edit, stage, node)
    outermost = _outermost(edit, found, node)
    parts = _Parts(edit, found, node, outermost)
    before, after = parts.nest(starts=True), parts.nest(starts=False)
    parts.redirect()
    place = edit.place(outermost)
    top = [*place.parents, outermost][0]
    place.block[place.index : place.index + 1] = [*before, outermost, *after]
    top = before[0] if top is outermost else top
    place = edit.place(top)
    place.block.insert(place.index, parts.allocation)
    parts.drop_edges()
    made = [each for statement in (*before, *after) for each in query.loops(statement)]
    return edit.finish(made)


def _outermost(edit: Editor, found: Reduction, node: ast.For) -> ast.For:
    """The outermost loop around that reduces as well and touches the result nowhere else."""
    outermost = node
    for parent in reversed(edit.place(node).parents):
        if isinstance(parent, ast.If):
            continue
        header = query.header(parent) if isinstance(parent, ast.For) else None
        if header is None or any(header.variable in query.names(e) for e in found.known.values()):
            break
        assert isinstance(parent, ast.For)
        if _mentions(parent, found.array) != _mentions(found.statement, found.array):
            break
        outermost = parent
    return outermost


def _mentions(root: ast.AST, name: str) -> int:
    return sum(isinstance(each, ast.Name) and each.id == name for each in ast.walk(root))


class _Parts:
    """The parts of one reduction: their array, and the nests that start and join them.

    Args:
        edit: the program that is edited.
        found: the reduction.
        node: the loop whose iterations get a part each.
        outermost: the loop before and after which the nests stand.
    """

    def __init__(self, edit: Editor, found: Reduction, node: ast.For, outermost: ast.For) -> None:
        self.edit, self.found = edit, found
        header = edit.counted(node)
        self.lane = header.variable
        path = [*edit.place(found.statement).parents, found.statement]
        start = next(k for k, each in enumerate(path) if each is outermost)
        self.around = self._around(path[start:], node)
        self.extent = self._extent(node)
        step = query.integer(header.step)
        assert step
        offset = affine.variable(self.lane) - affine.of(header.start)
        self.trip = affine.floor_div(offset if step > 0 else -offset, abs(step))
        self.name = edit.fresh_name(f"{found.array}_rf")
        self.guards: list[tuple[ast.If, list[ast.expr]]] = []
        #: Axis that data picks a cell along -> variable and length of a loop over all of it.
        self.free = self._free()
        self.allocation = self._allocation([*edit.place(outermost).parents, outermost][0])

    def _around(self, path: Sequence[ast.stmt], node: ast.For) -> list[ast.For | ast.If]:
        """The loops over cells, and the conditions on them, that every nest needs."""
        places = set().union(*(query.names(each) for each in self.found.known.values()), set())
        reduced: set[str] = set()
        kept: list[ast.For | ast.If] = []
        for each, inner in pairwise(path):
            if isinstance(each, ast.For):
                variable = self.edit.header(each).variable
                if each is node or variable not in places:
                    reduced.add(variable)
                    continue
                depends = query.names(each.iter) & reduced
                if depends:
                    raise ScheduleError(
                        f"{named(each)} runs over cells of {self.found.array}, and its range "
                        f"depends on {', '.join(sorted(depends))}",
                        code="schedule.bad-bounds",
                        span=self.edit.span(each),
                        hints=["reorder the loops that are reduced inside of it"],
                    )
                kept.append(each)
            elif isinstance(each, ast.If) and any(inner is e for e in each.body):
                tests = [e for e in conditions(each) if not query.names(e) & reduced]
                if tests:
                    test = nodes.conjunction([nodes.clone(e) for e in tests])
                    guard = nodes.if_then(test, [])
                    kept.append(guard if is_guard(each) else nodes.copy_place(each, guard))
        return kept

    def _extent(self, node: ast.For) -> Affine:
        """The most iterations that the loop has, for use before the nest."""
        loops = self.edit.place(node).loops
        most = intervals.highest(trip_count(self.edit.counted(node)), intervals.ranges_of(loops))
        depends = most.names() & {name for e in loops for name in query.names_written(e.target)}
        if depends:
            raise ScheduleError(
                f"the extent of {named(node)} depends on {', '.join(sorted(depends))}, so the "
                "number of parts is not known before",
                code="schedule.bad-bounds",
                span=self.edit.span(node),
                hints=["split the loop by a literal factor, and name the inner loop"],
            )
        return at_least_0(self.edit, loops[0] if loops else node, most)

    def _free(self) -> dict[int, tuple[str, ast.expr]]:
        found = self.found
        extents = storage.extents_of(self.edit, found.array, len(found.indices))
        return {
            axis: (self.edit.fresh_name(f"{found.array}_{axis}"), extents[axis])
            for axis in found.by_data
        }

    def _allocation(self, top: ast.stmt) -> ast.stmt:
        """The array of the parts, made before a statement of the function itself.

        What holds where the loop stands need not hold there.
        """
        edit, array = self.edit, self.found.array
        if self.found.indices:
            shape = storage.extents_of(edit, array, len(self.found.indices))
            dtype = storage.dtype_of(edit, array)
            known = {*query.parameters(edit.function)}
            known |= {name for e in edit.function.body for name in query.names_written(e)}
            known |= set(edit.program.constants) | set(edit.program.imports)
            inside = {n for lp in query.loops(edit.function) for n in query.names_written(lp)}
            used = {name for each in (*shape, dtype) for name in query.names(each)}
            if used & inside or not used <= known:
                raise ScheduleError(
                    f"the shape of {array} is not known before the loops around it",
                    code="schedule.bad-bounds",
                    span=edit.span(self.found.statement),
                    hints=["rfactor before the array is put into a tile"],
                )
        else:
            shape = []
            dtype = dtype_of_scalar(edit, array, edit.function.body)
        axes = self._with_trip(shape, at_least_0(edit, top, self.extent).expression())
        extent = axes[0] if len(axes) == 1 else nodes.tuple_of(axes)
        return nodes.assign(self.name, nodes.call(edit.numpy("empty"), [extent, dtype]))

    def _with_trip(self, axes: list[ast.expr], trip: ast.expr) -> list[ast.expr]:
        """The axes of the parts: cells that data picks lie side by side, one row for each part."""
        return [trip, *axes] if self.found.by_data else [*axes, trip]

    def _indices(self) -> list[ast.expr]:
        """The indices of a cell in the nests, which go over all cells that data may pick."""
        return [
            nodes.name(self.free[axis][0]) if axis in self.free else nodes.clone(each)
            for axis, each in enumerate(self.found.indices)
        ]

    def _cell(self, *, store: bool = False) -> ast.expr:
        """The part of a cell, in the nests."""
        indices = self._with_trip(self._indices(), nodes.name(self.lane))
        return nodes.subscript(self.name, indices, store=store)

    def _whole(self, *, store: bool = False) -> ast.expr:
        """The cell, or name, that the parts are joined to."""
        cell = self.found.cell
        if isinstance(cell, ast.Name):
            return nodes.target(cell.id) if store else nodes.name(cell.id)
        return nodes.subscript(self.found.array, self._indices(), store=store)

    def nest(self, *, starts: bool) -> list[ast.stmt]:
        """The nest that starts the parts, or the one that joins them."""
        body = [self._start() if starts else self._join()]
        for variable, extent in reversed(self.free.values()):
            iterator = range_call(nodes.const(0), nodes.clone(extent))
            body = [self.edit.new_loop(variable, iterator, body)]
        iterator = range_call(nodes.const(0), self.extent.expression())
        body = [self.edit.new_loop(self.lane, iterator, body)]
        edges = self._edges()
        if edges:
            guard = nodes.if_then(nodes.conjunction(edges), body)
            self.guards.append((guard, edges))
            body = [guard]
        for each in reversed(self.around):
            if isinstance(each, ast.For):
                variable = self.edit.header(each).variable
                body = [self.edit.new_loop(variable, nodes.clone(each.iter), body, each)]
            else:
                body = [nodes.copy_place(each, nodes.if_then(nodes.clone(each.test), body))]
        return body

    def _edges(self) -> list[ast.expr]:
        """Conditions under which the cell is one of an argument, which may be shorter."""
        edit, array = self.edit, self.found.array
        if not self.found.indices or array not in query.parameters(edit.function):
            return []
        extents = storage.extents_of(edit, array, len(self.found.indices))
        return [
            nodes.compare(nodes.clone(index), ast.Lt, extents[axis])
            for axis, index in self.found.known.items()
        ]

    def drop_edges(self) -> None:
        """Leave out conditions that hold wherever the program can be called."""
        for guard, edges in self.guards:
            copies.drop_needless(self.edit, self.found.array, guard, [], edges)

    def _start(self) -> ast.stmt:
        if self.found.family in IDEMPOTENT:
            return nodes.assign(self._cell(store=True), self._whole())
        value = nodes.const(_NEUTRAL[self.found.family])
        return nodes.assign(self._cell(store=True), value)

    def _join(self) -> ast.stmt:
        if self.found.family in _JOINS:
            operator = _JOINS[self.found.family]
            return nodes.update(self._whole(store=True), operator, self._cell())
        value = nodes.call(self.found.family, [self._whole(), self._cell()])
        return nodes.assign(self._whole(store=True), value)

    def redirect(self) -> None:
        """Let the statement update its part."""

        def part(store: bool) -> ast.expr:
            indices = [nodes.clone(each) for each in self.found.indices]
            axes = self._with_trip(indices, self.trip.expression())
            return nodes.subscript(self.name, axes, store=store)

        _Redirect(self.found, part).visit(self.found.statement)


class _Redirect(ast.NodeTransformer):
    """Replaces a cell, or a scalar, by another cell."""

    def __init__(self, found: Reduction, cell: Callable[[bool], ast.expr]) -> None:
        self.found, self.cell = found, cell

    def _replaced(self, node: ast.Name | ast.Subscript) -> ast.AST:
        return nodes.copy_place(node, self.cell(isinstance(node.ctx, ast.Store)))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._replaced(node) if node.id == self.found.array else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if query.base_name(node) == self.found.array:
            return self._replaced(node)
        return self.generic_visit(node)
