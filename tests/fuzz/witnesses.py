"""Replays the witness of a refusal: do both iterations exist, meet, and change their order?

The original and the rewritten program run on arrays and names that note each access together with
the iteration of the statement that makes it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from astile.analysis.concurrency.race_text import RaceWitness
from astile.analysis.proof.verdicts import Instance, Witness
from astile.analysis.reading.statements import with_origins
from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program
from tests.fuzz.programs import Source
from tests.fuzz.running import Memory, arguments

#: One iteration of one statement: its number and the values of the variables around it.
Moment = tuple[int, tuple[int, ...]]


#: Cells of a long axis, more than products of indices at small sizes.
_ROOM = 512

#: The number of a statement that stands for none of the original.
_NO_ORIGIN = -2


@dataclass(frozen=True)
class Touch:
    """One access: of which cell, by which run of a statement."""

    run: int
    array: str
    cell: tuple[int, ...]
    is_write: bool


@dataclass
class Trace:
    """The runs of statements in order, and what they touched."""

    runs: list[Moment] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    names: dict[int, tuple[frozenset[str], frozenset[str]]] = field(default_factory=dict)

    def at(self, number: int, iteration: tuple[int, ...]) -> None:
        self.runs.append((number, tuple(map(int, iteration))))

    def times(self, moment: Moment) -> list[int]:
        return [k for k, each in enumerate(self.runs) if each == moment]

    def touched(self, moment: Moment, array: str, cell: Sequence[int]) -> set[bool]:
        """Whether an iteration writes (True) and reads (False) a cell."""
        runs = set(self.times(moment))
        found = {
            each.is_write
            for each in self.touches
            if each.run in runs and each.array == array and (not cell or each.cell == tuple(cell))
        }
        reads, writes = self.names.get(moment[0], (frozenset(), frozenset()))
        if not cell:
            found |= ({False} if array in reads else set()) | ({True} if array in writes else set())
        return found


class Traced(np.ndarray):
    """An array that notes its accesses in a trace."""

    trace: Trace | None = None
    name = ""

    def _note(self, key: Any, is_write: bool) -> None:
        if self.trace is None or not self.name:
            return
        key = key if isinstance(key, tuple) else (key,)
        if any(isinstance(each, slice) for each in key):
            return
        cell = tuple(int(k) % e if e else int(k) for k, e in zip(key, self.shape, strict=False))
        self.trace.touches.append(Touch(len(self.trace.runs) - 1, self.name, cell, is_write))

    def __getitem__(self, key: Any) -> Any:
        self._note(key, False)
        return np.ndarray.__getitem__(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._note(key, True)
        np.ndarray.__setitem__(self, key, value)


def traced(program: Program, source: Source, sizes: Mapping[str, int]) -> Trace:
    """The trace of a program whose statements carry origins, at the sizes of a witness.

    Raises:
        Exception: whatever the program raises there.
    """
    trace = Trace()
    new = program.cloned()
    _instrument(new.function, trace)
    tree = ast.parse(_text(new))
    tree.body = [each for each in tree.body if not isinstance(each, (ast.Import, ast.ImportFrom))]
    space = Memory(fill=0.0).words()

    def named(name: str, array: Any) -> Any:
        made = np.array(array).view(Traced)
        made.trace, made.name = trace, name
        return made

    space |= {"_at": trace.at, "_named": named}
    exec(compile(tree, "<traced>", "exec"), space)
    n, m = _sizes(source, sizes)
    given = arguments(source, n, m, extents=sizes)
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            given[name] = named(name, value)
        elif name in sizes:
            given[name] = sizes[name]
    with np.errstate(all="ignore"):
        space["f"](**given)
    trace.at(-1, ())
    return trace


def _text(program: Program) -> str:
    return module_text(program)


def _sizes(source: Source, sizes: Mapping[str, int]) -> tuple[int, int]:
    """n and m from the sizes of a witness; extents say them where the arguments do not."""
    found = {"n": sizes.get("n"), "m": sizes.get("m")}
    for array, axes in source.extents.items():
        for axis, text in enumerate(axes):
            value = sizes.get(f"{array}.shape[{axis}]")
            if text in found and value is not None:
                found[text] = value
    usual = 3
    n = found["n"] if found["n"] is not None else usual
    m = found["m"] if found["m"] is not None else usual
    return n, m


def _instrument(function: ast.FunctionDef, trace: Trace) -> None:
    """Put a call that notes the iteration before each statement.

    One that carries no origin, such as a copy, stands for no iteration; what it touches is its own.
    """
    for statement in list(query.statements(function)):
        for body in query.bodies(statement):
            for index in range(len(body) - 1, -1, -1):
                each = body[index]
                held = nodes.origin(each)
                if held is None:
                    if isinstance(each, (ast.Assign, ast.AugAssign)):
                        nothing = nodes.call(
                            "_at", [nodes.const(_NO_ORIGIN), ast.Tuple([], ast.Load())]
                        )
                        body.insert(index, ast.Expr(nothing))
                    continue
                reads, writes = query.names_read(each), query.names_written(each)
                if isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
                    reads = reads | {each.target.id}
                trace.names[held.statement] = (frozenset(reads), frozenset(writes))
                made = query.allocation(each)
                if made is not None and isinstance(each, ast.Assign):
                    each.value = nodes.call("_named", [nodes.const(made.array), each.value])
                values = [nodes.clone(value) for value in held.iteration]
                iteration = ast.Tuple(list(values), ast.Load())
                note = nodes.call("_at", [nodes.const(held.statement), iteration])
                body.insert(index, ast.Expr(note))


# --- judging ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replay:
    """What a replay found.

    Args:
        verdict: ``"shown"``: all is as the witness says. ``"false"``: an iteration does not
            exist, or does not touch the cell. ``"may"``: the same, for a statement that holds a
            condition on data. ``"unordered"``: both are real, but the step keeps their order.
            ``"invalid"``: the original does not run at these sizes. ``"skipped"``: nothing can
            be replayed.
        reason: what is false.
    """

    verdict: str
    reason: str = ""


def replay(witness: Witness, original: Program, new: Program | None, source: Source) -> Replay:
    """Run the witness of a refused step.

    Args:
        witness: what the refusal shows.
        original: the program before all steps, with origins.
        new: the program that was refused, with the origins that its statements carry.
        source: its arguments.
    """
    if isinstance(witness, RaceWitness):
        if new is None:
            return Replay("skipped")
        return _replay_race(witness, with_origins(new), source)
    if witness.kind == "statement":
        return Replay("skipped")
    sizes: Mapping[str, int] = witness.sizes
    try:
        try:
            before = traced(original, source, sizes)
        except IndexError:
            sizes = _roomy(sizes, source)
            before = traced(original, source, sizes)
    except Exception as error:  # whatever the program raises at these sizes
        return Replay("invalid", f"{dict(sizes)}: {type(error).__name__}: {error}")
    problem = _meets(witness, before)
    if problem is not None:
        return Replay("may" if _depends_on_data(witness) else "false", problem)
    if new is None:
        return Replay("skipped")
    try:
        after = traced(new, source, sizes)
    except Exception:  # whatever the program raises
        return Replay("shown")
    if _is_reversed(witness, before, after):
        return Replay("shown")
    if witness.kind == "missing":
        return Replay("false", "the iteration that should be missing runs")
    return Replay("unordered")


def _roomy(sizes: Mapping[str, int], source: Source) -> dict[str, int]:
    """Sizes with long axes: what an index that is not affine needs, a witness does not say.

    Arrays whose lengths the program asks for stay as they are.
    """
    found = dict(sizes)
    for name, extent in sizes.items():
        array, _, axis = name.partition(".shape[")
        if axis and f"{array}.shape" not in source.text and f"len({array})" not in source.text:
            found[name] = max(extent, _ROOM)
    return found


def _replay_race(witness: RaceWitness, new: Program, source: Source) -> Replay:
    try:
        trace = traced(new, source, witness.sizes)
    except Exception as error:  # whatever the program raises at these sizes
        return Replay("invalid", f"{type(error).__name__}: {error}")
    first, second = _moment(witness.first), _moment(witness.second)
    if witness.depends_on_data:
        return Replay("skipped")
    if first is None or second is None:
        return Replay("false", "an iteration is missing")
    problem = _missing(trace, first, second)
    if problem is None:
        touched = [trace.touched(each, witness.array, witness.cell) for each in (first, second)]
        if not all(touched):
            problem = f"one of them does not touch {witness.array}{list(witness.cell)}"
        elif not any(True in each for each in touched):
            problem = "none of them writes"
        elif first == second and len(trace.times(first)) < 2:
            problem = "both are the same iteration"
    return Replay("shown") if problem is None else Replay("false", problem)


def _depends_on_data(witness: Witness) -> bool:
    """Whether one of the statements decides by data what it touches."""
    statements = [each.statement for each in (witness.first, witness.second) if each is not None]
    return any(
        isinstance(node, (ast.If, ast.While, ast.IfExp, ast.BoolOp)) or _reads_index(node)
        for statement in statements
        if statement is not None
        for node in ast.walk(statement)
    )


def _reads_index(node: ast.AST) -> bool:
    """Whether this is an access whose index comes out of an array."""
    return isinstance(node, ast.Subscript) and any(
        isinstance(each, ast.Subscript) for each in ast.walk(node.slice)
    )


def _moment(instance: Instance | None) -> Moment | None:
    if instance is None:
        return None
    return instance.number, tuple(value for _, value in instance.iteration)


def _missing(trace: Trace, *moments: Moment | None) -> str | None:
    for each in moments:
        if each is not None and not trace.times(each):
            return f"iteration {each[1]} of statement {each[0]} does not run"
    return None


def _meets(witness: Witness, trace: Trace) -> str | None:
    """What is wrong with the two iterations of a witness in the original, or None."""
    first, second = _moment(witness.first), _moment(witness.second)
    if witness.kind == "extra":  # inlined or run, only the step has it
        runs = first is not None and trace.times(first)
        return "the iteration that should be one too many runs in the original" if runs else None
    problem = _missing(trace, first, second)
    if problem is not None:
        return problem
    wanted = {
        "flow": (True, False),
        "anti": (False, True),
        "output": (True, True),
        "missing": (True, False),
    }[witness.kind]
    for moment, is_write in zip((first, second), wanted, strict=True):
        if moment is None or moment[0] < 0:
            continue
        if is_write not in trace.touched(moment, witness.array, witness.cell):
            verb = "write" if is_write else "read"
            return f"{moment} does not {verb} {witness.array}{list(witness.cell)}"
    if first is None or second is None or first == second:
        return None
    is_late = min(trace.times(first)) > max(trace.times(second))
    return "the first does not run before the second" if is_late else None


def _is_reversed(witness: Witness, before: Trace, after: Trace) -> bool:
    """Whether the new program really changes the order of the two iterations."""
    first, second = _moment(witness.first), _moment(witness.second)
    ones = after.times(first) if first is not None else []
    others = after.times(second) if second is not None else []
    match witness.kind:
        case "missing":
            return len(ones) < len(before.times(first)) if first is not None else False
        case "flow" if first is None:
            start = min(others, default=0)
            known = {
                each.run
                for each in after.touches
                if each.is_write and each.array == witness.array and each.cell == witness.cell
            }
            is_elsewhere = second is not None and False not in after.touched(
                second, witness.array, witness.cell
            )
            return not witness.cell or is_elsewhere or any(run < start for run in known)
        case "flow":
            return any(not any(one < other for one in ones) for other in others)
        case "anti":
            if not ones:  # it stands for no statement of its own now: its text is in another one
                ones = [
                    each.run
                    for each in after.touches
                    if not each.is_write
                    and (each.array, each.cell) == (witness.array, witness.cell)
                ]
            return any(other < one for one in ones for other in others)
        case "output":
            return bool(ones) and bool(others) and max(ones) > max(others)
    return True
