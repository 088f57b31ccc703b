"""The host function of a CUDA module, and how a program falls into kernels.

Top-level nests over blocks or threads become kernels. Loops and conditions around such nests stay
on the host and launch once per iteration. Whatever else touches cells of arrays becomes a kernel
that one thread runs; the rest (sizes, scalars, allocations, ``return``) stays on the host.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from astile.analysis.forms import params
from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower import flow
from astile.lower.facts import is_size
from astile.lower.kernels import restrictions, structure
from astile.lower.unbound import Reading, refuse


@dataclass(frozen=True, eq=False)
class HostStatement:
    """A statement that the host runs as it is."""

    statement: ast.stmt


@dataclass(frozen=True, eq=False)
class HostControl:
    """A loop or condition of the host around launches."""

    statement: ast.For | ast.If | ast.While
    body: tuple[Part, ...]
    orelse: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Nest:
    """A nest that becomes one kernel."""

    root: ast.For


@dataclass(frozen=True, eq=False)
class Serial:
    """Statements that one thread runs, in one kernel."""

    statements: tuple[ast.stmt, ...]


Part = HostStatement | HostControl | Nest | Serial


def parts(program: Program, body: Sequence[ast.stmt]) -> list[Part]:
    """The parts of a statement list, in order; neighbouring serial statements are one part.

    Raises:
        LoweringError: for a nest inside a statement that the host cannot run.
    """
    found: list[Part] = []
    for statement in body:
        if structure.level(statement):
            assert isinstance(statement, ast.For)
            found.append(Nest(statement))
        elif structure.is_bound(statement) or _stays_on_host(program, statement):
            found.append(_control(program, statement))
        elif not _runs_on_device(program, statement):
            _check_host(program, statement)
            found.append(HostStatement(statement))
        elif _returns(statement):
            raise LoweringError(
                "a loop that runs on the GPU cannot return",
                code="lowering.return",
                span=program.source.span(statement),
                hints=["store the value in a name or an array, and return after the loop"],
            )
        elif found and isinstance(found[-1], Serial):
            found[-1] = Serial((*found[-1].statements, statement))
        else:
            found.append(Serial((statement,)))
    return found


def _stays_on_host(program: Program, statement: ast.stmt) -> bool:
    """Whether a loop or condition holds what no kernel can: allocations, or a way out of it.

    Names of arrays are exchanged on the host too, as in ``u, v = v, u``: there they live on.
    """
    if isinstance(statement, ast.If) and flow.leaves(statement):
        return True
    if not isinstance(statement, (ast.For, ast.If, ast.While)):
        return False
    if any(map(query.is_allocation, query.statements(statement))):
        return True
    arrays = params.names_of(program).ranks.keys()
    around = [each for each in query.statements(statement) if _renames(each, arrays)]
    return bool(around) and not any(map(_decides_by_cells, around))


def _renames(statement: ast.stmt, arrays: AbstractSet[str]) -> bool:
    """Whether a statement gives a name of an array to another array, or holds one that does."""
    if query.bodies(statement):
        return any(_renames(each, arrays) for body in query.bodies(statement) for each in body)
    if not isinstance(statement, ast.Assign):
        return False
    value = statement.value
    given = value.elts if isinstance(value, ast.Tuple) else [value]
    names = {each.id for each in given if isinstance(each, ast.Name)}
    return bool(names & arrays) and bool(query.names_written(statement) & arrays)


def _decides_by_cells(statement: ast.stmt) -> bool:
    """Whether the head of a loop or condition reads cells, which the host does not have."""
    return bool(query.bodies(statement)) and any(
        not is_size(access) and not query.is_shape_of(access)
        for child in ast.iter_child_nodes(statement)
        if isinstance(child, ast.expr)
        for access in query.accesses(child)
    )


def _control(program: Program, statement: ast.stmt) -> HostControl:
    if not isinstance(statement, (ast.For, ast.If, ast.While)):
        word = type(statement).__name__.lower()
        raise LoweringError(
            f"a loop bound to blocks or threads stands inside `{word}`",
            code="lowering.nesting",
            span=program.source.span(statement),
            hints=["bind loops inside loops and conditions only"],
        )
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.expr):
            _check_host(program, child)
    return HostControl(
        statement,
        tuple(parts(program, statement.body)),
        tuple(parts(program, statement.orelse)),
    )


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(each, ast.Return) for each in query.statements(statement))


def _runs_on_device(program: Program, statement: ast.stmt) -> bool:
    """Whether a statement reads or writes cells, which live in the GPU's memory, or calls helpers.

    A loop without cells is left to the host, where Python runs it.
    """
    if isinstance(statement, ast.Return) or query.is_allocation(statement):
        return False
    if _makes_view(program, statement):
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return True  # a bare call may write an array that it is handed
    if query.names_read(statement) & set(program.helpers):
        return True
    return any(
        not is_size(access) and not query.is_shape_of(access)
        for access in query.accesses(statement)
    )


def _makes_view(program: Program, statement: ast.stmt) -> bool:
    """Whether a statement names a part of an array: ``row = A[i]``, ``inner = A[1:-1]``."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Subscript):
        return False
    if not all(isinstance(target, ast.Name) for target in statement.targets):
        return False
    if any(isinstance(each, ast.Slice) for each in query.indices(statement.value)):
        return True
    ranks = params.names_of(program).ranks
    return bool(query.names_written(statement) & ranks.keys())


