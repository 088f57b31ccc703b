"""Recipes made only of primitives: each is an ordinary function of a `Schedule`."""

from astile.schedule.recipes.cooperation import cooperate
from astile.schedule.recipes.histograms import block_histogram, histogram
from astile.schedule.recipes.matmul import packed_matmul, tiled_matmul
from astile.schedule.recipes.rows import row_reduction
from astile.schedule.recipes.stencil import stencil_chain, time_fronts, time_tiled
from astile.schedule.recipes.tensor_cores import tensor_core_matmul
from astile.schedule.recipes.transposition import transposed
from astile.schedule.recipes.vector_rows import row_vectors, vector_rows

__all__ = [
    "block_histogram",
    "cooperate",
    "histogram",
    "packed_matmul",
    "row_reduction",
    "row_vectors",
    "stencil_chain",
    "tensor_core_matmul",
    "tiled_matmul",
    "time_fronts",
    "time_tiled",
    "transposed",
    "vector_rows",
]
