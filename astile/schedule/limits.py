"""Which steps of a schedule a limit of the GPU is over since."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.schedule.step import Step

SHARED, THREADS = "lowering.shared-memory", "lowering.limit"


@contextlib.contextmanager
def naming_steps(steps: Sequence[Step]) -> Iterator[None]:
    """Add to errors about a limit which steps brought the program over it.

    Args:
        steps: the steps that made the program that is lowered inside.

    Raises:
        LoweringError: that of the lowering.
    """
    try:
        yield
    except LoweringError as error:
        if error.code == SHARED:
            for step in _growing(steps):
                error.noted(f"s.{step.call} allocates shared memory")
        elif error.code == THREADS:
            unit = "threadIdx" if "threads" in error.diagnostic.message else "blockIdx"
            for step in steps:
                if any(str(each).startswith(unit) for each in step.made_by.arguments):
                    error.noted(f"s.{step.call} leads to it")
        raise


def _growing(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps after which more is allocated in shared memory than before."""
    for step in steps:
        if _shared(step.program) - _shared(step.before):
            yield step


def _shared(program: Program) -> set[str]:
    """Shared arrays with their shapes, as text."""
    found = set()
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None and made.scope == "shared":
            sizes = [query.integer(each) for each in made.shape or ()]
            found.add(f"{made.array}{sizes}")
    return found
