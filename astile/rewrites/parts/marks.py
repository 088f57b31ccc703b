"""Kinds of loops: what a loop is marked as, and which kinds stand in one nest."""

from __future__ import annotations

import ast

from astile.analysis.forms import affine
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.query import Header
from astile.rewrites.parts.result import Editor, Rewritten, check_replaceable, range_call
from astile.rewrites.parts.trips import trip_count, value_at


def mark(edit: Editor, node: ast.For, kind: str, *, from_zero: bool = False) -> Rewritten:
    """Give a loop a kind; with `from_zero` it counts from 0 in steps of 1 from now on.

    Raises:
        ScheduleError: when the loop has a kind already.
    """
    header = edit.header(node)
    if header.kind != "range":
        raise ScheduleError(
            f"{header.variable} is already {header.kind}",
            code="schedule.already-bound",
            hints=["a loop runs in one way: bind another loop"],
            span=edit.span(node),
        )
    if from_zero and not _counts_from_zero(header):
        header = edit.counted(node)
        _renumber(edit, node, header)
        node.iter = range_call(nodes.const(0), trip_count(header).expression(), kind=kind)
    else:
        node.iter = range_call(header.start, header.stop, header.step, kind)
    return edit.finish([node])


def _counts_from_zero(header: Header) -> bool:
    return query.is_constant(header.start, 0) and query.is_constant(header.step, 1)


def _renumber(edit: Editor, node: ast.For, header: Header) -> None:
    check_replaceable(edit, node, header)
    value = value_at(header, affine.variable(header.variable))
    node.body = [nodes.substitute(each, {header.variable: value}) for each in node.body]


def check_nesting(edit: Editor, node: ast.For, kind: str) -> None:
    """Refuse a kind of loop that cannot stand in the nest it is in.

    Raises:
        ScheduleError: showing the other loop.
    """
    around = edit.place(node).loops
    inside = [each for each in query.loops(node) if each is not node]
    unit = kind.partition(".")[0]
    for other in [*around, *inside]:
        header = query.header(other)
        if header is None or not (header.is_bound or header.kind == "parallel"):
            continue
        if (header.kind == "parallel") != (kind == "parallel"):
            raise ScheduleError(
                f"{header.variable}, in the same nest, is {header.kind}: a nest runs on threads of "
                "the CPU or of a GPU, not on both",
                code="schedule.bad-nesting",
                hints=["use `bind` for all loops of the nest, or `parallel`"],
                span=edit.span(other),
            )
        if kind == "parallel":
            continue
        if header.kind == kind:
            raise ScheduleError(
                f"{header.variable}, in the same nest, is already {kind}",
                code="schedule.axis-taken",
                span=edit.span(other),
                hints=["bind it to another axis, or fuse the two loops first"],
            )
        is_around = any(other is each for each in around)
        threads_outside = header.kind.startswith("thread.") if is_around else unit == "thread"
        blocks_inside = unit == "block" if is_around else header.kind.startswith("block.")
        if threads_outside and blocks_inside:
            raise ScheduleError(
                "a loop over blocks cannot stand inside a loop over threads",
                code="schedule.bad-nesting",
                span=edit.span(other),
                hints=["reorder the loops so that blocks are outermost"],
            )
