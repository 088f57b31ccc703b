"""The decorator and what it returns: a function that runs its scheduled form."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

import astile
from astile import frames, page, runtime
from astile.display import Bundle, bundle
from astile.errors import ArgumentError, InternalError, LoweringError
from astile.forms import Forms, Scheduling
from astile.frontend import build
from astile.ir.module import module_text
from astile.runtime import arguments, arrays, dlpack, launch, load
from astile.runtime import compile as compiling
from astile.runtime.repeats import Repeats
from astile.schedule import limits
from astile.schedule.schedule import Schedule
from astile.schedule.step import Step
from astile.schedule.texts import Texts
from astile.targets import Target, known_target
from astile.variants import Variants

if TYPE_CHECKING:
    import astile.candidates
    import astile.check
    import astile.explain
    import astile.general_report
    from astile.general_report import GeneralReport
    from astile.lower.parameters.assumed import Dtypes
    from astile.report import Report
    from astile.runtime.machine_code import MachineCode
    from astile.schedule.printed import Printed

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@frames.entries
class Kernel(Texts, Generic[P, R_co]):
    """A function of plain loops together with its schedule; call it as the plain function.

    Args:
        function: the plain function.
        tiles: loop name -> size of its tiles; None lets astile choose.
        schedule: applies primitives; instead of `tiles`.
        target: where to run; ``"auto"`` decides by the arguments and by what is installed.
        exact: keep every bit of what the plain function gives.
        scratch: array arguments whose contents after the call nobody reads.

    Raises:
        SourceError: for Python that astile does not read.
        ScheduleError: when a step cannot be applied, or would change the result.
    """

    __name__: str
    __qualname__: str
    __wrapped__: Callable[P, R_co]

    def __init__(
        self,
        function: Callable[P, R_co],
        *,
        tiles: Mapping[str, int] | None = None,
        schedule: Scheduling | Schedule | None = None,
        target: Target = "auto",
        exact: bool = False,
        scratch: Iterable[str] = (),
    ) -> None:
        self._target: str = known_target(target)
        keeps_sums = exact or schedule is not None or self._target == "python"
        own = None if isinstance(schedule, Schedule) else function
        if isinstance(schedule, Schedule):
            program = schedule.original
        else:
            program = build.build(function, scratch=scratch, exact=keeps_sums)
        functools.update_wrapper(self, function)
        self.__signature__: inspect.Signature = inspect.signature(function)
        self._original = program
        self._forms = Forms(program, tiles, schedule, exact=exact, keeps_sums=keeps_sums)
        self._variants = Variants(self._forms, own)
        self._has_warned = False
        self._repeats = Repeats({e.name for e in self._forms.uses if e.may_be_written})
        self._not_compiled: set[tuple[tuple[str, str], ...]] = set()
        self._forms.schedule(self._default_target())  # what is wrong with it shows now

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Run it: NumPy arrays on the host or through the GPU, device arrays where they are."""
        try:
            known = None if kwargs else self._repeats.find(args)
            if known is not None:
                result: R_co = known.again(args)
                return result
            values = self._bound(args, kwargs)
            given = tuple(values.values())
            known = self._repeats.find(given) if len(args) < len(given) else None
            if known is not None:
                return cast("R_co", known.again(given))
            target = self._target_for(values)
            forms = self._variants.fitting(values).suited_to(values, target)
            checked = arguments.check(forms.uses, forms.conditions, values, target)
            return cast("R_co", self._run_or_fall_back(forms, target, checked, given))
        except InternalError:
            raise
        except Exception as error:  # refused, or raised by the user's own statements
            raise frames.for_user(error) from error.__cause__

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise frames.no_attribute(self, name)

    def __repr__(self) -> str:
        return f"<Kernel {self.__name__} for target {self._target!r}>"

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        return bundle(repr(self), self.source())

    def __reduce__(self) -> str:
        return str(self.__qualname__)  # as functions: by the name that finds it in its module

    @classmethod
    def of_schedule(cls, schedule: Schedule, target: str = "auto") -> Kernel[..., Any]:
        """A kernel that runs the program of a schedule as it is now.

        Args:
            schedule: is copied; what is done to it later does not change the kernel.
            target: as for a kernel.
        """
        original = schedule.original
        plain = load.load(module_text(original), original.name, ("plain",))
        made: Kernel[..., Any] = Kernel(
            plain, schedule=schedule, target=known_target(target), exact=schedule.exact
        )
        return made

    # --- looking at it --------------------------------------------------------------------------

    @property
    def schedule(self) -> Schedule:
        """A copy of the schedule; its primitives, and then `build`, make another kernel."""
        return self._forms.schedule(self._default_target()).copy()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps of the schedule, in order."""
        return self._forms.schedule(self._default_target()).steps

    def source(self, target: str = "python", dtypes: Dtypes | None = None) -> str:
        """The text of a complete module that runs by itself.

        That of ``"cpu"`` and ``"cuda"`` is the one that a call with arguments of some types runs;
        it raises a TypeError for others.

        Args:
            target: ``"python"`` for the scheduled program, that of the kernel's own target;
                ``"cpu"`` for numba, ``"cuda"`` for kernels and a host function that launches them.
            dtypes: parameter -> its dtype, ``{"x": "uint8"}``, as for `Schedule.source`.

        Raises:
            ArgumentError: for names that are no parameters, and types that they cannot have.
            LoweringError: when the target cannot express this program for these types.
        """
        return self.printed(target, dtypes).lowered.text

    def printed(self, target: str = "python", dtypes: Dtypes | None = None) -> Printed:
        """The text of `source`, and the schedule that it is of; see `Texts`."""
        chosen = self._named_target(target)
        forms = self._variants.fitting_types(dtypes)
        told = "cuda" if chosen == "emulate" else chosen
        return forms.printed(told, dtypes, self._default_target())

    def emit(self, path: str | Path, target: str = "cuda", dtypes: Dtypes | None = None) -> None:
        """Write the module that `source` gives to a file.

        Args:
            path: of the file.
            target: as for `source`, which raises the same.
            dtypes: as for `source`.
        """
        Path(path).write_text(self.source(target, dtypes), encoding="utf-8")

    def check(self, *args: P.args, **kwargs: P.kwargs) -> astile.check.CheckReport:
        """Run the plain function, every step and every target available here, and compare.

        Args:
            *args: NumPy arrays and numbers, as for a call; they are copied and stay as they are.
            **kwargs: the same, by name.

        Raises:
            InternalError: at the first divergence, naming the step or target and the cell.
        """
        return self._compared(args, kwargs, None)

    def check_showing(
        self, show: astile.check.Show, /, *args: P.args, **kwargs: P.kwargs
    ) -> astile.check.CheckReport:
        """As `check`, for runs that take a while.

        Args:
            show: is told what runs next, how many forms have run, and how many there are.
            *args: as for `check`, which raises the same.
            **kwargs: the same, by name.
        """
        return self._compared(args, kwargs, show)

    def _compared(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], show: astile.check.Show | None
    ) -> astile.check.CheckReport:
        values = self._bound(args, kwargs)
        forms = self._variants.fitting(values).suited_to(values, "python")
        checked = arguments.check(forms.uses, forms.conditions, values, "python")
        if checked.overlaps:
            raise ArgumentError(
                f"arguments {checked.overlaps[0]}: such a call runs the original loops",
                code="argument.overlap",
                hints=("check it with arrays that are apart",),
            )
        found, skipped = astile.candidates.of(forms, self._default_target())
        scratch = frozenset(self._original.scratch)
        return astile.check.compare(self._plain_call, found, skipped, values, scratch, show)

    @overload
    def explain(self) -> GeneralReport: ...

    @overload
    def explain(self, *sizes: Any, **named: Any) -> Report: ...

    def explain(self, *sizes: Any, **named: Any) -> Report | GeneralReport:
        """Count what the schedule changes: bytes to and from slow memory, footprints, operations.

        Args:
            *sizes: arrays, or their shapes as tuples, and integers, in the order of a call; without
                any, counts are formulas over the sizes.
            **named: the same, by name.

        Raises:
            ArgumentError: when a size is missing, is none, or would let an access leave its array.
            SourceError: for Python whose accesses cannot be counted.
        """
        chosen = self._forms.schedule(self._default_target()).program
        if not sizes and not named:
            return astile.general_report.explain_in_general(self._original, chosen)
        try:
            given = self.__signature__.bind_partial(*sizes, **named)
        except TypeError as error:
            told = TypeError(f"{self.__name__}.explain() {error}")
            parameters = self.__signature__.parameters
            raise frames.note_misspelt(told, "explain", parameters, named) from None
        given.apply_defaults()
        known = astile.explain.sizes_of(self._original, given.arguments)
        arguments.require_inside(self._forms.conditions, known.shapes, known.integers)
        return astile.explain.explain(self._original, chosen, known)

    def sass(self, *args: Any, cc: tuple[int, int] = (9, 0), **kwargs: Any) -> MachineCode:
        """Compile the CUDA kernels of a call, as the call would, and look at their machine code.

        No GPU is needed, but the compiler and the tools of CUDA are. A kernel that keeps in memory
        what should be in registers is warned of.

        Args:
            *args: NumPy arrays and numbers, as for a call; only their types and sizes matter.
            cc: compute capability to compile for.
            **kwargs: arguments of the call, by name.

        Raises:
            LoweringError: where something is missing, or a kernel cannot be compiled.
        """
        values = self._bound(args, kwargs)
        forms = self._variants.fitting(values).suited_to(values, "emulate")
        checked = arguments.check(forms.uses, forms.conditions, values, "emulate")
        lowered = forms.schedule("cuda").lowered("cuda", checked.types)
        bound = inspect.BoundArguments(self.__signature__, dict(checked.values))
        return runtime.machine_code.of(lowered, bound.args, bound.kwargs, cc)

    def report(self, path: str | Path, *sizes: Any, **named: Any) -> None:
        """Write a page for a browser: steps, loop nests, an animation, and what `explain` counts.

        Args:
            path: of the HTML file, which needs no other.
            *sizes: as for `explain`; small ones where none are given.
            **named: the same, by name.

        Raises:
            ArgumentError: as `explain`.
        """
        chosen = self._forms.schedule(self._default_target())
        parameters = self.__signature__.parameters
        counted = self.explain(*sizes, **named) if sizes or named else None
        shapes = None if counted is None else counted.shapes
        shown = page.sample(self._original, chosen.program, parameters, shapes)
        counted = counted or self.explain(**shown.arguments)
        content = page.Content(
            self.__name__, self._original, chosen.steps, counted, shown.runs, self.explain()
        )
        Path(path).write_text(page.html(content), encoding="utf-8")

    # --- running --------------------------------------------------------------------------------

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, object]:
        """Parameter -> argument, defaults filled in; TypeError as the plain function gives it."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            told = TypeError(f"{self.__name__}() {error}")
            parameters = self.__signature__.parameters
            raise frames.note_misspelt(told, self.__name__, parameters, kwargs) from None
        bound.apply_defaults()
        return dlpack.viewed(bound.arguments)

    def _plain_call(self, values: Mapping[str, object]) -> object:
        bound = inspect.BoundArguments(self.__signature__, dict(values))
        plain = cast("Callable[..., object]", self.__wrapped__)
        return plain(*bound.args, **bound.kwargs)

    def _run_or_fall_back(
        self, forms: Forms, target: str, checked: arguments.Checked, given: Sequence[object]
    ) -> object:
        """Run it; what numba cannot compile runs as Python where the user named no target."""
        if self._target != "auto" or target != "cpu":
            return self._run(forms, target, checked, given)
        types = tuple(checked.types.items())
        if types not in self._not_compiled:
            try:
                return self._run(forms, target, checked, given)
            except LoweringError as error:  # nothing has run yet
                self._not_compiled.add(types)
                launch.warn_of_plain_python(self.__name__, error)
        return self._run(forms, "python", checked, given)

    def _run(
        self, forms: Forms, target: str, checked: arguments.Checked, given: Sequence[object]
    ) -> object:
        if forms.needs_the_host(checked, target):
            forms, values = forms.without_steps, checked.values
            target = "cpu" if target == "cuda" else "python"
            checked = arguments.check(forms.uses, forms.conditions, values, target)
        original = False
        if checked.overlaps and (target in ("cuda", "emulate") or forms.rewrites(target)):
            self._require_no_overlap(target, checked.overlaps)
            original = True
            if forms.as_written is not forms:
                values = checked.values
                forms = forms.as_written
                checked = arguments.check(forms.uses, forms.conditions, values, target)
        may_leave = forms.may_leave(checked, target)
        specializer = forms.specializer(target, checked.values)
        with limits.naming_steps(() if original else forms.schedule(target).steps):
            launcher = specializer.suited_to(checked, original=original, check_bounds=may_leave)
            if target == "cuda":
                self._warn_of_copies(checked)
            result = launcher(checked)
        if target in ("python", "cpu"):
            self._repeats.keep(given, checked, launcher)
        return result

    def _require_no_overlap(self, target: str, found: Sequence[arrays.Overlap]) -> None:
        if target not in ("cuda", "emulate"):
            return
        raise ArgumentError(
            f"arguments {found[0]}, and target {target!r} needs them apart",
            code="argument.overlap",
            span=self._original.source.span(self._original.function),
            notes=("on the host such a call runs the original loops, in their order",),
            hints=(f"pass {found[0].second}.copy(), or use target='cpu'",),
        )

    def _warn_of_copies(self, checked: arguments.Checked) -> None:
        if self._has_warned or not checked.arrays:
            return
        if any(each.on_device for each in checked.arrays.values()):
            return
        self._has_warned = True
        launch.warn_of_copies(self.__name__)

    # --- targets --------------------------------------------------------------------------------

    def _named_target(self, target: str) -> str:
        chosen: str = known_target(target)
        return self._default_target() if chosen == "auto" else chosen

    def _default_target(self) -> str:
        """The target where the arguments do not decide."""
        if self._target != "auto":
            return self._target
        return "cpu" if compiling.numba_importable() else "python"

    def _target_for(self, values: Mapping[str, object]) -> str:
        if self._target == "auto" and any(map(arrays.is_on_device, values.values())):
            return "cuda"
        return self._default_target()
