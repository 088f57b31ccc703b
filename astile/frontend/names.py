"""Says what every name of a function stands for: local, constant, import, helper or builtin.

Names of the module and of functions around the kernel are frozen at decoration: what they hold
then is what printed programs say.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astile.diagnostics import did_you_mean
from astile.errors import SourceError
from astile.frontend import subset, values
from astile.frontend.capture import Captured
from astile.ir import nodes, query
from astile.ir.casts import array_of_type
from astile.ir.program import ConstantValue

#: Names that astile's own rewrites write into programs; a program must mean the same by them.
RESERVED = frozenset(
    {word.partition(".")[0] for word in query.LOOP_WORDS}
    | {"shared", "local", "min", "max", "len", "abs", "int", "float", "complex", "bool"}
)
_SCALARS = (np.ndarray, np.bool_, np.int64, np.float64, np.complex128)
_LIMITS = (np.finfo(np.float64), np.iinfo(np.int64))
_ARRAY_ATTRIBUTES = frozenset(
    name for kind in (*_SCALARS, *_LIMITS) for name in dir(kind) if not name.startswith("_")
)


@dataclass
class Bindings:
    """What the names of one function stand for; filled by `resolve`."""

    constants: dict[str, ConstantValue] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, Callable[..., object]] = field(default_factory=dict)
    #: Name of a helper -> the place where it is called first.
    called_at: dict[str, ast.expr] = field(default_factory=dict)


def resolve(function: ast.FunctionDef, captured: Captured) -> Bindings:
    """Find out what the names of a function stand for; the tree is edited where they change.

    ``module.N`` and ``module.helper`` become plain names, ``prange`` becomes ``range``, and local
    names that hide a word of astile get an underscore.

    Args:
        function: in canonical form; it is edited in place.
        captured: the values of the names around it.

    Raises:
        SourceError: for a name that stands for nothing, or for what must be an argument.
    """
    _free_reserved_names(function, captured)
    resolver = _Resolver(function, captured)
    resolver.visit(function)
    return resolver.found


# --- names that astile writes itself ------------------------------------------------------------


def _free_reserved_names(function: ast.FunctionDef, captured: Captured) -> None:
    """Rename locals that hide a word of astile, such as ``max = 0.0``."""
    for node in ast.walk(function.args):
        if isinstance(node, ast.arg) and node.arg in RESERVED:
            raise SourceError(
                f"the parameter {node.arg!r} hides a word that astile writes itself",
                code="source.reserved-name",
                span=captured.source.span(node),
                hints=[f"call it {node.arg}_, or by another name"],
            )
    hidden = sorted(query.names_written(function) & RESERVED)
    taken = query.names(function) | set(captured.closure) | set(captured.module) | RESERVED
    renamed: dict[str, str] = {}
    for name in hidden:
        renamed[name] = _fresh(f"{name}_", taken)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in renamed:
            node.id = renamed[node.id]


def _fresh(wanted: str, taken: set[str]) -> str:
    number, result = 0, wanted
    while result in taken:
        number += 1
        result = f"{wanted.rstrip('_')}_{number}"
    taken.add(result)
    return result


# --- what a name stands for ---------------------------------------------------------------------


class _Resolver(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef, captured: Captured) -> None:
        self.found = Bindings()
        self._captured = captured
        self._local = set(query.parameters(function)) | query.names_written(function)
        self._declared = _declared_only(captured.function) - self._local
        self._taken = query.names(function) | RESERVED | set(dir(builtins))
        self._index_only = _index_only(function)
        self._called: set[int] = set()
        self._names_of_paths: dict[str, str] = {}

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """``np.sqrt(A, B)`` by itself says what it stores into: ``np.sqrt(A, out=B)``."""
        match node.value:
            case ast.Call(args=[*values_of, target], keywords=[]) as call:
                called = self._outside(call.func)
                if isinstance(called, np.ufunc) and (called.nin, called.nout) == (
                    len(values_of),
                    1,
                ):
                    call.args = values_of
                    call.keywords = [ast.keyword("out", target)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self._called.add(id(node.func))
        if len(node.args) > 1 and values.fills_argument(self._outside(node.func), len(node.args)):
            message = f"{query.dotted(node.func)} stores into its last argument"
            hint = "store its value: `B[:] = np.sqrt(A)` in place of `np.sqrt(A, B)`"
            raise self._error("source.hidden-store", message, node, [hint])
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[outside], keywords=[]):
                found = self._tuple(outside)
                if found is not None:
                    return nodes.copy_place(node, nodes.const(len(found)))
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """``WEIGHTS[1]`` of a tuple outside: an element of it is a constant as others are."""
        found, index = self._tuple(node.value), query.integer(node.slice)
        if found is None or index is None or not -len(found) <= index < len(found):
            return self.generic_visit(node)
        return self._element(node, node.value, found, index % len(found))

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """``a, b = PAIR`` of a tuple outside."""
        found = self._tuple(node.value)
        match node.targets:
            case [ast.Tuple(elts=targets)] if found is not None and len(targets) == len(found):
                every = range(len(found))
                parts = [self._element(node.value, node.value, found, each) for each in every]
                node.value = nodes.copy_place(node.value, nodes.tuple_of(parts))
                return node
        return self.generic_visit(node)

    def _tuple(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The tuple outside the function that a name or a member of a module holds."""
        value = self._outside(node)
        return value if type(value) is tuple else None

    def _element(
        self, node: ast.expr, whole: ast.expr, found: tuple[Any, ...], index: int
    ) -> ast.expr:
        path = f"{query.dotted(whole)}[{index}]"
        if path not in self._names_of_paths:
            last = (query.dotted(whole) or "").rpartition(".")[2]
            self._names_of_paths[path] = _fresh(f"{last}_{index}", self._taken)
        return self._named(node, self._names_of_paths[path], found[index])

    def _outside(self, node: ast.expr) -> object:
        """What a name from outside, or a member of a module, holds; else None."""
        root, *attributes = (query.dotted(node) or "").split(".")
        if root in self._local:
            return None
        value = self._captured.closure.get(root, self._captured.module.get(root))
        for attribute in attributes:
            value = getattr(value, attribute, None)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        path = query.dotted(node)
        root = None if path is None else path.partition(".")[0]
        if path is None or root is None or root in self._local:
            self._check_array_attribute(node)
            return self.generic_visit(node)
        value = self._value(root, node)
        if isinstance(values.meaning(value), values.Module):
            return self._member(node, path, value)
        word = values.meaning(value)
        if isinstance(word, values.Word):
            rest = path.split(".")[1:]
            return nodes.copy_place(node, nodes.attribute(word.name, *rest))
        raise self._not_readable(root, value, node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        name = node.id
        if name in self._local:
            if id(node) in self._called:
                message = f"{name} is called, but it is no function of the module"
                hint = "call a function by its own name; arguments are arrays and numbers"
                raise self._error("source.function-argument", message, node, [hint])
            return node
        if name in self._declared:
            hint = f"give it a value: `{name} = ...`"
            message = f"{name} is declared, but never assigned"
            raise self._error("source.unknown-value", message, node, [hint])
        value = self._value(name, node)
        if values.is_builtin(name, value):
            if name in subset.REFUSED_BUILTINS:
                refusal = subset.Refusal(f"{name}()", subset.REFUSED_BUILTINS[name])
                raise subset.refuse(refusal, node, self._captured.source)
            return node
        return self._named(node, name, value)

    # --- one name -------------------------------------------------------------------------------

    def _value(self, name: str, node: ast.AST) -> object:
        """What a name outside the function holds."""
        if name == self._captured.function.name:
            hint = "write the recursion as a loop"
            raise self._error("source.recursion", f"{name} calls itself", node, [hint])
        for scope in (self._captured.closure, self._captured.module):
            if name in scope:
                return scope[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        known = [*self._local, *self._captured.closure, *self._captured.module, *dir(builtins)]
        near = did_you_mean(name, [each for each in known if not each.startswith("__")])
        hint = near or "define it above the kernel, or pass it as an argument"
        raise self._error("source.unknown-name", f"the name {name!r} is not defined", node, [hint])

    def _named(self, node: ast.expr, name: str, value: object) -> ast.expr:
        """The name `name` in place of `node`, bound to what `value` means."""
        found = values.meaning(value)
        if name in RESERVED and not isinstance(found, values.Word):
            message = f"{name!r} is {_described(value)} here, and astile writes {name!r} itself"
            hint = "import or define it under another name"
            raise self._error("source.reserved-name", message, node, [hint])
        if isinstance(found, values.Frozen):
            self.found.constants[name] = self._frozen(name, found.value)
        elif isinstance(found, values.Imported):
            if found.path == "numba.prange":
                return nodes.copy_place(node, nodes.name("range"))
            self._check_path(found.path, node)
            self.found.imports[name] = found.path
        elif isinstance(found, values.Helper):
            self.found.helpers[name] = found.function
            self.found.called_at.setdefault(name, node)
        elif isinstance(found, values.Word):
            return nodes.copy_place(node, nodes.name(found.name))
        else:
            raise self._not_readable(name, value, node)
        return nodes.copy_place(node, nodes.name(name))

    def _frozen(self, name: str, value: ConstantValue) -> ConstantValue:
        """A NumPy integer that is only used as an index or bound becomes a plain one.

        One of a short or unsigned type stays: sums with it wrap around in that type.
        """
        whole = isinstance(value, np.signedinteger) and value.itemsize >= np.int32(0).itemsize
        return int(value) if whole and name in self._index_only else value  # type: ignore[arg-type]

    # --- attributes -----------------------------------------------------------------------------

    def _member(self, node: ast.Attribute, path: str, module: object) -> ast.expr:
        """``module.a.b``: kept for math, numpy and numba, else a plain name."""
        root, *attributes = path.split(".")
        value = module
        for position, attribute in enumerate(attributes):
            home = getattr(value, "__name__", root)
            self._check_path(f"{home}.{attribute}", node)
            if not hasattr(value, attribute):
                near = did_you_mean(attribute, dir(value))
                hints = [near or f"look for it in the documentation of {home}"]
                raise self._error(
                    "source.unknown-name", f"{home} has no {attribute!r}", node, hints
                )
            value = getattr(value, attribute)
            if isinstance(values.meaning(value), values.Word):
                return nodes.copy_place(node, nodes.attribute(*attributes[position:]))
        name = getattr(module, "__name__", root)
        if values.import_path(value) == "numba.prange":
            return nodes.copy_place(node, nodes.name("range"))
        if name.partition(".")[0] in values.MODULES:
            self.found.imports[root] = name
            return node
        if path not in self._names_of_paths:
            self._names_of_paths[path] = _fresh(attributes[-1], self._taken)
        return self._named(node, self._names_of_paths[path], value)

    def _check_path(self, path: str, node: ast.AST) -> None:
        for refused, instead in subset.REFUSED_MODULES.items():
            if path == refused or path.startswith(f"{refused}."):
                raise subset.refuse(subset.Refusal(refused, instead), node, self._captured.source)

    def _check_array_attribute(self, node: ast.Attribute) -> None:
        if node.attr in _ARRAY_ATTRIBUTES or array_of_type(node) is not None:
            return
        spelled = query.dotted(node) or f"its {node.attr}"
        hints = [f"pass {spelled} as an argument of its own"]
        near = did_you_mean(node.attr, _ARRAY_ATTRIBUTES)
        if near is not None:
            hints.insert(0, near)
        message = f"arrays and numbers have no attribute {node.attr!r}"
        raise self._error("source.unknown-attribute", message, node, hints)

    # --- errors ---------------------------------------------------------------------------------

    def _not_readable(self, name: str, value: object, node: ast.AST) -> SourceError:
        if isinstance(value, values.Unread):
            message = f"the value of {name} is not known: the text is read, and not run"
            hint = f"write a number, `{name} = ...`, or pass {name} as an argument"
            return self._error("source.unknown-value", message, node, [hint])
        if isinstance(value, type) and issubclass(value, BaseException):
            hint = "raise one of Python's own exceptions, such as ValueError"
        elif callable(value):
            hint = "kernels call functions of math and numpy, and plain Python functions"
        elif value is None or isinstance(value, (np.ndarray, list, tuple)):
            hint = f"pass {name} as an argument"
        else:
            hint = "pass the numbers and arrays that it holds as arguments"
        message = f"{name} is {_described(value)} from outside the kernel"
        return self._error("source.outside-value", message, node, [hint])

    def _error(self, code: str, message: str, node: ast.AST, hints: Iterable[str]) -> SourceError:
        span = self._captured.source.span(node)
        return SourceError(message, code=code, span=span, hints=hints)


def _described(value: object) -> str:
    path = values.import_path(value)
    if path is not None:
        return path
    if isinstance(value, np.ndarray):
        return "an array"
    if value is None:
        return "None"
    kind = "class" if isinstance(value, type) else type(value).__name__
    if callable(value) and not isinstance(value, type):
        kind = "function"
    return f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def _declared_only(function: ast.FunctionDef) -> set[str]:
    """Names that the function declares by an annotation without a value."""
    return {
        node.target.id
        for node in ast.walk(function)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def _index_only(function: ast.FunctionDef) -> set[str]:
    """Names that are read in indices and loop bounds only."""
    inside: set[str] = set()
    outside: set[str] = set()

    def search(node: ast.AST, is_index: bool) -> None:
        if isinstance(node, ast.Name):
            (inside if is_index else outside).add(node.id)
        for child in ast.iter_child_nodes(node):
            deeper = is_index
            if isinstance(node, ast.Subscript):
                deeper = child is node.slice
            elif isinstance(node, ast.For) and query.header(node) is not None:
                deeper = is_index or child is node.iter
            search(child, deeper)

    search(function, False)
    return inside - outside
