"""The forms of one kernel: its schedule for each target, and what runs there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from astile import lower
from astile.analysis import extents
from astile.analysis.extents.conditions import Condition, Division
from astile.errors import ArgumentError, ScheduleError
from astile.frontend.build import build
from astile.frontend.decided import Fact
from astile.frontend.reductions import reductions
from astile.ir import needs, query
from astile.ir.program import Program
from astile.lower.parameters.uses import uses
from astile.runtime import arguments, collector, findings
from astile.runtime.arrays import array_facts
from astile.runtime.findings import Findings
from astile.runtime.specialize import Other, Specializer, are_floats
from astile.schedule import bare
from astile.schedule.schedule import Schedule
from astile.schedule.step import Step
from astile.schedule.wants import Wants

if TYPE_CHECKING:
    from astile.lower.parameters.assumed import Dtypes
    from astile.schedule.printed import Printed

#: Applies primitives to the schedule it is given.
Scheduling = Callable[[Schedule], None]

TARGETS = ("python", "cpu", "cuda", "emulate")


class Forms:
    """Makes schedules and callables when they are first asked for, each of them once.

    Args:
        program: the function as the user wrote it.
        tiles: loop name -> size of its tiles; None lets astile choose.
        scheduling: applies primitives, or a schedule that was made before; instead of `tiles`.
        exact: keep every bit of what the plain function gives.
        keeps_sums: whether NumPy goes on to add floating-point numbers in an order of its own.
    """

    def __init__(
        self,
        program: Program,
        tiles: Mapping[str, int] | None,
        scheduling: Scheduling | Schedule | None,
        *,
        exact: bool,
        keeps_sums: bool = False,
    ) -> None:
        self.program = program
        self.uses = uses(program)
        self._tiles = None if tiles is None else dict(tiles)
        self._scheduling = scheduling
        self._exact, self._keeps_sums = exact, keeps_sums
        self._lock = threading.RLock()
        self._schedules: dict[str, Schedule] = {}
        self._wants: dict[str, Wants] = {}
        self._specializers: dict[str, Specializer] = {}
        self._masks: dict[tuple[tuple[str, str], ...], bool] = {}
        self._sure: dict[tuple[tuple[str, str], ...], tuple[Condition, ...] | None] = {}
        self._summed: dict[str, Program | None] = {}
        self._summing: dict[str, Specializer] = {}

    def like(
        self,
        function: object,
        ranks: Mapping[str, int],
        integers: Mapping[str, str],
        facts: Iterable[tuple[str, Fact]],
    ) -> Forms:
        """The forms of the function for other arrays, under the same schedule.

        Args:
            function: what the program was made from.
            ranks: parameter -> how many axes it has, where it has more than the text shows.
            integers: arrays of integers of which sums are taken -> their dtype.
            facts: what is known of arguments that the function compares with None or strings.
        """
        program = build(
            function,
            scratch=self.program.scratch,
            exact=self._keeps_sums,
            ranks=ranks,
            integers=integers,
            facts=facts,
        )
        return Forms(
            program,
            tiles=self._tiles,
            scheduling=self._scheduling,
            exact=self._exact,
            keeps_sums=self._keeps_sums,
        )

    @cached_property
    def as_written(self) -> Forms:
        """What runs where the needs of the program are not met: the function without steps."""
        written = self.program.written
        if written is None:
            return self
        return Forms(written, tiles=None, scheduling=_take_no_step, exact=self._exact)

    @cached_property
    def without_steps(self) -> Forms:
        """What runs where the order of statements shows, since one of them raises."""
        program = self.program.written or self.program
        return Forms(program, tiles=None, scheduling=_take_no_step, exact=self._exact)

    @cached_property
    def _origin(self) -> str | None:
        """Names the program; None where nothing is kept of it."""
        made = next(iter(self._schedules.values()), None)
        return (made or Schedule(self.program, exact=self._exact)).origin

    @cached_property
    def _findings(self) -> Findings:
        return findings.of(self.program, self._origin)

    def suited_to(self, values: Mapping[str, object], target: str) -> Forms:
        """These forms, or those of the function as it was written.

        Args:
            values: parameter -> argument, defaults filled in.
            target: where it is going to run.

        Raises:
            ArgumentError: where the function divides by zero, and the target cannot raise.
        """
        found = self if needs.are_met(self.program.needs, values) else self.as_written
        by_zero = found._raising_division(values)
        if by_zero is None:
            return found
        if target in ("cuda", "emulate"):
            raise ArgumentError(
                f"{by_zero.text} divides by zero, for which Python raises an error",
                code="argument.division",
                span=by_zero.span,
                notes=("a GPU cannot raise one in the middle of a kernel",),
                hints=("use target='cpu', or divide numbers of NumPy",),
            )
        return found.without_steps

    def _raising_division(self, values: Mapping[str, object]) -> Division | None:
        if not self._findings.divisions:
            return None
        found = [array_facts(name, value) for name, value in values.items()]
        shapes = {each.name: each.shape for each in found if each is not None}
        ints = {n: int(v) for n, v in values.items() if isinstance(v, (int, np.integer))}
        return next((e for e in self._findings.divisions if e.raises(values, shapes, ints)), None)

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """What must hold of the sizes at a call for every access to stay inside its array."""
        return self._findings.conditions

    @cached_property
    def _checked_on_a_gpu(self) -> frozenset[str]:
        """Arguments that have accesses, with steps or without, whose indices kernels check."""
        parameters = set(query.parameters(self.program.function))
        scheduled = self.schedule("cuda").program
        found = {each.array for each in extents.bounds.unproved(scheduled)}
        found |= self._findings.unproved
        return frozenset(parameters if "" in found else found & parameters)

    def needs_the_host(self, checked: arguments.Checked, target: str) -> bool:
        """Whether a call has to run on the host, without steps.

        There statements are never reached for nothing, and truth values as indices are masks of
        whole arrays, where the proof of a step takes an index for one cell. A GPU puts a cell of
        the array in place of one outside, and an array without cells has none.

        Args:
            checked: the arguments of the call.
            target: where it is going to run.
        """
        if target == "python":
            return self._picks_by_masks(checked.types)
        if target not in ("cuda", "emulate"):
            return False
        empty = {name for name, each in checked.arrays.items() if 0 in each.shape}
        on_device = any(each.on_device for each in checked.arrays.values())
        return not on_device and bool(empty) and not empty.isdisjoint(self._checked_on_a_gpu)

    @cached_property
    def _may_pick_by_masks(self) -> bool:
        return lower.types.flags.may_be(self.program)

    def _picks_by_masks(self, types: Mapping[str, str]) -> bool:
        if not self._may_pick_by_masks:
            return False
        key = tuple(types.items())
        if key not in self._masks:
            kinds = lower.types.kinds.Kinds(self.program, types)
            found = lower.types.flags.truths(self.program, kinds)
            self._masks[key] = next(found, None) is not None
        return self._masks[key]

    def _sure_of(self, types: Mapping[str, str]) -> tuple[Condition, ...] | None:
        """Conditions under which no call with arguments of these types leaves an array."""
        key = tuple(types.items())
        if key not in self._sure:
            self._sure[key] = findings.sure(self.program, self._origin, types)
        return self._sure[key]

    def may_leave(self, checked: arguments.Checked, target: str) -> bool:
        """Whether a call may leave an array, so that every index has to be checked as it runs.

        Args:
            checked: the arguments of the call.
            target: where it is going to run; only code for the CPU does not check by itself.
        """
        if target != "cpu" or not self._findings.may_leave:
            return False
        sure = self._sure_of(checked.types)
        shapes = {name: each.shape for name, each in checked.arrays.items()}
        ints = {n: int(v) for n, v in checked.values.items() if isinstance(v, (int, np.integer))}
        return sure is None or not all(each.is_known_to_hold(shapes, ints) for each in sure)

    def schedule(self, target: str) -> Schedule:
        """The schedule of a target; one that the user wrote serves all targets.

        Args:
            target: one of `TARGETS`.
        """
        family = "cuda" if target in ("cuda", "emulate") else "cpu"
        key = "user" if self._scheduling is not None else family
        with self._lock:
            if key not in self._schedules:
                with collector.waiting():
                    self._schedules[key] = self._new_schedule(family)
            return self._schedules[key]

    def _new_schedule(self, family: str) -> Schedule:
        if isinstance(self._scheduling, Schedule):
            made = self._scheduling.copy()
        else:
            made = Schedule(self.program, exact=self._exact)
        if not self._schedules:
            findings.require_written(self.program, made.origin)
        if isinstance(self._scheduling, Schedule):
            return made
        if self._scheduling is not None:
            self._scheduling(made)
        else:
            self._wants[family] = bare.choose(made, self._tiles, family)
        return made

    @property
    def takes_schedule(self) -> bool:
        """Whether the steps that the user wrote are legal here: another text has other loops."""
        if self._scheduling is None and self._tiles is None:
            return True
        try:
            self.schedule("cpu")
        except ScheduleError:
            return False
        return True

    def rewrites(self, target: str) -> bool:
        """Whether what runs on a target differs from the function as it was written.

        Args:
            target: one of `TARGETS`.
        """
        return self.program.written is not None or bool(self.schedule(target).steps)

    def specializer(self, target: str, values: Mapping[str, object]) -> Specializer:
        """What makes the callables of a target.

        Args:
            target: one of `TARGETS`.
            values: parameter -> argument of the call.
        """
        with self._lock:
            summed = self._with_loops_of_sums(target)
            if summed is not None and needs.are_met(summed.needs, values):
                return self._summing[target]
            if target not in self._specializers:
                schedule = self.schedule(target)
                wants = self._wants.get("cpu", Wants()) if target == "cpu" else Wants()
                other = Other(lambda: self._plain, wants.vectors, wants.floats)
                made = self.specializer_of(
                    lambda: schedule.program, target, schedule.steps, schedule.state, other
                )
                self._specializers[target] = made
            return self._specializers[target]

    def _with_loops_of_sums(self, target: str) -> Program | None:
        """The scheduled program, with loops for the sums that steps left to NumPy; None without.

        Steps are proved on the program with the calls. What NumPy adds in an order of its own no
        kernel can call, and numba adds in another one.
        """
        if self._exact or not self._keeps_sums or target == "python":
            return None
        if target not in self._summed:
            program = self.schedule(target).program
            made = reductions(program)
            self._summed[target] = None if made is program else made
            if made is not program:
                schedule = self.schedule(target)
                state = None if schedule.state is None else f"{schedule.state} with loops of sums"
                self._summing[target] = self.specializer_of(
                    lambda: made, target, schedule.steps, state
                )
        return self._summed[target]

    @cached_property
    def _plain(self) -> Specializer:
        """What runs on a CPU for types for which some of the steps are no use."""
        made = self._plain_schedule
        return self.specializer_of(lambda: made.program, "cpu", made.steps, made.state)

    @cached_property
    def _plain_schedule(self) -> Schedule:
        made = Schedule(self.program, exact=self._exact)
        bare.choose_plain(made)
        return made

    def printed(self, target: str, dtypes: Dtypes | None, runs_on: str) -> Printed:
        """What is printed for a target: the text that runs for arguments of some types.

        Args:
            target: one of `TARGETS`, without ``"emulate"``.
            dtypes: parameter -> its dtype, where it is named.
            runs_on: the target whose program is printed as plain Python.

        Raises:
            ArgumentError: for names that are no parameters, and types that they cannot have.
            LoweringError: when the target cannot run this program for these types.
        """
        schedule = self.schedule(runs_on if target == "python" else target)
        made = schedule.printed(target, dtypes)
        wants = self._wants.get("cpu", Wants())
        if target != "cpu" or made.expected is None or made.schedule is not schedule:
            return made
        is_fit = are_floats(self.program, made.expected.types, wants.floats)
        if is_fit and (made.lowered.in_registers or not wants.vectors):
            return made
        return self._plain_schedule.printed(target, dtypes)

    def specializer_of(
        self,
        program: Callable[[], Program],
        target: str,
        steps: Sequence[Step] = (),
        state: str | None = None,
        other: Other | None = None,
    ) -> Specializer:
        """What makes the callables of a program that some steps lead to; see `Specializer`."""
        is_reordered = any(e.proof is not None and e.proof.kind != "equal" for e in steps)
        return Specializer(
            self.program,
            program,
            target,
            self.uses,
            exact=self._exact,
            is_reordered=is_reordered,
            state=state,
            other=other,
        )


def _take_no_step(schedule: Schedule) -> None:
    """Leave the program as it is."""
