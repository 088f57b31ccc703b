"""The words of `astile.intrinsics.matrix_units`, as kernels of the emulator have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile import loops
from astile.runtime.emulator.arrays import EmulatedArray
from astile.runtime.emulator.errors import EmulationError
from astile.runtime.emulator.execution import Thread
from astile.runtime.emulator.scalars import MASK32
from astile.runtime.emulator.wide import WideAccess, check_alignment

#: Rows of the matrices that are loaded, and bytes of a row.
_SIDE, _ROW_BYTES = 8, 16


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
        is_single = memory.dtype == np.float32 and "rows" in self.name
        if memory.scope != "shared" or (memory.dtype.itemsize != 2 and not is_single):
            raise EmulationError(
                f"{self.name} reads cells of 16 bits from shared memory, not {memory.dtype} from "
                f"{memory.scope} {array.name}",
                span=memory.clock.places.span(place),
                operation=memory.clock.operation,
            )
        count = _ROW_BYTES // memory.dtype.itemsize
        check_alignment(array, index, count, "read", place)
        row = WideAccess("load", count, stores=False).on(array, index, place)
        assert row is not None
        return row

    def answers(self, brought: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """What each lane gets.

        Args:
            brought: by each of the 32 lanes.
        """
        if not self.loads:
            return _multiplied(brought, self.name.rpartition("_")[2])
        rows = np.array([each[1] for each in brought[: _SIDE * self.count]])
        if rows.dtype == np.float32:
            singles = rows.reshape(self.count, _SIDE, _ROW_BYTES // 4)
            return [tuple(singles[:, k // 4, k % 4]) for k in range(len(brought))]
        matrices = rows.reshape(self.count, _SIDE, _SIDE).view(np.uint16)
        if "columns" in self.name:
            matrices = matrices.transpose(0, 2, 1)
        return [
            tuple(_packed(each[lane // 4, 2 * (lane % 4) :][:2]) for each in matrices)
            for lane in range(len(brought))
        ]


def _packed(pair: Any) -> int:
    return int(pair[0]) | int(pair[1]) << 16


def _numbers(register: Any, kind: str) -> list[Any]:
    """What a register holds: two neighbours, or one number of TF32."""
    bits = int(register)
    if kind == "f16":
        return list(np.array([bits & 0xFFFF, bits >> 16], np.uint16).view(np.float16))
    halves = [bits] if kind == "tf32" else [bits << 16 & MASK32, bits & 0xFFFF0000]
    return list(np.array(halves, np.uint32).view(np.float32))


def _multiplied(brought: Sequence[tuple[Any, ...]], kind: str) -> list[tuple[Any, ...]]:
    """``a @ b + c`` of the parts that lanes hold, rounded once."""
    each = 1 if kind == "tf32" else 2
    a, b, c = np.zeros((16, 8 * each)), np.zeros((8 * each, 8)), np.zeros((16, 8))
    for lane, (_, first, second, sums) in enumerate(brought):
        row, column, depth = lane // 4, 2 * (lane % 4), each * (lane % 4)
        for k, register in enumerate(first):
            begin = depth + k // 2 * 4 * each
            a[row + k % 2 * 8, begin : begin + each] = _numbers(register, kind)
        for k, register in enumerate(second):
            begin = depth + k * 4 * each
            b[begin : begin + each, row] = _numbers(register, kind)
        c[row, column : column + 2], c[row + 8, column : column + 2] = sums[:2], sums[2:]
    with np.errstate(all="ignore"):
        found = (a @ b + c).astype(np.float32)
    return [
        (*found[lane // 4, 2 * (lane % 4) :][:2], *found[lane // 4 + 8, 2 * (lane % 4) :][:2])
        for lane in range(len(brought))
    ]


def _tf32_parts(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(loops.tf32(each).view(np.uint32) for each in values)


def _bf16_parts(values: Sequence[Any]) -> tuple[Any, ...]:
    bits = [int(loops.bf16(each).view(np.uint32)) >> 16 for each in values]
    return tuple(
        np.uint32(low | high << 16) for low, high in zip(bits[::2], bits[1::2], strict=True)
    )


#: Words of which each lane computes its own, and how many values one result is made of.
PART_WORDS: Mapping[str, tuple[Callable[..., Any], int]] = {
    "tf32_parts": (_tf32_parts, 1),
    "bf16_parts": (_bf16_parts, 2),
}
#: Words for which the lanes of a warp meet.
MATRIX_WORDS: Mapping[str, MatrixWord] = {
    each.name: each
    for each in (
        *(MatrixWord(f"load_{k}{n}", n, loads=True) for k in ("rows", "columns") for n in (2, 4)),
        *(MatrixWord(f"multiply_add_{e}", 4, loads=False) for e in ("f16", "bf16", "tf32")),
    )
}
#: What a module gets for the names of `astile.intrinsics.matrix_units`.
MATRIX_UNITS: Mapping[str, Any] = {
    **MATRIX_WORDS,
    **{name: function for name, (function, _) in PART_WORDS.items()},
    "bf16": loops.bf16,
    "tf32": loops.tf32,
}
