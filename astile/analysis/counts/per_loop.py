"""What one iteration of each loop of a nest touches, as numbers, formulas or text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

#: A number of iterations or cells: an integer, a formula, or the text of one.
Number = TypeVar("Number")


@dataclass(frozen=True)
class Footprint(Generic[Number]):
    """How many cells of each array one iteration of a loop touches, away from both of its ends.

    Args:
        loop: the variable of the loop; empty for a nest as a whole.
        kind: ``"range"``, ``"parallel"``, ``"block.x"``, ...; empty for a nest as a whole.
        depth: how many loops are around it.
        trips: how many iterations the loop has there.
        extent: how many it is written with, conditions inside left out.
        cells: array -> number of cells.
    """

    loop: str
    kind: str
    depth: int
    trips: Number
    extent: Number
    cells: Mapping[str, Number]

    @property
    def level(self) -> str:
        """``"block"`` or ``"thread"`` for a loop that is bound to it; another word otherwise."""
        return self.kind.partition(".")[0]

    @property
    def axis(self) -> str:
        """``"x"``, ``"y"`` or ``"z"`` for a loop that is bound to it; empty otherwise."""
        return self.kind.partition(".")[2]


def kernels(nest: Sequence[Footprint[Number]]) -> list[list[Footprint[Number]]]:
    """The loops of each CUDA kernel: an outermost bound loop, and those inside it.

    Args:
        nest: the footprints of a nest, in textual order.
    """
    found: list[list[Footprint[Number]]] = []
    root: int | None = None
    for each in nest:
        if root is not None and each.depth > root:
            found[-1].append(each)
        elif each.level in ("block", "thread"):
            root = each.depth
            found.append([each])
        else:
            root = None
    return found


def along(kernel: Sequence[Footprint[Number]], level: str) -> dict[str, list[Number]]:
    """Axis -> the extents of the loops of a kernel that are bound to it.

    Args:
        kernel: its loops.
        level: ``"block"`` or ``"thread"``.
    """
    found: dict[str, list[Number]] = {}
    for each in kernel:
        if each.level == level:
            found.setdefault(each.axis, []).append(each.extent)
    return found
