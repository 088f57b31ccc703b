"""One program for one target: lowered, loaded and kept per signature of argument types."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from astile import lower, runtime
from astile.errors import InternalError
from astile.intrinsics import host
from astile.ir.program import Program
from astile.lower.parameters.uses import Use
from astile.lower.types.promotion import Kind, native
from astile.lower.work import Work
from astile.runtime import collector, kept, load
from astile.runtime import compile as compiling
from astile.runtime.arguments import Checked
from astile.runtime.launch import Launcher
from astile.runtime.texts import Text, Texts
from astile.source import Span

if TYPE_CHECKING:
    from astile.lower.lowered import Lowered

_FLOATS = ("float32", "float64")


@dataclass(frozen=True)
class Way:
    """How a call is to run.

    Args:
        original: in the order in which the user wrote the loops.
        check_bounds: with every index checked.
        one_core: on one core.
    """

    original: bool = False
    check_bounds: bool = False
    one_core: bool = False


@dataclass(frozen=True)
class Other:
    """What takes over for types for which a schedule is no use.

    Args:
        specializer: of the other schedule.
        vectors: whether it does where vectors do not fit.
        floats: the arrays for which it does where they hold no floating-point numbers.
    """

    specializer: Callable[[], Specializer]
    vectors: bool = False
    floats: frozenset[str] = frozenset()


class Specializer:
    """Makes the callables of one scheduled program for one target, each of them once.

    Args:
        original: the program as the user wrote it; runs where arguments overlap in memory.
        scheduled: gives the program to run otherwise.
        target: ``"python"``, ``"cpu"``, ``"cuda"`` or ``"emulate"``.
        parameters: how the program uses its parameters.
        exact: keep the rounding of every operation.
        is_reordered: whether contributions may reach a cell in another order than in `original`.
        state: names `scheduled` among all programs, and `original` with it; None where nothing
            is kept of it.
        other: what takes over for some types; None where nothing does.
    """

    def __init__(
        self,
        original: Program,
        scheduled: Callable[[], Program],
        target: str,
        parameters: Sequence[Use],
        *,
        exact: bool = False,
        is_reordered: bool = False,
        state: str | None = None,
        other: Other | None = None,
    ) -> None:
        self.target = target
        self._original, self._scheduled = original, scheduled
        self._parameters = tuple(parameters)
        self._exact, self._is_reordered = exact, is_reordered
        self._work = Work(original)
        self._takes_over = other
        self._lock = threading.RLock()
        self._launchers: dict[tuple[object, ...], Launcher] = {}
        options = (target, exact, is_reordered, host.vector_bytes())
        self._texts = Texts(state if target == "cpu" else None, options)

    def suited_to(self, checked: Checked, *, original: bool, check_bounds: bool) -> Launcher:
        """The callable for a call: on one core where others would begin when it is done, or never.

        Args:
            checked: the arguments.
            original: as for `launcher`.
            check_bounds: as for `launcher`.
        """
        way = Way(original, check_bounds, one_core=self._is_for_one_core(checked))
        return self._launcher(checked.types, way)

    def launcher(
        self, types: Mapping[str, str], *, original: bool = False, check_bounds: bool = False
    ) -> Launcher:
        """The callable for arguments of these types; made at the first call for them.

        Args:
            types: array parameter -> name of its dtype.
            original: run the loops in the order in which the user wrote them.
            check_bounds: let numba check every index, as Python does; vectors would not.
        """
        return self._launcher(types, Way(original, check_bounds))

    def _is_for_one_core(self, checked: Checked) -> bool:
        if self.target != "cpu":
            return False
        compiling.require(self.target)
        return compiling.most_threads() == 1 or self._work.is_little(checked.sizes)

    def _launcher(self, types: Mapping[str, str], way: Way) -> Launcher:
        key = (way, *types.items())  # in the order of the parameters
        found = self._launchers.get(key)
        if found is None:
            with self._lock:  # two threads that come first compile once
                found = self._launchers.get(key)
                if found is None:
                    with collector.waiting():
                        found = self._made(types, way)
                    self._launchers[key] = found
        return found

    def _made(self, types: Mapping[str, str], way: Way) -> Launcher:
        compiling.require(self.target)
        other = self._launchers.get((replace(way, one_core=not way.one_core), *types.items()))
        if other is not None and way.one_core and "prange" not in other.text:
            return other
        made = self._text(types, way)
        if made is None:
            return self._other()._launcher(types, way)
        if other is not None and other.text == made.text:
            return other  # no loop of it runs on several cores
        program = self._original

        def place_of(line: int) -> Span | None:
            return lower.places.place_of_line(line, self._program(made.is_original), made.lowered)

        with compiling.retelling(self.target, made.text, program, place_of):
            function = self._loaded(made, way.check_bounds)
        positional, keywords = _parameter_names(program.function)
        may_write = {each.name for each in self._parameters if each.may_be_written}
        may_write -= program.scratch
        return Launcher(
            function,
            self.target,
            positional,
            keywords,
            may_write,
            made.text,
            program,
            made.returned,
            place_of,
        )

    def _program(self, original: bool) -> Program:
        return self._original if original else self._scheduled()

    def _other(self) -> Specializer:
        assert self._takes_over is not None
        return self._takes_over.specializer()

    def _text(self, types: Mapping[str, str], way: Way) -> Text | None:
        """The text for arguments of some types, found or made; None where others take over."""
        other = self._takes_over
        floats = frozenset() if other is None or way.original else other.floats
        if not are_floats(self._original, types, floats):
            return None

        def lowered_anew(original: bool) -> Lowered:
            return self._lower(self._program(original), types, way)

        flags = (way.original, way.check_bounds, way.one_core)
        found = self._texts.find(types, flags, lowered_anew)
        if found is not None:
            return found
        original = way.original
        if self._is_reordered and not original:
            original = lower.types.truncated.must_keep_order(self._original, types, self.target)
        lowered = lowered_anew(original)
        if not (original or lowered.in_registers) and other is not None and other.vectors:
            return None
        returned: tuple[Kind, ...] = ()
        if self.target != "python":
            returned = lower.types.kinds.returned_kinds(self._program(original), types)
        threads = {each.name: prod(each.block) for each in lowered.kernels}
        made = Text(lowered.text, lowered.entry, original, returned, threads, lambda: lowered)
        self._texts.keep(types, flags, made)
        return made

    def _lower(self, program: Program, types: Mapping[str, str], way: Way) -> Lowered:
        if self.target == "python":
            return lower.python.lower(program)
        lower.types.numeric.check(self._original, types, "cpu" if self.target == "cpu" else "cuda")
        if self.target == "cpu":
            machine = None
            if not way.check_bounds:
                machine = lower.vectors.explicit.Machine(host.vector_bytes(), self._exact)
            one_core = way.check_bounds or way.one_core
            return lower.cpu.lower(program, types=types, machine=machine, one_core=one_core)
        if self.target in ("cuda", "emulate"):
            # numba's simulator lacks words that a GPU has
            plain = self.target == "cuda" and compiling.in_simulator()
            return lower.cuda.lower(program, types=types, exact=self._exact, plain=plain)
        raise InternalError(f"no lowering for target {self.target!r}")

    def _loaded(self, made: Text, check_bounds: bool) -> Callable[..., object]:
        if self.target == "emulate":
            return runtime.emulate.load(made.text, made.entry)
        constants = repr(sorted(self._original.constants.items()))
        parts = (self.target, constants, *(("bounds",) if check_bounds else ()))
        function = load.load(made.text, made.entry, parts)
        if self.target == "cuda":
            compiling.prepare_kernels(function, made.threads)
        if self.target == "cpu":
            kept.keep(function, load.content_key(made.text, made.entry, parts))
        if self.target == "cpu" and check_bounds:
            compiling.check_bounds(function)
        if self.target == "cpu" and "prange" in made.text:
            return compiling.one_at_a_time_if_needed(function)
        return function


def are_floats(program: Program, types: Mapping[str, str], arrays: Collection[str]) -> bool:
    """Whether some arrays hold floating-point numbers.

    Args:
        program: the function as the user wrote it.
        types: parameter -> its type.
        arrays: their names.
    """
    if not arrays:
        return True
    kinds = lower.types.kinds.Kinds(program, types).arrays
    return all(native(kinds.get(each) or "") in _FLOATS for each in arrays)


def _parameter_names(function: ast.FunctionDef) -> tuple[list[str], list[str]]:
    """Parameters that are handed over by position, and those by name."""
    declared = function.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    return positional, [each.arg for each in declared.kwonlyargs]
