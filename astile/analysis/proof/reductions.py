"""Reductions compared as sets of contributions, for when their order may change.

An update ``s = s + e`` hides nothing: what a later read of ``s`` gets is the set of all updates
since the last plain write, and that write. Two programs agree, up to reassociation, when every
read that is not an update's own gets the same set, each member once.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.proof.dataflow import dependences
from astile.analysis.proof.flows import Hints, near_flow, seen_through
from astile.analysis.proof.value_types import Types
from astile.analysis.reading.model import UNDEFINED, Model, Statement
from astile.ir import nodes, query

_FAMILIES: dict[type[ast.operator], str] = {
    ast.Add: "sum",
    ast.Sub: "sum",
    ast.Mult: "product",
    ast.BitAnd: "bitwise and",
    ast.BitOr: "bitwise or",
    ast.BitXor: "bitwise exclusive or",
}
#: Families in which a contribution may come twice.
IDEMPOTENT = ("min", "max", "bitwise and", "bitwise or")


@dataclass(frozen=True)
class Update:
    """A statement that only adds its part to a cell.

    Args:
        statement: the statement.
        family: the operation.
        array: what it updates.
        own: slots of the reads of the cell that are the update's own.
        write: slot of the write.
    """

    statement: Statement
    family: str
    array: str
    own: tuple[str, ...]
    write: str

    @property
    def instance(self) -> str:
        """The isl tuple of its write."""
        return self.statement.instance(
            next(each for each in self.statement.writes if each.slot == self.write)
        )


def updates_of(model: Model) -> dict[str, Update]:
    """The updates of a model by name of the statement; one family for each array."""
    families: dict[str, str] = {}
    found: dict[str, Update] = {}
    for statement in model.statements:
        update = update_of(statement)
        if update is not None and families.setdefault(update.array, update.family) == (
            update.family
        ):
            found[statement.name] = update
    return found


def update_of(statement: Statement) -> Update | None:
    """The statement as an update, or None."""
    found = form_of(statement.leaf.node, statement.accesses.scope.hidden)
    return None if found is None else _update(statement, found)


@dataclass(frozen=True)
class Form:
    """How an update is written.

    Args:
        family: the operation.
        target: the place that is written.
        own: the read of that place; the same node in ``s += x``.
    """

    family: str
    target: ast.expr
    own: ast.expr


def form_of(node: ast.stmt, hidden: Container[str] = ()) -> Form | None:
    """How a statement updates a place, by its text; None for one that does not.

    Args:
        node: the statement.
        hidden: names that do not mean here what Python means by them.
    """
    match node:
        case ast.AugAssign(target=target, op=op) if type(op) in _FAMILIES:
            return Form(_FAMILIES[type(op)], target, target)
        case ast.Assign(targets=[target], value=value):
            return _spelled_out(target, value, hidden)
        case ast.If(test=test, body=[body], orelse=[]):
            return _conditional(test, body, hidden)
    return None


def _spelled_out(target: ast.expr, value: ast.expr, hidden: Container[str]) -> Form | None:
    """``s = s + x``, ``s = x * s``, ``m = max(m, x)``."""
    match value:
        case ast.Call(func=ast.Name(id="min" | "max" as word), args=arguments, keywords=[]):
            own = [each for each in arguments if _is_same(target, each)]
            if len(own) == 1 and len(arguments) > 1 and word not in hidden:
                return Form(word, target, own[0])
        case ast.BinOp(op=op) if type(op) in _FAMILIES:
            family = _FAMILIES[type(op)]
            for own_read in _summands(value, family):
                if _is_same(target, own_read):
                    return Form(family, target, own_read)
    return None


def _summands(value: ast.expr, family: str) -> Iterator[ast.expr]:
    """The operands of which the value is the sum (product, ...), those taken away left out."""
    if isinstance(value, ast.BinOp) and _FAMILIES.get(type(value.op)) == family:
        yield from _summands(value.left, family)
        if not isinstance(value.op, ast.Sub):
            yield from _summands(value.right, family)
    else:
        yield value


def _conditional(test: ast.expr, body: ast.stmt, hidden: Container[str]) -> Form | None:
    """``if x > m: m = x``, and an update under a condition that does not ask what it updates."""
    match body, test:
        case (
            ast.Assign(targets=[target], value=value),
            ast.Compare(left=left, ops=[op], comparators=[right]),
        ):
            family = _extreme(target, value, left, op, right)
            if family is not None:
                return Form(family, target, left if _is_same(target, left) else right)
    found = form_of(body, hidden)
    if found is None or query.base_name(found.target) in query.names_read(test):
        return None
    return found


def _extreme(
    target: ast.expr, value: ast.expr, left: ast.expr, op: ast.cmpop, right: ast.expr
) -> str | None:
    """The family of ``if left op right: target = value``."""
    if isinstance(op, (ast.Lt, ast.LtE)):
        left, right = right, left  # right > left
    elif not isinstance(op, (ast.Gt, ast.GtE)):
        return None
    if nodes.same(left, value) and _is_same(target, right):
        return "max"
    if nodes.same(right, value) and _is_same(target, left):
        return "min"
    return None


def _is_same(target: ast.expr, read: ast.expr) -> bool:
    """Whether a read is spelled as the place that is written."""
    match target, read:
        case ast.Name(id=first), ast.Name(id=second):
            return first == second
        case ast.Subscript(value=first_base, slice=first), ast.Subscript(
            value=second_base, slice=second
        ):
            return nodes.same(first, second) and _is_same(first_base, second_base)
    return False


def _update(statement: Statement, form: Form) -> Update | None:
    """An update, when its cell is known and it is the only one written."""
    slots = statement.accesses.slots
    written = [slot for slot in slots.get(id(form.target), ()) if slot[0] == "w"]
    read = [slot for slot in slots.get(id(form.own), ()) if slot[0] == "r"]
    by_slot = {each.slot: each for each in (*statement.reads, *statement.writes)}
    plain = {_plain(slot): slot for slot in by_slot}
    if len(written) != 1 or len(read) != 1 or len(statement.writes) != 1:
        return None
    write = by_slot.get(plain.get(written[0], ""))
    if write is None or by_slot[read[0]].indices != write.indices:
        return None
    kept = [slot for slot in by_slot if slot == "o" + write.slot[1:]]
    return Update(statement, form.family, write.array, (*read, *kept), write.slot)


def integral(updates: Mapping[str, Update], model: Model) -> dict[str, Update]:
    """The updates of cells and names that hold integers of one type, all of whose parts do too.

    Integers wrap around when they are too large: what is added, multiplied or compared gives the
    same in any order, as long as nothing narrower comes in between.

    Args:
        updates: updates of a model by name of the statement.
        model: the model.
    """
    types = Types.of(model)
    parts: dict[str, list[ast.expr]] = {}
    for update in updates.values():
        parts.setdefault(update.array, []).append(_part(update.statement.leaf.node))
    return {
        name: update
        for name, update in updates.items()
        if types.holds_integers(update.array, parts[update.array])
    }


def _part(node: ast.stmt) -> ast.expr:
    """The value of an update."""
    match node:
        case ast.If(body=[body]):
            return _part(body)
        case ast.AugAssign(value=value) | ast.Assign(value=value):
            return value
    raise TypeError(type(node).__name__)


def _plain(slot: str) -> str:
    return f"{slot[0]}_{slot[2:]}" if slot[1:2] == "V" else slot


@dataclass(frozen=True)
class Contributions:
    """What every read gets, as a set of tokens.

    Args:
        values: token -> read.
        undefined: reads of what nobody wrote first.
    """

    values: isl.UnionMap
    undefined: isl.UnionSet


def contributions(model: Model, updates: dict[str, Update], hints: Hints | None) -> Contributions:
    """The contributions to every read that is not an update's own.

    Args:
        model: the model.
        updates: statements that are updates.
        hints: for a new program, what its copies are; writes are not mapped by them.
    """
    session = model.session
    added = [update.instance for update in updates.values()]
    added_set = session.union_set((), added)
    sinks = model.sinks.intersect_domain(foreign_reads(model, updates))
    may = model.sources.intersect_domain(added_set)
    must = model.sources.subtract_domain(added_set)
    names = {update.statement.name for update in updates.values()}
    near = [each for each in model.near if model.statements[each.writer].name not in names]
    read = {f"{model.statements[each.reader].name}{each.read.slot}" for each in near}
    found = dependences(sinks, must, model.schedule, may, settled=read, session=session)
    writes = found.may.union(near_flow(model, near).intersect_range(sinks.domain()))
    without = found.maybe_without
    special = writes.apply_domain(model.tokens)
    inputs = without.intersect_range(model.inputs).reverse()
    values = writes.intersect_domain(model.plain).union(special).union(inputs)
    nothing = session.union_set((), [f"{UNDEFINED}[]"])
    undefined = values.intersect_domain(nothing).range()
    undefined = undefined.union(without.subtract_range(model.inputs).domain())
    values = values.subtract_domain(nothing)
    if hints is not None:
        values = seen_through(values, hints)
    return Contributions(values, undefined)


def foreign_reads(model: Model, updates: dict[str, Update]) -> isl.UnionSet:
    """The reads that are not an update's own."""
    own = [
        update.statement.instance(each)
        for update in updates.values()
        for each in update.statement.reads
        if each.slot in update.own
    ]
    return model.sinks.domain().subtract(model.session.union_set((), own))


def come_once(values: isl.UnionMap, hints: Hints, updates: dict[str, Update]) -> bool:
    """Whether no update of the original contributes twice to one read of the new program.

    Args:
        values: write of the new program -> read of the new program.
        hints: what its writes stand for.
        updates: the updates of the new program.
    """
    counted = [update.instance for update in updates.values() if update.family not in IDEMPOTENT]
    if not counted:
        return True
    some = values.intersect_domain(hints.session.union_set((), counted)).reverse()
    originals = some.range_map().apply_range(hints.writes)
    return bool(some.domain_map().range_product(originals).is_injective())
