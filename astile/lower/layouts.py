"""How the arrays of a CUDA text lie in memory, as far as accesses of several cells ask for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from astile.analysis.reading.fragments import Product
from astile.ir import nodes


@dataclass(frozen=True)
class Layout:
    """The arrays of one kernel.

    Args:
        sizes: array -> bytes of an element; absent where unknown.
        shared: shared array -> its extents.
        local: arrays that a thread keeps in registers.
        word: the name in the text of a function of `astile.intrinsics.cuda`.
        unit: of a function of `astile.intrinsics.matrix_units`.
        fresh: makes a name that is free in the text.
        product: a loop -> the products in it that matrix units compute; None for other loops.
        wide: array -> bytes of its widest access so far; the text relies on its alignment.
        short: arrays whose extents the text takes to fit into 31 bits, so far.
        parts: array -> its extents, of those that hold parts of operands in registers, so far.
    """

    sizes: Mapping[str, int]
    shared: Mapping[str, tuple[int, ...]]
    local: frozenset[str]
    word: Callable[[str], str]
    unit: Callable[[str], str]
    fresh: Callable[[str], str]
    product: Callable[[ast.For], Product | None]
    wide: dict[str, int] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)
    parts: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def lane(self) -> str:
        """The name of the number of a thread in its warp."""
        return self.fresh("lane")

    def test(self) -> ast.expr | None:
        """Whether arrays of the host are as the text takes them to be; None where any are."""
        sizes = {array: size for array, size in self.wide.items() if array not in self.shared}
        arrays = sorted({*sizes, *self.short})
        if not arrays:
            return None
        size = nodes.const(max(sizes.values(), default=1))
        return nodes.call(self.word("is_aligned"), [size, *map(nodes.name, arrays)])
