"""`Schedule`: what a user holds; every primitive as a method, every step proved."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import astile
from astile.analysis.statements import with_origins
from astile.analysis.verdicts import Proved
from astile.errors import AstileError, ScheduleError
from astile.frontend.build import build
from astile.ir import nodes
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.ir.stages import Stage, stages
from astile.ir.verify import verify
from astile.lower import cpu, cuda, python
from astile.lower.lowered import Lowered
from astile.rewrites.bind import bind
from astile.rewrites.compute_at import compute_at
from astile.rewrites.distribute import distribute
from astile.rewrites.expand import expand
from astile.rewrites.fuse import fuse
from astile.rewrites.merge import merge
from astile.rewrites.parallel import parallel
from astile.rewrites.reorder import reorder
from astile.rewrites.result import Rewritten
from astile.rewrites.reverse_compute_at import reverse_compute_at
from astile.rewrites.set_scope import set_scope
from astile.rewrites.simplify import simplify
from astile.rewrites.split import split
from astile.rewrites.unroll import unroll
from astile.rewrites.vectorize import vectorize
from astile.schedule import compose, select
from astile.schedule.outline import outline
from astile.schedule.prover import Prover
from astile.schedule.select import Loop
from astile.schedule.step import Step, unified_diff
from astile.schedule.trace import Call, Trace, calls_from_json

#: Methods of `Schedule` that a trace may call.
PRIMITIVES = (
    "split",
    "reorder",
    "fuse",
    "merge",
    "distribute",
    "unroll",
    "compute_at",
    "reverse_compute_at",
    "set_scope",
    "expand",
    "bind",
    "parallel",
    "vectorize",
)

LoopLike = Loop | str
StageLike = Stage | Loop | str
Target = Literal["auto", "cpu", "cuda", "python", "emulate"]


class Schedule:
    """A program and the steps that made it from the user's function.

    Args:
        function: a plain function of loops, a `Kernel`, or a `Program`.
        exact: refuse steps that only reassociate a reduction.
        scratch: names of array arguments whose contents after the call nobody reads.

    Raises:
        SourceError: for Python that is not read.
    """

    def __init__(
        self,
        function: Callable[..., Any] | Program,
        *,
        exact: bool = False,
        scratch: Sequence[str] = (),
    ) -> None:
        self.exact = exact
        held = getattr(function, "schedule", None)
        if isinstance(function, Program):
            program = function
        elif isinstance(held, Schedule):
            program = held.original
        else:
            program = build(function, scratch=scratch)
        self.original: Program = with_origins(program)
        self._start = self.original
        self._steps: tuple[Step, ...] = ()
        self._prover: Prover | None = None

    # --- what there is --------------------------------------------------------------------------

    @property
    def program(self) -> Program:
        """The program after the last step."""
        return self._steps[-1].program if self._steps else self._start

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps taken so far."""
        return self._steps

    @property
    def trace(self) -> Trace:
        """The calls made so far."""
        return Trace(self.original, tuple(each.made_by for each in self._steps))

    def loops(self, stage: StageLike | None = None) -> tuple[Loop, ...]:
        """All loops in program order, or those around the statements of a stage."""
        if stage is None:
            found = select.counted_loops(self.program)
        else:
            found = select.loops_of(self.program, select.stage_or_loop(self.program, stage))
        return self._handles([i for each in found if (i := nodes.loop_id(each)) is not None])

    def stages(self) -> tuple[Stage, ...]:
        """All stages in program order."""
        return tuple(stages(self.program.function))

    def source(self, target: str = "python") -> str:
        """The text of a complete module of the scheduled program.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
        """
        return self.lowered(target).text

    def lowered(self, target: str, types: Mapping[str, str] | None = None) -> Lowered:
        """The text for a target, with what its launcher needs to know.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            types: array argument -> name of its dtype, where known.

        Raises:
            ScheduleError: for an unknown target.
            LoweringError: when the target cannot run this program.
        """
        if target == "python":
            return python.lower(self.program)
        if target == "cpu":
            return cpu.lower(self.program, exact=self.exact, types=types)
        if target == "cuda":
            return cuda.lower(self.program, types=types)
        raise ScheduleError(
            f"no target {target!r}",
            code="schedule.bad-target",
            hints=['targets with a text are "python", "cpu" and "cuda"'],
        )

    def diff(self) -> str:
        """A unified diff from the user's function to the scheduled program."""
        return unified_diff(module_text(self.original), module_text(self.program))

    def show(self) -> None:
        """Print the scheduled program."""
        print(self.source(), end="")

    def print_loop_nest(self) -> None:
        """Print the loops and the stages inside them, as an outline."""
        print(outline(self.program))

    def copy(self) -> Schedule:
        """A schedule that has the same steps and can go on by itself."""
        twin = Schedule(self.original, exact=self.exact)
        twin._start, twin._steps, twin._prover = self._start, self._steps, self._prover
        return twin

    def apply(self, trace: Trace | str) -> None:
        """Make the calls of a trace; each is proved again.

        Args:
            trace: a trace, or the JSON of one; nothing in it is executed.

        Raises:
            ScheduleError: for JSON that is no trace, and from the first call that is refused.
        """
        if isinstance(trace, str):
            trace = Trace(self.original, calls_from_json(trace, PRIMITIVES))
        trace.apply_to_schedule(self)

    def undo(self) -> None:
        """Take the last step back.

        Raises:
            ScheduleError: when there is none.
        """
        if not self._steps:
            raise ScheduleError("there is no step to undo", code="schedule.nothing-to-do")
        self._steps = self._steps[:-1]
        self._prover = None

    def build(self, target: Target = "auto") -> astile.Kernel[..., Any]:
        """A `Kernel` that runs the scheduled program."""
        return astile.Kernel.of_schedule(self, target)

    # --- loops ----------------------------------------------------------------------------------

    def split(
        self,
        loop: LoopLike,
        factors: Sequence[int | None],
        names: Sequence[str] | None = None,
        tail: str = "guard",
        *,
        unsafe: bool = False,
    ) -> tuple[Loop, ...]:
        """Split a loop into nested loops, outermost first; see `astile.rewrites.split`."""
        call = self._call("split", loop, factors=list(factors), names=names, tail=tail)
        return self._apply(call, unsafe, lambda p: split(p, self._loop(loop), factors, names, tail))

    def tile(
        self,
        loops: Sequence[LoopLike],
        sizes: Sequence[int],
        names: Sequence[str] | None = None,
        tail: str = "guard",
        *,
        unsafe: bool = False,
    ) -> tuple[Loop, ...]:
        """Split each loop and reorder: all outer loops, then all inner ones."""
        return compose.tile(self, loops, sizes, names, tail, unsafe=unsafe)

    def reorder(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Put loops in the given order, outermost first; see `astile.rewrites.reorder`."""
        call = self._call("reorder", *loops)
        return self._apply(call, unsafe, lambda p: reorder(p, [self._loop(x) for x in loops]))

    def fuse(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of nested loops; see `astile.rewrites.fuse`."""
        call = self._call("fuse", *loops)
        return self._apply(call, unsafe, lambda p: fuse(p, [self._loop(x) for x in loops]))

    def merge(self, first: LoopLike, second: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of two neighbouring loops; see `astile.rewrites.merge`."""
        call = self._call("merge", first, second)
        return self._apply(call, unsafe, lambda p: merge(p, self._loop(first), self._loop(second)))

    def distribute(
        self, loop: LoopLike, at: StageLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Cut a loop in two before a stage; see `astile.rewrites.distribute`."""
        call = self._call("distribute", loop, at=at)
        position = compose.position_in(self.program, self._loop(loop), self._stage(at))
        return self._apply(call, unsafe, lambda p: distribute(p, self._loop(loop), position))

    def unroll(
        self, loop: LoopLike, factor: int | None = None, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Unroll a loop where the target compiles it; see `astile.rewrites.unroll`."""
        call = self._call("unroll", loop, factor=factor)
        return self._apply(call, unsafe, lambda p: unroll(p, self._loop(loop), factor))

    # --- interleaving ---------------------------------------------------------------------------

    def compute_at(
        self, stage: StageLike, loop: LoopLike, index: int = -1, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a producer inside a loop of its consumer; see `astile.rewrites.compute_at`."""
        call = self._call("compute_at", stage, loop, index=index)
        return self._apply(
            call, unsafe, lambda p: compute_at(p, self._stage(stage), self._loop(loop), index)
        )

    def reverse_compute_at(
        self, stage: StageLike, loop: LoopLike, index: int = -1, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a consumer inside a loop of its producer; see the rewrite of this name."""
        call = self._call("reverse_compute_at", stage, loop, index=index)
        return self._apply(
            call,
            unsafe,
            lambda p: reverse_compute_at(p, self._stage(stage), self._loop(loop), index),
        )

    # --- storage --------------------------------------------------------------------------------

    def set_scope(self, array: str, scope: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Keep an intermediate in a memory scope; see `astile.rewrites.set_scope`."""
        call = self._call("set_scope", array, scope)
        return self._apply(call, unsafe, lambda p: set_scope(p, array, scope))

    def expand(self, scalar: str, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Give each iteration its own cell of a scalar; see `astile.rewrites.expand`."""
        call = self._call("expand", scalar, *loops)
        return self._apply(
            call, unsafe, lambda p: expand(p, scalar, [self._loop(x) for x in loops])
        )

    # --- hardware -------------------------------------------------------------------------------

    def bind(self, loop: LoopLike, axis: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Bind a loop to ``"blockIdx.x"`` ... ``"threadIdx.z"``; see `astile.rewrites.bind`."""
        call = self._call("bind", loop, axis)
        return self._apply(call, unsafe, lambda p: bind(p, self._loop(loop), axis))

    def parallel(self, loop: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Run a loop on several CPU threads; see `astile.rewrites.parallel`."""
        call = self._call("parallel", loop)
        return self._apply(call, unsafe, lambda p: parallel(p, self._loop(loop)))

    def vectorize(self, loop: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Run a loop in vector lanes; see `astile.rewrites.vectorize`."""
        call = self._call("vectorize", loop)
        return self._apply(call, unsafe, lambda p: vectorize(p, self._loop(loop)))

    # --- how a step is taken --------------------------------------------------------------------

    def _handles(self, identities: Sequence[int]) -> tuple[Loop, ...]:
        return tuple(Loop(self, each) for each in identities)

    def _loop(self, wanted: LoopLike) -> int:
        return select.find_loop(self.program, wanted)

    def _stage(self, wanted: StageLike) -> Stage:
        return select.stage_or_loop(self.program, wanted)

    def _call(self, primitive: str, *arguments: object, **options: object) -> Call:
        """The call with loops and stages as names, and options that are not the default."""
        defaults = {"names": None, "tail": "guard", "factor": None, "index": -1}
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
            result = rewrite(before)
            program = simplify(result.program)
            verify(program)
            if nodes.same(program.function, before.function):
                raise ScheduleError("this changes nothing", code="schedule.nothing-to-do")
            proof = None if unsafe else self._proved(program)
        except AstileError as error:
            error.diagnostic = replace(error.diagnostic, operation=str(call))
            raise
        if unsafe:
            program = self._taken_on_trust(program, call)
        self._steps = (*self._steps, Step(call, before, program, proof))
        return self._handles(result.loops)

    def _proved(self, program: Program) -> Proved:
        if self._prover is None:
            self._prover = Prover(self._baseline(), exact=self.exact)
        known = self._steps[-1].proof if self._steps else None
        return self._prover.prove(self.program, known, program)

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