def _check_host(program: Program, node: ast.AST) -> None:
    """Refuse to call on the host what is compiled for the GPU."""
    called = query.names_read(node) & set(program.helpers)
    if called:
        raise LoweringError(
            f"{min(called)} is called on the host, and compiled for the GPU",
            code="lowering.helper",
            span=program.source.span(node),
            hints=["compute the value before the call and pass it as an argument"],
        )
    restrictions.check_host(program, node)


def kept_names(program: Program, part: Serial) -> list[str]:
    """Names that a serial part writes and that are read after it, in order.

    Raises:
        LoweringError: when one of them is an array.
    """
    last = part.statements[-1]
    live = flow.live_after(program.function, last)
    arrays = params.names_of(program).ranks.keys()
    changed: dict[str, None] = {}
    for statement in part.statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                changed.setdefault(node.id)
            if isinstance(node, ast.Name) and node.id in changed.keys() & live & arrays:
                raise LoweringError(
                    f"{node.id} may stand for another array after a kernel",
                    code="lowering.whole-array",
                    span=program.source.span(statement),
                    notes=["a kernel gives numbers back, and cells of the arrays it is given"],
                    hints=["copy cell by cell, or exchange the names outside of this loop"],
                )
    return [name for name in changed if name in live]


def own_names(
    program: Program, part: Serial, kept: Sequence[str], unset: Sequence[Reading]
) -> set[str]:
    """Names that a serial part sets itself, so that nothing hands them to it.

    Args:
        program: the whole program.
        part: the statements.
        kept: what `kept_names` gave.
        unset: what may be read before it is set, anywhere.

    Raises:
        LoweringError: when a name that lives on may be left unset.
    """
    body = part.statements
    changed = {name for each in body for name in query.names_written(each)}
    needed = flow.exposed(body) | (set(kept) - flow.written(body))
    for name in sorted(needed & changed):
        if _is_set_before(program, name, body[0]):
            continue
        for each in unset:
            if each.name == name:
                refuse(program, each)
        needed.discard(name)  # there is an iteration that sets it, whatever the sizes
    return changed - needed


def _is_set_before(program: Program, name: str, statement: ast.stmt) -> bool:
    if name in query.parameters(program.function):
        return True
    for each in query.statements(program.function):
        if each is statement:
            return False
        if name in query.names_written(each) and not query.bodies(each):
            return True
    return False
