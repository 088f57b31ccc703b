"""Names that users give -> loops and stages of the current program."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Protocol

from astile import rewrites
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage, stages

#: Wherever a loop or a stage is asked for: a handle, or a name.
LoopLike = "Loop | str"


class HasProgram(Protocol):
    """Something whose program changes from step to step: a schedule."""

    @property
    def program(self) -> Program:
        """The program after the last step."""


class Loop:
    """A handle on a loop; it stays valid as long as the loop is in the program.

    Args:
        schedule: the schedule it belongs to.
        identity: identity of the loop.
    """

    def __init__(self, schedule: HasProgram, identity: int) -> None:
        self._schedule = schedule
        self.identity = identity

    @property
    def schedule(self) -> HasProgram:
        """The schedule that it is a loop of."""
        return self._schedule

    def _node(self) -> ast.For:
        return loop_node(self._schedule.program, self.identity)

    @property
    def var(self) -> str:
        """The loop's variable."""
        header = query.header(self._node())
        assert header is not None
        return header.variable

    @property
    def name(self) -> str:
        """A name that finds this loop now: its variable when unique, else ``i#1``."""
        return loop_name(self._schedule.program, self.identity)

    @property
    def line(self) -> int | None:
        """Line of the `for` in the user's file; None for a loop that astile made."""
        line = getattr(self._node(), "lineno", None)
        return line if isinstance(line, int) else None

    @property
    def annotations(self) -> Mapping[str, object]:
        """What `annotate` noted on the loop."""
        return dict(nodes.notes(self._node()))

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages with a statement inside the loop."""
        function = self._schedule.program.function
        inside = {id(each) for each in query.statements(self._node())}
        every = list(query.statements(function))
        return tuple(
            stage
            for stage in stages(function)
            if any(id(every[position]) in inside for position in stage.positions)
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loop) and (self._schedule, self.identity) == (
            other._schedule,
            other.identity,
        )

    def __hash__(self) -> int:
        return hash(self.identity)

    def __repr__(self) -> str:
        gone = self._schedule.program.loop(self.identity) is None
        return f"<Loop {'gone' if gone else self.name}>"


def counted_loops(program: Program) -> list[ast.For]:
    """All loops over ranges, in program order."""
    return [each for each in query.loops(program.function) if query.header(each) is not None]


def loop_node(program: Program, identity: int) -> ast.For:
    """The loop with an identity.

    Raises:
        ScheduleError: when it is gone, saying where it went.
    """
    found = program.loop(identity)
    if found is None:
        became = program.gone.get(identity, "it is not in the program")
        raise ScheduleError(
            f"this loop is gone: {became}",
            code="schedule.loop-gone",
            hints=["use the handles that this step returned"],
        )
    return found


def loop_name(program: Program, identity: int) -> str:
    """A name that finds the loop: its variable when unique, else ``i#k``."""
    node = loop_node(program, identity)
    variable = _variable(node)
    same = [each for each in counted_loops(program) if _variable(each) == variable]
    return variable if len(same) == 1 else f"{variable}#{[e is node for e in same].index(True)}"


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    assert header is not None
    return header.variable


def find_loop(program: Program, wanted: Loop | str) -> int:
    """The identity of the loop that a handle or name means.

    Args:
        program: the current program.
        wanted: a handle, ``"i"``, ``"conv.i"`` or ``"i#1"``.

    Raises:
        ScheduleError: when there is none, or more than one.
    """
    if isinstance(wanted, Loop):
        loop_node(program, wanted.identity)
        return wanted.identity
    if not isinstance(wanted, str):
        raise ScheduleError(
            f"a loop is named by a handle or a string, not {wanted!r}",
            code="schedule.bad-loops",
            hints=[
                "name loops one after the other, without brackets"
                if isinstance(wanted, (list, tuple))
                else "write its variable, such as 'i', or 'out.i'"
            ],
        )
    found = _matching(program, wanted)
    if len(found) == 1:
        identity = nodes.loop_id(found[0])
        assert identity is not None
        return identity
    if found:
        names = [
            loop_name(program, identity)
            for each in found
            if (identity := nodes.loop_id(each)) is not None
        ]
        owners: dict[ast.For, str] = {}  # a loop's last stage is what it is there for
        for stage in stages(program.function) if "." not in wanted else ():
            own = _of_stage(program, stage, wanted)
            if len(own) == 1:
                owners[own[0]] = f"{stage.name}.{wanted}"
        raise ScheduleError(
            f"{len(found)} loops are named {wanted!r}",
            code="schedule.ambiguous-loop",
            span=program.source.span(found[1]),
            label="one of them",
            hints=["write " + " or ".join(map(repr, owners.values() or names))],
        )
    raise _no_such_loop(program, wanted)


