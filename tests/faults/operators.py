"""Faults that a rewrite might make, planted in a program that was proved right.

Each operator yields programs that differ from the given one in one place. Origins follow the
text where a rewrite with the fault would carry it into them (`split_value_moved`), and stay as
they are otherwise, so that the proof is tried with right and with wrong hints.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator

from astile.ir import nodes, query
from astile.ir.program import Program

Operator = Callable[[Program], Iterator[Program]]


def _each(
    program: Program, wanted: Callable[[ast.AST], bool], edit: Callable[[ast.AST], bool]
) -> Iterator[Program]:
    """One clone for each node that is wanted, with that node edited in place."""
    count = sum(wanted(node) for node in query.preorder(program.function))
    for index in range(count):
        new = program.cloned()
        found = [node for node in query.preorder(new.function) if wanted(node)]
        if edit(found[index]):
            yield new


def guard_dropped(program: Program) -> Iterator[Program]:
    """A guard lets everything through."""

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.If)
        node.test = ast.Constant(True)
        return True

    return _each(program, _is_static_if, edit)


def guard_too_wide(program: Program) -> Iterator[Program]:
    """A guard lets one more through: ``<`` becomes ``<=``."""

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.Compare)
        wider = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
        kind = wider.get(type(node.ops[0]))
        if kind is None:
            return False
        node.ops[0] = kind()
        return True

    return _each(program, lambda node: isinstance(node, ast.Compare), edit)


def bound_moved(program: Program) -> Iterator[Program]:
    """A loop runs one iteration more, or one less, at either end."""

    def is_loop(node: ast.AST) -> bool:
        return isinstance(node, ast.For) and query.header(node) is not None

    for argument, by in ((0, 1), (0, -1), (-1, 1), (-1, -1)):

        def edit(node: ast.AST, argument: int = argument, by: int = by) -> bool:
            assert isinstance(node, ast.For)
            assert isinstance(node.iter, ast.Call)
            moved = nodes.binary(node.iter.args[argument], ast.Add, nodes.const(by))
            node.iter.args[argument] = moved
            return True

        yield from _each(program, is_loop, edit)


def floor_for_ceiling(program: Program) -> Iterator[Program]:
    """``(n + 15) // 16`` becomes ``n // 16``."""

    def is_ceiling(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.FloorDiv)
            and isinstance(node.left, ast.BinOp)
            and isinstance(node.left.op, ast.Add)
        )

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.BinOp)
        assert isinstance(node.left, ast.BinOp)
        node.left = node.left.left
        return True

    return _each(program, is_ceiling, edit)


def loops_swapped(program: Program) -> Iterator[Program]:
    """Two nested loops change places."""

    def is_outer(node: ast.AST) -> bool:
        return isinstance(node, ast.For) and isinstance(node.body[0], ast.For)

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.For)
        inner = node.body[0]
        assert isinstance(inner, ast.For)
        node.target, inner.target = inner.target, node.target
        node.iter, inner.iter = inner.iter, node.iter
        return True

    return _each(program, is_outer, edit)


def index_moved(program: Program) -> Iterator[Program]:
    """One index of one access is off by one: a halo too small, or shifted."""
    for by in (1, -1):

        def edit(node: ast.AST, by: int = by) -> bool:
            assert isinstance(node, ast.Subscript)
            if isinstance(node.slice, ast.Tuple):
                node.slice.elts[0] = nodes.binary(node.slice.elts[0], ast.Add, nodes.const(by))
            else:
                node.slice = nodes.binary(node.slice, ast.Add, nodes.const(by))
            return True

        yield from _each(program, _is_cell, edit)


def axes_swapped(program: Program) -> Iterator[Program]:
    """An access has its first two indices the wrong way round."""

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.Subscript)
        if not isinstance(node.slice, ast.Tuple):
            return False
        first, second = node.slice.elts[:2]
        if nodes.same(first, second):
            return False
        node.slice.elts[:2] = [second, first]
        return True

    return _each(program, _is_cell, edit)


def statement_lost(program: Program) -> Iterator[Program]:
    """A statement is gone: a copy-in, an initialisation, a store."""
    for number in range(len(_leaf_places(program))):
        new = program.cloned()
        block, index = _leaf_places(new)[number]
        block[index] = ast.Pass()
        yield new


