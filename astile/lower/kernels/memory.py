"""How much shared and local memory a kernel takes, and where its shared arrays lie.

As long as they fit into 48 KiB each of them is allocated by itself. More than that a GPU gives as
one piece only, to launches that ask for it, see `astile.intrinsics.shared_memory`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from astile.analysis.counts import gpu_limits
from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.kernels.private import LocalArray
from astile.lower.types import dtypes

#: What the widest access needs.
ALIGNMENT = 16


@dataclass(frozen=True)
class Piece:
    """Shared arrays of a kernel that lie in one piece.

    Args:
        size: bytes.
        offsets: array -> byte at which it begins.
        array: the name of `shared_array` in the text.
        decorator: that of `with_shared_memory`.
    """

    size: int
    offsets: Mapping[str, int]
    array: str
    decorator: str


def piece(
    program: Program, root: ast.For, shared: Mapping[str, int], word: Callable[[str], str]
) -> Piece | None:
    """Where shared arrays lie that do not fit without asking; None for those that do.

    Args:
        program: the whole program.
        root: the nest that becomes a kernel.
        shared: array -> bytes.
        word: the name in the text for a dotted path.

    Raises:
        LoweringError: where no GPU has as much.
    """
    offsets: dict[str, int] = {}
    size = 0
    for array, taken in shared.items():
        offsets[array] = size
        size += -(-taken // ALIGNMENT) * ALIGNMENT
    if size <= gpu_limits.SHARED_UNASKED:
        return None
    if size > gpu_limits.MOST_SHARED:
        largest = max(shared, key=lambda array: shared[array])
        raise LoweringError(
            f"{size} bytes of shared memory in one block; no GPU gives more than "
            f"{gpu_limits.MOST_SHARED}",
            code="lowering.shared-memory",
            span=program.source.span(root),
            notes=[f"{array} takes {taken} bytes" for array, taken in shared.items()],
            hints=[f"use smaller tiles, or leave {largest} in global memory"],
        )
    home = "astile.intrinsics.shared_memory"
    return Piece(size, offsets, word(f"{home}.shared_array"), word(f"{home}.with_shared_memory"))


def check_local(
    program: Program, root: ast.For, held: Mapping[str, LocalArray], types: Mapping[str, str]
) -> None:
    """Refuse local arrays that are larger than what a thread may keep in memory.

    Args:
        program: the whole program.
        root: the nest that becomes a kernel.
        held: the local arrays as each thread holds them.
        types: array parameter -> name of its dtype.

    Raises:
        LoweringError: naming the arrays.
    """
    taken: dict[str, int] = {}
    for statement in query.statements(root):
        made = query.allocation(statement)
        if made is not None and made.array in held:
            name = dtypes.name_of(program, made.dtype, types)
            size = dtypes.SIZES.get(name or "", 1)  # at least that much, where it is not known
            taken[made.array] = prod(held[made.array].shape) * size
    total = sum(taken.values())
    if total > gpu_limits.MOST_LOCAL:
        raise LoweringError(
            f"{total} bytes of local memory in one thread; there are {gpu_limits.MOST_LOCAL}",
            code="lowering.local-memory",
            span=program.source.span(root),
            notes=[f"{array} takes {size} bytes" for array, size in taken.items()],
            hints=["use smaller tiles, or arrays in shared or global memory"],
        )
