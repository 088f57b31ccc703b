"""Limits of time that hold on slow machines too: they are counted in turns of a plain loop."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Processor seconds of `_loop` on machines for which limits are written; the slowest on which the
#: tests have run took twice as long.
_USUAL = 0.0125
_RUNS = 5


def slowness() -> float:
    """How many times slower than usual this machine is just now; 1 where it is not."""
    return max(1.0, min(processor_seconds(_loop) for _ in range(_RUNS)) / _USUAL)


def processor_seconds(run: Callable[[], object]) -> float:
    """Seconds of the processor that a call takes."""
    began = time.process_time()
    run()
    return time.process_time() - began


def is_within(seconds: float, run: Callable[[], object], *, tries: int = 3) -> bool:
    """Whether a call takes less than some processor seconds of a usual machine, one time at least.

    Args:
        seconds: on a usual machine.
        run: is called until it is quick enough.
        tries: most calls.
    """
    return any(processor_seconds(run) < seconds * slowness() for _ in range(tries))


def _loop() -> int:
    found = 0
    for each in range(200_000):
        found += each * each % 7
    return found
