"""The text of a module -> a function object, without running the text.

Imports of modules that astile knows are made, constants are evaluated from literals and arithmetic,
functions are compiled; nothing else of the text has an effect.
"""

from __future__ import annotations

import ast
import importlib
import operator
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from astile.diagnostics import did_you_mean
from astile.errors import SourceError
from astile.frontend import capture, subset, values
from astile.frontend.values import Unread
from astile.ir import query
from astile.ir.operators import BINARY
from astile.source import SourceFile, Span

FILE = "<source>"
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTED = (*values.MODULES, "astile")
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], object]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
_NUMBERS = {each.__name__: each for each in (int, float, complex, bool, abs, min, max, round)}


def function_of(text: str, name: str | None = None) -> types.FunctionType:
    """The function that a text defines.

    Args:
        text: a module: the function, and above it imports, constants and helper functions.
        name: which function, where there are several.

    Raises:
        SourceError: when the text is no Python or does not define the function.
    """
    source = SourceFile(FILE, textwrap.dedent(text))
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        raise _syntax_error(error, source) from error
    chosen = _chosen([each for each in tree.body if isinstance(each, _DEFINITIONS)], name)
    if isinstance(chosen, ast.AsyncFunctionDef):
        raise subset.refuse(subset.REFUSED["AsyncFunctionDef"], chosen, source)
    return _functions(tree, source)[chosen.name]


def _chosen(definitions: list[_Definition], name: str | None) -> _Definition:
    known = [each.name for each in definitions]
    if not definitions:
        raise SourceError(
            "the text defines no function",
            code="source.no-function",
            hints=["pass the text that holds its `def` line at the left margin"],
        )
    if name is None:
        if len(definitions) > 1:
            raise SourceError(
                f"the text defines {len(known)} functions: {', '.join(known)}",
                code="source.no-function",
                hints=[f"say which one: name={known[-1]!r}"],
            )
        return definitions[0]
    for definition in reversed(definitions):
        if definition.name == name:
            return definition
    near = did_you_mean(name, known)
    raise SourceError(
        f"the text defines no function {name!r}",
        code="source.no-function",
        hints=[near or f"it defines {', '.join(known)}"],
    )


def _syntax_error(error: SyntaxError, source: SourceFile) -> SourceError:
    line, column = error.lineno or 1, error.offset or 1
    return SourceError(
        f"the text is no Python: {error.msg}",
        code="source.syntax",
        hints=["mend this line"],
        span=Span(source, line, column, line, column + 1),
    )


# --- what the module of the text holds ------------------------------------------------------------


def _functions(tree: ast.Module, source: SourceFile) -> dict[str, types.FunctionType]:
    held: dict[str, object] = {"__name__": FILE}
    functions: dict[str, types.FunctionType] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                shown = alias.name if alias.asname else alias.name.partition(".")[0]
                held[alias.asname or shown] = _imported(shown)
        elif isinstance(statement, ast.ImportFrom):
            _import_names(statement, held)
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            _assign(statement, held)
        elif isinstance(statement, ast.FunctionDef):
            made = _function(statement, source, held)
            held[statement.name] = functions[statement.name] = made
    return functions


def _imported(path: str) -> object:
    if path.partition(".")[0] not in _IMPORTED:
        return Unread()
    try:
        return importlib.import_module(path)
    except ImportError:
        return Unread()


def _import_names(node: ast.ImportFrom, held: dict[str, object]) -> None:
    module = None if node.level else _imported(node.module or "")
    for alias in node.names:
        if isinstance(module, types.ModuleType) and alias.name == "*":
            held.update({name: getattr(module, name) for name in getattr(module, "__all__", ())})
            continue
        found = getattr(module, alias.name, Unread())
        held[alias.asname or alias.name] = found


def _assign(node: ast.Assign | ast.AnnAssign, held: dict[str, object]) -> None:
    if node.value is None:
        return
    try:
        value = _evaluate(node.value, held)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        value = Unread()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if isinstance(target, ast.Name):
            held[target.id] = value
        else:
            for name in query.names_written(target):
                held[name] = Unread()


def _evaluate(node: ast.expr, held: Mapping[str, object]) -> object:
    """The value of an expression of literals, constants and functions of math and numpy.

    Raises:
        ValueError: when it holds anything else.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name) and node.id in held:
        return held[node.id]
    if isinstance(node, ast.Name) and node.id in _NUMBERS:
        return _NUMBERS[node.id]
    if isinstance(node, ast.Attribute):
        return _member(_evaluate(node.value, held), node.attr)
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_number(_evaluate(node.operand, held)))
    if isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        left, right = _evaluate(node.left, held), _evaluate(node.right, held)
        return BINARY[type(node.op)](_number(left), _number(right))
    if isinstance(node, ast.Call) and not node.keywords:
        called = _evaluate(node.func, held)
        arguments = [_number(_evaluate(each, held)) for each in node.args]
        if callable(called) and _is_numeric(called):
            return cast("object", called(*arguments))
    raise ValueError("not a constant expression")


def _member(value: object, attribute: str) -> object:
    if not isinstance(value, types.ModuleType):
        raise ValueError("an attribute of no module")
    return getattr(value, attribute)


def _number(value: object) -> object:
    if not isinstance(value, (int, float, complex, np.generic)):
        raise ValueError("not a number")
    return value


def _is_numeric(called: object) -> bool:
    """Whether a call computes a number from numbers and does nothing else."""
    if called in _NUMBERS.values() or isinstance(called, np.ufunc):
        return True
    if isinstance(called, type):
        return issubclass(called, np.generic)
    return getattr(called, "__module__", None) in ("math", "cmath")


def _function(
    definition: ast.FunctionDef, source: SourceFile, held: dict[str, object]
) -> types.FunctionType:
    code = capture.compile_definition(definition, FILE)
    if code is None:
        raise SourceError(
            f"{definition.name} cannot be compiled",
            code="source.syntax",
            hints=["define it as a function of a module is defined"],
            span=source.span(definition),
        )
    function = types.FunctionType(code, held, definition.name)
    arguments = definition.args
    function.__defaults__ = tuple(_default(each, held) for each in arguments.defaults) or None
    function.__kwdefaults__ = {
        argument.arg: _default(default, held)
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    }
    setattr(function, capture.SOURCE_ATTRIBUTE, source)
    return function


def _default(node: ast.expr, held: Mapping[str, object]) -> object:
    if isinstance(node, ast.Tuple):
        return tuple(_default(each, held) for each in node.elts)
    try:
        return _evaluate(node, held)
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return Unread()
