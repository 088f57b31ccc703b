"""Which cells are read before anything has written them, for counts of what comes from outside."""

from __future__ import annotations

from astile.analysis import isl


def from_before(sinks: isl.UnionMap, sources: isl.UnionMap, schedule: isl.UnionMap) -> isl.UnionSet:
    """The cells that some read finds as they were before all writes.

    Dataflow tells which write a read follows; that there is one takes a tenth of the time.

    Args:
        sinks: read -> cell.
        sources: write -> cell.
        schedule: read or write -> time; all times are of one space.
    """
    arrays = sources.range().universe()
    never_written = sinks.subtract_range(arrays).range()
    sinks = sinks.intersect_range(arrays)
    if sinks.is_empty():
        return never_written
    sources = sources.intersect_range(sinks.range().universe())
    reads, writes = (each.apply_domain(schedule) for each in (sinks, sources))
    times = schedule.range().universe()
    earlier = times.lex_gt_union_set(times).intersect_domain(reads.domain())
    return never_written.union(reads.subtract(earlier.apply_range(writes)).range())
