"""What the launches of an emulated module did, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from astile.runtime.emulator.errors import Index3
from astile.runtime.emulator.memory import Memory
from astile.runtime.emulator.warps import Warps, WarpTraffic


@dataclass(frozen=True)
class ArrayTraffic:
    """Accesses of one global array; an atomic update is a read and a write.

    Arrays that overlap in memory are counted together.

    Args:
        reads: elements read, repeated reads counted.
        writes: elements written, repeated writes counted.
        most_reads: reads of the element that was read most.
        most_writes: writes of the element that was written most.
        cells_read: elements that were read at all.
        cells_written: elements that were written at all.
        sectors: sectors of 32 bytes that warps asked for, those of each request counted; arrays
            are taken to start with a sector.
        least_sectors: how many it would be if the elements of each request lay side by side.
    """

    reads: int = 0
    writes: int = 0
    most_reads: int = 0
    most_writes: int = 0
    cells_read: int = 0
    cells_written: int = 0
    sectors: int = 0
    least_sectors: int = 0

    @property
    def is_coalesced(self) -> bool:
        """Whether every sector that a warp asked for was used in full."""
        return self.sectors == self.least_sectors


@dataclass(frozen=True)
class SharedTraffic:
    """Accesses of one shared array, over all blocks.

    Args:
        requests: accesses that the lanes of a warp made together.
        conflicts: passes through the banks that they took beyond what their size needs.
    """

    requests: int = 0
    conflicts: int = 0


@dataclass(frozen=True)
class LaunchReport:
    """One launch that ran to its end.

    Args:
        kernel: its name.
        grid: blocks along x, y, z.
        block: threads along x, y, z.
        barriers: barriers of the block passed, over all blocks.
        shared_bytes: static shared memory of a block.
        arrays: global traffic by parameter.
        shared: traffic of shared arrays by name.
    """

    kernel: str
    grid: Index3
    block: Index3
    barriers: int
    shared_bytes: int
    arrays: dict[str, ArrayTraffic]
    shared: dict[str, SharedTraffic] = field(default_factory=dict)


@dataclass
class EmulationReport:
    """Filled by the launches of a module that was loaded with it.

    Args:
        launches: in the order in which they ended.
    """

    launches: list[LaunchReport] = field(default_factory=list)

    @property
    def bank_conflicts(self) -> int:
        """Passes through the banks of shared memory that a better layout would save."""
        return sum(array.conflicts for launch in self.launches for array in launch.shared.values())

    def traffic(self, parameter: str) -> ArrayTraffic:
        """Accesses through a parameter, over all launches; the most of an element in one launch.

        Args:
            parameter: name of a kernel's parameter.

        Raises:
            KeyError: no kernel that ran has an array of that name.
        """
        found = [each.arrays[parameter] for each in self.launches if parameter in each.arrays]
        if not found:
            raise KeyError(parameter)
        return ArrayTraffic(
            reads=sum(each.reads for each in found),
            writes=sum(each.writes for each in found),
            most_reads=max(each.most_reads for each in found),
            most_writes=max(each.most_writes for each in found),
            cells_read=max(each.cells_read for each in found),
            cells_written=max(each.cells_written for each in found),
            sectors=sum(each.sectors for each in found),
            least_sectors=sum(each.least_sectors for each in found),
        )


def count(memories: Mapping[str, Memory], warps: Warps) -> dict[str, ArrayTraffic]:
    """The traffic of a launch.

    Args:
        memories: the global memory behind each array.
        warps: the requests of its warps.
    """
    result: dict[str, ArrayTraffic] = {}
    for name, memory in memories.items():
        cells = [cell for cell in memory.cells if cell is not None]
        reads = [cell.reads for cell in cells if cell.reads]
        writes = [cell.writes for cell in cells if cell.writes]
        requests = warps.counts.get(("global", memory.roots[0].name), WarpTraffic())
        result[name] = ArrayTraffic(
            sum(reads),
            sum(writes),
            max(reads, default=0),
            max(writes, default=0),
            len(reads),
            len(writes),
            requests.passes,
            requests.least,
        )
    return result


def shared_traffic(warps: Warps) -> dict[str, SharedTraffic]:
    """The traffic of the shared arrays of a launch.

    Args:
        warps: the requests of its warps.
    """
    return {
        name: SharedTraffic(each.requests, each.passes - each.least)
        for (scope, name), each in warps.counts.items()
        if scope == "shared"
    }
