"""What the accesses of a warp cost: passes through the banks of shared memory, sectors of global.

The lanes of a warp run in step, so an access that they make together is one request. Here they
run one after the other; the k-th access that lanes make at one place of the text, between two
barriers, counts as one request. That is exact where lanes run through loops equally often.

The rules are those of the CUDA programming guide: shared memory has 32 banks of 4 bytes. Lanes
that use different words of one bank need a pass each; the same word serves all of them at once.
Accesses of 8 bytes are served for half a warp at a time, those of 16 bytes for a quarter. Global
memory is read and written by sectors of 32 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.runtime.emulator.clock import Strand
    from astile.runtime.emulator.memory import Memory

_WARP = 32
_BANKS = 32
_WORD = 4
_SECTOR = 32


@dataclass
class WarpTraffic:
    """Requests of warps to one array.

    Args:
        requests: how many there were.
        passes: how often banks, or sectors, were used for them.
        least: how often they would be at best.
    """

    requests: int = 0
    passes: int = 0
    least: int = 0


#: Thread of a block -> the cells that it accessed at one place, in order.
Lanes = list[list[int]]
#: The cell that each lane accesses in one request; None for lanes that make none.
Request = tuple[int | None, ...]


class Warps:
    """Collects the accesses of the threads of a block, and counts the requests of its warps.

    Args:
        threads: of a block.
    """

    def __init__(self, threads: int) -> None:
        self.counts: dict[tuple[str, str], WarpTraffic] = {}
        self._threads = threads
        self._open: dict[tuple[Memory, int, str, int], Lanes] = {}
        self._costs: dict[tuple[str, int, int, Request], tuple[int, int]] = {}

    def open(self, memory: Memory, place: int) -> Lanes:
        """Where reads of single cells are collected, until lanes meet; `Memory.asked` keeps it.

        Args:
            memory: shared or global memory.
            place: of the text.
        """
        lanes = memory.asked[place] = self._lanes(memory, place, "read", 1)
        return lanes

    def _lanes(self, memory: Memory, place: int, kind: str, cells: int) -> Lanes:
        key = memory, place, kind, cells
        if key not in self._open:
            self._open[key] = [[] for _ in range(self._threads)]
        return self._open[key]

    def note(
        self, memory: Memory, strand: Strand, kind: str, place: int, position: int, cells: int = 1
    ) -> None:
        """Collect an access.

        Args:
            memory: shared or global memory.
            strand: who makes it.
            kind: read, write or atomic update.
            place: of the text.
            position: of the first cell.
            cells: how many neighbours are accessed at once.
        """
        self._lanes(memory, place, kind, cells)[strand.number].append(position)

    def close(self) -> None:
        """Count the requests collected so far; lanes meet here."""
        for (memory, _, _, cells), lanes in self._open.items():
            memory.asked.clear()
            name = memory.roots[0].name if memory.roots else "memory"
            count = self.counts.setdefault((memory.scope, name), WarpTraffic())
            size = memory.dtype.itemsize
            for first in range(0, len(lanes), _WARP):
                for request in zip_longest(*lanes[first : first + _WARP]):
                    key = (memory.scope, size, cells, request)
                    if key not in self._costs:
                        self._costs[key] = _cost(*key)
                    passes, least = self._costs[key]
                    count.requests += 1
                    count.passes += passes
                    count.least += least
        self._open.clear()


def _cost(scope: str, size: int, cells: int, request: Request) -> tuple[int, int]:
    """Passes or sectors that a request takes, and those that it would take at best."""
    made = {lane: cell * size for lane, cell in enumerate(request) if cell is not None}
    if scope == "shared":
        groups = {lane // _lanes_at_once(size * cells) for lane in made}
        return bank_passes(made.items(), size * cells), len(groups)
    used = set(made.values())
    return len(_sectors(used, size * cells)), -(-len(used) * size * cells // _SECTOR)


def bank_passes(request: Iterable[tuple[int, int]], size: int) -> int:
    """How many passes shared memory needs for one request of a warp.

    Args:
        request: lane and address of each access, in bytes.
        size: bytes of each access, at most 16.
    """
    lanes = _lanes_at_once(size)
    words: dict[int, dict[int, set[int]]] = {}
    for lane, address in request:
        banks = words.setdefault(lane // lanes, {})
        for word in range(address // _WORD, (address + size - 1) // _WORD + 1):
            banks.setdefault(word % _BANKS, set()).add(word)
    return sum(max(map(len, banks.values())) for banks in words.values())


def _lanes_at_once(size: int) -> int:
    return _BANKS * _WORD // max(size, _WORD)


def _sectors(addresses: Iterable[int], size: int) -> set[int]:
    return {
        sector
        for address in addresses
        for sector in range(address // _SECTOR, (address + size - 1) // _SECTOR + 1)
    }
