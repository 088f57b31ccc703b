"""Vectors for numba on the CPU: loads and stores, arithmetic, masks.

Generated text imports these names; they work inside functions compiled by numba only. A vector
holds values of one type in its lanes. The operators ``+ - * /``, the comparisons and the unary
``-`` work lane by lane on two vectors of one type, each lane as numba's own scalar arithmetic
does: floats are rounded after each operation, integers wrap. A comparison gives a mask, and
``& | ^ ~`` combine masks.

Places are unchecked: an index is not compared with the extent and does not count from the end. An
index is a tuple with one integer for each axis; one integer alone is the number of a cell in C
order, for which the array has to be C-contiguous. Lanes lie along the last axis, and only arrays
that are C-contiguous by their type are read and written with one instruction.

=============================================  ===================================================
``load(a, index, lanes)``                      ``a[index]``, and the cells after it
``load_where(mask, a, index)``                 the same where the mask holds, 0 elsewhere
``load_along(a, index, axis, lanes)``          cells along another axis
``columns(a, index, lanes)``                   the columns of a square of cells, one vector each
``store(a, index, v)``                         stores the lanes side by side
``store_where(mask, a, index, v)``             the lanes where the mask holds
``store_along(a, index, axis, v)``             cells along another axis
``store_streaming(a, index, v)``               around the caches, at multiples of 16 bytes
``store_ahead(a, index, v)``                   by the caches; lines ahead in the row come near
``store_large(a, index, v)``                   around them from 32 MiB on, else with lines ahead
``get(a, index)``, ``put(a, index, x)``        one cell
``get_where(mask, a, index)``                  one cell if any lane of the mask holds, else 0
``prefetch(a, index)``                         brings the line of a cell near; any index is safe
``prefetch_second(a, index)``                  the same, as near as the second cache
``empty_aligned(shape, dtype)``                np.empty at a multiple of 64 bytes
``unrolled(times)``                            ends a loop's body: LLVM writes out `times` of it
``fence()``                                    waits until streaming stores are done
``splat(x, lanes)``, ``count(start, lanes)``   ``x, x, ...`` and ``start, start + 1, ...``
``below(start, stop, lanes)``                  mask of ``count(start, lanes) < stop``
``fma(a, b, c)``                               ``a * b + c`` with one rounding
``minimum(a, b)``, ``maximum(a, b)``           as NumPy's: NaN where one of them is
``smaller(a, b)``, ``larger(a, b)``            as Python's min and max: ``b if b < a else a``
``select(mask, a, b)``                         a where the mask holds, else b
``convert(v, dtype)``, ``bitcast(v, dtype)``   lanes of another type: same value, same bits
``square_root(v)``, ``magnitude(v)``           as NumPy's sqrt and abs
``round_down(v)``                              as NumPy's floor
``lane(v, number)``                            one of the lanes
``exponential(v)``, ``logarithm(v)``           nearly NumPy's exp and log
``hyperbolic_tangent(v)``                      nearly NumPy's tanh
``sum_of(v)``, ``product_of(v)``               of the lanes, pairwise
``smallest_of(v)``, ``largest_of(v)``          of the lanes, by ``smaller`` and ``larger``
``low_halves(a, b, step)``,                    steps of a transposition: blocks of `step` lanes,
``high_halves(a, b, step)``                    every second one of a and of b
=============================================  ===================================================
"""

from __future__ import annotations

from astile.intrinsics.prefetches import prefetch, prefetch_second
from astile.intrinsics.unrolling import unrolled
from astile.intrinsics.vector_arithmetic import (
    bitcast,
    convert,
    fma,
    larger,
    magnitude,
    maximum,
    minimum,
    round_down,
    select,
    smaller,
    square_root,
)
from astile.intrinsics.vector_arrays import empty_aligned
from astile.intrinsics.vector_lanes import (
    below,
    count,
    high_halves,
    lane,
    largest_of,
    low_halves,
    product_of,
    smallest_of,
    splat,
    sum_of,
)
from astile.intrinsics.vector_math import exponential, hyperbolic_tangent, logarithm
from astile.intrinsics.vector_memory import (
    columns,
    fence,
    get,
    get_where,
    load,
    load_along,
    load_where,
    put,
    store,
    store_ahead,
    store_along,
    store_large,
    store_streaming,
    store_where,
)
from astile.intrinsics.vector_types import Vector

__all__ = [
    "Vector",
    "below",
    "bitcast",
    "columns",
    "convert",
    "count",
    "empty_aligned",
    "exponential",
    "fence",
    "fma",
    "get",
    "get_where",
    "high_halves",
    "hyperbolic_tangent",
    "lane",
    "larger",
    "largest_of",
    "load",
    "load_along",
    "load_where",
    "logarithm",
    "low_halves",
    "magnitude",
    "maximum",
    "minimum",
    "prefetch",
    "prefetch_second",
    "product_of",
    "put",
    "round_down",
    "select",
    "smaller",
    "smallest_of",
    "splat",
    "square_root",
    "store",
    "store_ahead",
    "store_along",
    "store_large",
    "store_streaming",
    "store_where",
    "sum_of",
    "unrolled",
]
