"""Takes the steps of a schedule one by one and checks all that is claimed of each.

What is checked is said in `Session.take`. Everything is decided by running programs in plain
Python; nothing here knows how a step was made or proved.
"""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from astile.analysis.proof.verdicts import BUDGET, Witness
from astile.errors import AstileError, IllegalSchedule, InternalError, LoweringError
from astile.frontend.build import build_from_source
from astile.ir import query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.runtime import emulate
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop
from astile.schedule.trace import Call
from tests.fuzz import compiled, running, schedules
from tests.fuzz.programs import Source
from tests.fuzz.running import SIZES, Memory, Outcome
from tests.fuzz.witnesses import Replay, replay

#: Processor seconds that one step may take: its proof, which the clock ends after three times its
#: budget, and all else.
STEP_SECONDS = 4 * BUDGET
#: Fewer clean sizes than this, and a program is not used.
_LEAST_SIZES = 4
#: Contents of fresh memory; what a program computes must not depend on it.
_FILLS = (1007.0, -911.0)


@dataclass(frozen=True)
class Case:
    """A program and the calls made on it: all that is needed to see a failure again."""

    source: Source
    calls: tuple[Call, ...]
    exact: bool = False


@dataclass(frozen=True)
class Failure:
    """A claim that does not hold.

    Args:
        kind: what kind of claim.
        message: what is wrong.
        case: the program and the calls up to the one that failed.
    """

    kind: str
    message: str
    case: Case

    @property
    def signature(self) -> str:
        """What makes two failures alike."""
        last = self.case.calls[-1].primitive if self.case.calls else "build"
        return f"{self.kind}:{last}"


class HangError(Exception):
    """A step took too long."""


