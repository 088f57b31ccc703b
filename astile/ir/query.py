"""Read-only questions about trees: loops, names, iterators, indices."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astile.ir import nodes
from astile.ir.fills import cells_of

#: Words of loops that matrix units compute, one for each instruction.
MATRIX_WORDS = ("mma.m16n8k16.f16", "mma.m16n8k16.bf16", "mma.m16n8k8.tf32")
#: Spelling of a loop's iterator -> the kind of loop. All take the arguments of `range`.
LOOP_WORDS = (
    "range",
    "parallel",
    "unroll",
    "vector",
    *(f"{unit}.{axis}" for unit in ("block", "thread") for axis in "xyz"),
    *MATRIX_WORDS,
)
#: Other spellings of the same words that users write.
_SPELLED = {"prange": "parallel", "numba.prange": "parallel", "nb.prange": "parallel"}


@dataclass(frozen=True)
class Header:
    """``for variable in kind(start, stop, step)``."""

    variable: str
    kind: str
    start: ast.expr
    stop: ast.expr
    step: ast.expr

    @property
    def is_bound(self) -> bool:
        """Whether the loop runs over thread blocks or threads."""
        return self.kind.startswith(("block.", "thread."))


def dotted(expression: ast.expr) -> str | None:
    """``a.b.c`` as text for names and attributes of names, else None."""
    if isinstance(expression, ast.Name):
        return expression.id
    if isinstance(expression, ast.Attribute):
        base = dotted(expression.value)
        return None if base is None else f"{base}.{expression.attr}"
    return None


def header(loop: ast.For) -> Header | None:
    """The header of a counted loop; None when it iterates over anything but a range."""
    iterator = loop.iter
    if not isinstance(loop.target, ast.Name) or not isinstance(iterator, ast.Call):
        return None
    word = dotted(iterator.func) or ""
    kind = _SPELLED.get(word, word)
    arguments = iterator.args
    if kind not in LOOP_WORDS or iterator.keywords or not 1 <= len(arguments) <= 3:
        return None
    if any(isinstance(each, ast.Starred) for each in arguments):
        return None
    zero, one = nodes.const(0), nodes.const(1)
    start = zero if len(arguments) == 1 else arguments[0]
    stop = arguments[0] if len(arguments) == 1 else arguments[1]
    step = arguments[2] if len(arguments) == 3 else one
    return Header(loop.target.id, kind, start, stop, step)


def loops(root: ast.AST) -> list[ast.For]:
    """All counted and other ``for`` loops below `root`, in program order."""
    return [each for each in statements(root) if isinstance(each, ast.For)]


#: Fields that hold no node, or one that says nothing by itself: an operator, a context.
_PLAIN_FIELDS = frozenset(
    (
        "ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "level", "module",
        "asname", "simple", "is_async", "conversion", "kwd_attrs", "rest", "tag",
    )
)  # fmt: skip
#: Kind of node -> the fields that may hold nodes, last one first.
FIELDS: Mapping[type, tuple[str, ...]] = {
    kind: tuple(field for field in reversed(kind._fields) if field not in _PLAIN_FIELDS)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
} | {ast.Constant: ()}


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below a node in textual order, operators and contexts left out."""
    found: list[ast.AST] = []
    for field in reversed(FIELDS.get(node.__class__, ())):
        part: Any = node.__dict__.get(field)
        if part.__class__ is list:
            found += [each for each in part if each.__class__ in FIELDS]
        elif part.__class__ in FIELDS:
            found.append(part)
    return found


def preorder(root: ast.AST) -> list[ast.AST]:
    """`root` and all nodes below it in textual order, operators and contexts left out."""
    found: list[ast.AST] = []
    pending: list[Any] = [root]
    add, take, fields_of = found.append, pending.pop, FIELDS.get
    while pending:  # what most analyses spend their time in
        node = take()
        fields = fields_of(node.__class__)
        if fields is None:  # a literal, or what stands for none
            continue
        add(node)
        if fields:
            held = node.__dict__
            for field in fields:
                part = held.get(field)
                if part:
                    if part.__class__ is list:
                        pending += part[::-1]
                    else:
                        pending.append(part)
    return found


