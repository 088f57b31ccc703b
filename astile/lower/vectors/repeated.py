"""Names for loads, broadcasts and masks that straight-line text repeats."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from astile.ir import nodes, printer, query
from astile.lower.vectors.words import Words

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
    return _named(body, calls_in(body, words))


def calls_in(body: Sequence[ast.stmt], words: Words) -> Calls:
    """The functions of vectors that some statements call.

    Args:
        body: all statements of the function.
        words: its names.
    """
    calls = {
        name: path.rpartition(".")[2]
        for name, path in words.imports.items()
        if path.startswith("astile.intrinsics.vectors.")
    }
    return Calls(calls, words, _shared_names(body))


def _shared_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names of arrays that may be another array's too; all others are apart in memory."""
    return {
        name
        for part in body
        for each in query.statements(part)
        if not query.is_allocation(each)
        for name in _own_names_written(each)
    }


def _own_names_written(statement: ast.stmt) -> set[str]:
    if query.bodies(statement):
        return query.names_written(statement.target) if isinstance(statement, ast.For) else set()
    return query.names_written(statement)


class Calls:
    """The functions of vectors in a text, and the names of their values.

    Args:
        calls: name in the text -> function.
        words: for new names.
        shared: names that may stand for the memory of others.
    """

    def __init__(self, calls: dict[str, str], words: Words, shared: set[str]) -> None:
        self._calls = calls
        self._shared = shared
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
        place = call.args[1 if function == "load_where" else 0]
        known = [n.id for n in query.preorder(place) if isinstance(n, ast.Name)]
        read = [each for each in known if each not in self.words.imports]
        return (read[0] if read else "number") + (word or "_v")

    def inside(self, node: ast.AST) -> tuple[set[str], set[str | None]] | None:
        """The names in a value that may get a name itself, and the arrays that it reads.

        Returns:
            With None among the arrays for one that is not known. None where something in the value
            does more than compute.
        """
        names: set[str] = set()
        arrays: set[str | None] = set()
        for each in query.preorder(node):
            if isinstance(each, ast.Name):
                names.add(each.id)
            elif isinstance(each, ast.arg):
                names.add(each.arg)
            elif isinstance(each, ast.Subscript):
                arrays.add(query.base_name(each))
            elif isinstance(each, ast.Call):
                function = each.func.id if isinstance(each.func, ast.Name) else ""
                if function not in self.words.imports:
                    return None
                if self._calls.get(function, "").startswith(("load", "get")):
                    arrays.add(_array(each, self._calls[function]))
        return names, arrays

    def stores(self, statement: ast.stmt) -> str | None:
        """The array that a statement changes: empty where it may be any, None where it is none."""
        changed: list[str | None] = []
        if isinstance(statement, ast.Assign):
            cells = [each for each in statement.targets if not isinstance(each, ast.Name)]
            changed = [query.base_name(each) for each in cells]
        else:
            changed = [self._stored_by(statement)]
        if not changed:
            return None
        array = changed[0] if len(changed) == 1 else None
        return "" if array is None or array in self._shared else array

    def _stored_by(self, statement: ast.stmt) -> str | None:
        """The array that a call of a function of vectors stores to."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        function = self.function(call) if call is not None else None
        if function is None or not function.startswith(("store", "put")):
            return None
        assert isinstance(call, ast.Call)
        return _array(call, function)

    def may_be_any(self, array: str | None) -> bool:
        """Whether an array may lie in the memory of another one."""
        return array is None or array in self._shared


def _array(call: ast.Call, function: str) -> str | None:
    """The array that a load or store is of."""
    array = call.args[1 if function.endswith("_where") else 0]
    return array.id if isinstance(array, ast.Name) else None


def _named(body: Sequence[ast.stmt], calls: Calls) -> list[ast.stmt]:
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


def _shared(run: list[ast.stmt], calls: Calls) -> list[ast.stmt]:
    """A run of statements: masks first, then the outermost repeated values, then inner ones."""
    for kinds in ({"below"}, set(_NAMED)):
        while True:
            counts: dict[tuple[str, int], int] = {}
            texts: dict[ast.Call, str] = {}
            for key in _occurrences(run, calls, kinds, texts):
                counts[key] = counts.get(key, 0) + 1
            repeated = {key for key, count in counts.items() if count > 1}
            if not repeated:
                break
            run = _replaced(run, calls, repeated, texts)
    return run


def _replaced(
    run: Sequence[ast.stmt],
    calls: Calls,
    repeated: set[tuple[str, int]],
    texts: dict[ast.Call, str],
) -> list[ast.stmt]:
    names: dict[tuple[str, int], str] = {}
    result: list[ast.stmt] = []
    era = _Eras(calls, texts)
    for statement in run:
        before: list[ast.stmt] = []

        def rewritten(node: ast.AST, before: list[ast.stmt] = before) -> ast.AST:
            function = calls.function(node)
            if function in _NAMED:
                assert isinstance(node, ast.Call)
                key = era.key(node)
                if key is not None and key in repeated:
                    if key not in names:
                        names[key] = calls.words.fresh(calls.wanted(node, function))
                        before.append(nodes.assign(names[key], node))
                    return nodes.name(names[key])
            held = node.__dict__
            for name in reversed(query.FIELDS.get(node.__class__, ())):
                value = held.get(name)
                if isinstance(value, list):
                    held[name] = [rewritten(e) for e in value]
                elif value is not None:
                    held[name] = rewritten(value)
            return node

        rewritten(statement)
        result += [*before, statement]
        era.after(statement)
    return result


def _occurrences(
    run: Sequence[ast.stmt], calls: Calls, kinds: set[str], texts: dict[ast.Call, str]
) -> Iterator[tuple[str, int]]:
    """The values that may get a name: what they are, and since which change; outermost only."""
    era = _Eras(calls, texts)
    for statement in run:
        whole = statement.value if isinstance(statement, ast.Assign) else None
        pending: list[ast.AST] = [statement]
        while pending:
            node = pending.pop()
            if calls.function(node) in kinds and node is not whole:
                assert isinstance(node, ast.Call)
                key = era.key(node)
                if key is not None:
                    yield key
                    continue
            pending += query.children(node)
        era.after(statement)


class _Eras:
    """When what a value is computed from was changed last.

    Args:
        calls: the functions of vectors.
        texts: of values, each as it is when it is asked for first.
    """

    def __init__(self, calls: Calls, texts: dict[ast.Call, str]) -> None:
        self._calls, self._texts = calls, texts
        self._changes = 0
        self._changed: dict[str, int] = {}
        #: array -> its last change; that of any array under the empty name
        self._stored: dict[str, int] = {}

    def key(self, call: ast.Call) -> tuple[str, int] | None:
        """A value: its text, and the number of the last change before it.

        None where something in it does more than compute, so that it gets no name.
        """
        inside = self._calls.inside(call)
        if inside is None:
            return None
        names, arrays = inside
        since = [self._changed.get(name, 0) for name in names]
        if any(map(self._calls.may_be_any, arrays)):
            since += self._stored.values()
        elif arrays:
            since += [self._stored.get(str(name), 0) for name in ("", *arrays)]
        if call not in self._texts:
            self._texts[call] = printer.print_expression(call)
        return self._texts[call], max(since, default=0)

    def after(self, statement: ast.stmt) -> None:
        """Note what a statement changes."""
        self._changes += 1
        for name in query.names_written(statement):
            self._changed[name] = self._changes
        array = self._calls.stores(statement)
        if array is not None:
            self._stored[array] = self._changes