@contextmanager
def watchdog(seconds: float = STEP_SECONDS) -> Iterator[None]:
    """Raise `HangError` when the body uses more processor time than it may."""

    def stop(*_: object) -> None:
        raise HangError(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


class Wrong(Exception):
    """A claim that does not hold; becomes a `Failure` together with its case."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message


@dataclass(frozen=True)
class Taken:
    """What became of one call.

    Args:
        call: the call.
        outcome: ``"accepted"``, ``"refused"`` (a schedule error), ``"refuted"``, ``"unknown"``.
        code: of the error.
        careful: for a refusal by the proof: whether the refused program gives other results.
        replayed: what the replay of the witness found, None without one.
        message: of the error.
        loops: the new loops.
    """

    call: Call
    outcome: str
    code: str = ""
    careful: bool | None = None
    replayed: Replay | None = None
    message: str = ""
    loops: tuple[Loop, ...] = ()


class Unused(Exception):
    """A program that is not worth a schedule: it raises, or its values say nothing."""


@dataclass
class Session:
    """A program on which calls are made and checked.

    Args:
        source: the program.
        exact: whether reassociation is refused.
        emulated: whether CUDA text is emulated where there is one.
        reparsed: whether the printed text of every step is read again, see `read_again`.
        advised: whether messages of refusals are read to the end.

    Raises:
        Unused: for a program that is not worth a schedule.
        SourceError: for a program that astile does not read.
    """

    source: Source
    exact: bool = False
    emulated: bool = False
    reparsed: bool = True
    advised: bool = False
    taken: list[Taken] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.plain = running.code_of(self.source.text)
        self.outcomes = dict(self._clean_outcomes())
        if len(self.outcomes) < _LEAST_SIZES:
            raise Unused
        program = build_from_source(self.source.text, scratch=self.source.scratch)
        self.schedule = Schedule(program, exact=self.exact)

    # --- the plain program ----------------------------------------------------------------------

    def _clean_outcomes(self) -> Iterator[tuple[tuple[int, int], Outcome]]:
        for n, m in SIZES:
            given = running.arguments(self.source, n, m)
            try:
                first, second = (
                    running.run(self.plain, given, Memory(fill=fill)) for fill in _FILLS
                )
                if self.source.dtype == "int64":  # no integer is NaN, which fills memory later
                    running.run(self.plain, given, Memory())
            except (IndexError, UnboundLocalError, NameError, ValueError):
                continue
            except OverflowError as problem:
                raise Unused from problem
            if running.difference(first, second) is not None:
                continue
            if first.is_exact(self.source.dtype):
                yield (n, m), first

    @cached_property
    def wild(self) -> list[tuple[dict[str, Any], Outcome]]:
        """Arguments of any floats, and what the plain program makes of them."""
        if self.source.dtype == "int64":
            return []
        found = []
        for n, m in list(self.outcomes)[-2:]:
            given = running.arguments(self.source, n, m, wild=True)
            try:
                found.append((given, running.run(self.plain, given, Memory())))
            except (IndexError, ValueError, OverflowError):  # data may pick a cell outside
                continue
        return found

    # --- a step ---------------------------------------------------------------------------------

    def take(self, call: Call) -> Taken:
        """Make a call and check what is claimed.

        An accepted step computes the same at all sizes, stays inside its arrays, reads no fresh
        memory, prints text that is read again, and runs its concurrent loops in any order. A
        refused one raises an error of astile and leaves the program as it was; its witness is real.

        Raises:
            Wrong: when a claim does not hold.
        """
        before = self.schedule.program
        try:
            with watchdog():
                loops = getattr(self.schedule, call.primitive)(*call.arguments, **call.options)
        except InternalError as error:
            raise Wrong("internal", str(error)) from error
        except IllegalSchedule as error:
            taken = self._illegal(call, error)
        except AstileError as error:
            taken = Taken(call, "refused", error.code, message=error.args[0])
        except HangError as error:
            raise Wrong("hang", str(error)) from error
        except Exception as error:
            name = type(error).__name__
            raise Wrong(f"crash {name}", f"{name}: {error}") from error
        else:
            self._check_accepted()
            taken = Taken(call, "accepted", loops=loops)
        if taken.outcome != "accepted" and self.schedule.program is not before:
            raise Wrong("changed", "a refused step changed the program")
        self.taken.append(taken)
        return taken

    def _check_accepted(self) -> None:
        text = self.schedule.source()
        self._check_values(text)
        kinds = _kinds(self.schedule.program)
        if kinds & {"parallel", "vector", "block"}:
            for seed in (None, 1, 2):
                self._check_values(text, Memory(order=_ordered(seed)), "order")
        if self.reparsed:
            self.read_again()
        if self.emulated and kinds & {"block", "thread"}:
            self._check_emulated()

    def _check_values(self, text: str, memory: Memory | None = None, kind: str = "wrong") -> None:
        code = running.code_of(text)
        memory = memory or Memory()
        for size, wanted in self.outcomes.items():
            given = running.arguments(self.source, *size)
            self._check_run(code, given, memory, wanted, kind, size, bits=False)
        proof = self.schedule.steps[-1].proof
        if kind == "wrong" and proof is not None and proof.kind == "equal":
            for given, wanted in self.wild:
                self._check_run(code, given, memory, wanted, "bits", (), bits=True)

    def _check_run(
        self,
        code: Any,
        given: dict[str, Any],
        memory: Memory,
        wanted: Outcome,
        kind: str,
        size: tuple[int, ...],
        *,
        bits: bool,
    ) -> None:
        where = "n, m = " + ", ".join(map(str, size)) if size else "any floats"
        try:
            got = running.run(code, given, memory)
        except Exception as error:
            raise Wrong(
                "raises" if kind == "wrong" else kind, f"{where}: {type(error).__name__}: {error}"
            ) from error
        found = running.difference(wanted, got, self.source.scratch, bits=bits)
        if found is not None:
            raise Wrong(kind, f"{where}: {found}")
        known = wanted.negative
        # what stands for cells counted from the end may be an array of the program's own
        new = {each for each in got.negative - known if not (known and each[0] == "local")}
        if new:
            name, cell = min(new)
            raise Wrong("outside", f"{where}: index {list(cell)} of {name}")

    def read_again(self) -> None:
        """Check that the text of the program is read again, and as the same program.

        Raises:
            Wrong: when it is not.
        """
        text = self.schedule.source()
        try:
            again = build_from_source(text, "f")
        except AstileError as error:
            raise Wrong("reparse", str(error)) from error
        printed = module_text(again)
        if printed != _without_comments(text):
            raise Wrong("unstable", f"printed again it is\n{printed}")

    def _check_emulated(self) -> None:
        types = dict.fromkeys(self.source.extents, self.source.dtype)
        if "idx" in types:
            types["idx"] = "int64"
        try:
            lowered = self.schedule.lowered("cuda", types)
        except LoweringError:
            return
        except AstileError as error:
            raise Wrong("lowering", str(error)) from error
        for size in list(self.outcomes)[2:6:2]:
            if self.outcomes[size].negative:  # these are for the check of arguments
                continue
            given = running.arguments(self.source, *size)
            copies = {
                k: v.copy().view(type(v).__base__) if hasattr(v, "dtype") else v
                for k, v in given.items()
            }
            try:
                function = emulate.load(lowered.text, lowered.entry)
                returned = function(**copies)
            except Exception as error:
                raise Wrong("emulate", f"{size}: {type(error).__name__}: {error}") from error
            arrays = {k: v for k, v in copies.items() if hasattr(v, "dtype")}
            got = Outcome(arrays, returned, frozenset())
            found = running.difference(self.outcomes[size], got, self.source.scratch)
            if found is not None:
                raise Wrong("emulate", f"n, m = {size}: {found}")

    def compile_and_run(self) -> None:
        """Check the program compiled for the CPU, at all sizes.

        Raises:
            Wrong: when it gives something else than the plain one.
        """
        found = compiled.failure(self.schedule, self.source, self.outcomes)
        if found is not None:
            raise Wrong("cpu", found)

    def _read(self, error: IllegalSchedule) -> None:
        """Read the whole message, for which more is looked for."""
        before = self.schedule.program
        try:
            with watchdog(3 * STEP_SECONDS):
                str(error)
        except Exception as problem:
            raise Wrong("message", f"{type(problem).__name__}: {problem}") from problem
        if self.schedule.program is not before:
            raise Wrong("message", "to read a message changes the schedule")

    # --- refusals -------------------------------------------------------------------------------

    def _illegal(self, call: Call, error: IllegalSchedule) -> Taken:
        refused = self._refused_program(call)
        witness = error.witness
        replayed = None
        if isinstance(witness, Witness):
            replayed = replay(witness, self.schedule.original, refused, self.source)
            if replayed.verdict == "false":
                raise Wrong("witness", f"{replayed.reason}: {error.args[0]}")
        differs = None if refused is None else self._differs(refused)
        outcome = "refuted" if witness is not None else "unknown"
        if self.advised:
            self._read(error)
        return Taken(call, outcome, error.code, differs, replayed, error.args[0])

    def _refused_program(self, call: Call) -> Program | None:
        """The program that was refused, with the origins that it carried."""
        trial = self.schedule.copy()
        trial._is_trial = True  # no proof
        try:
            getattr(trial, call.primitive)(*call.arguments, **call.options)
        except AstileError:
            return None
        return trial.program

    def _differs(self, program: Program) -> bool:
        """Whether a refused program gives other results at any size, in any order it may run."""
        text = module_text(program)
        orders = [None]
        if _kinds(program) & {"parallel", "vector", "block", "thread"}:
            orders = [None, 0, 1, 2]
        code = running.code_of(text)
        for order in orders:
            memory = Memory()
            if order is not None:
                memory = Memory(order=_ordered(order or None), threads=True)
            for size, wanted in self.outcomes.items():
                given = running.arguments(self.source, *size)
                try:
                    got = running.run(code, given, memory)
                except Exception:
                    return True
                if running.difference(wanted, got, self.source.scratch) is not None:
                    return True
        if self.exact:
            for given, wanted in self.wild:
                got = running.run(code, given, Memory())
                if running.difference(wanted, got, self.source.scratch, bits=True) is not None:
                    return True
        return False


def _without_comments(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(each for each in lines if not each.lstrip().startswith("#"))


def _kinds(program: Program) -> set[str]:
    headers = [query.header(each) for each in query.loops(program.function)]
    return {each.kind.partition(".")[0] for each in headers if each is not None}


def _ordered(seed: int | None) -> Callable[[range], Iterable[int]]:
    """Backwards without a seed, else shuffled."""
    if seed is None:
        return reversed
    chance = random.Random(seed)

    def shuffled(given: range) -> list[int]:
        values = list(given)
        chance.shuffle(values)
        return values

    return shuffled


def check(
    case: Case, *, emulated: bool = True, advised: bool = False, on_cpu: bool = False
) -> Failure | None:
    """Make the calls of a case; the first claim that does not hold, or None."""
    try:
        session = Session(case.source, case.exact, emulated, advised=advised)
    except (Unused, AstileError):
        return None
    for index, call in enumerate(case.calls):
        try:
            session.take(call)
        except Wrong as wrong:
            accepted = [e.call for e in session.taken if e.outcome == "accepted"]
            calls = (*accepted, case.calls[index])
            return Failure(wrong.kind, wrong.message, replace(case, calls=calls))
    try:
        if on_cpu:
            session.compile_and_run()
    except Wrong as wrong:
        return Failure(wrong.kind, wrong.message, case)
    return None


def explore(
    source: Source,
    chance: random.Random,
    *,
    exact: bool = False,
    emulated: bool = False,
    on_cpu: bool = False,
    most: int = 6,
) -> tuple[list[Taken], Failure | None]:
    """Make random calls on a program and check each.

    Raises:
        Unused: for a program that is not worth a schedule.
        SourceError: for a program that astile does not read.
    """
    advised = chance.random() < 0.05
    # what the last step prints is read again: to do so after each would take a third of the time
    session = Session(source, exact, emulated, reparsed=False, advised=advised)
    calls = schedules.draw(session.schedule, chance, most)
    made: tuple[Loop, ...] | None = None
    call = None
    try:
        while True:
            try:
                call = next(calls) if made is None else calls.send(made)
            except StopIteration:
                break
            made = session.take(call).loops
        session.read_again()
        if on_cpu:
            session.compile_and_run()
    except Wrong as wrong:
        accepted = tuple(e.call for e in session.taken if e.outcome == "accepted")
        case = Case(source, accepted, exact)
        if wrong.kind == "cpu":
            return session.taken, Failure(wrong.kind, wrong.message, case)
        if wrong.kind in ("reparse", "unstable"):
            found = check(case, emulated=False)  # which of the steps it was
            return session.taken, found or Failure(wrong.kind, wrong.message, case)
        assert call is not None
        case = replace(case, calls=(*accepted, call))
        return session.taken, Failure(wrong.kind, wrong.message, case)
    return session.taken, None
