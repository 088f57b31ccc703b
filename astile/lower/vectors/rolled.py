"""Sums of vectors, several summands in an iteration, that LLVM writes out instead of the text.

The text, which numba takes statement by statement, stays as short as that of one summand.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from astile.analysis.forms import affine
from astile.analysis.reading.context import Context
from astile.ir import nodes, query
from astile.ir.loop_variables import read_outside
from astile.ir.program import Program
from astile.lower.vectors.unrolled import is_vector
from astile.lower.vectors.words import Words


def gather(program: Program, words: Words) -> dict[ast.For, int]:
    """Join loops over groups of summands with the ``unroll`` loops over a group, in place.

    A loop over what is left after the groups is joined as well. Iterations have to have nothing in
    common but the sums: what they share is found in the text, where they are written out.

    Args:
        program: its tree is edited.
        words: for the names of variables.

    Returns:
        Loop -> how many of its iterations are to be written out.

    Before:
        for k_0 in range(n // 4):
            for k_1 in unroll(4):
                for j in vector(16):
                    c[j] += a[k_0 * 4 + k_1] * b[k_0 * 4 + k_1, j]
        for k in range(n // 4 * 4, n):
            for j in vector(16):
                c[j] += a[k] * b[k, j]

    After, 4 at a time:
        for k in range(n):
            for j in vector(16):
                c[j] += a[k] * b[k, j]
    """
    found: dict[ast.For, int] = {}
    outside = _read_outside(program.function)
    for body in list(_blocks(program.function)):
        position = 0
        while position < len(body):
            joined = _joined(body[position : position + 2], words, outside, program)
            if joined is not None:
                loop, times, taken = joined
                body[position : position + taken] = [loop]
                found[loop] = times
            position += 1
    return found


def mark(function: ast.FunctionDef, found: Mapping[ast.For, int], words: Words) -> None:
    """Say at the end of loops that LLVM is to write out their iterations, in place.

    Args:
        function: the tree to edit, its vectors written as operations.
        found: as `gather` gives it.
        words: for the name of what says so.
    """
    for loop in query.loops(function):
        times = found.get(loop)
        if times is not None and len(query.loops(loop)) == 1:
            call = nodes.call(words.intrinsic("unrolled"), [nodes.const(times)])
            loop.body.append(ast.Expr(call))


def _blocks(root: ast.AST) -> Iterator[list[ast.stmt]]:
    """Lists of statements, the outer ones first; not of loops that are written out themselves."""
    for body in query.bodies(root):
        yield body
        for statement in body:
            header = query.header(statement) if isinstance(statement, ast.For) else None
            if header is None or header.kind != "unroll":
                yield from _blocks(statement)


def _read_outside(function: ast.FunctionDef) -> set[str]:
    """The loop variables that are read after their loops."""
    headers = [query.header(loop) for loop in query.loops(function)]
    names = {header.variable for header in headers if header is not None}
    return read_outside(function.body, names)


def _joined(
    pair: Sequence[ast.stmt], words: Words, outside: set[str], program: Program
) -> tuple[ast.For, int, int] | None:
    """One loop for that over groups, and for that over what is left if this follows.

    Returns:
        The loop, how many of its iterations are a group, and how many statements it replaces; None
        where the first statement is no loop over groups.
    """
    groups = _counted(pair[0], "range")
    inner = None if groups is None else _counted(query.only_statement(groups[0].body), "unroll")
    if groups is None or inner is None:
        return None
    group, (loop, member) = groups[1], inner
    times = query.integer(member.stop)
    if times is None or times < 2 or {group.variable, member.variable} & outside:
        return None
    variable = words.fresh(group.variable)
    body = _Joining(group.variable, member.variable, times, variable).applied(loop.body)
    if body is None or not _only_sums(body, variable):
        return None
    end = affine.of(group.stop) * times
    rest = pair[1] if len(pair) > 1 else None
    if isinstance(rest, ast.For):
        left = query.header(rest)
        if (
            left is not None
            and left.variable not in outside
            and _is_rest(rest, left, end, variable, body)
            and _goes_on(Context.at(program, groups[0]), end, left.stop, body)
        ):
            every = nodes.call("range", [nodes.clone(left.stop)])
            return nodes.for_loop(left.variable, every, rest.body), times, 2
    return nodes.for_loop(variable, nodes.call("range", [end.expression()]), body), times, 1


def _counted(statement: ast.stmt | None, kind: str) -> tuple[ast.For, query.Header] | None:
    """A loop of a kind that counts up from 0, and its header."""
    header = query.header(statement) if isinstance(statement, ast.For) else None
    if not isinstance(statement, ast.For) or header is None or statement.orelse:
        return None
    starts = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
    return (statement, header) if header.kind == kind and starts else None


def _is_rest(
    loop: ast.For, header: query.Header, end: affine.Affine, variable: str, body: list[ast.stmt]
) -> bool:
    """Whether a loop goes on where the groups end, with the same body."""
    if loop.orelse or header.kind != "range" or not query.is_constant(header.step, 1):
        return False
    if affine.of(header.start) != end or header.variable in query.names_written(loop.iter):
        return False
    renamed = [nodes.rename(each, {header.variable: variable}) for each in loop.body]
    return nodes.same(nodes.module_of(renamed), nodes.module_of(body))


def _goes_on(
    context: Context, end: affine.Affine, stop: ast.expr, body: Sequence[ast.stmt]
) -> bool:
    """Whether what is left begins behind all groups, which begin at 0: no iteration comes twice."""
    if query.names(stop) & query.names_written(nodes.module_of(body)):
        return False
    left = affine.of(stop) - end
    return bool(context.nonnegative(end.expression()) and context.nonnegative(left.expression()))


class _Joining(ast.NodeTransformer):
    """Writes ``group * times + member`` as one variable.

    Args:
        group: variable of the loop over groups.
        member: variable of the loop over one group.
        times: how many members a group has.
        variable: the variable to write.
    """

    def __init__(self, group: str, member: str, times: int, variable: str) -> None:
        self._group, self._member, self._times = group, member, times
        self._variable = variable

    def applied(self, body: Sequence[ast.stmt]) -> list[ast.stmt] | None:
        """The statements with the one variable; None where they need the others by themselves."""
        made = [self.visit(nodes.clone(each)) for each in body]
        left = {self._group, self._member}
        if any(left & (query.names(e) | query.names_written(e)) for e in made):
            return None
        return made

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        form = affine.of(node)
        members = form.coefficient(self._member)
        if members and form.coefficient(self._group) == members * self._times:
            rest = form.without(self._group).without(self._member)
            return (rest + affine.variable(self._variable) * members).expression()
        self.generic_visit(node)
        return node


def _only_sums(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether iterations have nothing in common but sums of vectors.

    Every array whose place moves with the loop is read only, a cell further in each iteration,
    along one axis.
    """
    root = nodes.module_of(body)
    inner = [query.header(each) for each in query.loops(root)]
    if not any(map(is_vector, query.loops(root))) or query.leaves_early(body):
        return False
    if any(header is None or header.kind not in ("vector", "unroll") for header in inner):
        return False
    if any(isinstance(e, (ast.If, ast.While)) and variable in _asked(e) for e in ast.walk(root)):
        return False
    moving: dict[str, set[int]] = {}
    for access in query.accesses(root):
        for axis, index in enumerate(query.indices(access)):
            if variable in query.names(index):
                if not isinstance(index, ast.Name):
                    return False
                moving.setdefault(query.base_name(access) or "", set()).add(axis)
    written = set(query.written_arrays(root)) | query.names_written(root)
    is_apart = all(len(axes) == 1 for axes in moving.values())
    return is_apart and bool(moving) and written.isdisjoint(moving)


def _asked(statement: ast.If | ast.While) -> set[str]:
    return query.names(statement.test)
