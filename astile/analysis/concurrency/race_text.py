"""What a refused race says: the two iterations, where they are written, what is legal instead."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from astile.analysis.concurrency import sample
from astile.analysis.concurrency.conflicts import Conflict, of_iterations
from astile.analysis.concurrency.private import Astray, PrivateFlow
from astile.analysis.concurrency.sample import Sample
from astile.analysis.proof.reductions import form_of
from astile.analysis.proof.verdicts import Instance, Unknown, Witness
from astile.analysis.reading import hardware
from astile.analysis.reading.hardware import Seat
from astile.analysis.reading.homes import Home
from astile.analysis.reading.scene import Scene, Touch
from astile.diagnostics import Related
from astile.errors import IllegalSchedule
from astile.ir import query
from astile.ir.printer import print_expression

#: What meets: blocks of a launch, threads of a block, or iterations of a loop.
Unit = Literal["block", "thread", "iteration"]

_WORDS: Mapping[Unit, str] = {
    "block": "blocks of one launch cannot wait for each other",
    "thread": "no barrier can stand between them: they run the same loops over threads",
    "iteration": "its iterations may run in any order, and at the same time",
}


@dataclass(frozen=True)
class RaceWitness(Witness):
    """Two iterations that may run at the same time and meet in one cell.

    Args:
        labels: what the first and the second iteration do, for the carets.
        notes: why nothing orders them.
        hints: what is legal instead.
        depends_on_data: whether the two iterations meet only for some values in arrays.
    """

    labels: tuple[str, str] = ("", "")
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    depends_on_data: bool = False

    def refusal(self) -> IllegalSchedule:
        """The error that says all of this."""
        first, second = self.first, self.second
        related = []
        if second is not None and second.span is not None:
            related.append(Related(second.span, self.labels[1]))
        return IllegalSchedule(
            self.message,
            witness=self,
            array=self.array,
            kind="race",
            code="illegal.race",
            span=None if first is None else first.span,
            label=self.labels[0],
            related=related,
            notes=self.notes,
            hints=self.hints,
        )


def of_conflict(scene: Scene, conflict: Conflict, unit: Unit) -> RaceWitness:
    """The witness of two accesses that nothing orders."""
    found = sample.pick(scene, conflict.pairs, conflict.first, conflict.second)
    first, second = conflict.first, conflict.second
    cell = _cell(conflict.array, found.cell)
    one = _who(first.seat, found.first, second.seat, found.second, unit, conflict.carrier)
    two = _who(second.seat, found.second, first.seat, found.first, unit, conflict.carrier)
    may = "" if _is_sure(first, second) else "may "
    writes, reads = ("may write", "may read") if may else ("writes", "reads")
    if first.writes and second.writes:
        message = f"{one} and {two} {may or 'both '}write {cell}"
    elif first.writes:
        message = f"{one} {writes} {cell}, which {two} {reads}"
    else:
        message = f"{one} {reads} {cell}, which {two} {writes}"
    notes = [_WORDS[unit]]
    if found.sizes:
        notes.append("for example with " + _values(found.sizes))
    return _witness(
        scene, found, first, second, message,
        (_does(first, one), _does(second, two)), notes,
        _hints(scene, conflict.array, first, second, found, unit, conflict.carrier),
    )  # fmt: skip


def of_astray(scene: Scene, astray: Astray, region: ast.For) -> RaceWitness:
    """The witness of a value that the thread or iteration that reads it does not have."""
    assert astray.write is not None
    assert astray.pairs is not None
    first, second = astray.write, astray.read
    found = sample.pick(scene, astray.pairs, first, second)
    name = _cell(astray.array, found.cell)
    inside = region in second.seat.loops
    one = _iteration(found.first)
    if inside:
        writes = "writes" if _is_sure(first, second) else "may write"
        message = f"{_iteration(found.second)} reads {name}, which {one} {writes}"
    else:
        message = f"{name} is written by {one} and read after the loop over {_variable(region)}"
    unit = "iteration" if hardware.kind(region) in hardware.CONCURRENT else "thread"
    notes = [f"each {unit} has a {astray.array} of its own"]
    if found.sizes:
        notes.append("for example with " + _values(found.sizes))
    labels = (f"written by {one}", "read here" if not inside else "read by another " + unit)
    hints = _hints(scene, astray.array, first, second, found, "iteration", region)
    return _witness(scene, found, first, second, message, labels, notes, hints)


def uncertain(scene: Scene, conflict: Conflict, unit: Unit) -> Unknown:
    """Two accesses of which one may touch any cell."""
    touch = next(each for each in (conflict.first, conflict.second) if not each.access.is_exact)
    node = touch.access.node or touch.seat.statement
    text = print_expression(node) if isinstance(node, ast.expr) else conflict.array
    plural = {"block": "blocks", "thread": "threads", "iteration": "iterations"}[unit]
    return Unknown(
        f"two {plural} may {'write' if touch.writes else 'meet on'} the same cell of "
        f"{conflict.array}: it is not known which cell {text} is",
        scene.program.source.span(node),
    )


def unwritten(scene: Scene, astray: Astray, region: ast.For) -> Unknown:
    """A read of something that the thread or iteration may not have written."""
    node = astray.read.access.node or astray.read.seat.statement
    return Unknown(
        f"{astray.array} may be read before it is written in the same iteration of "
        f"{_variable(region)}, with a value from elsewhere",
        scene.program.source.span(node),
    )


# --- parts --------------------------------------------------------------------------------------


def _witness(
    scene: Scene,
    found: Sample,
    first: Touch,
    second: Touch,
    message: str,
    labels: tuple[str, str],
    notes: list[str],
    hints: list[str],
) -> RaceWitness:
    return RaceWitness(
        kind="race",
        array=first.access.array,
        cell=found.cell,
        first=_instance(scene, first, found.first),
        second=_instance(scene, second, found.second),
        sizes=found.sizes,
        distance=None,
        message=message,
        labels=labels,
        notes=tuple(notes),
        hints=tuple(hints),
        depends_on_data=not _is_sure(first, second),
    )


def _is_sure(first: Touch, second: Touch) -> bool:
    return first.access.sure and second.access.sure


def _instance(scene: Scene, touch: Touch, values: Mapping[str, int]) -> Instance:
    leaf = touch.seat.leaf
    node = touch.access.node or leaf.node
    return Instance(leaf.node, leaf.number, tuple(values.items()), scene.program.source.span(node))


def _values(values: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _cell(array: str, cell: tuple[int, ...]) -> str:
    return f"{array}[{', '.join(map(str, cell))}]" if cell else array


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    return "the loop" if header is None else header.variable


def _iteration(values: Mapping[str, int]) -> str:
    return (
        "iteration " + ", ".join(f"{k}={v}" for k, v in values.items())
        if values
        else ("the statement")
    )


def _who(
    seat: Seat,
    values: Mapping[str, int],
    other: Seat,
    others: Mapping[str, int],
    unit: Unit,
    loop: ast.For | None,
) -> str:
    """``thread (i_1=0)``, with the other loops in which the two iterations are apart."""
    if unit == "iteration":
        named = [loop] if loop is not None else []
        text = "iteration " + ", ".join(f"{_variable(e)}={values[_variable(e)]}" for e in named)
    else:
        named = list((seat.blocks if unit == "block" else seat.threads).values())
        inside = ", ".join(f"{_variable(e)}={values[_variable(e)]}" for e in named)
        text = f"{unit} ({inside})" if named else _nobody(seat, unit)
    apart = [
        f"{_variable(each)}={values[_variable(each)]}"
        for each in seat.loops
        if each not in named
        and each in other.loops
        and not hardware.is_bound(each)
        and values[_variable(each)] != others[_variable(each)]
    ]
    return f"{text} at {', '.join(apart)}" if apart else text


def _nobody(seat: Seat, unit: Unit) -> str:
    return f"the first {unit}" if seat.stores else f"every {unit}"


def _does(touch: Touch, who: str) -> str:
    return f"{'written' if touch.writes else 'read'} by {who}"


def _is_of_update(touch: Touch) -> bool:
    """Whether an access is of the cell that its statement updates: ``s += x``, ``s = max(s, x)``.

    In ``x[i] += x[i - 1]`` that of ``x[i - 1]`` is not.
    """
    node = touch.access.node
    for each in query.statements(touch.seat.statement):
        form = form_of(each)
        if form is None:
            continue
        if not isinstance(node, ast.expr):  # what was there, in case nothing is written
            if query.base_name(form.target) == touch.access.array:
                return True
        elif print_expression(form.target) == print_expression(node) and any(
            inner is node for inner in ast.walk(each)
        ):
            return True
    return False


def _hints(
    scene: Scene,
    array: str,
    first: Touch,
    second: Touch,
    found: Sample,
    unit: Unit,
    loop: ast.For | None,
) -> list[str]:
    """What is legal instead."""
    guilty = _guilty(first.seat, second.seat, found, unit, loop)
    names = " and ".join(_variable(each) for each in guilty) or "the loop"
    hints = []
    is_same = first.seat.statement is second.seat.statement
    if is_same and _is_of_update(first) and _is_of_update(second):
        hints.append(
            f"{array} is a reduction over {names}: keep {names} a plain loop, inside of the "
            "bound ones"
        )
    elif first.writes and second.writes and _could_be_staged(scene, array, first.seat, unit, loop):
        scope = "shared" if unit == "block" else "local"
        hints.append(f"`set_scope({array!r}, {scope!r})` first gives each {unit} cells of its own")
    elif unit == "block" and (step := _step_between(first.seat, second.seat, found)) is not None:
        hints.append(
            f"move the loop over {step} outside of the loops over blocks: each of its iterations "
            "is a launch of its own then"
        )
    elif unit == "thread" and is_same and (home := scene.homes.of(first.seat, array)) is not None:
        hints.append(_loaded_once(names, array, home))
    else:
        hints.append(f"keep {names} a plain loop, or give each iteration cells of its own")
    free = [_variable(each) for each in _free_loops(scene, first.seat, second.seat, guilty)]
    if free:
        hints.append(f"legal to bind or to run in parallel: {', '.join(free)}")
    return hints


def _loaded_once(names: str, array: str, home: Home) -> str:
    """How threads that all store into one tile can share it."""
    if home.scope != "shared" or not home.leaf.place.levels:
        return f"keep {names} a plain loop, or give each iteration cells of its own"
    around = home.leaf.place.levels[-1].variable
    return (
        f"keep {names} a plain loop, or reorder it inside of {around} before {array} is made: its "
        f"threads share what is loaded once for each iteration of {around}"
    )


def _could_be_staged(
    scene: Scene, array: str, seat: Seat, unit: Unit, loop: ast.For | None
) -> bool:
    """Whether an array of the function is used nowhere but in the loop that runs concurrently."""
    around = {"block": seat.kernel, "iteration": loop}.get(unit)
    made = [query.allocation(each) for each in query.statements(scene.program.function)]
    scopes = [each.scope for each in made if each is not None and each.array == array]
    if around is None or scopes != ["global"]:
        return False
    every = query.accesses(scene.program.function, array)
    return len(every) == len(query.accesses(around, array))


def _guilty(
    first: Seat, second: Seat, found: Sample, unit: Unit, loop: ast.For | None
) -> list[ast.For]:
    """The concurrent loops in which the two iterations are apart."""
    if unit == "iteration":
        return [loop] if loop is not None else []
    loops = first.blocks if unit == "block" else first.threads
    return [
        each
        for each in loops.values()
        if each not in second.loops or found.first[_variable(each)] != found.second[_variable(each)]
    ]


def _step_between(first: Seat, second: Seat, found: Sample) -> str | None:
    """A plain loop inside the kernel over which the two iterations are apart."""
    for each in first.loops[first.host :]:
        name = _variable(each)
        if (
            each in second.loops
            and not hardware.is_bound(each)
            and (found.first[name] != found.second[name])
        ):
            return name
    return None


def _free_loops(scene: Scene, first: Seat, second: Seat, guilty: list[ast.For]) -> list[ast.For]:
    """Plain loops around both statements whose iterations are independent."""
    plain = [
        each
        for each in first.loops
        if each in second.loops and each not in guilty and not hardware.is_concurrent(each)
    ]
    flow = PrivateFlow(scene)
    return [
        each
        for each in plain
        if not of_iterations(scene, each) and not any(flow.astray_in_loop(each))
    ]
