"""What astile does not read: a table from constructs of Python to what to write instead.

What is not in the table is read. Of that, loops over ranges and what can be modelled are analysed;
the rest (``while``, data-dependent ``if``, slices, array expressions, calls of numeric functions,
``break``, ``raise``, ...) is kept as it stands. Refused is only what numba cannot run, or what
would mean something else once statements are moved.

Constructs are entered by the name of their node type, so that those of newer Pythons can be listed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from astile.errors import SourceError
from astile.source import SourceFile

CODE = "source.unsupported"


@dataclass(frozen=True)
class Refusal:
    """A construct that is refused.

    Args:
        construct: what the user calls it.
        instead: what to write instead.
    """

    construct: str
    instead: str


_LOOP = Refusal("a comprehension", "write a `for` loop that stores into an array")
_FUNCTION = Refusal(
    "a function inside a kernel", "define it at module level; kernels may call other functions"
)
_OUTSIDE = "return the value, or store it in a cell of an array argument"
_AWAIT = Refusal("asynchronous code", "take it out; a kernel never waits")
_YIELD = Refusal("a generator", "store the values in an array argument, or `return` one")
_TRY = Refusal("a `try` statement", "test the condition with `if` before the operation")
_STRING = Refusal("building a string", 'write plain text, as in `raise ValueError("too long")`')
_STARRED = Refusal("unpacking with `*`", "write out the elements one by one")

#: Name of the node type -> why it is refused.
REFUSED: Mapping[str, Refusal] = {
    "AsyncFunctionDef": Refusal("an async function", "write `def`; a kernel never waits"),
    "AsyncFor": _AWAIT,
    "AsyncWith": _AWAIT,
    "Await": _AWAIT,
    "Yield": _YIELD,
    "YieldFrom": _YIELD,
    "GeneratorExp": Refusal("a generator expression", "write a `for` loop with an accumulator"),
    "ListComp": _LOOP,
    "SetComp": _LOOP,
    "DictComp": _LOOP,
    "Lambda": Refusal("a lambda", "define a function at module level and call it by name"),
    "FunctionDef": _FUNCTION,
    "ClassDef": Refusal("a class inside a kernel", "pass its numbers and arrays as arguments"),
    "Global": Refusal("a `global` statement", _OUTSIDE),
    "Nonlocal": Refusal("a `nonlocal` statement", _OUTSIDE),
    "Try": _TRY,
    "TryStar": _TRY,
    "With": Refusal("a `with` statement", "put the `with` around the call of the kernel"),
    "Starred": _STARRED,
    "JoinedStr": _STRING,
    "TemplateStr": _STRING,
    "Dict": Refusal("a dict", "pass its values as arguments, or use one array per entry"),
    "Set": Refusal("a set", "use an array of flags"),
    "Match": Refusal("a `match` statement", "write `if` / `elif` / `else`"),
    "NamedExpr": Refusal("an assignment inside an expression", "assign on a line of its own"),
    "Delete": Refusal("a `del` statement", "leave it out; names end with the function"),
    "Import": Refusal("an import inside a kernel", "move it to the top of the module"),
    "ImportFrom": Refusal("an import inside a kernel", "move it to the top of the module"),
    "TypeAlias": Refusal("a `type` statement", "move it to the top of the module"),
}

_GROWING = ("append", "extend", "insert", "pop", "remove", "clear", "add", "update")


def _parent_is_call(parent: ast.AST) -> bool:
    return isinstance(parent, (ast.Call, ast.List, ast.keyword))


def _is_list(node: ast.AST, parent: ast.AST) -> bool:
    return isinstance(node, ast.List) and not _parent_is_call(parent)


def _has_star_arguments(node: ast.AST, _: ast.AST) -> bool:
    return isinstance(node, ast.arguments) and bool(node.vararg or node.kwarg)


def _is_star_keyword(node: ast.AST, _: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg is None


def _is_for_else(node: ast.AST, _: ast.AST) -> bool:
    return isinstance(node, (ast.For, ast.While)) and bool(node.orelse)


def _has_other_target(node: ast.AST, _: ast.AST) -> bool:
    if not isinstance(node, ast.For):
        return False
    targets = node.target.elts if isinstance(node.target, ast.Tuple) else [node.target]
    return not all(isinstance(each, (ast.Name, ast.Tuple)) for each in targets)


def _grows(node: ast.AST, _: ast.AST) -> bool:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    called = node.value.func
    if not isinstance(called, ast.Attribute) or called.attr not in _GROWING:
        return False
    return called.attr != "add" or len(node.value.args) == 1  # np.add takes two


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _builds_string(node: ast.AST, _: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_text(node.left) or _is_text(node.right)
    return isinstance(node, ast.Attribute) and _is_text(node.value)


def _is_bytes(node: ast.AST, _: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bytes)


def _stores_attribute(node: ast.AST, _: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)


def _calls_expression(node: ast.AST, _: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and not isinstance(node.func, ast.Name)
        and not isinstance(node.func, ast.Attribute)
    )


def _has_type_parameters(node: ast.AST, _: ast.AST) -> bool:
    return bool(getattr(node, "type_params", None))


#: Tests of a node and its parent -> why it is refused.
PREDICATES: tuple[tuple[Callable[[ast.AST, ast.AST], bool], Refusal], ...] = (
    (
        _has_star_arguments,
        Refusal(
            "`*args` or `**kwargs`",
            "name every argument; if this is the wrapper of a decorator, put @tile below it",
        ),
    ),
    (_is_star_keyword, Refusal("a call with `**`", "write out the keyword arguments")),
    (_is_for_else, Refusal("`else` after a loop", "set a flag in the loop and test it after")),
    (_has_other_target, Refusal("this loop variable", "write `for i in ...` and assign from `i`")),
    (_is_list, Refusal("a list", "allocate an array, such as np.zeros(n), or use a tuple")),
    (_grows, Refusal("growing a list or set", "allocate an array of the final size and index it")),
    (_builds_string, _STRING),
    (_is_bytes, Refusal("a bytes literal", "pass an array of np.uint8")),
    (_stores_attribute, Refusal("assigning to an attribute", _OUTSIDE)),
    (_calls_expression, Refusal("calling a computed function", "call a function by its name")),
    (_has_type_parameters, Refusal("type parameters", "leave them out: kernels take any dtype")),
)

#: Builtin functions -> what to use instead. Exceptions and numeric builtins are read.
REFUSED_BUILTINS: Mapping[str, str] = {
    "print": "print before or after the call; the order of iterations may change",
    "input": "pass the value as an argument",
    "open": "read the file before the call and pass an array",
    "eval": "write out the expression",
    "exec": "write out the statements",
    "compile": "write out the statements",
    "globals": "pass the value as an argument",
    "locals": "use the names themselves",
    "vars": "use the names themselves",
    "dir": "use the names themselves",
    "getattr": "pass the value as an argument",
    "setattr": _OUTSIDE,
    "delattr": _OUTSIDE,
    "hasattr": "decide it before the call",
    "super": "a kernel is no method; pass what it needs as arguments",
    "object": "pass numbers and arrays as arguments",
    "list": "allocate an array, such as np.zeros(n)",
    "dict": "pass its values as arguments",
    "set": "use an array of flags",
    "frozenset": "use an array of flags",
    "str": "use numbers; text is for messages",
    "repr": "use numbers; text is for messages",
    "format": "use numbers; text is for messages",
    "bytes": "pass an array of np.uint8",
    "bytearray": "pass an array of np.uint8",
    "memoryview": "pass the array itself",
    "map": "write a `for` loop",
    "filter": "write a `for` loop with an `if`",
    "sorted": "sort with np.sort before the call",
    "iter": "write a `for` loop over a range",
    "next": "write a `for` loop over a range",
    "id": "compare values",
    "hash": "compare values",
    "callable": "decide it before the call",
    "staticmethod": "a kernel is a plain function",
    "classmethod": "a kernel is a plain function",
    "property": "a kernel is a plain function",
    "type": "decide by the dtype before the call",
    "isinstance": "decide it before the call",
    "issubclass": "decide it before the call",
    "breakpoint": "step through the printed source instead",
}

#: Parts of modules -> what to use instead.
REFUSED_MODULES: Mapping[str, str] = {
    "numpy.random": "draw the numbers before the call and pass them as an array",
    "numba.cuda": "write plain loops; astile binds them to the GPU",
}


def check(function: ast.FunctionDef, source: SourceFile) -> None:
    """Refuse a function that holds a construct of the table, at the first one in its text.

    Args:
        function: the tree as parsed, with the positions of the file.
        source: the text, for the message.

    Raises:
        SourceError: naming the construct and what to write instead.
    """
    for node, parent in _with_parents(function):
        refusal = None if node is function else REFUSED.get(type(node).__name__)
        if refusal is None:
            refusal = next((each for test, each in PREDICATES if test(node, parent)), None)
        if refusal is not None:
            raise refuse(refusal, _place(node, parent), source)


def _place(node: ast.AST, parent: ast.AST) -> ast.AST:
    """The node to point at; parameter lists have no position of their own."""
    if isinstance(node, ast.arguments):
        return node.vararg or node.kwarg or parent
    return node if hasattr(node, "lineno") else parent


def refuse(refusal: Refusal, node: ast.AST, source: SourceFile) -> SourceError:
    """The error for a refused construct."""
    return SourceError(
        f"astile does not read {refusal.construct}",
        code=CODE,
        span=source.span(node),
        hints=[refusal.instead],
    )


def _with_parents(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Nodes in textual order, each with its parent; decorators and annotations left out."""
    pending: list[tuple[ast.AST, ast.AST]] = [(function, function)]
    while pending:
        node, parent = pending.pop()
        yield node, parent
        children = [each for each in ast.iter_child_nodes(node) if not _is_beside(node, each)]
        pending += [(each, node) for each in reversed(children)]


def _is_beside(node: ast.AST, child: ast.AST) -> bool:
    """Whether a child is an annotation or decorator, which says nothing about the loops."""
    if isinstance(node, ast.FunctionDef):
        return child in node.decorator_list or child is node.returns
    return isinstance(node, (ast.arg, ast.AnnAssign)) and child is node.annotation
