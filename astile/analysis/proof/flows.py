"""Where the value of every read comes from, in a model and in one that stands for another."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from astile.analysis import isl
from astile.analysis.forms.affine_sets import Quasi, quasi
from astile.analysis.proof.dataflow import Dependences, dependences
from astile.analysis.reading.domains import array_name, tuple_text
from astile.analysis.reading.model import UNDEFINED, Model, Statement, cells
from astile.analysis.reading.nearby import Near
from astile.ir.printer import print_expression


@dataclass(frozen=True)
class Flow:
    """The source of every read.

    Args:
        values: token -> read; a token is a write, a cell at the function's begin, or a constant.
        undefined: reads of what nobody wrote.
        writes: write -> read, as in the text.
    """

    values: isl.UnionMap = field(repr=False)
    undefined: isl.UnionSet = field(repr=False)
    writes: isl.UnionMap = field(repr=False)


@dataclass(frozen=True)
class Hints:
    """What the new program says about itself, as isl maps.

    Args:
        reads: read of the new program -> read of the original.
        writes: write of the new program -> write of the original.
        copies: write of a copy -> its read.
        copy_count: number of statements that are copies.
        pairs: for each statement with an origin, the original statement, and the values of the
            original loop variables.
        session: the isl session of the maps.
        problem: what makes a hint unreadable, and where.
    """

    reads: isl.UnionMap = field(repr=False)
    writes: isl.UnionMap = field(repr=False)
    copies: isl.UnionMap = field(repr=False)
    copy_count: int
    pairs: tuple[tuple[Statement, Statement, dict[str, Quasi]], ...]
    session: isl.Session
    problem: tuple[str, ast.AST] | None = None


def original_flow(model: Model) -> Flow:
    """The flow of an original function."""
    found = dependences_of(model)
    writes = found.must
    return _finished(model, writes, writes.intersect_domain(model.plain), found)


def dependences_of(model: Model) -> Dependences:
    """Which write each read of a model gets its value from."""
    read = {f"{model.statements[each.reader].name}{each.read.slot}" for each in model.near}
    found = dependences(
        model.sinks, model.sources, model.schedule, settled=read, session=model.session
    )
    must = found.must.union(near_flow(model, model.near))
    return Dependences(must, must, found.without, found.maybe_without)


def near_flow(model: Model, near: Iterable[Near]) -> isl.UnionMap:
    """Write -> read, for reads whose source is known from the text."""
    pieces = [
        f"{model.statements[each.writer].instance(each.write)} -> "
        f"{model.statements[each.reader].instance(each.read)}"
        for each in near
    ]
    return model.session.union_map((), pieces).intersect_range(model.sinks.domain())


def new_flow(model: Model, hints: Hints) -> Flow:
    """The flow of a new program, in terms of the original, with copies seen through.

    Raises:
        isl.Error: when isl fails, or when copies feed each other without end.
    """
    found = dependences_of(model)
    writes = found.must
    own = writes.intersect_domain(model.plain.subtract(hints.writes.domain()))
    hinted = writes.intersect_domain(model.plain).apply_domain(hints.writes)
    flow = _finished(model, writes, own.union(hinted), found)
    values = seen_through(flow.values, hints)
    return Flow(values, flow.undefined, writes)


def _finished(
    model: Model, writes: isl.UnionMap, regular: isl.UnionMap, found: Dependences
) -> Flow:
    without = found.without
    special = writes.apply_domain(model.tokens)
    inputs = without.intersect_range(model.inputs).reverse()
    values = regular.union(special).union(inputs)
    nothing = model.session.union_set((), [f"{UNDEFINED}[]"])
    undefined = values.intersect_domain(nothing).range()
    undefined = undefined.union(without.subtract_range(model.inputs).domain())
    return Flow(values.subtract_domain(nothing), undefined, writes)


def seen_through(values: isl.UnionMap, hints: Hints) -> isl.UnionMap:
    """Replace a copy's write as the source of a read by the source of what it copied."""
    copied, copying = hints.copies.domain(), hints.copies.range()
    for _ in range(hints.copy_count + 1):
        through = values.intersect_domain(copied)
        if through.is_empty():
            break
        sources = values.intersect_range(copying)
        resolved = sources.apply_range(through.apply_domain(hints.copies))
        values = values.subtract_domain(copied).union(resolved)
    return values


