"""The threads of a warp, and whether all of them come by a loop together."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from astile.ir import nodes, query
from astile.ir.program import Program

#: Threads of a warp along x and y, where they hold tiles of a matrix together.
WARP_X, WARP_Y = 4, 8


class MisfitError(Exception):
    """A nest that is no product of matrices of this form.

    Args:
        reason: why.
        node: where it shows.
        hint: what to write instead.
    """

    def __init__(self, reason: str, node: ast.AST, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.node, self.hint = reason, node, hint


@dataclass(frozen=True)
class Threads:
    """The variables of the loops over the threads of a warp.

    Args:
        row: runs over `threadIdx.y`.
        pair: runs over `threadIdx.x`.
        own: names that are assigned inside these loops, so that threads have values of their own.
    """

    row: str
    pair: str
    own: frozenset[str]


def threads_around(program: Program, loop: ast.For) -> Threads:
    """The threads of a warp that run a loop together.

    Args:
        program: the program.
        loop: in loops over threads.

    Raises:
        MisfitError: where they do not come by together, or are not 32.
    """
    place = query.find_place(program.function, loop)
    assert place is not None
    found: dict[str, ast.For] = {}
    for each in place.loops:
        header = query.header(each)
        if header is not None and header.kind.startswith("thread."):
            found[header.kind[-1]] = each
    names = []
    for axis, count in (("y", WARP_Y), ("x", WARP_X)):
        header = query.header(found[axis]) if axis in found else None
        if header is None or not counts_to(header, count):
            raise MisfitError(
                f"it is inside no loop over {count} threads along {axis}",
                loop,
                f"split rows by [..., 2, {WARP_Y}] and columns by [..., {WARP_X}, 2], and bind the "
                f"loops of {WARP_Y} and {WARP_X} to threadIdx.y and threadIdx.x around it",
            )
        names.append(header.variable)
    outermost = next(e for e in place.parents if any(e is each for each in found.values()))
    heads = {n for each in query.loops(outermost) for n in query.names_written(each.target)}
    own = frozenset(query.names_written(outermost) - heads)
    threads = Threads(names[0], names[1], own)
    _check_together(place, outermost, threads)
    return threads


def counts_to(header: query.Header, count: int) -> bool:
    """Whether a loop counts from 0 to a number in steps of 1."""
    from_0 = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
    return from_0 and query.is_constant(header.stop, count)


def _check_together(place: query.Place, outermost: ast.stmt, threads: Threads) -> None:
    """Refuse what lets some threads of a warp come by and others not."""
    jumps = (ast.Break, ast.Continue, ast.Return, ast.While, ast.Try, ast.With)
    differing = threads.own | {threads.row, threads.pair}
    position = next(k for k, each in enumerate(place.parents) if each is outermost)
    conditions: list[ast.expr] = []
    for each in place.parents[position:]:
        header = query.header(each) if isinstance(each, ast.For) else None
        if isinstance(each, ast.If):
            conditions.append(each.test)
        elif header is not None:
            conditions += [header.start, header.stop, header.step]
        else:
            conditions.append(each.iter if isinstance(each, ast.For) else nodes.name(threads.row))
    for condition in conditions:
        if is_data(condition) or query.names(condition) & differing:
            raise MisfitError(
                "not all threads of a warp run it: this differs from thread to thread",
                condition,
                "give full tiles a version without conditions: "
                's.specialize("M % 128 == 0 and ...")',
            )
    for statement in query.statements(outermost):
        if isinstance(statement, jumps):
            raise MisfitError(
                "threads of a warp may leave it", statement, "write loops without jumps here"
            )


def is_data(expression: ast.expr) -> bool:
    """Whether cells of arrays, or functions of anything but sizes, are in an expression."""
    for each in ast.walk(expression):
        if isinstance(each, ast.Call) and query.dotted(each.func) not in ("len", "min", "max"):
            return True
        if isinstance(each, ast.Subscript):
            is_size = isinstance(each.value, ast.Attribute) and each.value.attr == "shape"
            if not is_size:
                return True
    return False
