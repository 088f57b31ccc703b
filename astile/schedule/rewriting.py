"""What a rewrite makes, simple to read and checked for form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.ir.verify import verify
from astile.rewrites.parts.result import Rewritten
from astile.rewrites.parts.simplify import simplify
from astile.schedule.prover import is_same_but_kinds


def rewritten(
    before: Program, rewrite: Callable[[Program], Rewritten], next_loop: int
) -> tuple[Program, tuple[int, ...]]:
    """The program after a rewrite, made simple, and the loops that the rewrite names.

    Args:
        before: the program before.
        rewrite: changes it.
        next_loop: the identity of the first loop that the rewrite makes.

    Raises:
        ScheduleError: where the rewrite cannot be applied, changes nothing, or takes away what
            sets a name that is read.
    """
    result = rewrite(replace(before, next_loop=next_loop))
    program = result.program
    if not is_same_but_kinds(before, program):  # that one was made simple already
        program = simplify(program)
    _keeps_what_is_read(before, program)
    verify(program)
    if nodes.same(program.function, before.function) and _notes(program) == _notes(before):
        raise ScheduleError(
            "this changes nothing",
            code="schedule.nothing-to-do",
            hints=["leave the call out"],
        )
    return program, result.loops


def _notes(program: Program) -> list[str]:
    """What is noted on the loops, in program order; as text, for 1 and True are equal."""
    return [repr(nodes.notes(each)) for each in query.loops(program.function)]


def _keeps_what_is_read(before: Program, program: Program) -> None:
    """Refuse a rewrite that takes away the last statement which sets a name that is read."""
    gone = query.names_written(before.function) - query.names_written(program.function)
    lost = gone & query.names_read(program.function)
    if lost:
        name = min(lost)
        raise ScheduleError(
            f"{name} is read later, and nothing would set it any more",
            code="schedule.variable-live",
            hints=["store the value in a variable of its own inside the loop"],
        )
