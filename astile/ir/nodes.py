"""Builds and clones `ast` nodes: the only place of astile that makes them.

Four kinds of facts ride on nodes as attributes, and are kept by `clone` and `substitute`: the
identity and the notes of a loop, the origin of a statement, and comments printed above it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

from astile.errors import InternalError

Node = TypeVar("Node", bound=ast.AST)

#: Attributes that say where a node stands in the user's file.
POSITIONS = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_LOOP, _ORIGIN, _COMMENTS = "astile_loop", "astile_origin", "astile_comments"
_NOTES = "astile_notes"
#: Attributes that hold the facts that ride on nodes.
FACTS = (_LOOP, _COMMENTS, _NOTES, _ORIGIN)
#: Attributes of a node that a copy shares with it.
_KEPT = (*POSITIONS, _LOOP, _COMMENTS, _NOTES)
_OPERATORS = frozenset(
    kind
    for group in (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)
    for kind in group.__subclasses__()
)
#: Kind of node -> what a copy has too: its fields, and the attributes that it shares.
_FIELDS = {
    kind: (*kind._fields, *_KEPT)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}

#: What may be noted on a loop.
Plain: TypeAlias = "bool | int | str | None"
Note: TypeAlias = "Plain | tuple[Plain, ...]"


@dataclass(frozen=True)
class Origin:
    """Which statement of the original function a statement stands for, and which iteration.

    This is a hint that the proof verifies, never a fact it trusts.

    Args:
        statement: number of the leaf statement in the original function, in textual order.
        iteration: for each loop around the original statement, outermost first, its variable's
            value as an expression over the variables in scope now.
    """

    statement: int
    iteration: tuple[ast.expr, ...]


# --- facts that ride on nodes -------------------------------------------------------------------


def loop_id(loop: ast.For) -> int | None:
    """The identity of a loop, kept by every rewrite that keeps the loop."""
    return cast("int | None", getattr(loop, _LOOP, None))


def set_loop_id(loop: ast.For, identity: int) -> None:
    """Give a loop its identity."""
    setattr(loop, _LOOP, identity)


def origin(node: ast.stmt | ast.expr) -> Origin | None:
    """The origin of a statement; None for statements that a rewrite added.

    An expression has one when it is the value that an original statement stored, put in the
    place of a read.
    """
    return cast("Origin | None", getattr(node, _ORIGIN, None))


def set_origin(node: ast.stmt | ast.expr, value: Origin | None) -> None:
    """Say which original statement and iteration a statement or value stands for."""
    setattr(node, _ORIGIN, value)


def comments(statement: ast.stmt) -> tuple[str, ...]:
    """The comment lines printed above a statement."""
    return cast("tuple[str, ...]", getattr(statement, _COMMENTS, ()))


def add_comment(statement: ast.stmt, text: str) -> None:
    """Print a comment line above a statement; line breaks in `text` become spaces."""
    setattr(statement, _COMMENTS, (*comments(statement), " ".join(text.split())))


def notes(loop: ast.stmt) -> Mapping[str, Note]:
    """What is noted on a loop: key -> value."""
    return cast("Mapping[str, Note]", getattr(loop, _NOTES, {}))


def set_note(loop: ast.For, key: str, value: Note) -> None:
    """Note a value on a loop, in place of what is noted under the same key."""
    setattr(loop, _NOTES, {**notes(loop), key: value})


def copy_place(source: ast.AST, target: Node) -> Node:
    """Give `target` the position of `source` in the user's file."""
    for field in POSITIONS:
        if hasattr(source, field):
            setattr(target, field, getattr(source, field))
    return target


def blank(node: Node) -> Node:
    """A node of the same class without fields, for one that fills all of them.

    Called without its fields, the class itself warns from Python 3.13 on.
    """
    return type(node).__new__(type(node))


# --- cloning and substitution -------------------------------------------------------------------


def clone(node: Node) -> Node:
    """A deep copy that keeps positions, loop identities, origins and comments."""
    return cast("Node", _copy(node, {}))


def as_load(target: Node) -> Node:
    """A deep copy of a target that is read where the target is stored to."""
    made = clone(target)
    if isinstance(made, (ast.Name, ast.Subscript, ast.Attribute)):
        made.ctx = ast.Load()
    return made


