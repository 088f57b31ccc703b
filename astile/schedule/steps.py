"""How a step of a schedule is taken: rewritten, simplified, proved, recorded."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from astile.analysis.equivalence import BUDGET
from astile.analysis.statements import with_origins
from astile.analysis.verdicts import Proved
from astile.errors import AstileError, IllegalSchedule, ScheduleError
from astile.frontend.build import build
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.ir.verify import verify
from astile.lower.lowered import Lowered
from astile.rewrites.result import Rewritten
from astile.rewrites.simplify import simplify
from astile.schedule import blame as blaming
from astile.schedule import select
from astile.schedule.advice import advise
from astile.schedule.blame import Blame
from astile.schedule.prover import Prover, is_same_but_kinds
from astile.schedule.select import Loop
from astile.schedule.step import Step
from astile.schedule.trace import Call

LoopLike = Loop | str
StageLike = Stage | Loop | str


class Steps(ABC):
    """A program and the steps that made it from the user's function.

    Args:
        function: a plain function of loops, a `Kernel`, or a `Program`.
        exact: refuse steps that only reassociate a reduction.
        scratch: names of array arguments whose contents after the call nobody reads.
        budget_seconds: processor time allowed for the proof of one step; a step that is not
            proved within it is refused.

    Raises:
        SourceError: for Python that is not read.
    """

    def __init__(
        self,
        function: Callable[..., Any] | Program,
        *,
        exact: bool = False,
        scratch: Sequence[str] = (),
        budget_seconds: float = BUDGET,
    ) -> None:
        self.exact = exact
        self._budget = budget_seconds
        held = getattr(function, "schedule", None)
        if isinstance(function, Program):
            program = function
        elif isinstance(held, Steps):
            program = held.original
        else:
            program = build(function, scratch=scratch, exact=exact)
        self.original: Program = with_origins(program)
        self._start = self.original
        self._steps: tuple[Step, ...] = ()
        self._prover: Prover | None = None
        self._is_trial = False
        #: Loops get identities from here on, so that none is that of a loop which was undone.
        self._next_loop = 0

    @property
    def program(self) -> Program:
        """The program after the last step."""
        return self._steps[-1].program if self._steps else self._start

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps taken so far."""
        return self._steps

    @abstractmethod
    def lowered(self, target: str, types: Mapping[str, str] | None = None) -> Lowered:
        """The text for a target, with what its launcher needs to know.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            types: array argument -> name of its dtype, where known.
        """

    def blame(self, line: int, target: str = "python") -> Blame:
        """The call that made a line of a generated text, and the user's statement in it.

        Args:
            line: of what `source(target)` gives, from 1.
            target: as for `source`.

        Raises:
            ArgumentError: when there is no such line.
            ScheduleError: for an unknown target.
            LoweringError: when the target cannot run this program.
        """
        return blaming.at(self.line_table(target), line)

    def line_table(self, target: str = "python") -> tuple[Blame, ...]:
        """`blame` for all lines, in order.

        Args:
            target: as for `source`.

        Raises:
            ScheduleError: for an unknown target.
            LoweringError: when the target cannot run this program.
        """
        twin = copy.copy(self)
        stamped = blaming.with_printed_lines(self.program)
        if self._steps:
            twin._steps = (*self._steps[:-1], replace(self._steps[-1], program=stamped))
        else:
            twin._start = stamped
        programs = [self._start, *(each.program for each in self._steps)]
        calls = [each.call for each in self._steps]
        return blaming.table(programs, calls, self.lowered(target), twin.lowered(target))

    def followed_by(self, step: Step) -> Self:
        """A schedule that has taken one more step.

        Args:
            step: whose `before` is the program of this one.
        """
        twin = copy.copy(self)
        twin._steps = (*self._steps, step)
        if step.proof is None:  # what comes later is compared with the program after it
            twin._prover = None
        return twin

    def _handles(self, identities: Sequence[int]) -> tuple[Loop, ...]:
        return tuple(Loop(self, each) for each in identities)

    def _loop(self, wanted: LoopLike) -> int:
        if isinstance(wanted, Loop):
            self._check_own(wanted)
        return select.find_loop(self.program, wanted)

    def _check_own(self, loop: Loop) -> None:
        """Refuse a handle whose identity may be another loop's here.

        Raises:
            ScheduleError: for a loop of another schedule, made by a step that is not one of both.
        """
        theirs = loop.schedule
        assert isinstance(theirs, Steps)
        if theirs is self:
            return
        shared = 0
        if theirs.original is self.original:
            steps = zip(self._steps, theirs._steps, strict=False)
            common = [one.program for one, other in steps if one is other]
            shared = (common[-1] if common else self._start).next_loop
        if loop.identity >= shared:
            raise ScheduleError(
                f"the loop over {loop.var} is one of another schedule",
                code="schedule.foreign-loop",
                hints=[f"find it by name: {loop.name!r}"],
            )

    def _stage(self, wanted: StageLike) -> Stage:
        return select.stage_or_loop(self.program, wanted)

    def _call(self, primitive: str, *arguments: object, **options: object) -> Call:
        """The call with loops and stages as names, and options that are not the default."""
        defaults = {"names": None, "tail": "guard", "factor": None, "index": -1, "stage": None}
        defaults |= {"loop": None, "first": 0, "last": 0}
        given = {
            key: self._named(value)
            for key, value in options.items()
            if key not in defaults or value != defaults[key]
        }
        return Call(primitive, tuple(self._named(each) for each in arguments), given)

    def _named(self, value: object) -> object:
        if isinstance(value, Loop):
            gone = self.program.loop(value.identity) is None
            return "a loop that is gone" if gone else value.name
        if isinstance(value, Stage):
            return value.name
        return list(value) if isinstance(value, tuple) else value

    def _apply(
        self, call: Call, unsafe: bool, rewrite: Callable[[Program], Rewritten]
    ) -> tuple[Loop, ...]:
        if unsafe:
            call = replace(call, options={**call.options, "unsafe": True})
        before = self.program
        try:
            result = rewrite(self._numbered(before))
            program = result.program
            if not is_same_but_kinds(before, program):  # that one was made simple already
                program = simplify(program)
            verify(program)
            if nodes.same(program.function, before.function) and _notes(program) == _notes(before):
                raise ScheduleError(
                    "this changes nothing",
                    code="schedule.nothing-to-do",
                    hints=["leave the call out"],
                )
            proof = None if unsafe or self._is_trial else self._proved(program)
        except AstileError as error:
            self._refused(error, call)
            raise
        if unsafe:
            program = self._taken_on_trust(program, call)
        self._steps = (*self._steps, Step(call, before, program, proof, copy.copy(self)))
        return self._handles(result.loops)

    def _numbered(self, program: Program) -> Program:
        """The program, whose next loop gets an identity that no loop ever had."""
        return replace(program, next_loop=max(program.next_loop, self._next_loop))

    def _refused(self, error: AstileError, call: Call) -> None:
        """Say in an error which call failed, and what is legal instead."""
        error.named(str(call))
        if isinstance(error, IllegalSchedule) and not self._is_trial:
            steps, prover = self._steps, self._known_prover()

            def start() -> Any:
                twin = copy.copy(self)
                twin._steps, twin._prover, twin._is_trial = steps, prover, True
                return twin

            error.advised(lambda: advise(start, call, error))

    def settle(self, seconds: float) -> None:
        """Prove the program of a trial, whose steps were not proved one by one.

        Args:
            seconds: time allowed.

        Raises:
            IllegalSchedule: when it is not proved.
        """
        self._known_prover().prove(self.program, None, self.program, seconds)

    def _known_prover(self) -> Prover:
        if self._prover is None:
            self._prover = Prover(self._baseline(), exact=self.exact)
        return self._prover

    def _proved(self, program: Program) -> Proved:
        known = self._steps[-1].proof if self._steps else None
        return self._known_prover().prove(self.program, known, program, self._budget)

    def _baseline(self) -> Program:
        """The program that steps are compared with: the last one taken on trust, or the first."""
        for each in reversed(self._steps):
            if each.proof is None:
                return each.program
        return self._start

    def _taken_on_trust(self, program: Program, call: Call) -> Program:
        new = program.cloned()
        nodes.add_comment(new.function.body[0], f"unsafe: {call} was not proved")
        self._prover = None
        return with_origins(new)


def _notes(program: Program) -> list[str]:
    """What is noted on the loops, in program order; as text, for 1 and True are equal."""
    return [repr(nodes.notes(each)) for each in query.loops(program.function)]
