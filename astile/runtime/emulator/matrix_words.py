"""The words of `astile.intrinsics.matrix_units`, as kernels of the emulator have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.execution import Thread
from astile.runtime.emulator.scalars import MASK32
from astile.runtime.emulator.wide import WideAccess, check_alignment

#: Rows of the matrices that are loaded, and cells of a row.
_SIDE = 8
_LOAD = WideAccess("load", _SIDE, stores=False)


@dataclass(frozen=True)
class MatrixWord:
    """A word of device code for which the lanes of a warp meet.

    Args:
        name: the word.
        count: how many registers each lane gets.
        loads: whether it loads matrices from shared memory; else it multiplies them.
    """

    name: str
    count: int
    loads: bool

    def __call__(self, *arguments: object) -> Any:
        """Refuse: kernels are translated, so that only host code comes here.

        Raises:
            EmulationError: always.
        """
        raise EmulationError(f"{self.name} is for device code only")

    def brought(self, thread: Thread, *arguments: Any) -> tuple[Any, ...]:
        """What a lane brings to the meeting: the lanes that meet, and its operands.

        Args:
            thread: the running one.
            *arguments: of the word, and the place of the text.

        Raises:
            AlignmentError: the address of a row is no multiple of its bytes.
            RaceError: the read of a row meets another access.
        """
        *operands, place = arguments
        if not self.loads:
            return (MASK32, *operands)
        if thread.lane >= _SIDE * self.count:
            return (MASK32, None)
        return (MASK32, self._row(operands[0], operands[1], place))

    def _row(self, array: EmulatedArray, index: tuple[Any, ...], place: int) -> tuple[Any, ...]:
        memory = array.memory
        if memory.scope != "shared" or memory.dtype.itemsize != 2:
            raise EmulationError(
                f"{self.name} reads cells of 16 bits from shared memory, not {memory.dtype} from "
                f"{memory.scope} {array.name}",
                span=memory.clock.places.span(place),
                operation=memory.clock.operation,
            )
        check_alignment(array, index, _SIDE, "read", place)
        row = _LOAD.on(array, index, place)
        assert row is not None
        return row

    def answers(self, brought: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """What each lane gets.

        Args:
            brought: by each of the 32 lanes.
        """
        if not self.loads:
            return _multiplied(brought)
        rows = [each[1] for each in brought[: _SIDE * self.count]]
        matrices = np.array(rows).reshape(self.count, _SIDE, _SIDE).view(np.uint16)
        if "columns" in self.name:
            matrices = matrices.transpose(0, 2, 1)
        return [
            tuple(_packed(each[lane // 4, 2 * (lane % 4) :][:2]) for each in matrices)
            for lane in range(len(brought))
        ]


def _packed(pair: Any) -> int:
    return int(pair[0]) | int(pair[1]) << 16


def _unpacked(register: Any) -> Any:
    halves = np.array([int(register) & 0xFFFF, int(register) >> 16], np.uint16)
    return halves.view(np.float16).astype(np.float64)


def _multiplied(brought: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """``a @ b + c`` of the parts that lanes hold, rounded once."""
    a, b, c = np.zeros((16, 16)), np.zeros((16, 8)), np.zeros((16, 8))
    for lane, (_, first, second, sums) in enumerate(brought):
        row, pair = lane // 4, 2 * (lane % 4)
        for k, register in enumerate(first):
            a[row + k % 2 * 8, pair + k // 2 * 8 :][:2] = _unpacked(register)
        for k, register in enumerate(second):
            b[pair + k * 8 : pair + k * 8 + 2, row] = _unpacked(register)
        c[row, pair : pair + 2], c[row + 8, pair : pair + 2] = sums[:2], sums[2:]
    with np.errstate(all="ignore"):
        found = (a @ b + c).astype(np.float32)
    return [
        (*found[lane // 4, 2 * (lane % 4) :][:2], *found[lane // 4 + 8, 2 * (lane % 4) :][:2])
        for lane in range(len(brought))
    ]


#: What a module gets for the names of `astile.intrinsics.matrix_units`.
MATRIX_WORDS: Mapping[str, MatrixWord] = {
    each.name: each
    for each in (
        *(MatrixWord(f"load_{k}{n}", n, loads=True) for k in ("rows", "columns") for n in (2, 4)),
        MatrixWord("multiply_add_f16", 4, loads=False),
    )
}
