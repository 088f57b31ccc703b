"""The process of one peer with one number of threads; it does what lines of JSON tell it.

Libraries settle their threads when they are imported, so each peer has a process for each number
of threads, whose environment is set before it starts.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.peer import Variant
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS


class DifferenceError(Exception):
    """A result that differs from the reference."""


class Worker:
    """Holds the fastest variant of the workload that was loaded last.

    Args:
        peer: name of the peer.
        threads: that it may use.
    """

    def __init__(self, peer: str, threads: int) -> None:
        self._module = importlib.import_module(f"benchmarks.peers.{peer}_peer")
        self._threads = threads
        self._variant: Variant | None = None
        self._limits: dict[str, tuple[Callable[[], object], float]] = {}

    def load(self, name: str, reference: str) -> dict[str, object]:
        """Compute a workload in every way, compare each with the reference, keep the fastest.

        Args:
            name: of the workload.
            reference: path of a file with the right result.
        """
        self._variant = None
        gc.collect()
        workload = WORKLOADS[name]
        expected = np.load(reference, mmap_mode="r")
        count = len(self._module.variants(workload, workload.inputs(), self._threads))
        timed = []
        for index in range(count):  # with arguments of its own: some store into what they read
            made = self._module.variants(workload, workload.inputs(), self._threads)
            label, variant = list(made.items())[index]
            first = timing(variant.run)
            require_close(variant.result(), expected, workload)
            timed.append((min(timing(variant.run) for _ in range(2)), first, label, variant))
        if not timed:
            return {"loaded": None}
        seconds, first, label, self._variant = min(timed, key=lambda each: each[0])
        return {"loaded": label, "seconds": seconds, "first_s": first}

    def limits(self) -> dict[str, object]:
        """Operations and bytes for each second that the machine reaches just now."""
        if not self._limits:
            self._limits = self._module.limits(self._threads)
            for run, _ in self._limits.values():
                run()  # compiles
        return {name: amount / timing(run) for name, (run, amount) in self._limits.items()}

    def run(self, count: int) -> dict[str, object]:
        """Time some runs one after another.

        Args:
            count: of runs.
        """
        assert self._variant is not None
        return {"times": [timing(self._variant.run) for _ in range(count)]}


def timing(run: Callable[[], object]) -> float:
    """Seconds that one run takes.

    Args:
        run: is called once.
    """
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def require_close(found: Any, expected: Any, workload: Workload) -> None:
    """Compare a result with the reference.

    Args:
        found: the result.
        expected: what it has to be, in float64.
        workload: knows what difference is rounding.

    Raises:
        DifferenceError: with the largest difference.
    """
    difference = float(np.max(np.abs(found - expected)))
    largest = float(np.max(np.abs(expected)))
    if not difference <= workload.tolerance * largest:  # NaN too
        raise DifferenceError(
            f"differs by {difference:.2e}, where the largest cell is {largest:.2e}"
        )


def _answer(worker: Worker, message: Mapping[str, Any]) -> dict[str, object]:
    try:
        if "load" in message:
            return worker.load(message["load"], message["reference"])
        return worker.run(message["run"]) if "run" in message else worker.limits()
    except Exception as error:  # a peer that cannot compute this is left out, with the reason
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}".partition("\n")[0]}


def main() -> None:
    """Answer each line of standard input with one of standard output."""
    peer, threads = sys.argv[1], int(sys.argv[2])
    if threads == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    worker = Worker(peer, threads)
    for line in sys.stdin:
        answers.write(json.dumps(_answer(worker, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
