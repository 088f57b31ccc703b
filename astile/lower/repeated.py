"""Names for loads, broadcasts and masks that straight-line text repeats."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from astile.ir import nodes, printer, query
from astile.lower.words import Words

#: Function of vectors -> what its value is called: after the array it reads, or by a word.
_NAMED = {"load": "", "load_where": "", "load_along": "", "splat": "_s", "below": "inside"}


def named(body: Sequence[ast.stmt], words: Words) -> list[ast.stmt]:
    """The statements, with values that are computed more than once computed once.

    Only within runs of statements without loops and branches, and only until something that a
    value is computed from changes.

    Args:
        body: it is edited in place.
        words: for the names.

    Before:
        c_0 = fma(splat(a, 16), load(b, 0, 16), c_0)
        c_1 = fma(splat(a, 16), load(b, 16, 16), c_1)

    After:
        a_s = splat(a, 16)
        c_0 = fma(a_s, load(b, 0, 16), c_0)
        c_1 = fma(a_s, load(b, 16, 16), c_1)
    """
    calls = {
        name: path.rpartition(".")[2]
        for name, path in words.imports.items()
        if path.startswith("astile.intrinsics.vectors.")
    }
    return _named(body, _Calls(calls, words))


class _Calls:
    """The functions of vectors in a text, and the names of their values."""

    def __init__(self, calls: dict[str, str], words: Words) -> None:
        self._calls = calls
        self.words = words

    def function(self, node: ast.AST) -> str | None:
        """The function of vectors that a call names."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._calls.get(node.func.id)
        return None

    def wanted(self, call: ast.Call, function: str) -> str:
        """What the value of a call is called."""
        word = _NAMED[function]
        if word and not word.startswith("_"):
            return word
        known = [n for n in query.preorder(call) if isinstance(n, ast.Name)]
        read = [each.id for each in known if each.id not in self.words.imports]
        return (read[0] if read else "x") + (word or "_v")

    def may_be_named(self, node: ast.AST) -> bool:
        """Whether a value is one that may get a name: nothing in it does more than compute."""
        return self.function(node) in _NAMED and all(
            isinstance(each.func, ast.Name) and each.func.id in self.words.imports
            for each in ast.walk(node)
            if isinstance(each, ast.Call)
        )

    def stores(self, statement: ast.stmt) -> bool:
        """Whether a statement changes memory."""
        if isinstance(statement, ast.Expr):
            return True
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        return not targets or any(not isinstance(each, ast.Name) for each in targets)


def _named(body: Sequence[ast.stmt], calls: _Calls) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    run: list[ast.stmt] = []
    for statement in body:
        if not query.bodies(statement):
            run.append(statement)
            continue
        result += _shared(run, calls)
        run = []
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(statement, name, None)
            if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                setattr(statement, name, _named(inner, calls))
        result.append(statement)
    return result + _shared(run, calls)


def _shared(run: list[ast.stmt], calls: _Calls) -> list[ast.stmt]:
    """A run of statements: masks first, then the outermost repeated values, then inner ones."""
    for kinds in ({"below"}, set(_NAMED)):
        while True:
            counts: dict[tuple[str, int], int] = {}
            for key in _occurrences(run, calls, kinds):
                counts[key] = counts.get(key, 0) + 1
            repeated = {key for key, count in counts.items() if count > 1}
            if not repeated:
                break
            run = _replaced(run, calls, repeated)
    return run


def _replaced(
    run: Sequence[ast.stmt], calls: _Calls, repeated: set[tuple[str, int]]
) -> list[ast.stmt]:
    names: dict[tuple[str, int], str] = {}
    result: list[ast.stmt] = []
    era = _Eras(calls)
    for statement in run:
        before: list[ast.stmt] = []

        def rewritten(node: ast.AST, before: list[ast.stmt] = before) -> ast.AST:
            function = calls.function(node)
            if function is not None and calls.may_be_named(node):
                assert isinstance(node, ast.Call)
                key = era.key(node)
                if key in repeated:
                    if key not in names:
                        names[key] = calls.words.fresh(calls.wanted(node, function))
                        before.append(nodes.assign(names[key], node))
                    return nodes.name(names[key])
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.AST):
                    setattr(node, name, rewritten(value))
                elif isinstance(value, list):
                    made = [rewritten(e) if isinstance(e, ast.AST) else e for e in value]
                    setattr(node, name, made)
            return node

        rewritten(statement)
        result += [*before, statement]
        era.after(statement)
    return result


def _occurrences(
    run: Sequence[ast.stmt], calls: _Calls, kinds: set[str]
) -> Iterator[tuple[str, int]]:
    """The values that may get a name: what they are, and since which change; outermost only."""
    era = _Eras(calls)
    for statement in run:
        whole = statement.value if isinstance(statement, ast.Assign) else None
        pending: list[ast.AST] = [statement]
        while pending:
            node = pending.pop()
            if calls.function(node) in kinds and calls.may_be_named(node) and node is not whole:
                assert isinstance(node, ast.Call)
                yield era.key(node)
                continue
            pending += ast.iter_child_nodes(node)
        era.after(statement)


class _Eras:
    """When what a value is computed from was changed last."""

    def __init__(self, calls: _Calls) -> None:
        self._calls = calls
        self._changes = 0
        self._changed: dict[str, int] = {}
        self._stored = 0

    def key(self, call: ast.Call) -> tuple[str, int]:
        """A value: its text, and the number of the last change before it."""
        since = [self._changed.get(name, 0) for name in query.names(call)]
        reads = any(
            isinstance(n, ast.Subscript)
            or self._calls.function(n) not in (None, "splat", "below", "count")
            for n in ast.walk(call)
        )
        return printer.print_expression(call), max([*since, self._stored if reads else 0])

    def after(self, statement: ast.stmt) -> None:
        """Note what a statement changes."""
        self._changes += 1
        for name in query.names_written(statement):
            self._changed[name] = self._changes
        if self._calls.stores(statement):
            self._stored = self._changes
