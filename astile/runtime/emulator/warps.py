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

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.runtime.emulator.clock import Strand
    from astile.runtime.emulator.memory import Memory

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


#: The cell that each lane accesses in one request; None for lanes that make none.
Request = tuple[int | None, ...]


class Warps:
    """Collects the accesses of the threads of a block, and counts the requests of its warps."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str], WarpTraffic] = {}
        self._open: dict[tuple[int, int, str, int, Memory], list[list[int]]] = {}
        self._costs: dict[tuple[str, int, int, Request], tuple[int, int]] = {}
        self._is_wide = False

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
        if self._is_wide:
            return
        key = (strand.warp, place, kind, cells, memory)
        lanes = self._open.get(key)
        if lanes is None:
            lanes = self._open[key] = [[] for _ in range(32)]
        lanes[strand.lane].append(position)

    @contextmanager
    def together(
        self, memory: Memory, strand: Strand, kind: str, place: int, position: int, cells: int
    ) -> Iterator[None]:
        """Accesses inside are one access of several cells; arguments as for `note`."""
        self.note(memory, strand, kind, place, position, cells)
        self._is_wide = True
        try:
            yield
        finally:
            self._is_wide = False

    def close(self) -> None:
        """Count the requests collected so far; lanes meet here."""
        for (_, _, _, cells, memory), lanes in self._open.items():
            name = memory.roots[0].name if memory.roots else "memory"
            count = self.counts.setdefault((memory.scope, name), WarpTraffic())
            size = memory.dtype.itemsize
            for request in zip_longest(*lanes):
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
