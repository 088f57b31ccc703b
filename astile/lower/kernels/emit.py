"""Statements of CUDA kernels: rewriting, guards, and which names are unsigned."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.facts import Facts
from astile.lower.indices import IndexWriter
from astile.lower.kernels import matrix_units, private, wide
from astile.lower.kernels.private import LocalArray
from astile.lower.kernels.structure import Structure, axis_of
from astile.lower.layouts import Layout


def written(statement: ast.stmt, writer: IndexWriter) -> list[ast.stmt]:
    """A statement without bound loops as a kernel has it: `rewritten`, or without its loop.

    Args:
        statement: it is not changed.
        writer: rewrites expressions where the statement stands.
    """
    if not isinstance(statement, ast.For):
        return [rewritten(statement, writer)]
    form, turns = wide.lanes_of(statement, writer), wide.written_out(statement, writer)
    multiplied = matrix_units.written(statement, writer)
    if form is not None and form.test is not None:
        return [nodes.if_then(form.test, form.statements, [rewritten(statement, writer)])]
    if multiplied is not None:
        made = multiplied
    elif form is not None:
        made = form.statements
    elif turns is not None:
        made = [part for turn in turns for each in turn for part in written(each, writer)]
    else:
        return [rewritten(statement, writer)]
    for comment in nodes.comments(statement):
        nodes.add_comment(made[0], comment)
    return made


def rewritten(statement: ast.stmt, writer: IndexWriter) -> ast.stmt:
    """A statement without bound loops, with the index arithmetic of a kernel.

    Args:
        statement: it is not changed.
        writer: rewrites expressions where the statement stands.
    """
    made = _shallow(statement, writer)
    for comment in nodes.comments(statement):
        nodes.add_comment(made, comment)
    return nodes.copy_place(statement, made)


def _body(body: Sequence[ast.stmt], writer: IndexWriter) -> list[ast.stmt]:
    return [made for each in body for made in written(each, writer)]


def _shallow(statement: ast.stmt, writer: IndexWriter) -> ast.stmt:
    if isinstance(statement, ast.For):
        body = _body(statement.body, writer.inside(statement))
        return nodes.for_loop(nodes.clone(statement.target), writer.range_call(statement), body)
    if isinstance(statement, ast.If):
        then = writer.under(statement.test, statement.body)
        return nodes.if_then(
            writer.condition(statement.test),
            _body(statement.body, then),
            _body(statement.orelse, writer),
        )
    made = nodes.blank(statement)
    for name, value in ast.iter_fields(statement):
        if isinstance(value, ast.expr):
            setattr(made, name, writer.value(value))
        elif isinstance(value, ast.AST):
            setattr(made, name, nodes.clone(value))
        elif isinstance(value, list):
            setattr(made, name, [_part(each, writer) for each in value])
        else:
            setattr(made, name, value)
    return made


def _part(part: object, writer: IndexWriter) -> object:
    if isinstance(part, ast.stmt):
        return rewritten(part, writer)
    if isinstance(part, ast.expr):
        return writer.value(part)
    return nodes.clone(part) if isinstance(part, ast.AST) else part


def guarded(
    condition: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
) -> list[ast.stmt]:
    """``if condition: body``, one condition where the body is a guard itself."""
    if not body and not orelse:
        return []
    inner = query.only_statement(body)
    if not orelse and isinstance(inner, ast.If) and not inner.orelse and not nodes.comments(inner):
        return [nodes.if_then(nodes.conjunction([condition, inner.test]), inner.body)]
    return [nodes.if_then(condition, body or [ast.Pass()], orelse)]


def names_assigned(root: ast.AST) -> set[str]:
    """Names written by anything but the head of a ``for``."""
    heads = {id(node) for loop in query.loops(root) for node in ast.walk(loop.target)}
    return {
        node.id
        for node in ast.walk(root)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in heads
    }


def same_threads(first: ast.For, second: ast.For) -> bool:
    """Whether two thread loops give each thread the same value of their variable."""
    one, other = query.header(first), query.header(second)
    if one is None or other is None or one.kind != other.kind:
        return False
    literal = all(query.integer(h.start) is not None for h in (one, other))
    return (
        literal
        and axis_of(first) == axis_of(second)
        and nodes.same(one.start, other.start)
        and nodes.same(one.step, other.step)
    )


def unsigned_names(root: ast.For, facts: Facts, layout: Layout | None = None) -> frozenset[str]:
    """Loop variables that can be unsigned wherever they are written in a kernel."""
    able: set[str] = set()
    unable = names_assigned(root)

    def walk(statement: ast.stmt, writer: IndexWriter) -> None:
        inner = writer
        if isinstance(statement, ast.For):
            names = query.names_written(statement.target)
            (able if writer.can_count_unsigned(statement) else unable).update(names)
            inner = writer.inside(statement)
        elif isinstance(statement, ast.If):
            inner = writer.under(statement.test, statement.body)
        for body in query.bodies(statement):
            here = writer if body is getattr(statement, "orelse", None) else inner
            for each in body:
                walk(each, here)

    walk(root, IndexWriter(facts, layout=layout))
    return frozenset(able - unable)


def private_arrays(program: Program, kernel: Structure, facts: Facts) -> dict[str, LocalArray]:
    """The local arrays that a kernel allocates, as each thread holds them."""
    found: dict[str, LocalArray] = {}
    for statement in query.statements(kernel.root):
        made = query.allocation(statement)
        if made is not None and made.scope == "local":
            found[made.array] = private.read(program, kernel, statement, facts)
    return found
