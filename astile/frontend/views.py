"""Names of rows are replaced by what they are rows of: ``row = A[i]; row[j]`` is ``A[i, j]``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astile.frontend import sums
from astile.frontend.arrays import Facts
from astile.frontend.guards import guarded
from astile.frontend.lengths import Lengths
from astile.frontend.seen_through import is_whole_slice, seen_through
from astile.frontend.spans import Assumed, Kept, SpanReader
from astile.frontend.vocabulary import path_of
from astile.ir import query
from astile.ir.needs import Rank
from astile.ir.program import Program


def views(program: Program) -> Program:
    """Replace names that stand for a row of an array, where all their uses are seen.

    Args:
        program: is not changed.

    Before::

        def f(A, out):
            for i in range(A.shape[0]):
                row = A[i]
                for j in range(len(row)):
                    out[i, j] = 2 * row[j]

    After::

        def f(A, out):
            for i in range(A.shape[0]):
                for j in range(A.shape[1]):
                    out[i, j] = 2 * A[i, j]
    """
    if not any(map(_may_name_a_row, query.statements(program.function))):
        return program  # as most are: do not read all that is known of them
    result, assumed = program.cloned(), Assumed()
    has_changed = False
    while _replace_one(result, assumed):  # a row of a row is a row once the first is replaced
        has_changed = True
    if not has_changed:
        return program
    result = guarded(result, assumed)
    return replace(result, needs=tuple(dict.fromkeys((*program.needs, *assumed.needs))))


@dataclass(frozen=True)
class _Row:
    """A statement ``name = array[...]`` and the statements that use the name after it.

    Args:
        block: the list that holds the statement.
        index: its position there.
        end: position of the first statement that the name is not used in any more.
        known: what is known of integers there.
    """

    block: list[ast.stmt]
    index: int
    end: int
    known: Lengths

    @property
    def statement(self) -> ast.Assign:
        """The statement itself."""
        found = self.block[self.index]
        assert isinstance(found, ast.Assign)
        return found

    @property
    def after(self) -> Lengths:
        """What is known of integers after the statement."""
        return self.known.next(self.statement)

    @property
    def uses(self) -> Sequence[ast.stmt]:
        """The statements that use the name."""
        return self.block[self.index + 1 : self.end]


def _replace_one(program: Program, assumed: Assumed) -> bool:
    """Replace all rows of one name, in place; False when there is none."""
    facts = Facts(program)
    rows: dict[str, list[_Row]] = {}
    _collect(program.function.body, facts.known(), facts, rows)
    for name, found in rows.items():
        own = Assumed()
        if not _is_replaceable(program, facts, name, found, own):
            continue
        try:
            made = [
                seen_through(row.uses, name, row.statement.value, row.after, facts, own)
                for row in found
            ]
        except Kept:
            continue
        for row, uses in zip(found, made, strict=True):
            row.block[row.index + 1 : row.end] = uses
        _drop(program.function, [row.statement for row in found])
        assumed.join(own)
        return True
    return False


def _collect(
    body: list[ast.stmt], known: Lengths, facts: Facts, rows: dict[str, list[_Row]]
) -> None:
    for index, statement in enumerate(body):
        name = _named(statement, facts)
        if name is not None:
            end = next(
                (
                    position
                    for position in range(index + 1, len(body))
                    if name in query.names_written(body[position])
                ),
                len(body),
            )
            rows.setdefault(name, []).append(_Row(body, index, end, known))
        for inner in query.bodies(statement):
            _collect(inner, known.within(statement, inner), facts, rows)
        known = known.next(statement)


def _may_name_a_row(statement: ast.stmt) -> bool:
    """Whether a statement has one of the forms that `_named` knows."""
    match statement:
        case ast.Assign(
            targets=[ast.Name()], value=ast.Subscript() | ast.Attribute(value=ast.Name(), attr="T")
        ):
            return True
    return False


def _named(statement: ast.stmt, facts: Facts) -> str | None:
    """``row`` for ``row = A[i]``, ``row = A[i, :]`` and ``B = A.T`` of a known array."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value):
            base = query.base_name(value)
            if base not in facts.ranks or name == base or isinstance(value.value, ast.Subscript):
                return None
            indices = query.indices(value)
            is_part = len(indices) < facts.ranks[base] or any(
                isinstance(each, ast.Slice) for each in indices
            )
            return name if is_part else None
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name(id=base), attr="T")
        ):
            return name if facts.ranks.get(base) == 2 else None
    return None


# --- may they be replaced? ------------------------------------------------------------------------


def _is_replaceable(
    program: Program, facts: Facts, name: str, rows: list[_Row], assumed: Assumed
) -> bool:
    """Whether every use of a name is one of a row, and the row stays what it was."""
    bound = facts.bindings.get(name, [])
    if name in facts.parameters or len(bound) != len(rows):
        return False
    inside = sum(_count(each, name) for row in rows for each in row.uses)
    if inside != _count(program.function, name) - len(rows):
        return False
    return all(_stays(facts, name, row, assumed) for row in rows)


def _count(root: ast.AST, name: str) -> int:
    return sum(isinstance(node, ast.Name) and node.id == name for node in query.preorder(root))


