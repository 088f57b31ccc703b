"""The trouble inputs of the case corpus: the schedule that each names, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

from astile.kernel import Kernel
from astile.schedule.schedule import Schedule
from tests.cases import corpus
from tests.cases.forms import Subject
from tests.cases.runs import TARGETS, Run, judged

#: What each stated outcome allows to happen.
ALLOWED = {
    "value": ("ok",),
    "refuse": ("refused",),
    "value or refuse": ("ok", "refused"),
    "documented difference": ("ok",),
}
#: Labels whose prefix is no array: position of the loop among those of its variable.
_NESTS = {"a": 0, "b": 1, "p": 0, "c": 1}
#: Stages that the corpus calls by a word of its own.
_STAGES = {"init": "out#0", "s": "out#1"}


def troubles() -> list[str]:
    """Names of the trouble inputs; none where the folder is absent."""
    return sorted(each.stem for each in (corpus.FOLDER / "troubles").glob("*.py"))


def subject_of(module: ModuleType) -> Subject:
    """A trouble as a subject of one size."""
    name = module.__name__.removeprefix("case_")
    function = module.kernel if hasattr(module, "kernel") else module.factory()
    return Subject(name, function, lambda size, seed: module.make_args(), (0,))


class Steps:
    """Makes the steps of a trouble; remembers loops by the corpus's labels."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.handles: dict[str, Any] = {}

    def loop(self, label: str) -> Any:
        """The loop that the corpus calls `label`."""
        if label not in self.handles:
            self.handles[label] = self._found(label)
        return self.handles[label]

    def _found(self, label: str) -> Any:
        prefix, dot, variable = label.rpartition(".")
        if not dot:
            return label
        every = [each for each in self.schedule.loops() if each.var == variable]
        if prefix in _STAGES:
            return next(e for e in self.schedule.loops(_STAGES[prefix]) if e.var == variable)
        arrays = {each.name for each in self.schedule.stages()}
        if prefix in arrays and prefix not in ("a", "b"):
            return next(e for e in self.schedule.loops(prefix) if e.var == variable)
        return every[_NESTS[prefix] if len(every) > 1 else 0]

    def make(self, step: Sequence[Any]) -> None:
        """Make one step."""
        operation, first, *rest = step
        match operation:
            case "split":
                outer, inner = self.schedule.split(self.loop(first), [None, rest[0]])
                self.handles |= {f"{first}_o": outer, f"{first}_i": inner}
            case "reorder":
                self.schedule.reorder(*map(self.loop, first))
            case "bind":
                axis = rest[0].replace("block.", "blockIdx.").replace("thread.", "threadIdx.")
                self.schedule.bind(self.loop(first), axis)
            case "cache_read":
                self.schedule.cache_read(first, rest[1], at=self.loop(rest[0]))
            case "parallel":
                self.schedule.parallel(self.loop(first))
            case "fuse":
                self.schedule.merge(self.loop(first), self.loop(rest[0]))
            case "compute_at":
                self.schedule.compute_at(_STAGES.get(first, first), self.loop(rest[0]))
            case "reverse_compute_at":
                self.schedule.reverse_compute_at(first, self.loop(rest[0]))
            case other:
                raise ValueError(f"unknown step {other}")


def scheduled(module: ModuleType, subject: Subject) -> Schedule:
    """The schedule that a trouble names."""
    schedule = subject.schedule()
    steps = Steps(schedule)
    for each in module.META["schedule"]:
        steps.make(each)
    return schedule


def as_stated(name: str, targets: Sequence[str] = TARGETS) -> Iterator[Run]:
    """A trouble under its own schedule, on each target."""
    module = corpus.load(name, "troubles")
    subject = subject_of(module)
    for target in targets:
        yield judged(
            subject,
            "as stated",
            target,
            lambda target=target: Kernel.of_schedule(scheduled(module, subject), target),
            bitwise=target == "python",
            seeds=(0,),
        )


def is_as_stated(run: Run) -> bool:
    """Whether a run of a trouble came out as its module states.

    A limit of GPUs is refused by the targets that have it; a CPU gives the value.
    """
    meta = corpus.load(run.program, "troubles").META
    if "limits" in meta["tags"] and run.target in ("python", "cpu"):
        return run.result == "ok"
    return run.result in ALLOWED[meta["expect"]]


def table(runs: Sequence[Run]) -> list[str]:
    """A line for each trouble: what is stated, and what came of it on each target.

    Args:
        runs: of troubles under their own schedules.
    """
    targets = list(dict.fromkeys(each.target for each in runs))
    lines = [
        f"| trouble | stated | {' | '.join(targets)} | message |",
        f"|---|---|{'---|' * len(targets)}---|",
    ]
    for name in dict.fromkeys(each.program for each in runs):
        found = {each.target: each for each in runs if each.program == name}
        cells = [
            found[target].result + ("" if is_as_stated(found[target]) else " (!)")
            for target in targets
        ]
        message = next((each.message for each in found.values() if each.message), "")
        expected = corpus.load(name, "troubles").META["expect"]
        lines.append(f"| {name} | {expected} | {' | '.join(cells)} | {message} |")
    return lines
