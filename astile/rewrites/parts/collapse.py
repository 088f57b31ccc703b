"""Undoing splits inside a nest that moves: ``i_0 * 16 + i_1`` becomes one loop again."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents.footprint import accesses_inside
from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import nodes, query
from astile.rewrites.parts.result import Editor, is_guard, range_call


def collapsed(
    edit: Editor,
    nest: ast.stmt,
    array: str,
    cuttable: set[int],
    *,
    writes: bool,
    overlapping: bool = False,
) -> ast.stmt:
    """A nest in which loops that only occur as one mixed-radix number are one loop over it.

    A region of an array is a range of that number, not of its digits.

    Args:
        edit: the program that is edited.
        nest: a nest of its own, which may be changed.
        array: the array along whose axes the loops run.
        cuttable: identities of loops that may be replaced; that of a new one is added.
        writes: whether the numbers are indices of writes, else of reads.
        overlapping: whether digits may be larger than their radix, so that some numbers occur
            several times; they occur once afterwards.
    """
    while True:
        spine = _spine(nest, cuttable)
        for form in _indices(spine, array, writes=writes):
            digits = _digits(edit, spine, form, overlapping=overlapping)
            merged = digits and _merged(edit, nest, digits, form)
            if merged:
                loop, nest = merged
                identity = nodes.loop_id(loop)
                assert identity is not None
                cuttable.add(identity)
                break
        else:
            return nest


def _spine(nest: ast.stmt, cuttable: set[int]) -> list[ast.For]:
    """The loops that stand alone in each other, guards between them left out."""
    spine: list[ast.For] = []
    only: ast.stmt | None = nest
    while only is not None:
        if isinstance(only, ast.For) and nodes.loop_id(only) in cuttable:
            spine.append(only)
        elif not is_guard(only):
            break
        assert isinstance(only, (ast.For, ast.If))
        only = query.only_statement(only.body)
    return spine


def _indices(spine: Sequence[ast.For], array: str, *, writes: bool) -> list[Affine]:
    if not spine:
        return []
    touching = accesses_inside(spine[-1].body, array)
    return [
        affine.of(index)
        for each in touching
        if (each.is_written if writes else each.is_read)
        for index in query.indices(each.node)
    ]


def _digits(
    edit: Editor, spine: Sequence[ast.For], form: Affine, *, overlapping: bool
) -> list[ast.For] | None:
    """The loops that are the digits of a number in mixed radix, the most significant first."""
    found = [each for each in spine if form.coefficient(edit.header(each).variable)]
    found.sort(key=lambda each: -form.coefficient(edit.header(each).variable))
    if len(found) < 2:
        return None
    unit = scale = form.coefficient(edit.header(found[-1]).variable)
    if scale < 1:
        return None
    for each in reversed(found):
        header = edit.header(each)
        counts = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
        own = form.coefficient(header.variable)
        if not counts or own > scale or own % unit or (own < scale and not overlapping):
            return None
        length = query.integer(header.stop)
        if each is not found[0]:
            if length is None or length < 1:
                return None
            scale += own * (length - 1)
    return found


def _merged(
    edit: Editor, nest: ast.stmt, digits: Sequence[ast.For], form: Affine
) -> tuple[ast.For, ast.stmt] | None:
    """The nest over the number instead of its digits; None when it names a digit by itself."""
    last = digits[-1]
    number = edit.header(last).variable
    others = [edit.header(each).variable for each in digits[:-1]]
    value = affine.variable(number)
    length = affine.constant(1)
    unit = form.coefficient(number)
    for each in digits:
        header = edit.header(each)
        scale = form.coefficient(header.variable) // unit
        length = length + (affine.of(header.stop) - 1) * scale
        if each is not last:
            value = value - affine.variable(header.variable) * scale
    if length.names() & {*others, number}:
        return None
    gone = {nodes.loop_id(each) for each in digits[:-1]}
    trial = _without(nodes.clone(nest), gone)
    # the last digit in terms of the number: where the text names the number, the digits cancel
    trial = nodes.substitute(trial, {number: value.expression()})
    loop = next(e for e in query.loops(trial) if nodes.loop_id(e) == nodes.loop_id(last))
    loop.iter = range_call(nodes.const(0), length.expression())
    _Cancelled(set(others)).everywhere(trial)
    if any(_mentions(trial, each) for each in others):
        return None
    for each in digits:
        edit.forget(each, f"it was moved, as part of the loop over {number}")
    merged = edit.new_loop(number, loop.iter, [])
    identity = nodes.loop_id(merged)
    assert identity is not None
    nodes.set_loop_id(loop, identity)
    return loop, trial


def _without(nest: ast.stmt, gone: set[int | None]) -> ast.stmt:
    """The nest less some loops of its spine."""
    if isinstance(nest, ast.For) and nodes.loop_id(nest) in gone:
        return _without(nest.body[0], gone)
    if isinstance(nest, (ast.For, ast.If)) and len(nest.body) == 1:
        nest.body = [_without(nest.body[0], gone)]
    return nest


def _mentions(nest: ast.stmt, variable: str) -> bool:
    if variable in query.names(nest):
        return True
    origins = [held for each in query.statements(nest) if (held := nodes.origin(each))]
    return any(variable in query.names(e) for held in origins for e in held.iteration)


class _Cancelled(ast.NodeTransformer):
    """Writes integer expressions that name a digit in normal form, in which digits may cancel."""

    def __init__(self, digits: set[str]) -> None:
        self.digits = digits

    def everywhere(self, root: ast.stmt) -> None:
        """All expressions and origins of a statement and of those below it."""
        for each in query.statements(root):
            held = nodes.origin(each)
            if held is not None:
                iteration = tuple(self._integer(e) for e in held.iteration)
                nodes.set_origin(each, nodes.Origin(held.statement, iteration))
            if isinstance(each, ast.For):
                each.iter = self._header(each)
            elif isinstance(each, ast.If):
                each.test = self._condition(each.test) if is_guard(each) else self.visit(each.test)
            elif not query.bodies(each):
                self.generic_visit(each)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._integer(each) for each in node.slice.elts]
        else:
            node.slice = self._integer(node.slice)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """A value: only sums of names are surely integers."""
        form = affine.of(node)
        is_sum = all(isinstance(atom, ast.Name) for _, atom in form.terms.values())
        if is_sum and query.names(node) & self.digits and not form.names() & self.digits:
            return form.expression()
        return self.generic_visit(node)

    def _integer(self, expression: ast.expr) -> ast.expr:
        if isinstance(expression, (ast.Slice, ast.Starred)):
            return expression
        if not query.names(expression) & self.digits:
            return expression
        return affine.of(expression).expression()

    def _header(self, loop: ast.For) -> ast.expr:
        iterator = self.visit(loop.iter)
        if query.header(loop) is not None:
            iterator.args = [self._integer(each) for each in iterator.args]
        assert isinstance(iterator, ast.expr)
        return iterator

    def _condition(self, test: ast.expr) -> ast.expr:
        if isinstance(test, ast.BoolOp):
            test.values = [self._condition(each) for each in test.values]
        elif isinstance(test, ast.Compare):
            test.left = self._integer(test.left)
            test.comparators = [self._integer(each) for each in test.comparators]
        return test
