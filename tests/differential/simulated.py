"""Runs the CUDA texts in numba's simulator; started with ``NUMBA_ENABLE_CUDASIM=1``."""

from __future__ import annotations

import numpy as np

from tests.differential import kernels, schedules
from tests.differential.test_targets import KERNELS, SMALL, TILES, loaded, run, scheduled


def main() -> None:
    for kernel, producers in KERNELS:
        for tile in TILES if kernel is kernels.conv_add else TILES[-1:]:
            text = scheduled(kernel, schedules.on_blocks, producers, tile).source("cuda")
            candidate = loaded(text, kernel.__name__)
            for size in SMALL:
                got, wanted = run(candidate, kernel, size)
                message = f"{kernel.__name__} {tile} {size}"
                np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=message)
            print(kernel.__name__, tile)
    text = scheduled(kernels.staged_matmul, schedules.staged_on_blocks).source("cuda")
    a, b = (np.random.default_rng(0).random(size, dtype=np.float32) for size in ((9, 10), (10, 7)))
    product = np.full((9, 7), np.nan, np.float32)
    loaded(text, "staged_matmul")(a, b, product)
    np.testing.assert_allclose(product, a.astype(np.float64) @ b, rtol=1e-5)
    print("staged_matmul")


if __name__ == "__main__":
    main()
