"""One program for one target: lowered, loaded and kept per signature of argument types."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod

from astile import lower, runtime
from astile.errors import InternalError, LoweringError
from astile.intrinsics import host
from astile.ir import query
from astile.ir.program import Program
from astile.lower import cpu, places, python
from astile.lower.lowered import Lowered
from astile.lower.types import numeric
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import family, is_integer
from astile.lower.vectors.explicit import Machine
from astile.runtime import compile as compiling
from astile.runtime import kept, load
from astile.runtime.launch import Launcher
from astile.runtime.uses import Use


class Specializer:
    """Makes the callables of one scheduled program for one target, each of them once.

    Args:
        original: the program as the user wrote it; runs where arguments overlap in memory.
        scheduled: the program to run otherwise.
        target: ``"python"``, ``"cpu"``, ``"cuda"`` or ``"emulate"``.
        parameters: how the program uses its parameters.
        exact: keep the rounding of every operation.
        is_reordered: whether contributions may reach a cell in another order than in `original`.
    """

    def __init__(
        self,
        original: Program,
        scheduled: Program,
        target: str,
        parameters: Sequence[Use],
        *,
        exact: bool = False,
        is_reordered: bool = False,
    ) -> None:
        self.target = target
        self._programs = {True: original, False: scheduled}
        self._parameters = tuple(parameters)
        self._exact, self._is_reordered = exact, is_reordered
        self._lock = threading.RLock()
        self._launchers: dict[tuple[object, ...], Launcher] = {}

    def launcher(
        self, types: Mapping[str, str], *, original: bool = False, check_bounds: bool = False
    ) -> Launcher:
        """The callable for arguments of these types; made at the first call for them.

        Args:
            types: array parameter -> name of its dtype.
            original: run the loops in the order in which the user wrote them.
            check_bounds: let numba check every index, as Python does; vectors would not.
        """
        key = (original, check_bounds, *types.items())  # in the order of the parameters
        found = self._launchers.get(key)
        if found is None:
            with self._lock:  # two threads that come first compile once
                found = self._launchers.get(key)
                if found is None:
                    found = self._made(types, original, check_bounds)
                    self._launchers[key] = found
        return found

    def _made(self, types: Mapping[str, str], original: bool, check_bounds: bool) -> Launcher:
        compiling.require(self.target)
        if self._is_reordered and not original:
            original = self._must_keep_order(types)
        program = self._programs[original]
        lowered = self._lower(program, types, check_bounds)
        place_of = partial(places.place_of_line, program=program, lowered=lowered)
        with compiling.retelling(self.target, lowered.text, program, place_of):
            function = self._loaded(lowered, program, check_bounds)
        positional, keywords = _parameter_names(program.function)
        may_write = {each.name for each in self._parameters if each.may_be_written}
        may_write -= program.scratch
        returned = () if self.target == "python" else Kinds(program, types).returned_kinds()
        return Launcher(
            function,
            self.target,
            positional,
            keywords,
            may_write,
            lowered.text,
            program,
            returned,
            place_of,
        )

    def _must_keep_order(self, types: Mapping[str, str]) -> bool:
        """Whether integers add up floating-point numbers: each addition truncates, in its order.

        Raises:
            LoweringError: on a GPU, where the loops cannot run as they were written.
        """
        program = self._programs[True]
        found = next(_truncating(program, Kinds(program, types)), None)
        if found is not None and self.target in ("cuda", "emulate"):
            raise LoweringError(
                "an integer adds up floating-point numbers, and a step changed their order",
                code="lowering.types",
                span=program.source.span(found),
                hints=["write int(...) around what is added, or use exact=True"],
            )
        return found is not None

    def _lower(self, program: Program, types: Mapping[str, str], check_bounds: bool) -> Lowered:
        if self.target == "python":
            return python.lower(program)
        numeric.check(self._programs[True], types, "cpu" if self.target == "cpu" else "cuda")
        if self.target == "cpu":
            machine = None if check_bounds else Machine(host.vector_bytes(), self._exact)
            return cpu.lower(program, types=types, machine=machine, may_raise=check_bounds)
        if self.target in ("cuda", "emulate"):
            # numba's simulator lacks words that a GPU has
            plain = self.target == "cuda" and compiling.in_simulator()
            return lower.cuda.lower(program, types=types, exact=self._exact, plain=plain)
        raise InternalError(f"no lowering for target {self.target!r}")

    def _loaded(
        self, lowered: Lowered, program: Program, check_bounds: bool
    ) -> Callable[..., object]:
        if self.target == "emulate":
            return runtime.emulate.load(lowered.text, lowered.entry)
        constants = repr(sorted(program.constants.items()))
        parts = (self.target, constants, *(("bounds",) if check_bounds else ()))
        function = load.load(lowered.text, lowered.entry, parts)
        if self.target == "cuda":
            threads = {each.name: prod(each.block) for each in lowered.kernels}
            compiling.prepare_kernels(function, threads)
        if self.target == "cpu":
            kept.keep(function, load.content_key(lowered.text, lowered.entry, parts))
        if self.target == "cpu" and check_bounds:
            compiling.check_bounds(function)
        if self.target == "cpu" and "prange" in lowered.text:
            return compiling.one_at_a_time_if_needed(function)
        return function


def _truncating(program: Program, kinds: Kinds) -> Iterator[ast.stmt]:
    """The statements that update a cell of integers by a floating-point number."""
    for statement in query.statements(program.function):
        if isinstance(statement, ast.AugAssign):
            target: ast.expr = statement.target
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
        else:
            continue
        array = query.base_name(target) if isinstance(target, ast.Subscript) else None
        is_update = isinstance(statement, ast.AugAssign) or array in query.names(statement.value)
        cell, value = kinds.arrays.get(array or ""), kinds.of(statement.value)
        if is_update and is_integer(cell) and (value is None or family(value) in "fc"):
            yield statement


def _parameter_names(function: ast.FunctionDef) -> tuple[list[str], list[str]]:
    """Parameters that are handed over by position, and those by name."""
    declared = function.args
    positional = [each.arg for each in (*declared.posonlyargs, *declared.args)]
    return positional, [each.arg for each in declared.kwonlyargs]
