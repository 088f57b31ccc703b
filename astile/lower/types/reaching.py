"""Which of the places that set a name a load of it may see.

Whether a loop counts as one that runs is for the caller to say, see `over_sizes` and `scheduled`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from astile.ir import query
from astile.ir.program import Program
from astile.lower import facts
from astile.lower.types.stores import Definition

#: Name -> what it may have been set by; a name that is not there was not set on any way here.
State = Mapping[str, frozenset[Definition]]
#: Whether a loop counts as one that runs, a condition without `else` as one that is true.
Runs = Callable[[ast.stmt], bool]
#: Statements whose flow is followed; in a function with others every load may see all stores.
_FOLLOWED = (
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Pass, ast.Assert, ast.If, ast.For),
    *(ast.While, ast.Break, ast.Continue, ast.Return, ast.Raise, ast.FunctionDef),
)


def never(statement: ast.stmt) -> bool:
    """Any loop may be empty, any condition false."""
    return False


def over_sizes(function: ast.FunctionDef) -> Runs:
    """In a function as it was written, a loop over sizes and arguments counts as one that runs.

    A sum to which nothing was added is of the type of what is added to it. A loop whose bounds
    change with others, or with data, may be empty.
    """
    inner = [e for e in function.body if isinstance(e, (ast.For, ast.While, ast.If))]
    varying = {name for each in inner for name in query.names_written(each)}

    def runs(statement: ast.stmt) -> bool:
        header = query.header(statement) if isinstance(statement, ast.For) else None
        if header is None:
            return False
        bounds = [node for each in (header.start, header.stop) for node in query.preorder(each)]
        sizes = all(query.is_shape_of(e) for e in bounds if isinstance(e, ast.Subscript))
        return sizes and varying.isdisjoint(e.id for e in bounds if isinstance(e, ast.Name))

    return runs


def scheduled(program: Program) -> Runs:
    """After steps, loops and conditions on indices pick the iterations that there were before."""
    known = facts.of(program)

    def runs(statement: ast.stmt) -> bool:
        if isinstance(statement, ast.For):
            return query.header(statement) is not None
        return isinstance(statement, ast.If) and known.is_static(statement.test)

    return runs


def find(
    function: ast.FunctionDef,
    made: Mapping[ast.AST, Sequence[Definition]],
    parameters: Iterable[Definition],
    runs: Runs,
) -> dict[ast.Name, frozenset[Definition]]:
    """Load of a name, or target of an update -> the places whose value may be there.

    Args:
        function: the function.
        made: its nodes -> the names that they set.
        parameters: what arguments set.
        runs: whether a loop counts as one that runs, a condition without `else` as true.
    """
    statements = [each for each in query.preorder(function) if isinstance(each, ast.stmt)]
    if not all(isinstance(each, _FOLLOWED) for each in statements):
        return {}
    flow = _Flow(made, runs)
    flow.body(function.body, {each.name: frozenset([each]) for each in parameters})
    loose = {e.name for node in made if not isinstance(node, ast.stmt) for e in made[node]}
    return {load: seen for load, seen in flow.loads.items() if load.id not in loose}


class _Flow:
    """Follows the statements of a function from its head."""

    def __init__(self, made: Mapping[ast.AST, Sequence[Definition]], runs: Runs) -> None:
        self.made, self.runs = made, runs
        self.loads: dict[ast.Name, frozenset[Definition]] = {}
        self._leaving: list[State] = []  # at each break and continue of the loops around
        self._reads: dict[ast.AST, list[ast.Name]] = {}  # of what was seen: loops are seen again

    def body(self, body: Sequence[ast.stmt], state: State) -> State:
        """The state after some statements."""
        for statement in body:
            state = self.statement(statement, state)
        return state

    def statement(self, statement: ast.stmt, state: State) -> State:
        """The state after a statement."""
        if isinstance(statement, (ast.For, ast.While)):
            return self._loop(statement, state)
        if isinstance(statement, ast.If):
            self._load(statement.test, state)
            then = self.body(statement.body, state)
            if not statement.orelse and self.runs(statement):
                return then
            return _joined([then, self.body(statement.orelse, state)])
        if isinstance(statement, (ast.Break, ast.Continue)):
            self._leaving.append(state)
            return {}
        self._load(statement, state)
        if isinstance(statement, (ast.Return, ast.Raise)):
            return {}
        return self._set(statement, state)

    def _loop(self, loop: ast.For | ast.While, state: State) -> State:
        self._load(loop.iter if isinstance(loop, ast.For) else loop.test, state)
        outer, head = self._leaving, state
        while True:  # ends: the state at the head only grows
            self._leaving = []
            if isinstance(loop, ast.While):
                self._load(loop.test, head)
            end = self.body(loop.body, self._set(loop, head))
            after = _joined([head, end, *self._leaving])
            if after == head:
                break
            head = after
        left, self._leaving = self._leaving, outer
        after = _joined([end, *left]) if self.runs(loop) else head
        return _joined([after, self.body(loop.orelse, after)])

    def _set(self, statement: ast.stmt, state: State) -> State:
        made = self.made.get(statement, ())
        return {**state, **_by_name(made)} if made else state

    def _load(self, node: ast.AST, state: State) -> None:
        if node not in self._reads:
            self._reads[node] = list(_reads(node))
        for load in self._reads[node]:
            if load.id in state:
                self.loads[load] = _both(self.loads.get(load), state[load.id])


def _reads(node: ast.AST) -> Iterator[ast.Name]:
    """Loads of names, and targets of updates."""
    for each in query.preorder(node):
        if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            yield each.target
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load):
            yield each


def _by_name(made: Iterable[Definition]) -> State:
    found: dict[str, frozenset[Definition]] = {}
    for each in made:
        found[each.name] = found.get(each.name, frozenset()) | {each}
    return found


def _joined(states: Iterable[State]) -> State:
    found: dict[str, frozenset[Definition]] = {}
    for state in states:
        for name, each in state.items():
            found[name] = _both(found.get(name), each)
    return found


def _both(one: frozenset[Definition] | None, other: frozenset[Definition]) -> frozenset[Definition]:
    """All of two sets, which are mostly the same one."""
    return other if one is None or one is other else one | other
