"""A conservative finder of barriers, for programs that the polyhedral model cannot read.

A barrier stands before each phase that touches an array which an earlier phase of the same block
touched, one of them writing. It asks only which arrays are touched, never which cells.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from astile.analysis.forms import params
from astile.analysis.forms.affine import Affine
from astile.analysis.reading.hardware import is_cooperative
from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower import facts, flow
from astile.lower.facts import Facts
from astile.lower.kernels.plan import FixedPlan
from astile.lower.kernels.structure import axis_of, has_phases, is_bound, level


def find(program: Program) -> FixedPlan:
    """Barriers of all kernels of a program."""
    before: dict[ast.stmt, str] = {}
    known = facts.of(program)

    def search(body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if level(statement):
                assert isinstance(statement, ast.For)
                walk = _Walk(program, statement, known)
                walk.statement(statement, _State())
                before.update(walk.before)
            elif is_bound(statement):
                for inner in query.bodies(statement):
                    search(inner)

    search(program.function.body)
    return FixedPlan(before)


#: An array, and whether one thread alone touches it: that thread needs no barrier for itself.
_Key = tuple[str, bool]


@dataclass(frozen=True)
class _State:
    """Accesses since the last barrier: array and who touches it -> the text of one access."""

    reads: Mapping[_Key, str] = field(default_factory=dict)
    writes: Mapping[_Key, str] = field(default_factory=dict)

    def joined(self, other: _State) -> _State:
        return _State({**other.reads, **self.reads}, {**other.writes, **self.writes})

    def meets(self, later: _State) -> str | None:
        """The comment of a barrier that must stand between, or None."""
        for earlier, then, words in (
            (self.writes, later.reads, ("written", "read")),
            (self.reads, later.writes, ("read", "written")),
            (self.writes, later.writes, ("written", "written again")),
        ):
            for (array, alone), text in earlier.items():
                for (other, other_alone), other_text in then.items():
                    if array == other and not (alone and other_alone):
                        return f"{text} is {words[0]} above, {other_text} is {words[1]} below"
        return None


class _Walk:
    def __init__(self, program: Program, root: ast.For, known: Facts) -> None:
        self.before: dict[ast.stmt, str] = {}
        self.function = program.function
        self.facts = known
        self.local = {
            made.array
            for each in query.statements(root)
            if (made := query.allocation(each)) is not None and made.scope == "local"
        }
        self.has_views = _has_views(program)

    def body(self, body: Sequence[ast.stmt], state: _State) -> _State:
        for each in body:
            state = self.statement(each, state)
        return state

    def statement(self, statement: ast.stmt, state: _State) -> _State:
        """Walk a statement that all threads of the block reach together."""
        if level(statement) == "block":
            assert isinstance(statement, ast.For)
            return self.body(statement.body, state)
        if is_cooperative(statement):
            return self._unit(statement, state)
        if level(statement) == "thread":
            self._inside(statement)
        elif not has_phases(statement) and not self._is_mixed(statement):
            return self._unit(statement, state)
        elif isinstance(statement, ast.For):
            return self._loop(statement, state)
        elif isinstance(statement, ast.If) and self.facts.is_static(statement.test):
            first = self.body(statement.body, state)
            return first.joined(self.body(statement.orelse, state))
        return self._unit(statement, state)

    def _is_mixed(self, statement: ast.stmt) -> bool:
        """Whether it stores cells, which one thread does, and sets names, which all threads do."""
        if not set(query.written_arrays(statement)) - self.local:
            return False
        live = flow.live_after(self.function, statement)
        return bool(query.names_written(statement) & live)

    def _loop(self, loop: ast.For, state: _State) -> _State:
        """The body twice: what its end leaves open meets its start."""
        end = self.body(loop.body, state)
        end = self.body(loop.body, end.joined(state))
        return end.joined(state)

    def _unit(self, statement: ast.stmt, state: _State) -> _State:
        touched = self._touched(statement)
        comment = state.meets(touched)
        if comment is not None:
            self.before.setdefault(statement, comment)
        if statement in self.before:
            return touched
        return touched.joined(state)

    def _touched(self, statement: ast.stmt) -> _State:
        reads: dict[_Key, str] = {}
        writes: dict[_Key, str] = {}
        arrays = set(query.written_arrays(statement)) - self.local
        alone = bool(arrays) and not is_bound(statement) and not is_cooperative(statement)
        updated = {id(s.target) for s in ast.walk(statement) if isinstance(s, ast.AugAssign)}
        for access in query.accesses(statement):
            array = query.base_name(access)
            if array is None or array in self.local:
                continue
            text = printer.print_expression(nodes.as_load(access))
            if self.has_views:
                array = ""  # any two names may stand for the same memory
            if isinstance(access.ctx, ast.Load) or id(access) in updated:
                reads.setdefault((array, alone), text)
            if isinstance(access.ctx, ast.Store):
                writes.setdefault((array, alone), text)
        return _State(reads, writes)

    # --- inside one phase -----------------------------------------------------------------------

    def _inside(self, phase: ast.stmt) -> None:
        """Mark what would need a barrier inside a phase, where none can stand.

        Thread loops that follow each other directly are independent as a whole. Where a
        statement or a sequential loop stands between them, each cell must belong to one thread.
        """
        body: Sequence[ast.stmt] = [phase]
        while (only := query.only_statement(body)) is not None and level(only) == "thread":
            assert isinstance(only, ast.For)
            body = only.body
        if not any(map(is_bound, body)):
            return
        axes = {axis_of(e) for e in query.loops(phase) if level(e) == "thread"}
        for (array, _), text in self._touched(phase).writes.items():
            if not array or not _is_owned(phase, array, axes, self.facts):
                culprit = next(each for each in body if is_bound(each))
                self.before.setdefault(culprit, f"{text} may be used by several threads")


def _has_views(program: Program) -> bool:
    """Whether a name that is indexed may stand for the memory of another."""
    ranks = params.names_of(program).ranks
    return any(
        isinstance(each, ast.Assign)
        and not query.is_allocation(each)
        and bool(query.names_written(each) & ranks.keys())
        for each in query.statements(program.function)
    )


def _is_owned(phase: ast.stmt, array: str, axes: set[str], facts: Facts) -> bool:
    """Whether every access of an array has one index, and a cell tells its thread."""
    inner = query.names_written(phase)
    seen: list[tuple[set[str], list[Affine]]] = []

    def check(node: ast.AST, around: dict[str, str]) -> bool:
        if isinstance(node, ast.For) and level(node) == "thread":
            around = {**around, axis_of(node): min(query.names_written(node.target))}
        for expression in ast.iter_child_nodes(node):
            if isinstance(expression, ast.stmt):
                continue
            for access in query.accesses(expression, array):
                forms = [facts.form(each) for each in query.indices(access)]
                seen.append((set(around), forms))
                is_first = set(around) == axes or bool(query.written_arrays(node))
                if not is_first or not _tells(forms, around, inner):
                    return False
        return all(check(each, around) for body in query.bodies(node) for each in body)

    return check(phase, {}) and all(each == seen[0] for each in seen)


def _tells(forms: Sequence[Affine], around: Mapping[str, str], inner: set[str]) -> bool:
    """Whether an index differs between threads, and does not change within one."""
    told = {
        axis
        for axis, name in around.items()
        if any(f.coefficient(name) and not f.without(name).names() & inner for f in forms)
    }
    mentioned = {name for f in forms for name in f.names()} & inner
    return told == set(around) and not mentioned - set(around.values())