def statement_twice(program: Program) -> Iterator[Program]:
    """A statement runs twice."""
    for number in range(len(_leaf_places(program))):
        new = program.cloned()
        block, index = _leaf_places(new)[number]
        block.insert(index, nodes.clone(block[index]))
        yield new


def statement_hoisted(program: Program) -> Iterator[Program]:
    """A statement moves out of its innermost loop: initialised once instead of per tile."""
    return _moved(program, outwards=True)


def statement_sunk(program: Program) -> Iterator[Program]:
    """A statement moves into the loop after it: initialised per iteration instead of once."""
    return _moved(program, outwards=False)


def _moved(program: Program, *, outwards: bool) -> Iterator[Program]:
    for number in range(len(_leaf_places(program))):
        new = program.cloned()
        block, index = _leaf_places(new)[number]
        statement = block[index]
        place = query.find_place(new.function, statement)
        assert place is not None
        if outwards and place.loops:
            around = query.find_place(new.function, place.loops[-1])
            assert around is not None
            block[index] = ast.Pass()
            around.block.insert(around.index, statement)
            yield new
        elif not outwards and index + 1 < len(block) and isinstance(block[index + 1], ast.For):
            block[index] = ast.Pass()
            block[index + 1].body.insert(0, statement)  # type: ignore[attr-defined]
            yield new


def other_array(program: Program) -> Iterator[Program]:
    """One access is left on another array of the same rank: a redirection that was missed."""
    ranks: dict[str, int] = {}
    for access in query.accesses(program.function):
        base = query.base_name(access)
        if base is not None and not query.is_shape_of(access):
            ranks[base] = len(query.indices(access))

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.Subscript)
        assert isinstance(node.value, ast.Name)
        own = node.value.id
        others = [name for name, rank in sorted(ranks.items()) if rank == ranks.get(own)]
        others = [name for name in others if name != own]
        if not others:
            return False
        node.value.id = others[0]
        return True

    return _each(program, _is_cell, edit)


def nests_swapped(program: Program) -> Iterator[Program]:
    """Two neighbouring nests change places: consumer before producer."""

    def is_loop_with_two(node: ast.AST) -> bool:
        body = getattr(node, "body", None)
        return (
            isinstance(node, (ast.For, ast.FunctionDef))
            and isinstance(body, list)
            and any(
                isinstance(a, ast.For) and isinstance(b, ast.For)
                for a, b in itertools.pairwise(body)
            )
        )

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, (ast.For, ast.FunctionDef))
        body = node.body
        for k in range(len(body) - 1):
            if isinstance(body[k], ast.For) and isinstance(body[k + 1], ast.For):
                body[k], body[k + 1] = body[k + 1], body[k]
                return True
        return False

    return _each(program, is_loop_with_two, edit)


def split_value_moved(program: Program) -> Iterator[Program]:
    """A rewrite computes the old variable wrongly, in the text and in its own hints alike."""

    def is_leaf(node: ast.AST) -> bool:
        return isinstance(node, ast.stmt) and nodes.origin(node) is not None

    def edit(node: ast.AST) -> bool:
        assert isinstance(node, ast.stmt)
        held = nodes.origin(node)
        assert held is not None
        variables = sorted({n for e in held.iteration for n in query.names_read(e)})
        if not variables:
            return False
        moved = nodes.binary(nodes.name(variables[-1]), ast.Add, nodes.const(1))
        wrong = nodes.substitute(node, {variables[-1]: moved})
        for field, value in ast.iter_fields(wrong):
            setattr(node, field, value)
        nodes.set_origin(node, nodes.origin(wrong))
        return True

    return _each(program, is_leaf, edit)


def _is_static_if(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and not node.orelse and not isinstance(node.test, ast.Constant)


def _is_cell(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and not query.is_shape_of(node)
    )


def _leaf_places(program: Program) -> list[tuple[list[ast.stmt], int]]:
    return [
        (place.block, place.index)
        for each in query.statements(program.function)
        if not query.bodies(each)
        and not query.is_allocation(each)
        and (place := query.find_place(program.function, each)) is not None
        and place.loops
    ]


OPERATORS: tuple[Operator, ...] = (
    guard_dropped,
    guard_too_wide,
    bound_moved,
    floor_for_ceiling,
    loops_swapped,
    index_moved,
    axes_swapped,
    statement_lost,
    statement_twice,
    statement_hoisted,
    statement_sunk,
    other_array,
    nests_swapped,
    split_value_moved,
)
