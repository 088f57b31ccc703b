"""Which steps of a schedule a limit of the GPU is over since."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

from astile.errors import AstileError
from astile.ir import query
from astile.ir.program import Program
from astile.schedule.step import Step

#: Kinds of errors about limits: of a memory, of what is bound, of either in the emulator.
_MEMORIES = {"lowering.shared-memory": "shared", "lowering.local-memory": "local"}
_LIMITS = ("lowering.limit", "emulation.limit")


@contextlib.contextmanager
def naming_steps(steps: Sequence[Step]) -> Iterator[None]:
    """Add to errors about a limit which steps brought the program over it.

    Args:
        steps: the steps that made the program that is lowered or run inside.

    Raises:
        AstileError: that of what is inside.
    """
    try:
        yield
    except AstileError as error:
        for note in dict.fromkeys(_notes(error, steps)):
            error.noted(note)
        raise


def _notes(error: AstileError, steps: Sequence[Step]) -> Iterator[str]:
    memory = _MEMORIES.get(error.code)
    if memory is None and error.code not in _LIMITS:
        return
    message = error.diagnostic.message
    if error.code in _LIMITS and "shared" in message:
        memory = "shared"
    elif error.code in _LIMITS:
        axis = re.search(r"along ([xyz])", message)
        unit = "threadIdx" if re.search("threads|of the block", message) else "blockIdx"
        wanted = f"{unit}.{axis[1]}" if axis else unit
        for step in steps:
            if any(str(each).startswith(wanted) for each in step.made_by.arguments):
                yield f"s.{step.call} leads to it"
        memory = "local" if "registers" in message else None
    if memory is not None:
        for step in steps:
            if _arrays(step.program, memory) - _arrays(step.before, memory):
                yield f"s.{step.call} allocates {memory} memory"


def _arrays(program: Program, scope: str) -> set[str]:
    """The arrays of a memory with their shapes, as text."""
    found = set()
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None and made.scope == scope:
            sizes = [query.integer(each) for each in made.shape or ()]
            found.add(f"{made.array}{sizes}")
    return found