#: Statements that hold no others.
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Return)


def bodies(statement: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a statement."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        value = getattr(statement, field, None)
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            found.append(value)
    for handler in getattr(statement, "handlers", ()):
        found.append(handler.body)
    return found


def statements(root: ast.AST) -> Iterator[ast.stmt]:
    """All statements below `root` (itself too when it is one), in textual order."""
    if isinstance(root, ast.stmt):
        yield root
    for body in bodies(root):
        for each in body:
            if each.__class__ in _SIMPLE:
                yield each
            else:
                yield from statements(each)


@dataclass(frozen=True)
class Place:
    """Where a statement stands: the list that holds it, its position, and what is around it.

    Args:
        block: the statement list that holds it.
        index: its position in that list.
        parents: the statements around it, outermost first (the function itself left out).
    """

    block: list[ast.stmt]
    index: int
    parents: tuple[ast.stmt, ...]

    @property
    def loops(self) -> tuple[ast.For, ...]:
        """The loops around the statement, outermost first."""
        return tuple(each for each in self.parents if isinstance(each, ast.For))


def find_place(root: ast.AST, statement: ast.stmt) -> Place | None:
    """The place of a statement below `root`, or None."""

    def search(node: ast.AST, parents: tuple[ast.stmt, ...]) -> Place | None:
        for block in bodies(node):
            for index, each in enumerate(block):
                if each is statement:
                    return Place(block, index, parents)
                found = search(each, (*parents, each))
                if found is not None:
                    return found
        return None

    return search(root, ())


def names_read(root: ast.AST) -> set[str]:
    """Names that are loaded anywhere below `root`."""
    found = (node for node in preorder(root) if isinstance(node, ast.Name))
    return {node.id for node in found if isinstance(node.ctx, ast.Load)}


def names_written(root: ast.AST) -> set[str]:
    """Names (not cells of arrays) that are stored anywhere below `root`."""
    return {node.id for node in stored(root)}


#: Kind of node -> its fields below which names may be stored. No expression of a program does so:
#: `subset` refuses those of Python that do.
_STORING: Mapping[type, tuple[str, ...]] = {
    **FIELDS,
    ast.FunctionDef: ("body",),
    ast.Assign: ("targets",),
    ast.AugAssign: ("target",),
    ast.AnnAssign: ("target",),
    ast.For: ("orelse", "body", "target"),
    ast.While: ("orelse", "body"),
    ast.If: ("orelse", "body"),
    **dict.fromkeys((ast.Expr, ast.Return, ast.Raise, ast.Assert, ast.Subscript), ()),
}


def stored(root: ast.AST) -> list[ast.Name]:
    """Names, in textual order, each as often as it is stored below `root`."""
    found: list[ast.Name] = []
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is ast.Name:
            if isinstance(node.ctx, ast.Store):
                found.append(node)
        elif kind is list:
            pending += node[::-1]
        else:
            for field in _STORING.get(kind, ()):
                part = node.__dict__.get(field)
                if part:
                    pending.append(part)
    return found


def names(root: ast.AST) -> set[str]:
    """All names and parameter names below `root`."""
    found: set[str] = set()
    for node in preorder(root):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
    return found


def base_name(expression: ast.expr) -> str | None:
    """``A`` for ``A[i][j]`` and ``A[i, j]``; None where the base is not a name."""
    while isinstance(expression, ast.Subscript):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None


def indices(access: ast.Subscript) -> list[ast.expr]:
    """The indices of an access, outermost axis first; ``A[i][j]`` gives both."""
    inner = indices(access.value) if isinstance(access.value, ast.Subscript) else []
    last = access.slice
    return inner + (list(last.elts) if isinstance(last, ast.Tuple) else [last])


def is_shape_of(access: ast.Subscript) -> bool:
    """Whether this is ``A.shape[k]`` and no access of cells."""
    return isinstance(access.value, ast.Attribute)


def accesses(root: ast.AST, array: str | None = None) -> list[ast.Subscript]:
    """The outermost subscripts of arrays below `root` (of one array when it is given)."""
    found: list[ast.Subscript] = []
    pending: list[Any] = [root]
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is list:
            pending += node[::-1]
        elif kind is ast.Subscript:
            base = base_name(node)
            if base is not None and (array is None or base == array):
                found.append(node)
            parts = []
            while isinstance(node, ast.Subscript):
                parts.append(node.slice)
                node = node.value
            if not isinstance(node, ast.Name):
                parts.append(node)
            pending += parts[::-1]
        elif kind in FIELDS:
            held = node.__dict__
            pending += [held[field] for field in FIELDS[kind] if held.get(field)]
    return found


def written_arrays(root: ast.AST) -> list[str]:
    """Names of arrays whose cells are stored below `root`, in textual order, each once."""
    found: dict[str, None] = {}
    for access in accesses(root):
        base = base_name(access)
        if base is not None and isinstance(access.ctx, ast.Store):
            found.setdefault(base)
    return list(found)


def parameters(function: ast.FunctionDef) -> list[str]:
    """Names of the parameters, in order."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [each for each in (arguments.vararg, arguments.kwarg) if each is not None]
    return [each.arg for each in every]


def is_allocation(statement: ast.stmt) -> bool:
    """Whether the statement is ``name = np.empty(...)`` or another word that makes an array."""
    return allocation(statement) is not None


@dataclass(frozen=True)
class Allocation:
    """``array = word(shape, dtype)``.

    Args:
        array: the name it binds.
        word: the last part of the function's name: ``empty``, ``zeros``, ``ones``, ``full``,
            ``empty_like``, ``zeros_like``, ``ones_like``, ``full_like``.
        scope: ``"global"``, ``"shared"`` or ``"local"``.
        shape: one expression per axis; None where it is not written out (``empty_like``).
        dtype: the expression of the dtype, None for the default, ``int`` for ``np.full(n, 3)``.
        fill: what ``np.full`` fills the cells with, None for the others.
    """

    array: str
    word: str
    scope: str
    shape: tuple[ast.expr, ...] | None
    dtype: ast.expr | None
    fill: ast.expr | None = None


def allocation(statement: ast.stmt) -> Allocation | None:
    """The allocation that a statement makes, or None."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    made, value = statement.targets[0], statement.value
    if not isinstance(made, ast.Name) or not isinstance(value, ast.Call) or not value.args:
        return None
    word = dotted(value.func) or ""
    head, _, last = word.rpartition(".")
    plain = last.removesuffix("_like")
    if plain not in ("empty", "zeros", "ones", "full") or not head:
        return None
    scope = head if head in ("shared", "local") else "global"
    cells = cells_of(value, plain, head, is_like=last != plain)
    if cells is None:
        return None
    shape, axes = value.args[0], None
    if last == plain:
        axes = tuple(shape.elts) if isinstance(shape, (ast.Tuple, ast.List)) else (shape,)
    return Allocation(made.id, last, scope, axes, cells.dtype, cells.fill)


def is_constant(expression: ast.expr, value: int) -> bool:
    """Whether an expression is the integer literal `value`."""
    return integer(expression) == value


def integer(expression: ast.expr) -> int | None:
    """The value of an integer literal (``-3`` too), or None."""
    if isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.USub):
        inner = integer(expression.operand)
        return None if inner is None else -inner
    if isinstance(expression, ast.Constant) and type(expression.value) is int:
        return expression.value
    return None


def only_statement(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The single statement of a body, or None."""
    return body[0] if len(body) == 1 else None


def leaves_early(body: Sequence[ast.stmt]) -> bool:
    """Whether statements of a loop's body break, continue or return."""
    for statement in body:
        if isinstance(statement, (ast.Break, ast.Continue)):
            return True
        if isinstance(statement, ast.Return) or (
            bodies(statement)
            and any(isinstance(each, ast.Return) for each in statements(statement))
        ):
            return True
        if isinstance(statement, (ast.For, ast.While)):
            if leaves_early(statement.orelse):
                return True
        elif any(leaves_early(each) for each in bodies(statement)):
            return True
    return False
