"""What the launches of an emulated module did, counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from astile.runtime.emulator.errors import Index3
from astile.runtime.emulator.memory import Memory


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
    """

    reads: int = 0
    writes: int = 0
    most_reads: int = 0
    most_writes: int = 0
    cells_read: int = 0
    cells_written: int = 0


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
    """

    kernel: str
    grid: Index3
    block: Index3
    barriers: int
    shared_bytes: int
    arrays: dict[str, ArrayTraffic]


@dataclass
class EmulationReport:
    """Filled by the launches of a module that was loaded with it.

    Args:
        launches: in the order in which they ended.
    """

    launches: list[LaunchReport] = field(default_factory=list)

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
        )


def count(memories: Mapping[str, Memory]) -> dict[str, ArrayTraffic]:
    """The traffic of a launch.

    Args:
        memories: the global memory behind each array.
    """
    result: dict[str, ArrayTraffic] = {}
    for name, memory in memories.items():
        cells = [cell for cell in memory.cells if cell is not None]
        reads = [cell.reads for cell in cells if cell.reads]
        writes = [cell.writes for cell in cells if cell.writes]
        result[name] = ArrayTraffic(
            sum(reads),
            sum(writes),
            max(reads, default=0),
            max(writes, default=0),
            len(reads),
            len(writes),
        )
    return result
