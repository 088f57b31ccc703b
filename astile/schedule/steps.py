"""How a step of a schedule is taken: rewritten, simplified, proved, recorded."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from astile import analysis, schedule
from astile.analysis.proof.verdicts import BUDGET, Proved
from astile.analysis.reading.statements import with_origins
from astile.errors import AstileError, IllegalSchedule, ScheduleError
from astile.frontend.build import build
from astile.ir import nodes
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.schedule import select
from astile.schedule.known import Asked, Kept, Known
from astile.schedule.select import Loop
from astile.schedule.step import Step
from astile.schedule.texts import Texts
from astile.schedule.trace import Call

if TYPE_CHECKING:
    from astile.rewrites.parts.result import Rewritten
    from astile.schedule.prover import Prover

LoopLike = Loop | str
StageLike = Stage | Loop | str


class Steps(Texts):
    """A program and the steps that made it from the user's function.

    Args:
        function: a plain function of loops, a `Kernel`, or a `Program`.
        exact: refuse steps that only reassociate a reduction.
        scratch: names of array arguments whose contents after the call nobody reads.
        budget_seconds: what the proof of one step may cost, in processor time of a slow machine;
            a step that is not proved within it is refused, on all machines alike.

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
            # steps that are proved equal keep every bit, so NumPy goes on to add in its order
            program = build(function, scratch=scratch, exact=True)
        self.original: Program = with_origins(program)
        self._start = self.original
        self._steps: tuple[Step, ...] = ()
        self._prover: Prover | None = None
        self._is_trial = False
        self._known = Known.of(self.original, exact=exact)
        self._tells_why = True
        #: What the proofs of a call of several steps may cost together, None outside of one.
        self._shared: analysis.isl.Budget | None = None
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

    def ending_with(self, program: Program) -> Self:
        """A schedule whose last program is another one.

        Args:
            program: computes the same.
        """
        twin = copy.copy(self)
        if self._steps:
            twin._steps = (*self._steps[:-1], replace(self._steps[-1], make=lambda: program))
        else:
            twin._start = program
        return twin

    def without_steps(self) -> Self:
        """A schedule of the same function that takes no step."""
        twin = copy.copy(self)
        twin._steps, twin._prover = (), None
        return twin

    @property
    def programs(self) -> tuple[Program, ...]:
        """The program before the first step, and those after each step."""
        return (self._start, *(each.program for each in self._steps))

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
            common = [one.next_loop for one, other in steps if one is other]
            shared = common[-1] if common else self._start.next_loop
        if loop.identity >= shared:
            raise ScheduleError(
                f"the loop over {loop.var} is one of another schedule",
                code="schedule.foreign-loop",
                hints=[f"find it by name: {loop.name!r}"],
            )

    def handle(self, wanted: LoopLike) -> Loop:
        """The loop that a handle or a name means, for functions that take either.

        Args:
            wanted: a handle of this schedule, ``"i"``, ``"conv.i"`` or ``"i#1"``.

        Raises:
            ScheduleError: when there is none, or more than one, or it is another schedule's.
        """
        return Loop(self, self._loop(wanted))

    def _stage(self, wanted: StageLike) -> Stage:
        if isinstance(wanted, Loop):
            self._check_own(wanted)
        return select.stage_or_loop(self.program, wanted)

    def _call(self, primitive: str, *arguments: object, **options: object) -> Asked:
        """A call, with the options that are not the default."""
        defaults = {"names": None, "tail": "guard", "factor": None, "index": -1, "stage": None}
        defaults |= {"loop": None, "first": 0, "last": 0}
        given = {
            key: value
            for key, value in options.items()
            if key not in defaults or value != defaults[key]
        }
        return Asked(primitive, arguments, given)

    def _spelled(self, asked: Asked) -> Call:
        """The call with loops and stages as names."""
        options = {key: self._named(value) for key, value in asked.options.items()}
        return Call(asked.primitive, tuple(map(self._named, asked.arguments)), options)

    def _named(self, value: object) -> object:
        if isinstance(value, Loop):
            if self.program.loop(value.identity) is not None:
                return value.name
            gone = value.schedule is self
            return "a loop that is gone" if gone else "a loop of another schedule"
        if isinstance(value, Stage):
            return value.name
        return [self._named(each) for each in value] if isinstance(value, (list, tuple)) else value

    def _apply(
        self, asked: Asked, unsafe: bool, rewrite: Callable[[Program], Rewritten]
    ) -> tuple[Loop, ...]:
        if unsafe:
            asked = replace(asked, options={**asked.options, "unsafe": True})
        state = self._state_after(asked)
        kept = self._kept(asked, state) if not unsafe else None
        if kept is not None:
            self._take_kept(state, kept)
            return self._handles(kept.loops)
        call = self._spelled(asked)
        try:
            program, loops = schedule.rewriting.rewritten(self.program, rewrite, self._free_loop())
            proof = None if unsafe or self._is_trial else self._proved(program)
        except AstileError as error:
            self._keep_refusal(state, error)
            self._refused(error, call)
            raise
        if unsafe:
            program = self._taken_on_trust(program, call)
        if proof is not None and self._known is not None:
            self._known.keep(state, call, loops, program, proof)
        self._take(state, call, program.next_loop, proof, lambda: program)
        return self._handles(loops)

    def _take_kept(self, state: str | None, kept: Kept) -> None:
        base = self.original
        self._take(state, kept.call, kept.next_loop, kept.proof, lambda: kept.program(base))

    def _take(
        self,
        state: str | None,
        call: Call,
        next_loop: int,
        proof: Proved | None,
        make: Callable[[], Program],
    ) -> None:
        earlier = copy.copy(self)
        earlier._tells_why, earlier._shared = True, None  # it may go on by itself
        self._steps = (*self._steps, Step(call, proof, earlier, next_loop, state, make))

    def _free_loop(self) -> int:
        """The identity of the next loop, which no loop ever had."""
        last = self._steps[-1].next_loop if self._steps else self._start.next_loop
        return max(last, self._next_loop)

    # --- what is known from an earlier time ------------------------------------------------------

    @property
    def origin(self) -> str | None:
        """Names the program that the schedule began with, as `state` names the last one."""
        return None if self._known is None else self._known.start

    @property
    def state(self) -> str | None:
        """Names the program after the last step among all programs; None where none is named.

        Equal names mean equal programs, made from the same function by the same astile.
        """
        if self._known is None or self._is_trial:
            return None
        return self._steps[-1].state if self._steps else self._known.start

    def _state_after(self, asked: Asked) -> str | None:
        """The name under which the step is kept to which a call leads."""
        if self._known is None:
            return None
        return self._known.state(self.state, asked, self._free_loop())

    def _kept(self, asked: Asked, state: str | None) -> Kept | None:
        """The step, where it was taken before.

        Raises:
            ScheduleError: inside `without_reasons`, where it was refused before.
        """
        if self._known is None or state is None:
            return None
        try:
            for loop in asked.handles():
                self._check_own(loop)
        except ScheduleError:  # is told with the call
            return None
        if not self._tells_why and self._known.was_refused(state):
            raise IllegalSchedule("this was refused before", code="illegal.not-proved")
        return self._known.find(state)

    def _keep_refusal(self, state: str | None, error: AstileError) -> None:
        """Keep that a step was refused, unless another time might be enough to prove it."""
        if self._known is None or not isinstance(error, ScheduleError):
            return
        if analysis.isl.OUT_OF_TIME in error.diagnostic.message:
            self._known.undecided += 1
        else:
            self._known.keep_refusal(state)

    @contextlib.contextmanager
    def without_reasons(self) -> Iterator[None]:
        """Inside, nobody reads why a step is refused, so that a refusal need not be found anew."""
        told, self._tells_why = self._tells_why, False
        try:
            yield
        finally:
            self._tells_why = told

    # --- proofs ---------------------------------------------------------------------------------

    def _refused(self, error: AstileError, call: Call) -> None:
        """Say in an error which call failed, and what is legal instead."""
        error.named(str(call))
        if isinstance(error, IllegalSchedule) and not self._is_trial:
            steps, prover, baseline = self._steps, self._known_prover(), self._baseline()

            def start(*, exact: bool) -> Any:
                twin = copy.copy(self)
                twin._steps, twin._is_trial, twin.exact = steps, True, exact
                same = exact == self.exact
                twin._prover = prover if same else schedule.prover.Prover(baseline, exact=exact)
                return twin

            error.advised(lambda: schedule.advice.advise(start, call, error, exact=self.exact))

    def settle(self, seconds: float) -> None:
        """Prove the program of a trial, whose steps were not proved one by one.

        Args:
            seconds: that it may cost, of a slow machine.

        Raises:
            IllegalSchedule: when it is not proved.
        """
        budget = analysis.isl.Budget(seconds)
        self._known_prover().prove(self.program, None, self.program, budget)

    def _known_prover(self) -> Prover:
        if self._prover is None:
            self._prover = schedule.prover.Prover(self._baseline(), exact=self.exact)
        return self._prover

    def _proved(self, program: Program) -> Proved:
        known = self._steps[-1].proof if self._steps else None
        budget = self._shared or analysis.isl.Budget(self._budget)
        return self._known_prover().prove(self.program, known, program, budget)

    @contextlib.contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Inside, a call that is refused takes back the steps before it as well."""
        before, prover = self._steps, self._prover
        try:
            yield
        except AstileError:
            self._next_loop = self._free_loop()
            self._steps, self._prover = before, prover
            raise

    @contextlib.contextmanager
    def as_one_step(self) -> Iterator[None]:
        """Inside, the proofs of all steps together may cost what that of one step may."""
        outside = self._shared
        self._shared = outside or analysis.isl.Budget(self._budget)
        try:
            yield
        finally:
            self._shared = outside

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
