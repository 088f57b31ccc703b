"""`Schedule`: what a user holds; every primitive as a method, every step proved."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import astile
from astile import analysis, frames, lower, schedule
from astile.display import Bundle, bundle
from astile.errors import ScheduleError
from astile.intrinsics import host
from astile.ir import nodes
from astile.ir.module import module_text
from astile.ir.stages import Stage, stages
from astile.schedule import elsewhere, limits, navigate, select
from astile.schedule.hardware_methods import HardwareMethods
from astile.schedule.interleaving_methods import InterleavingMethods
from astile.schedule.loop_methods import LoopMethods
from astile.schedule.outline import outline
from astile.schedule.reduction_methods import ReductionMethods
from astile.schedule.select import Loop
from astile.schedule.step import unified_diff
from astile.schedule.storage_methods import StorageMethods
from astile.schedule.trace import Trace, trace_from_json
from astile.targets import Target, no_text

if TYPE_CHECKING:
    from astile.lower.lowered import Lowered
    from astile.lower.parameters.assumed import Dtypes
    from astile.lower.parameters.expected import Expected
    from astile.lower.vectors.explicit import Machine
    from astile.schedule.printed import Printed

#: Methods of `Schedule` that a trace may call.
PRIMITIVES = (
    "split",
    "reorder",
    "fuse",
    "merge",
    "distribute",
    "unroll",
    "peel",
    "shift",
    "skew",
    "reverse",
    "specialize",
    "compute_at",
    "reverse_compute_at",
    "compute_inline",
    "reverse_compute_inline",
    "compute_root",
    "store_at",
    "rolling_buffer",
    "set_scope",
    "expand",
    "cache_read",
    "cache_write",
    "storage_align",
    "transform_layout",
    "double_buffer",
    "reuse_buffer",
    "decompose_reduction",
    "rfactor",
    "bind",
    "parallel",
    "vectorize",
    "pipeline",
    "tensorize",
    "annotate",
)

StageLike = Stage | Loop | str


@frames.entries
class Schedule(LoopMethods, InterleavingMethods, StorageMethods, ReductionMethods, HardwareMethods):
    """A program and the steps that made it from the user's function.

    Args:
        function: a plain function of loops, a `Kernel`, or a `Program`.
        exact: refuse steps that only reassociate a reduction.
        scratch: names of array arguments whose contents after the call nobody reads.
        budget_seconds: what the proof of one step may cost, in processor time of a slow machine.

    Raises:
        SourceError: for Python that is not read.
    """

    @property
    def trace(self) -> Trace:
        """The calls made so far."""
        calls = [each.made_by for each in self._steps]
        return Trace.of(self.original, calls, exact=self.exact)

    def loops(self, stage: StageLike | None = None) -> tuple[Loop, ...]:
        """All loops in program order, or those around the statements of a stage."""
        if stage is None:
            found = select.counted_loops(self.program)
        else:
            found = select.loops_of(self.program, self._stage(stage))
        return self._handles([i for each in found if (i := nodes.loop_id(each)) is not None])

    def stages(self) -> tuple[Stage, ...]:
        """All stages in program order."""
        return tuple(stages(self.program.function))

    def producers(self, stage: StageLike) -> tuple[Stage, ...]:
        """The stages that write what a stage reads, in program order.

        Args:
            stage: a stage, or a loop for all statements inside it.
        """
        return navigate.producers(self.program, self._stage(stage))

    def consumers(self, stage: StageLike) -> tuple[Stage, ...]:
        """The stages that read what a stage writes, in program order.

        Args:
            stage: a stage, or a loop for all statements inside it.
        """
        return navigate.consumers(self.program, self._stage(stage))

    def find(self, text: str) -> tuple[Loop | Stage, ...]:
        """What a text of the program may mean, loops before stages.

        Args:
            text: the variable of loops, the array or scalar that stages write, or a part of a
                statement as it is printed: ``"conv[i, j] +="``.

        Returns:
            The loops over a variable of this name and the stages of an array of this name; where
            there are none, the stages with such a statement.

        Raises:
            ScheduleError: when there is nothing of the kind.
        """
        found: list[Loop | Stage] = [each for each in self.loops() if each.var == text]
        found += [each for each in self.stages() if each.array == text]
        return tuple(found or navigate.stages_with(self.program, text))

    def source(self, target: str = "python", dtypes: Dtypes | None = None) -> str:
        """The text of a complete module of the scheduled program.

        That of ``"cpu"`` and ``"cuda"`` is made for the types of its arguments, as a call of a
        kernel makes it, and raises a TypeError for others.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            dtypes: parameter -> its dtype: ``{"x": "uint8", "factor": int}``. Where none is named,
                arrays hold float32, or int64 where their cells are indices, and numbers are those
                of Python: of the type of the default value, else of float.

        Raises:
            ScheduleError: for an unknown target.
            ArgumentError: for names that are no parameters, and types that they cannot have.
            LoweringError: when the target cannot run this program for these types.
        """
        return self.printed(target, dtypes).lowered.text

    def printed(self, target: str = "python", dtypes: Dtypes | None = None) -> Printed:
        """The text of `source`, and the schedule that it is of; see `Texts`."""
        if target in ("cpu", "cuda"):
            return schedule.printed.of(self, target, dtypes)
        return schedule.printed.Printed(self, self.lowered(target))

    def lowered(
        self,
        target: str,
        types: Mapping[str, str] | None = None,
        expected: Expected | None = None,
    ) -> Lowered:
        """The text for a target, with what its launcher needs to know.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            types: array argument -> name of its dtype, where known.
            expected: the arguments that the text checks itself for, where no kernel calls it.

        Raises:
            ScheduleError: for an unknown target.
            LoweringError: when the target cannot run this program.
        """
        if target == "python":
            return lower.python.lower(self.program)
        if target == "cpu":
            may_leave = expected is not None and expected.may_leave
            machine = None if may_leave else self._machine(expected)
            return lower.cpu.lower(
                self.program, types=types, machine=machine, one_core=may_leave, expected=expected
            )
        if target == "cuda":
            with limits.naming_steps(self._steps):
                made = lower.cuda.lower(
                    self.program, types=types, exact=self.exact, expected=expected
                )
            if all(each.proof is not None for each in self._steps):
                self._known_prover().check_finished(self.program)
            return made
        raise no_text(target)

    def _machine(self, expected: Expected | None) -> Machine | None:
        """What vectors are made for: none where an index may leave its array."""
        if expected is None and analysis.extents.bounds.unproved(self.original):
            return None
        return lower.vectors.explicit.Machine(host.vector_bytes(), exact=self.exact)

    def diff(self) -> str:
        """A unified diff from the user's function to the scheduled program."""
        return unified_diff(module_text(self.original), module_text(self.program))

    def show(self) -> None:
        """Print the scheduled program."""
        print(self.source(), end="")

    def print_loop_nest(self) -> None:
        """Print the loops and the stages inside them, as an outline."""
        print(outline(self.program))

    def __repr__(self) -> str:
        count = len(self._steps)
        return f"<Schedule of {self.original.name}, {count} step{'s' if count != 1 else ''}>"

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        calls = "".join(f"; {each.call}" for each in self.steps)
        return bundle(f"Schedule of {self.original.name}{calls}", self.source())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise frames.no_attribute(self, name, elsewhere.CALLED)

    def copy(self) -> Schedule:
        """A schedule that has the same steps and can go on by itself."""
        return copy.copy(self)

    def adopt(self, trial: Schedule) -> None:
        """Take over the steps of a copy that has gone on by itself.

        Args:
            trial: a copy of this schedule.
        """
        self._steps, self._prover = trial._steps, trial._prover
        self._next_loop = max(self._next_loop, trial._next_loop)

    def apply(self, trace: Trace | str) -> None:
        """Make the calls of a trace; each is proved again.

        Args:
            trace: a trace, or the JSON of one; nothing in it is executed.

        Raises:
            ScheduleError: for JSON that is no trace, and from the first call that is refused.
        """
        if not isinstance(trace, Trace):
            trace = trace_from_json(trace, self.original.name, PRIMITIVES)
        trace.apply_to_schedule(self)

    def undo(self) -> None:
        """Take the last step back.

        Raises:
            ScheduleError: when there is none.
        """
        if not self._steps:
            raise ScheduleError(
                "there is no step to undo",
                code="schedule.nothing-to-do",
                hints=["`s.steps` holds those that were taken"],
            )
        self._next_loop = self._free_loop()
        self._steps = self._steps[:-1]
        self._prover = None

    def build(self, target: Target = "auto") -> astile.Kernel[..., Any]:
        """A `Kernel` that runs the scheduled program."""
        return astile.Kernel.of_schedule(self, target)
