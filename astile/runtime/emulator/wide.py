"""Accesses of several neighbouring elements at once, as `astile.intrinsics.cuda` has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from astile.intrinsics import plain
from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.errors import EmulationError, Kind


class AlignmentError(EmulationError):
    """An access of several elements at an address that is no multiple of its size."""

    default_code = "emulation.alignment"


@dataclass(frozen=True)
class WideAccess:
    """A word of device code: ``load4(array, index)`` or ``store4(array, index, values)``.

    Args:
        name: the word.
        count: how many elements.
        stores: whether it writes them.
    """

    name: str
    count: int
    stores: bool

    def __call__(self, *arguments: object) -> Any:
        """Refuse: kernels are translated, so that only host code comes here.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"{self.name} is for device code only")

    def on(self, array: EmulatedArray, index: Any, *rest: Any) -> tuple[Any, ...] | None:
        """Make the access.

        Args:
            array: of any scope.
            index: of the first element.
            *rest: the values of a store, and the place of the text.

        Raises:
            AlignmentError: the address is no multiple of the bytes of the access.
        """
        place = rest[-1]
        check_alignment(array, index, self.count, "write" if self.stores else "read", place)
        *outer, last = index
        cells = [(*outer, last + k) for k in range(self.count)]
        with self.as_one(array, index, place):
            if not self.stores:
                return tuple(array.load(cell, place) for cell in cells)
            for cell, value in zip(cells, rest[0], strict=True):
                array.store(cell, value, place)
        return None

    @contextmanager
    def as_one(self, array: EmulatedArray, index: Any, place: int) -> Iterator[None]:
        """Where what warps ask for is counted, the elements are one access."""
        clock, kind = array.clock, "write" if self.stores else "read"
        warps = clock.warps
        if warps is not None and array.memory.scope != "local":
            position = array.position(index, "read", place)
            warps.note(array.memory, clock.strand, kind, place, position, self.count)
        clock.warps = None
        try:
            yield
        finally:
            clock.warps = warps


def check_alignment(
    array: EmulatedArray, index: tuple[int, ...], count: int, kind: Kind, place: int
) -> None:
    """Refuse an access of several elements that does not start at a multiple of their bytes.

    Args:
        array: of any scope.
        index: of the first element.
        count: how many elements.
        kind: read or write.
        place: of the text.

    Raises:
        AlignmentError: the address is no multiple of the bytes of the access.
    """
    memory = array.memory
    size = memory.dtype.itemsize
    address = memory.address + array.position(index, kind, place) * size
    if (count == 1 or array.strides[-1] == 1) and address % (count * size) == 0:
        return
    raise AlignmentError(
        f"{memory.scope} {array.name}{list(map(int, index))}: {count} elements of {size} bytes "
        f"are accessed at once, and do not start at a multiple of {count * size} bytes",
        span=memory.clock.places.span(place),
        operation=memory.clock.operation,
    )


#: What a module gets for the names of `astile.intrinsics.cuda`.
INTRINSICS: Mapping[str, Any] = {
    "is_aligned": plain.is_aligned,
    **{
        f"{word}{count}": WideAccess(f"{word}{count}", count, word == "store")
        for word in ("load", "store")
        for count in (2, 4, 8)
    },
}