def _matching(program: Program, wanted: str) -> list[ast.For]:
    stage_name, dot, variable = wanted.rpartition(".")
    if dot:
        return _of_stage(program, find_stage(program, stage_name), variable)
    variable, hash_sign, number = wanted.partition("#")
    found = [each for each in counted_loops(program) if _variable(each) == variable]
    if hash_sign:
        return found[int(number) : int(number) + 1] if number.isdecimal() else []
    return found


def _of_stage(program: Program, stage: Stage, variable: str) -> list[ast.For]:
    variable, hash_sign, number = variable.partition("#")
    found = [each for each in loops_of(program, stage) if _variable(each) == variable]
    return found[int(number) : int(number) + 1] if hash_sign and number.isdecimal() else found


def loops_of(program: Program, stage: Stage) -> list[ast.For]:
    """The loops around the statements of a stage, in program order."""
    every = list(query.statements(program.function))
    around: list[ast.For] = []
    for position in stage.positions:
        place = query.find_place(program.function, every[position])
        assert place is not None
        around += [each for each in place.loops if not any(each is a for a in around)]
    return [each for each in counted_loops(program) if any(each is a for a in around)]


def _no_such_loop(program: Program, wanted: str) -> ScheduleError:
    stage, dot, _ = wanted.rpartition(".")
    around = loops_of(program, find_stage(program, stage)) if dot else counted_loops(program)
    names = [f"{stage}{dot}{_variable(each)}" for each in around]
    gone = [text for text in program.gone.values() if f"replaced {wanted} by" in text]
    hints = suggestions(wanted, names, "loops here")
    return ScheduleError(
        f"no loop named {wanted!r}", code="schedule.no-such-loop", hints=hints, notes=gone[-1:]
    )


def find_stage(program: Program, wanted: Stage | str) -> Stage:
    """The stage that a name means.

    Raises:
        ScheduleError: when there is none, or several write the array.
    """
    every = stages(program.function)
    name = wanted if isinstance(wanted, str) else wanted.name
    exact = [each for each in every if each.name == name]
    if exact:
        return exact[0]
    part = _part_of_reduction(program, every, str(name))
    if part is not None:
        return part
    same_array = [each.name for each in every if each.array == name]
    if same_array:
        raise ScheduleError(
            f"{len(same_array)} stages write {name!r}",
            code="schedule.ambiguous-stage",
            hints=["write " + " or ".join(map(repr, same_array))],
        )
    hints = suggestions(str(name), [each.name for each in every], "stages here")
    raise ScheduleError(f"no stage named {name!r}", code="schedule.no-such-stage", hints=hints)


def _part_of_reduction(program: Program, every: Sequence[Stage], name: str) -> Stage | None:
    """The stage that ``C_init`` or ``C_update`` means: what initialises or updates `C`."""
    array, _, role = name.rpartition("_")
    if role not in ("init", "update"):
        return None
    statements = list(query.statements(program.function))
    found = [
        each
        for each in every
        if each.array == array
        and {
            rewrites.decompose_reduction.reads_itself(statements[k], array) for k in each.positions
        }
        == {role == "update"}
    ]
    return found[0] if len(found) == 1 else None


def stage_or_loop(program: Program, wanted: Stage | Loop | str) -> Stage:
    """A stage by name, or all statements inside a loop as one stage.

    Raises:
        ScheduleError: when neither a stage nor a loop has this name.
    """
    if isinstance(wanted, Stage):
        return find_stage(program, wanted)
    if isinstance(wanted, str):
        known = {each.name for each in stages(program.function)}
        known |= {each.array for each in stages(program.function)}
        if wanted in known or not _matching_or_none(program, wanted):
            return find_stage(program, wanted)
    node = loop_node(program, find_loop(program, wanted))
    inside = {id(each) for each in query.statements(node)}
    every = list(query.statements(program.function))
    positions = tuple(
        k for k, each in enumerate(every) if id(each) in inside and not query.bodies(each)
    )
    arrays = query.written_arrays(node) or sorted(query.names_written(node))
    name = wanted if isinstance(wanted, str) else wanted.name
    return Stage(name, arrays[-1], positions)


def _matching_or_none(program: Program, wanted: str) -> list[ast.For]:
    try:
        return _matching(program, wanted)
    except ScheduleError:
        return []
