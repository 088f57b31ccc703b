"""Reductions that the lanes of a warp share: each takes some of the cells, shuffles join them.

``for k in range(256): s += part[k]``, where all threads of a block come by together, is run by
each thread for itself. Instead the 32 lanes of each warp read every 32nd cell, and after five
exchanges of registers all of them have the whole sum. No barrier is needed, and no more memory.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from astile.analysis.forms import affine
from astile.analysis.forms.intervals import Range
from astile.analysis.proof.reductions import form_of
from astile.ir import nodes, query
from astile.lower.facts import Facts
from astile.lower.indices import Casts, IndexWriter
from astile.lower.kernels import emit
from astile.lower.kernels.structure import Structure
from astile.lower.types.kinds import Kinds

#: Threads of a warp, which run in step and can read each other's registers.
WARP = 32
#: The fewest cells worth five exchanges.
_LEAST = 8
#: The mask of lanes that names all of them.
_EVERY_LANE = -1
#: Kinds of values that lanes exchange -> their type in the text.
_TYPES = {
    "float32": "float32",
    "float64": "float64",
    "float": "float64",
    "int64": "int64",
    "int": "int64",
}
#: Family of a reduction -> what a lane without cells holds; in the others, the value so far.
_NEUTRAL = {"sum": 0, "product": 1, "bitwise exclusive or": 0}
#: What joins two lanes, where that is no call.
_JOINS: Mapping[str, type[ast.operator]] = {
    "sum": ast.Add,
    "product": ast.Mult,
    "bitwise exclusive or": ast.BitXor,
    "bitwise and": ast.BitAnd,
    "bitwise or": ast.BitOr,
}


@dataclass(frozen=True)
class Shared:
    """A loop that only reduces, and that lanes can share.

    Args:
        variable: of the loop.
        count: how many iterations it has.
        family: what kind of reduction it is.
        update: its statement.
        target: the name or cell that it updates.
        value: what an iteration adds.
        kind: the type of the sum.
    """

    variable: str
    count: int
    family: str
    update: ast.AugAssign | ast.Assign
    target: ast.Name | ast.Subscript
    value: ast.expr
    kind: str


class Lanes:
    """Writes reductions of one kernel that the lanes of its warps share.

    Args:
        kernel: the structure of the kernel.
        facts: the program's integers.
        kinds: types of the program's values.
        casts: names of the integer types.
        cuda: the name of ``numba.cuda`` in the text.
        numpy: the name of ``numpy``.
        fresh: makes names that are free in the text; the same one whenever the same is wanted.
    """

    def __init__(
        self,
        kernel: Structure,
        facts: Facts,
        kinds: Kinds,
        casts: Casts,
        cuda: str,
        numpy: str,
        fresh: Callable[[str], str],
    ) -> None:
        self.kernel, self.facts, self.kinds = kernel, facts, kinds
        self.casts, self.cuda, self.numpy = casts, cuda, numpy
        self._fresh = fresh
        self._others: dict[str, str] = {}
        self._full = kernel.size is not None and kernel.size % WARP == 0  # no warp lacks lanes

    def reads(self, *, always: bool) -> list[ast.stmt]:
        """``lane = uint32(cuda.laneid)``, where it is needed, or always."""
        if not self._others and not always:
            return []
        index = nodes.call(self.casts.uint32, [nodes.attribute(self.cuda, "laneid")])
        return [nodes.assign(self._fresh("lane"), index)]

    # --- which loops ----------------------------------------------------------------------------

    def found(self, statement: ast.stmt) -> Shared | None:
        """The statement as a reduction that lanes can share, or None.

        Args:
            statement: one that all threads of the block come by together.
        """
        header = query.header(statement) if isinstance(statement, ast.For) else None
        if header is None or header.kind not in ("range", "unroll") or not self._full:
            return None
        assert isinstance(statement, ast.For)
        count = self.facts.number(header.stop)
        from_0 = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
        if not from_0 or count is None or count < _LEAST or statement.orelse:
            return None
        update = query.only_statement(statement.body)
        form = None if update is None else form_of(update)
        if form is None or not isinstance(update, (ast.AugAssign, ast.Assign)):
            return None
        target, value = form.target, _added(update, form.own)
        if value is None or not isinstance(target, (ast.Name, ast.Subscript)):
            return None
        name = query.base_name(target) if isinstance(target, ast.Subscript) else target.id
        if name is None or name in query.names(value):
            return None
        if header.variable in query.names(target):
            return None
        held = self.kinds.of(target)
        kind = _TYPES.get(held or "")
        if kind is None or self._result(held, update, value) != held:
            return None
        return Shared(header.variable, count, form.family, update, target, value, kind)

    def _result(self, held: str | None, update: ast.stmt, value: ast.expr) -> str | None:
        """The kind of what an iteration computes."""
        if isinstance(update, ast.AugAssign):
            return self.kinds.of_binary(held, update.op, self.kinds.of(value))
        return self.kinds.of(value)

    # --- their text -----------------------------------------------------------------------------

    def by_every_warp(self, found: Shared, writer: IndexWriter) -> list[ast.stmt] | None:
        """A reduction into a name, for each warp by itself; None where that cannot be.

        Args:
            found: the reduction.
            writer: rewrites expressions where it stands.
        """
        if not isinstance(found.target, ast.Name):
            return None
        start: ast.expr = nodes.name(found.target.id)
        if found.family in _NEUTRAL:
            start = self._number(_NEUTRAL[found.family], found.kind)
        part, made = self._joined(found, start, writer)
        nodes.add_comment(made[0], "the lanes of each warp share the cells and join what they have")
        last = self._update(found, part)
        return [*made, emit.rewritten(last, writer)]

    def by_first_warp(self, found: Shared, writer: IndexWriter) -> list[ast.stmt] | None:
        """A reduction into a cell, by the first warp of a block; None where that cannot be.

        Args:
            found: the reduction.
            writer: rewrites expressions where it stands.
        """
        if found.family not in _NEUTRAL or self.kernel.wide != ("x",):
            return None
        start = self._number(_NEUTRAL[found.family], found.kind)
        part, made = self._joined(found, start, writer)
        nodes.add_comment(made[0], "the lanes of one warp share the cells and join what they have")
        last = emit.rewritten(self._update(found, part), writer)
        index = nodes.attribute(self.cuda, "threadIdx", "x")
        made += emit.guarded(nodes.compare(nodes.clone(index), ast.Eq, nodes.const(0)), [last], [])
        if self.kernel.block[0] == WARP:
            return made
        return emit.guarded(nodes.compare(index, ast.Lt, nodes.const(WARP)), made, [])

    def _number(self, value: int, kind: str) -> ast.expr:
        return nodes.call(nodes.attribute(self.numpy, kind), [nodes.const(value)])

    def _update(self, found: Shared, part: str) -> ast.stmt:
        """The statement of the program with the joined part in the place of one cell."""
        if isinstance(found.update, ast.AugAssign):
            return nodes.update(nodes.clone(found.target), type(found.update.op), nodes.name(part))
        assert isinstance(found.target, ast.Name)
        return _join(found, found.target.id, part)

    def _joined(
        self, found: Shared, start: ast.expr, writer: IndexWriter
    ) -> tuple[str, list[ast.stmt]]:
        """Statements after which a name holds the reduction of all cells, in every lane."""
        name = found.target.id if isinstance(found.target, ast.Name) else "sum"
        part, other, step = (
            self._fresh(f"{name}_part"),
            self._other(found.kind),
            self._fresh("step"),
        )
        made: list[ast.stmt] = [nodes.assign(part, start), *self._own(found, part, other, writer)]
        exchange = nodes.call(
            nodes.attribute(self.cuda, "shfl_xor_sync"),
            [nodes.const(_EVERY_LANE), nodes.name(part), _distance(step)],
        )
        joined = emit.rewritten(_join(found, part, other), writer)
        body: list[ast.stmt] = [nodes.assign(other, exchange), joined]
        made.append(nodes.for_loop(nodes.target(step), nodes.call("range", [nodes.const(5)]), body))
        if found.family in ("min", "max") and found.kind.startswith("float"):
            first = [nodes.const(_EVERY_LANE), nodes.name(part), nodes.const(0)]
            agreed = nodes.call(nodes.attribute(self.cuda, "shfl_sync"), first)
            made.append(nodes.assign(part, agreed))
            nodes.add_comment(made[-1], "0.0 and -0.0 are equal: all lanes take the one of lane 0")
        return part, made

    def _own(self, found: Shared, part: str, other: str, writer: IndexWriter) -> list[ast.stmt]:
        """The cells of one lane, every 32nd, joined to its part."""
        turns = -(-found.count // WARP)
        index: ast.expr = nodes.name(self._fresh("lane"))
        if turns > 1:
            first = nodes.binary(nodes.name(self._fresh("turn")), ast.Mult, self._count(WARP))
            index = nodes.binary(first, ast.Add, index)
        last = affine.constant(found.count - 1)
        inner = replace(
            writer,
            unsigned=writer.unsigned | {found.variable},
            ranges=(*writer.ranges, Range(found.variable, affine.constant(0), last)),
        )
        value = nodes.substitute(inner.value(found.value), {found.variable: index})
        joined = emit.rewritten(_join(found, part, other), writer)
        body: list[ast.stmt] = [nodes.assign(other, value), joined]
        if found.count % WARP:
            inside = nodes.compare(nodes.clone(index), ast.Lt, self._count(found.count))
            body = emit.guarded(inside, body, [])
        if turns == 1:
            return body
        counter = nodes.call("range", [self._count(turns)])
        return [nodes.for_loop(nodes.target(self._fresh("turn")), counter, body)]

    def _count(self, number: int) -> ast.expr:
        return nodes.call(self.casts.uint32, [nodes.const(number)])

    def _other(self, kind: str) -> str:
        """The name for what comes from elsewhere; one for each type."""
        if kind not in self._others:
            self._others[kind] = self._fresh(f"other_{kind}" if self._others else "other")
        return self._others[kind]


def _added(update: ast.stmt, own: ast.expr) -> ast.expr | None:
    """What a statement adds to its target, where it is written as one value."""
    match update:
        case ast.AugAssign(value=value):
            return value
        case ast.Assign(value=ast.Call(args=[first, second])):
            return second if first is own else first
    return None


def _join(found: Shared, first: str, second: str) -> ast.stmt:
    """``first += second``, or what the reduction has in the place of the sum."""
    operator = _JOINS.get(found.family)
    if operator is not None:
        return nodes.update(nodes.target(first), operator, nodes.name(second))
    return nodes.assign(first, nodes.call(found.family, [nodes.name(first), nodes.name(second)]))


def _distance(step: str) -> ast.expr:
    """``16 >> step``: how far apart the lanes are that exchange."""
    return nodes.binary(nodes.const(WARP // 2), ast.RShift, nodes.name(step))
