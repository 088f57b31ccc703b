"""Parameters that are None or strings: the text for a call leaves out what these decide.

``if weights is None`` and ``mode == "wrap"`` are known as soon as a function is called, so that no
kernel has to hold an optional array or a string.
"""

from __future__ import annotations

import ast
import enum
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from astile.frontend.new_names import NewNames
from astile.ir import nodes, query
from astile.ir.program import Program


class Other(enum.Enum):
    """What an argument is that is no string and not None."""

    GIVEN = "given"


#: What is known of an argument: that it is None, which string it is, or that it is something else.
Fact: TypeAlias = str | Other | None
_OPERATORS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.In, ast.NotIn)
_NEGATED = (ast.IsNot, ast.NotEq, ast.NotIn)


def compared(function: ast.FunctionDef) -> dict[str, bool]:
    """Parameters that are compared with None or strings -> whether None is among these.

    Args:
        function: the function as the user wrote it.
    """
    found: dict[str, bool] = {}
    parameters = set(query.parameters(function)) - set(_inner_parameters(function))
    for name, wanted in _comparisons(function):
        if name in parameters:
            found[name] = found.get(name, False) or wanted is None
    return found


def facts_of(
    names: Mapping[str, bool], values: Mapping[str, object]
) -> tuple[tuple[str, Fact], ...]:
    """What a call tells of parameters.

    Args:
        names: those that `compared` names.
        values: parameter -> argument.
    """
    found: dict[str, Fact] = {}
    for name, is_optional in names.items():
        value = values.get(name, Other.GIVEN)
        if value is None or type(value) is str:
            found[name] = value
        elif is_optional:
            found[name] = Other.GIVEN
    return tuple(found.items())


def decided(program: Program, facts: Iterable[tuple[str, Fact]]) -> Program:
    """A program without the branches that its arguments leave out.

    Args:
        program: the function as the user wrote it.
        facts: what is known of parameters.

    Before::

        def f(x, out, weights=None):
            if weights is None:
                weights = np.ones(x.shape[0])
            for i in range(x.shape[0]):
                out[i] = x[i] * weights[i]

    After, where weights are None::

        def f(x, out, weights=None):
            weights_1 = np.ones(x.shape[0])
            for i in range(x.shape[0]):
                out[i] = x[i] * weights_1[i]

    After, where they are not::

        def f(x, out, weights=None):
            for i in range(x.shape[0]):
                out[i] = x[i] * weights[i]
    """
    known = dict(facts)
    if not known:
        return program
    new = program.cloned()
    body = _Decider(NewNames(new), known).statements(new.function.body)
    read = {name for each in body for name in query.names_read(each)}
    body = [each for each in body if not _is_unread(each, read)]
    new.function.body = body or [nodes.copy_place(new.function, ast.Pass())]
    return new


def _comparisons(function: ast.FunctionDef) -> Iterator[tuple[str, object]]:
    """Names, and the constants that they are compared with."""
    for node in query.preorder(function):
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if isinstance(
                operator, _OPERATORS
            ):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, ast.Name):
                        yield from ((one.id, each) for each in _constants(other))


def _constants(node: ast.expr) -> list[Any]:
    """None and strings, one or several of them."""
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) else [node]
    values = [each.value for each in parts if isinstance(each, ast.Constant)]
    are_known = len(values) == len(parts) and all(e is None or isinstance(e, str) for e in values)
    return values if are_known else []


def _inner_parameters(function: ast.FunctionDef) -> Iterator[str]:
    """Names of parameters of functions inside, which stand for something else there."""
    for statement in function.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                yield node.arg


