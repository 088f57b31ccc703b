"""Copies to shared memory that run beside the computation, while they are under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.runtime.emulator.memory import Memory


class Copies:
    """The copies of one block that have not arrived, thread by thread and group by group."""

    def __init__(self) -> None:
        self._groups: dict[int, list[list[tuple[Memory, int]]]] = {}

    def start(self, thread: int, memory: Memory, position: int) -> None:
        """Add a copy to the open group of a thread.

        Args:
            thread: number in its block.
            memory: what is written.
            position: of the cell.
        """
        self._groups.setdefault(thread, [[]])[-1].append((memory, position))

    def close_group(self, thread: int) -> None:
        """The copies of a thread up to here are one group."""
        self._groups.setdefault(thread, [[]]).append([])

    def wait(self, thread: int, under_way: int | None) -> None:
        """Let copies of a thread arrive.

        Args:
            thread: number in its block; the one that runs now.
            under_way: how many closed groups need not arrive, the latest ones; None where every
                copy has to.
        """
        groups = self._groups.setdefault(thread, [[]])
        kept = 0 if under_way is None else under_way + 1
        while len(groups) > kept:
            for memory, position in groups.pop(0):
                memory.end_copy(position)
        if not groups:
            groups.append([])
