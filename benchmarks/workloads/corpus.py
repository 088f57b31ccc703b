"""Programs of many kinds, as people write them, for what bare `@tile` makes of them."""

from __future__ import annotations

from benchmarks.workload import Workload

WORKLOADS: tuple[Workload, ...] = ()