def clone_body(body: Iterable[ast.stmt]) -> list[ast.stmt]:
    """Deep copies of a list of statements."""
    return [clone(statement) for statement in body]


def substitute(node: Node, values: Mapping[str, ast.expr]) -> Node:
    """A deep copy in which every load of a name in `values` is a copy of its expression.

    Origins are substituted too, so that they keep naming the same original iteration.

    Args:
        node: an expression or statement; it is not changed.
        values: name -> expression. A name that `node` itself assigns must not be among them.
    """
    return cast("Node", _copy(node, values))


def _copy(node: ast.AST, values: Mapping[str, ast.expr]) -> ast.AST:
    kind = node.__class__
    if kind in _OPERATORS:
        return kind()
    if values and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        value = values.get(node.id)
        if value is not None:
            return _copy_origin(node, copy_place(node, _copy(value, {})), values)
    new = kind.__new__(kind)
    held, given = new.__dict__, node.__dict__
    for field in _FIELDS[kind]:
        if field in given:
            part = given[field]
            if part.__class__ in _FIELDS:
                part = _copy(part, values)
            elif part.__class__ is list:
                part = [_copy(v, values) if v.__class__ in _FIELDS else v for v in part]
            held[field] = part
    return _copy_origin(node, new, values) if _ORIGIN in given else new


def _copy_origin(node: ast.AST, new: ast.AST, values: Mapping[str, ast.expr]) -> ast.AST:
    held = node.__dict__.get(_ORIGIN)
    if held is not None:
        iteration = tuple(cast("ast.expr", _copy(e, values)) for e in held.iteration)
        setattr(new, _ORIGIN, Origin(held.statement, iteration))
    return new


def rename(node: Node, names: Mapping[str, str]) -> Node:
    """A deep copy in which names are replaced, where they are read and where they are written."""
    new = clone(node)
    for child in ast.walk(new):
        if isinstance(child, ast.Name) and child.id in names:
            child.id = names[child.id]
        held = getattr(child, _ORIGIN, None)
        if held is not None:
            setattr(
                child,
                _ORIGIN,
                Origin(held.statement, tuple(rename(e, names) for e in held.iteration)),
            )
    return new


# --- expressions --------------------------------------------------------------------------------


def const(value: object) -> ast.expr:
    """A constant; negative numbers become a unary minus, NumPy scalars Python's own.

    Raises:
        InternalError: for a value that has no literal.
    """
    item = getattr(value, "item", None)
    if item is not None and not isinstance(value, (bool, int, float, complex, str)):
        value = item()
    if isinstance(value, float):
        value = float(value)
        if value != value or value in (float("inf"), float("-inf")):
            return call(name("float"), [ast.Constant(str(value))])
    if value is None or value is Ellipsis or isinstance(value, (bool, str)):
        return ast.Constant(value)
    if isinstance(value, complex):
        return call(name("complex"), [const(value.real), const(value.imag)])
    if isinstance(value, (int, float)):
        if value < 0 or str(value).startswith("-"):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)
    raise InternalError(f"no literal for {value!r}")


