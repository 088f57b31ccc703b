"""The workload's own schedule, or bare `@tile` where it has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from astile import tile
from benchmarks.peer import Variant
from benchmarks.workload import Workload


def variants(workload: Workload, arguments: Sequence[Any], threads: int) -> dict[str, Variant]:
    """One call of the kernel."""
    kernel = tile(schedule=workload.schedule, target="cpu")(workload.function)
    return {
        "schedule" if workload.schedule else "tile": Variant(
            lambda: kernel(*arguments), lambda: arguments[workload.result]
        )
    }