def _stays(facts: Facts, name: str, row: _Row, assumed: Assumed) -> bool:
    value = row.statement.value
    base = query.base_name(value.value if isinstance(value, ast.Attribute) else value)
    assert base is not None
    written = {each for use in row.uses for each in query.names_written(use)}
    if base in written:
        return False
    if base in facts.parameters:
        assumed.add([Rank(base, facts.ranks[base])])
    axes = 2
    if isinstance(value, ast.Subscript):
        single = [each for each in query.indices(value) if not isinstance(each, ast.Slice)]
        if not all(_is_steady_index(each, facts, written) for each in single):
            return False
        if not all(_is_steady_bound(each, facts, written) for each in _bounds(value)):
            return False
        axes = facts.ranks[base] - len(single)
        assumed.add(facts.needs_of(query.names_read(value.slice)))
        if not _is_checked(facts, name, row, assumed):
            return False  # an index outside would show at this statement, and nowhere else
    return all(_is_plain_use(use, name, axes, facts, assumed) for use in row.uses)


def _is_steady_index(index: ast.expr, facts: Facts, written: set[str]) -> bool:
    """Whether an index means the same wherever the row is used."""
    if not facts.is_number(index) or query.names_read(index) & written:
        return False
    return not any(isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(index))


def _bounds(value: ast.Subscript) -> list[ast.expr]:
    """The bounds and steps of the slices of an access."""
    slices = [each for each in query.indices(value) if isinstance(each, ast.Slice)]
    every = [bound for each in slices for bound in (each.lower, each.upper, each.step)]
    return [each for each in every if each is not None]


def _is_steady_bound(bound: ast.expr, facts: Facts, written: set[str]) -> bool:
    """Whether a bound of a slice means the same wherever the slice is used."""
    if not facts.is_number(bound) or query.names_read(bound) & written:
        return False
    return all(
        query.is_shape_of(node) if isinstance(node, ast.Subscript) else _is_length(node, facts)
        for node in ast.walk(bound)
        if isinstance(node, (ast.Subscript, ast.Call))
    )


def _is_length(node: ast.AST, facts: Facts) -> bool:
    return isinstance(node, ast.Call) and path_of(facts.program, node.func) == "len"


def _is_checked(facts: Facts, name: str, row: _Row, assumed: Assumed) -> bool:
    """Whether an index of a row that is outside the array shows without the row's statement."""
    value = row.statement.value
    assert isinstance(value, ast.Subscript)
    base = query.base_name(value)
    assert base is not None
    reader = SpanReader(facts, row.known, assumed)
    indices = query.indices(value)
    if all(
        isinstance(e, ast.Slice) or reader.is_inside(base, axis, e)
        for axis, e in enumerate(indices)
    ):
        return True
    free = [axis for axis in range(facts.ranks[base]) if not _is_given(indices, axis)]
    is_whole = all(is_whole_slice(indices[axis]) for axis in free if axis < len(indices))
    return any(
        _takes_element(use, name, len(free))
        if isinstance(use, (ast.Assign, ast.AugAssign))
        else is_whole and _is_surely_used(use, name, base, free, reader)
        for use in row.uses
    )


def _is_given(indices: Sequence[ast.expr], axis: int) -> bool:
    return axis < len(indices) and not isinstance(indices[axis], ast.Slice)


def _is_surely_used(
    use: ast.stmt, name: str, base: str, free: Sequence[int], reader: SpanReader
) -> bool:
    """Whether a loop takes an element of a row whenever it runs and the row has one."""
    header = query.header(use) if isinstance(use, ast.For) else None
    if header is None or not query.is_constant(header.start, 0) or len(free) != 1:
        return False
    text = sums.extent_symbol(base, free[0])
    extent = reader.known.sizes.get(text, sums.symbol(text))
    counted = reader.known.linear(header.stop)
    of_row = reader.known.sizes.get(f"{name}.shape[0]", sums.symbol(f"{name}.shape[0]"))
    if counted not in (extent, of_row) or not isinstance(use, ast.For):
        return False
    first = use.body[0]
    simple = isinstance(first, (ast.Assign, ast.AugAssign)) and _takes_element(first, name, 1)
    return simple and reader.assume_not_negative(extent.plus(sums.constant(-1)))


def _takes_element(statement: ast.stmt, name: str, axes: int) -> bool:
    """Whether a statement that holds no other indexes a row in full, whatever it finds."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.IfExp, ast.BoolOp, ast.Compare)):
            continue
        if isinstance(node, ast.Subscript) and query.base_name(node) == name:
            indices = query.indices(node)
            if len(indices) == axes and not any(isinstance(e, ast.Slice) for e in indices):
                return True
        pending += ast.iter_child_nodes(node)
    return False


def _is_plain_use(root: ast.AST, name: str, axes: int, facts: Facts, assumed: Assumed) -> bool:
    """Whether a row is only read, or indexed by no more indices than it has axes."""
    for node in ast.walk(root):
        for child in ast.iter_child_nodes(node):
            if not (isinstance(child, ast.Name) and child.id == name):
                continue
            if not isinstance(child.ctx, ast.Load):
                return False
            if isinstance(node, ast.Subscript) and node.value is child:
                if not _is_readable(node, axes, facts):
                    return False
                assumed.add(facts.needs_of(query.names_read(node.slice)))
            elif isinstance(node, ast.AugAssign) and node.target is child:
                return False
    return True


def _is_readable(access: ast.Subscript, axes: int, facts: Facts) -> bool:
    """Whether the indices of a row are numbers and slices: an array of indices moves axes."""
    indices = query.indices(access)
    return len(indices) <= axes and all(
        isinstance(each, ast.Slice) or facts.is_number(each) for each in indices
    )


def _drop(function: ast.FunctionDef, gone: Sequence[ast.stmt]) -> None:
    """Take statements out of the blocks that hold them."""
    for statement in list(query.statements(function)):
        for block in query.bodies(statement):
            kept = [each for each in block if not any(each is other for other in gone)]
            if len(kept) < len(block):
                block[:] = kept or [ast.Pass()]
