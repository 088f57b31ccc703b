"""Names of rows are replaced by what they are rows of: ``row = A[i]; row[j]`` is ``A[i, j]``."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from astile.frontend import lengths
from astile.frontend.arrays import Facts
from astile.frontend.lengths import Lengths
from astile.frontend.spans import Assumed, SpanReader
from astile.ir import nodes, query
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
    def uses(self) -> Sequence[ast.stmt]:
        """The statements that use the name."""
        return self.block[self.index + 1 : self.end]


def _replace_one(program: Program, assumed: Assumed) -> bool:
    """Replace all rows of one name, in place; False when there is none."""
    facts = Facts(program)
    rows: dict[str, list[_Row]] = {}
    _collect(program.function.body, Lengths(facts.sizes), facts, rows)
    for name, found in rows.items():
        own = Assumed()
        if _is_replaceable(program, facts, name, found, own):
            for row in reversed(found):
                _replace(row, name, facts)
            _drop(program.function, [row.statement for row in found])
            assumed.add(own.needs)
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
        is_counted = isinstance(statement, ast.For) and query.header(statement) is not None
        inside = known.inside(statement) if isinstance(statement, ast.For) and is_counted else known
        for inner in query.bodies(statement):
            _collect(inner, inside, facts, rows)


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
            is_part = len(indices) < facts.ranks[base] or any(map(_is_whole, indices))
            return name if is_part else None
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.Attribute(value=ast.Name(id=base), attr="T")
        ):
            return name if facts.ranks.get(base) == 2 else None
    return None


def _is_whole(index: ast.expr) -> bool:
    return (
        isinstance(index, ast.Slice)
        and index.lower is None
        and index.upper is None
        and index.step is None
    )


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
        single = [each for each in query.indices(value) if not _is_whole(each)]
        if not all(_is_steady_index(each, facts, written) for each in single):
            return False
        axes = facts.ranks[base] - len(single)
        assumed.add(facts.needs_of({n for each in single for n in query.names_read(each)}))
        if not _is_checked(facts, name, row, assumed):
            return False  # an index outside would show at this statement, and nowhere else
    return all(_is_plain_use(use, name, axes, facts, assumed) for use in row.uses)


def _is_steady_index(index: ast.expr, facts: Facts, written: set[str]) -> bool:
    """Whether an index means the same wherever the row is used."""
    if not facts.is_number(index) or query.names_read(index) & written:
        return False
    return not any(isinstance(node, (ast.Subscript, ast.Call)) for node in ast.walk(index))


def _is_checked(facts: Facts, name: str, row: _Row, assumed: Assumed) -> bool:
    """Whether an index of a row that is outside the array shows without the row's statement."""
    value = row.statement.value
    assert isinstance(value, ast.Subscript)
    base = query.base_name(value)
    assert base is not None
    reader = SpanReader(facts, row.known, assumed)
    indices = query.indices(value)
    if all(_is_whole(e) or reader.is_inside(base, axis, e) for axis, e in enumerate(indices)):
        return True
    free = [axis for axis in range(facts.ranks[base]) if not _is_given(indices, axis)]
    return any(_is_surely_used(use, name, base, free, reader) for use in row.uses)


def _is_given(indices: Sequence[ast.expr], axis: int) -> bool:
    return axis < len(indices) and not _is_whole(indices[axis])


def _is_surely_used(
    use: ast.stmt, name: str, base: str, free: Sequence[int], reader: SpanReader
) -> bool:
    """Whether a statement takes an element of a row whenever it runs and the row has one."""
    if isinstance(use, (ast.Assign, ast.AugAssign)):
        return _takes_element(use, name, len(free))
    header = query.header(use) if isinstance(use, ast.For) else None
    if header is None or not query.is_constant(header.start, 0) or len(free) != 1:
        return False
    text = lengths.extent_symbol(base, free[0])
    extent = reader.known.sizes.get(text, lengths.symbol(text))
    counted = reader.known.linear(header.stop)
    of_row = reader.known.sizes.get(f"{name}.shape[0]", lengths.symbol(f"{name}.shape[0]"))
    if counted not in (extent, of_row) or not isinstance(use, ast.For):
        return False
    first = use.body[0]
    simple = isinstance(first, (ast.Assign, ast.AugAssign)) and _takes_element(first, name, 1)
    return simple and reader.assume_not_negative(extent.plus(lengths.constant(-1)))


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


# --- replacing -----------------------------------------------------------------------------------


def _replace(row: _Row, name: str, facts: Facts) -> None:
    value = row.statement.value
    replacer = _Replacer(name, value, facts)
    for position in range(row.index + 1, row.end):
        replacer.visit(row.block[position])


class _Replacer(ast.NodeTransformer):
    """Puts the base array in place of the name of a row."""

    def __init__(self, name: str, value: ast.expr, facts: Facts) -> None:
        self.name, self.value = name, value
        self.is_transposed = isinstance(value, ast.Attribute)
        base = query.base_name(value.value if isinstance(value, ast.Attribute) else value)
        assert base is not None
        self.base, self.rank = base, facts.ranks[base]
        given = query.indices(value) if isinstance(value, ast.Subscript) else []
        whole = [ast.Slice() for _ in range(self.rank - len(given))]
        self.axes: list[ast.expr] = [*given, *whole]
        self.open = [axis for axis, each in enumerate(self.axes) if _is_whole(each)]
        if self.is_transposed:
            self.open.reverse()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.name:
            self._visit_index(node)
            return self._access(node)
        shape = self._shape(node)
        if shape is not None:
            return shape
        self.generic_visit(node)
        return node

    def _visit_index(self, node: ast.Subscript) -> None:
        visited = self.visit(node.slice)
        assert isinstance(visited, ast.expr)
        node.slice = visited

    def _access(self, node: ast.Subscript) -> ast.expr:
        axes = [nodes.clone(each) for each in self.axes]
        for axis, index in zip(self.open, query.indices(node), strict=False):
            axes[axis] = index
        while axes and _is_whole(axes[-1]) and len(axes) > 1:
            axes.pop()
        made = nodes.subscript(self.base, axes, store=isinstance(node.ctx, ast.Store))
        return nodes.copy_place(node, made)

    def _shape(self, node: ast.Subscript) -> ast.expr | None:
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=axis
            ) if name == self.name:
                number = query.integer(axis)
                if number is not None and -len(self.open) <= number < len(self.open):
                    return self._extent(node, self.open[number])
        return None

    def _extent(self, node: ast.expr, axis: int) -> ast.expr:
        text = lengths.extent_symbol(self.base, axis)
        return nodes.copy_place(node, lengths.expression(lengths.symbol(text)))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]) if name == self.name:
                return self._extent(node, self.open[0])
        self.generic_visit(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == self.name and node.attr == "dtype":
            return nodes.copy_place(node, nodes.attribute(self.base, "dtype"))
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != self.name:
            return node
        return nodes.copy_place(node, nodes.clone(self.value))


def _drop(function: ast.FunctionDef, gone: Sequence[ast.stmt]) -> None:
    """Take statements out of the blocks that hold them."""
    for statement in list(query.statements(function)):
        for block in query.bodies(statement):
            kept = [each for each in block if not any(each is other for other in gone)]
            if len(kept) < len(block):
                block[:] = kept or [ast.Pass()]
