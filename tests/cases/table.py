"""Counts of runs as a table of Markdown, and each run that did not give the right values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from tests.cases.runs import Run

#: Results in the order of the table; an illegal step that was refused is as it should be.
RESULTS = ("ok", "refused", "wrong", "crashed")


def kind(run: Run) -> tuple[str, str]:
    """The column of a run: the first word of its form, and its target."""
    return run.form.split()[0], run.target


def tell(run: Run) -> None:
    """Print a run that gave no values, or other ones."""
    if run.result not in ("ok", "illegal"):
        print(
            f"{run.result:8} {run.program:20} {run.target:8} {run.form:34} {run.message}",
            flush=True,
        )


def table(runs: Sequence[Run]) -> list[str]:
    """A line for each column: how many runs gave what.

    Args:
        runs: of all programs.
    """
    counted = Counter((*kind(each), each.result) for each in runs)
    columns = sorted({kind(each) for each in runs})
    lines = ["| form | target | right | refused | wrong | crashed |", "|---|---|--:|--:|--:|--:|"]
    for form, target in columns:
        numbers = " | ".join(str(counted[form, target, result]) for result in RESULTS)
        lines.append(f"| {form} | {target} | {numbers} |")
    return lines


def is_fault(run: Run) -> bool:
    """Whether this is a wrong value or a crash."""
    return run.result in ("wrong", "crashed")


def told(runs: Iterable[Run]) -> list[Run]:
    """The runs, each printed where it is not right."""
    found = []
    for each in runs:
        tell(each)
        found.append(each)
    return found
