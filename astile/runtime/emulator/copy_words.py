"""The words of `astile.intrinsics.async_copies`, as kernels of the emulator have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.execution import Thread
from astile.runtime.emulator.wide import WideAccess, check_alignment


@dataclass(frozen=True)
class CopyWord:
    """A word of device code: it starts a copy, or waits for those that were started.

    Args:
        name: the word.
        count: how many elements it copies; 0 for words that copy none.
        under_way: how many groups of copies need not have arrived; None where it waits for all.
    """

    name: str
    count: int = 0
    under_way: int | None = None

    def __call__(self, *arguments: object) -> Any:
        """Refuse: kernels are translated, so that only host code comes here.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"{self.name} is for device code only")

    def on(self, thread: Thread, *arguments: Any) -> None:
        """Do it.

        Args:
            thread: the running one.
            *arguments: tile, index, array and index for a copy, and the place of the text.

        Raises:
            AlignmentError: an address is no multiple of the bytes of the copy.
            RaceError: the copy meets another access.
        """
        copies = thread.memory.execution.clock.copies
        if self.count:
            self._start(thread, *arguments)
        elif self.name == "close_group":
            copies.close_group(thread.number)
        else:
            copies.wait(thread.number, self.under_way)

    def _start(
        self,
        thread: Thread,
        tile: EmulatedArray,
        index: tuple[Any, ...],
        source: EmulatedArray,
        place_in_source: tuple[Any, ...],
        place: int,
    ) -> None:
        clock = tile.clock
        if tile.memory.scope != "shared" or source.memory.scope != "global":
            raise EmulationError(
                f"{self.name} copies from global to shared memory, not from "
                f"{source.memory.scope} {source.name} to {tile.memory.scope} {tile.name}",
                span=clock.places.span(place),
                operation=clock.operation,
            )
        check_alignment(tile, index, self.count, "write", place)
        check_alignment(source, place_in_source, self.count, "read", place)
        load = WideAccess("load", self.count, stores=False)
        values = load.on(source, place_in_source, place)
        assert values is not None
        first = tile.position(index, "write", place)
        tile.position((*index[:-1], index[-1] + self.count - 1), "write", place)
        with WideAccess("store", self.count, stores=True).as_one(tile, index, place):
            for lane, value in enumerate(values):
                tile.memory.begin_copy(first + lane, value, place)
                clock.copies.start(thread.number, tile.memory, first + lane)


#: What a module gets for the names of `astile.intrinsics.async_copies`.
COPY_WORDS: Mapping[str, CopyWord] = {
    each.name: each
    for each in (
        *(CopyWord(f"start_copy{count}", count) for count in (1, 2, 4, 8)),
        CopyWord("close_group"),
        CopyWord("wait_all"),
        CopyWord("wait_all_but_1", under_way=1),
        CopyWord("wait_all_but_2", under_way=2),
    )
}
