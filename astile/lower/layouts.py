"""How the arrays of a CUDA text lie in memory, as far as accesses of several cells ask for it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from astile.ir import nodes


@dataclass(frozen=True)
class Layout:
    """The arrays of one kernel.

    Args:
        sizes: array -> bytes of an element; absent where unknown.
        shared: shared array -> its extents.
        local: arrays that a thread keeps in registers.
        word: the name in the text of a function of `astile.intrinsics.cuda`.
        fresh: makes a name that is free in the text.
        wide: array -> bytes of its widest access so far; the text relies on its alignment.
        short: arrays whose extents the text takes to fit into 31 bits, so far.
    """

    sizes: Mapping[str, int]
    shared: Mapping[str, tuple[int, ...]]
    local: frozenset[str]
    word: Callable[[str], str]
    fresh: Callable[[str], str]
    wide: dict[str, int] = field(default_factory=dict)
    short: set[str] = field(default_factory=set)

    def test(self) -> ast.expr | None:
        """Whether arrays of the host are as the text takes them to be; None where any are."""
        sizes = {array: size for array, size in self.wide.items() if array not in self.shared}
        arrays = sorted({*sizes, *self.short})
        if not arrays:
            return None
        size = nodes.const(max(sizes.values(), default=1))
        return nodes.call(self.word("is_aligned"), [size, *map(nodes.name, arrays)])
