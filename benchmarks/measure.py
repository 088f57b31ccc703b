"""Peers by turns: what each of them takes for a workload, beside what the machine could do."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import PeerError, Process
from benchmarks.workload import Workload

#: Seconds between peers: threads of one may go on spinning after their work.
_PAUSE = 0.06
_MACHINE = "machine"


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Args:
        rounds: turns of each peer.
        seconds: that one turn should take, in several runs if need be.
    """

    rounds: int
    seconds: float


@dataclass(frozen=True)
class Record:
    """What one peer took for one workload.

    Args:
        workload: its name.
        threads: the number of them.
        peer: its name.
        median_s: seconds of a run.
        min_s: seconds of the fastest run.
        limit_s: seconds in which the machine does as many operations, or moves as many bytes
            with streaming stores; None where the workload counts neither.
        variant: which of its ways the peer was measured in.
        first_s: seconds of the first call, compilation included.
        plain_s: as `limit_s`, with plain stores.
    """

    workload: str
    threads: int
    peer: str
    median_s: float
    min_s: float
    limit_s: float | None
    variant: str
    first_s: float
    plain_s: float | None

    def as_dict(self) -> dict[str, object]:
        """What `--json` prints."""
        return {
            "workload": self.workload,
            "threads": self.threads,
            "peer": self.peer,
            "median_s": self.median_s,
            "min_s": self.min_s,
            "limit_s": self.limit_s,
        }


@dataclass
class Machine:
    """The limits of the machine: the best that was seen so far in this run."""

    best: dict[str, float] = field(default_factory=dict)

    def see(self, found: dict[str, float]) -> None:
        """Take in one more measurement."""
        for name, rate in found.items():
            self.best[name] = max(rate, self.best.get(name, 0.0))

    def seconds(self, workload: Workload, stores: str) -> float | None:
        """The least time for a workload.

        Args:
            workload: counts its operations and bytes.
            stores: ``"streamed"`` or ``"copied"``.
        """
        found = [
            amount / self.best[name]
            for name, amount in (("flops", workload.flops), (stores, workload.bytes))
            if amount and name in self.best
        ]
        return max(found, default=None)


@dataclass
class _Turn:
    process: Process
    label: str
    first: float
    runs: int
    times: list[float] = field(default_factory=list)


def measure(
    workloads: Sequence[Workload],
    peers: Sequence[str],
    threads: int,
    effort: Effort,
    tell: Callable[[str], None],
    verbose: bool = False,
) -> Iterator[list[Record]]:
    """The records of each workload in turn, of all peers that can compute it.

    Args:
        workloads: to measure.
        peers: names of the peers.
        threads: of each peer.
        effort: how long to measure.
        tell: takes lines about what is going on.
        verbose: let peers write to standard error.
    """
    machine = Machine()
    everyone = [*peers, _MACHINE]
    processes = {each: Process(each, threads, verbose=verbose) for each in everyone}
    try:
        for workload in workloads:
            tell(f"{workload.name}, threads: {threads}")
            _see(processes[_MACHINE], machine, tell)
            turns = _loaded(workload, [processes[each] for each in peers], effort, tell)
            for _ in range(effort.rounds):
                _round(turns, tell)
                _see(processes[_MACHINE], machine, tell)
            yield [_record(workload, threads, turn, machine) for turn in turns if turn.times]
    finally:
        for process in processes.values():
            process.close()


def _loaded(
    workload: Workload, processes: Sequence[Process], effort: Effort, tell: Callable[[str], None]
) -> list[_Turn]:
    """The peers whose result is right, ready to run."""
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "reference.npy"
        np.save(path, workload.reference(*map(_exact, workload.inputs())))
        for process in processes:
            try:
                answer = process.ask(load=workload.name, reference=str(path))
            except PeerError as failure:
                tell(f"  {process.peer}: {failure}")
                continue
            if answer["loaded"] is not None:
                runs = max(1, min(200, int(effort.seconds / max(answer["seconds"], 1e-6))))
                turns.append(_Turn(process, answer["loaded"], answer["first_s"], runs))
                tell(f"  {process.peer}: right, {answer['seconds'] * 1e3:.3f} ms")
    return turns


def _exact(argument: Any) -> Any:
    is_float = isinstance(argument, np.ndarray) and argument.dtype.kind == "f"
    return argument.astype(np.float64) if is_float else argument


def _round(turns: Sequence[_Turn], tell: Callable[[str], None]) -> None:
    for turn in turns:
        try:
            turn.times += turn.process.ask(run=turn.runs)["times"]
        except PeerError as failure:
            tell(f"  {turn.process.peer}: {failure}")
        time.sleep(_PAUSE)


def _see(process: Process, machine: Machine, tell: Callable[[str], None]) -> None:
    try:
        machine.see(process.ask(limits=True))
    except PeerError as failure:
        tell(f"  the limits of the machine: {failure}")
    time.sleep(_PAUSE)


def _record(workload: Workload, threads: int, turn: _Turn, machine: Machine) -> Record:
    return Record(
        workload.name,
        threads,
        turn.process.peer,
        statistics.median(turn.times),
        min(turn.times),
        machine.seconds(workload, "streamed"),
        turn.label,
        turn.first,
        machine.seconds(workload, "copied"),
    )