def hints_of(new: Model, original: Model) -> Hints:
    """Read the origins of a new program's statements."""
    session = new.session
    reads: list[str] = [
        f"{each} -> {each}" for each in (_final_read(name, original) for name in original.observed)
    ]
    writes: list[str] = []
    copies: list[str] = []
    pairs = []
    for statement in new.statements:
        origin = statement.leaf.origin
        if origin is None:
            if is_copy(statement):
                write, read = statement.writes[0], statement.reads[0]
                copies.append(f"{statement.instance(write)} -> {statement.instance(read)}")
            continue
        values = _iteration(statement, origin.iteration)
        if not 0 <= origin.statement < len(original.statements) or values is None:
            return _broken(session, _unknown_iteration(statement, origin.iteration), statement)
        source = original.statements[origin.statement]
        if len(values) != len(source.dimensions):
            return _broken(session, "it has another number of loops than the original", statement)
        named = dict(zip(source.dimensions, values, strict=True))
        pairs.append((source, statement, named))
        here = tuple(each.text for each in values)
        for accesses, target in ((statement.reads, reads), (statement.writes, writes)):
            for access in accesses:
                there = tuple_text(f"{source.name}{access.slot}", (*here, *cells(access)))
                target.append(f"{statement.instance(access)} -> {there}")
    parameters = sorted({*new.parameters, *original.parameters})
    return Hints(
        session.union_map(parameters, reads),
        session.union_map(parameters, writes),
        session.union_map(parameters, copies),
        len(copies),
        tuple(pairs),
        session,
    )


def final_reads(model: Model) -> isl.UnionSet:
    """What the caller reads after the call: every cell of every output, and what is returned."""
    names = [_final_read(name, model) for name in model.observed]
    every = model.session.union_map((), [f"{each} -> {each}" for each in names]).domain()
    return model.sinks.domain().intersect(every)


def scalar_reads(model: Model) -> isl.UnionSet:
    """The reads of scalars that the function binds itself, which raise when there is no value."""
    pieces = [
        statement.instance(access)
        for statement in model.statements
        for access in statement.reads
        if access.node is not None and access.array in model.names.local - model.names.ranks.keys()
    ]
    return model.session.union_set((), pieces)


def unset(model: Model, flow: Flow) -> isl.Set:
    """The sizes at which a name may be read before it has a value, which Python refuses to do.

    Args:
        model: a function as written.
        flow: its flow.
    """
    return flow.undefined.intersect(scalar_reads(model)).params()


def _final_read(name: str, model: Model) -> str:
    rank = model.names.ranks.get(name, 0)
    return tuple_text(f"O{array_name(name)}", tuple(f"c{axis}" for axis in range(rank)))


def _iteration(statement: Statement, iteration: Sequence[ast.expr]) -> list[Quasi] | None:
    found = [quasi(each, statement.accesses.scope) for each in iteration]
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _unknown_iteration(statement: Statement, iteration: Sequence[ast.expr]) -> str:
    """Why the iteration of the original that a statement stands for is not known."""
    for each in iteration:
        if quasi(each, statement.accesses.scope) is None:
            return f"which iteration {print_expression(each)} is, sizes and loops do not tell"
    return "its iteration in the original is not known"


def _broken(session: isl.Session, reason: str, statement: Statement) -> Hints:
    nothing = session.union_map((), [])
    return Hints(nothing, nothing, nothing, 0, (), session, (reason, statement.leaf.node))


def is_copy(statement: Statement) -> bool:
    """Whether a statement only moves a value: ``tile[a] = A[b]``, ``t = A[i]``."""
    node = statement.leaf.node
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.value, (ast.Name, ast.Subscript))
        and statement.is_exact
        and [each.slot for each in statement.reads] == ["r0"]
        and [each.slot for each in statement.writes] == ["w0"]
    )