def name(identifier: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(identifier, ast.Load())


def target(identifier: str) -> ast.Name:
    """A name that is written."""
    return ast.Name(identifier, ast.Store())


def attribute(base: ast.expr | str, *attributes: str) -> ast.expr:
    """``base.a.b``, read."""
    result: ast.expr = name(base) if isinstance(base, str) else base
    for each in attributes:
        result = ast.Attribute(result, each, ast.Load())
    return result


def call(
    function: ast.expr | str,
    arguments: Sequence[ast.expr] = (),
    keywords: Mapping[str, ast.expr] | None = None,
) -> ast.Call:
    """``function(arguments, keyword=...)``; a dotted string names the function."""
    if isinstance(function, str):
        head, *rest = function.split(".")
        function = attribute(head, *rest)
    named = [ast.keyword(key, value) for key, value in (keywords or {}).items()]
    return ast.Call(function, list(arguments), named)


def binary(left: ast.expr, operator: type[ast.operator], right: ast.expr) -> ast.BinOp:
    """``left op right``."""
    return ast.BinOp(left, operator(), right)


def compare(left: ast.expr, operator: type[ast.cmpop], right: ast.expr) -> ast.Compare:
    """``left op right``."""
    return ast.Compare(left, [operator()], [right])


def comparison(sides: Sequence[ast.expr], operators: Sequence[ast.cmpop]) -> ast.Compare:
    """``a op b op c``, with operators of the same kinds as those given."""
    return ast.Compare(sides[0], [type(each)() for each in operators], list(sides[1:]))


def conjunction(conditions: Sequence[ast.expr]) -> ast.expr:
    """``a and b and c``; one condition stands alone."""
    if not conditions:
        return ast.Constant(True)
    if len(conditions) == 1:
        return conditions[0]
    flat: list[ast.expr] = []
    for each in conditions:
        if isinstance(each, ast.BoolOp) and isinstance(each.op, ast.And):
            flat += each.values
        else:
            flat.append(each)
    return ast.BoolOp(ast.And(), flat)


def tuple_of(elements: Sequence[ast.expr]) -> ast.Tuple:
    """``(a, b)``, read."""
    return ast.Tuple(list(elements), ast.Load())


def subscript(
    array: ast.expr | str, indices: Sequence[ast.expr], *, store: bool = False
) -> ast.Subscript:
    """``array[i, j]``."""
    base = name(array) if isinstance(array, str) else array
    index = indices[0] if len(indices) == 1 else tuple_of(indices)
    return ast.Subscript(base, index, ast.Store() if store else ast.Load())


# --- statements ---------------------------------------------------------------------------------


def assign(to: ast.expr | str, value: ast.expr) -> ast.Assign:
    """``to = value``."""
    written = target(to) if isinstance(to, str) else to
    return ast.Assign([written], value)


def update(to: ast.expr, operator: type[ast.operator], value: ast.expr) -> ast.AugAssign:
    """``to += value``, or with another operator."""
    assert isinstance(to, (ast.Name, ast.Attribute, ast.Subscript))
    return ast.AugAssign(to, operator(), value)


def for_loop(
    variable: ast.expr | str,
    iterator: ast.expr,
    body: Sequence[ast.stmt],
    identity: int | None = None,
) -> ast.For:
    """``for variable in iterator: body``."""
    written = target(variable) if isinstance(variable, str) else variable
    loop = ast.For(written, iterator, list(body), [])
    if identity is not None:
        set_loop_id(loop, identity)
    return loop


def if_then(
    condition: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt] = ()
) -> ast.If:
    """``if condition: body``."""
    return ast.If(condition, list(body), list(orelse))


def raise_error(kind: str, message: str) -> ast.Raise:
    """``raise kind(message)``; line breaks in `message` become spaces."""
    return ast.Raise(call(kind, [ast.Constant(" ".join(message.split()))]))


def function(
    identifier: str, parameters: Iterable[str], body: Sequence[ast.stmt]
) -> ast.FunctionDef:
    """``def identifier(parameters): body``."""
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    made = ast.FunctionDef(identifier, arguments, list(body), [])
    if "type_params" in ast.FunctionDef._fields:  # Python 3.12 and later
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return made


def import_from(module: str, names: Iterable[str]) -> ast.ImportFrom:
    """``from module import a, b as c``; each of `names` is ``"a"`` or ``"b as c"``."""
    pairs = [each.partition(" as ") for each in names]
    return ast.ImportFrom(module, [ast.alias(name, alias or None) for name, _, alias in pairs], 0)


def import_as(module: str, alias: str) -> ast.Import:
    """``import module as alias``."""
    return ast.Import([ast.alias(module, None if alias == module else alias)])


def module_of(body: Sequence[ast.stmt]) -> ast.Module:
    """A module holding `body`."""
    return ast.Module(list(body), [])


def same(first: object, second: object) -> bool:
    """Whether two trees are equal, positions and facts apart."""
    pending: list[tuple[Any, Any]] = [(first, second)]
    while pending:  # every text that is printed is compared so with its program
        one, other = pending.pop()
        kind = one.__class__
        if kind is not other.__class__:
            return False
        if isinstance(one, ast.AST):
            if kind not in _OPERATORS:
                held, given = one.__dict__, other.__dict__
                pending += [(held.get(field), given.get(field)) for field in kind._fields]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pending += zip(one, other, strict=True)
        elif one != other or (kind is not str and repr(one) != repr(other)):
            return False  # 0.0 and -0.0 are equal
    return True