class _Decider(ast.NodeTransformer):
    """Takes away tests of what is known, statement by statement until a name stands for another.

    Args:
        names: gives new names.
        known: name -> what is known of it.
    """

    def __init__(self, names: NewNames, known: Mapping[str, Fact]) -> None:
        self._names = names
        self._known: dict[str, Fact | bool] = dict(known)

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of the function itself, which follow one another."""
        made: list[ast.stmt] = []
        rest = list(body)
        while rest:
            first = rest.pop(0)
            if isinstance(first, ast.If):
                first.test = self._test(first.test)
                branch = _branch(first)
                if branch is not None:
                    rest = [*branch, *rest]
                    continue
            stored = query.names_written(first) & self._known.keys()
            if isinstance(first, (ast.For, ast.While, ast.If)):
                self._forget(stored)
            made += _listed(self.visit(first))
            if isinstance(first, (ast.Return, ast.Raise)):
                break
            learned = self._learned(first)
            if isinstance(first, ast.Assign):
                self._rename(stored, first, rest)
            self._forget(stored)
            if isinstance(first, ast.Assign):
                names = [each.id for each in first.targets if isinstance(each, ast.Name)]
                self._known |= {name: fact for fact in learned for name in names}
        return made

    def _learned(self, first: ast.stmt) -> list[Fact | bool]:
        """What a name stands for that gets None, a string or the outcome of a test, if so."""
        match first:
            case ast.Assign(value=ast.Name(id=name) as value) if name in self._known:
                fact = self._known[name]
                if fact is None or isinstance(fact, str):
                    first.value = nodes.copy_place(value, nodes.const(fact))
                return [fact]
            case ast.Assign(value=ast.Constant(value=None | bool() | str() as fact)):
                return [fact]
        return []

    def _rename(self, stored: Iterable[str], first: ast.Assign, rest: list[ast.stmt]) -> None:
        """Give values that take the places of None and strings names of their own."""
        for name in stored:
            if self._known[name] is not Other.GIVEN:
                renamed = _Renamed(name, self._names.fresh(name))
                first.targets = [renamed.visit(each) for each in first.targets]
                rest[:] = [renamed.visit(each) for each in rest]

    def _forget(self, stored: Iterable[str]) -> None:
        self._known = {n: fact for n, fact in self._known.items() if n not in set(stored)}

    # --- tests ----------------------------------------------------------------------------------

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """A comparison of what is known, as True or False."""
        match node:
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if isinstance(
                operator, _OPERATORS
            ):
                is_inside = isinstance(operator, (ast.In, ast.NotIn))
                for one, other in ((left, right), (right, left))[: 1 if is_inside else 2]:
                    found = self._holds(one, operator, other)
                    if found is not None:
                        return nodes.copy_place(node, nodes.const(found))
        return self.generic_visit(node)

    def _holds(self, one: ast.expr, operator: ast.cmpop, other: ast.expr) -> bool | None:
        if not isinstance(one, ast.Name) or one.id not in self._known:
            return None
        fact, wanted = self._known[one.id], _constants(other)
        is_several = isinstance(other, (ast.Tuple, ast.List))
        if not wanted or is_several != isinstance(operator, (ast.In, ast.NotIn)):
            return None
        if isinstance(operator, (ast.Is, ast.IsNot)):
            if wanted != [None]:
                return None
        elif fact is Other.GIVEN:
            return None
        return (fact in wanted) != isinstance(operator, _NEGATED)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """``not`` of what is known."""
        if not isinstance(node.op, ast.Not):
            return self.generic_visit(node)
        node.operand = self._test(node.operand)
        found = _truth(node.operand)
        return node if found is None else nodes.copy_place(node, nodes.const(not found))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """``and`` and ``or`` up to what decides them."""
        node.values = [self.visit(each) for each in node.values]
        return _joined(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """The value that is chosen."""
        node.test = self._test(node.test)
        found = _truth(node.test)
        if found is None:
            return self.generic_visit(node)
        chosen: ast.AST = self.visit(node.body if found else node.orelse)
        return chosen

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """The statements of the branch that is taken, inside of another statement."""
        node.test = self._test(node.test)
        branch = _branch(node)
        if branch is None:
            return self._filled(node)
        return [made for each in branch for made in _listed(self.visit(each))]

    def visit_For(self, node: ast.For) -> ast.AST:
        """A loop."""
        return self._filled(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        """A loop."""
        return self._filled(node)

    def _filled(self, node: ast.For | ast.While | ast.If) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [nodes.copy_place(node, ast.Pass())]
        return node

    def _test(self, test: ast.expr) -> ast.expr:
        """An expression of which only the truth counts."""
        if isinstance(test, ast.Name):
            fact = self._known.get(test.id, Other.GIVEN)
            return test if fact is Other.GIVEN else nodes.copy_place(test, nodes.const(bool(fact)))
        if isinstance(test, ast.BoolOp):
            test.values = [self._test(each) for each in test.values]
            return _joined(test)
        made = self.visit(test)
        assert isinstance(made, ast.expr)
        return made


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id == self._old:
            node.id = self._new
        return node


def _is_unread(statement: ast.stmt, read: Collection[str]) -> bool:
    """Whether a statement gives None or a string to a name that is not read any more."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None | str())):
            return name not in read
    return False


def _joined(node: ast.BoolOp) -> ast.expr:
    """``and`` or ``or`` up to the part that decides it, without those that do not."""
    decisive, kept = isinstance(node.op, ast.Or), []
    for position, each in enumerate(node.values, 1):
        found = _truth(each)
        if found is None or found == decisive or position == len(node.values):
            kept.append(each)
        if found == decisive:
            break
    node.values = kept
    return kept[0] if len(kept) == 1 else node


def _truth(node: ast.expr) -> bool | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is bool else None


def _branch(node: ast.If) -> list[ast.stmt] | None:
    """The statements that run; None where that is not known."""
    found = _truth(node.test)
    return None if found is None else node.body if found else node.orelse


def _listed(made: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made]  # type: ignore[list-item]
