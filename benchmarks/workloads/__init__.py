"""The programs that are measured, by name."""

from benchmarks.workload import Workload
from benchmarks.workloads import attention, conv, corpus, matmul, rows, stencils, transpose

_GROUPS = (matmul, conv, stencils, rows, transpose, attention, corpus)

WORKLOADS: dict[str, Workload] = {w.name: w for group in _GROUPS for w in group.WORKLOADS}
