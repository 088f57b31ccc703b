"""Barriers do not depend on what variables are called."""

import pytest

from astile.lower.kernels import barriers
from tests.support.programs import program_from

TEXT = """
import numpy as np
from astile.loops import block, shared, thread


def shifted(a, out):
    n = len(out)
    for b in block.x((n + 7) // 8):
        tile = shared.empty(10, np.float64)
        for WRITER in thread.x(10):
            if b * 8 + WRITER < n + 2:
                tile[WRITER] = a[b * 8 + WRITER]
        for READER in thread.x(8):
            if b * 8 + READER < n:
                out[b * 8 + READER] = tile[READER + 2]
"""


@pytest.mark.parametrize(
    ("writer", "reader"),
    [("i", "j"), ("x_2", "x"), ("x", "x_2"), ("i_0", "i"), ("other_i", "i"), ("v1_x", "x")],
)
def test_a_crossing_read_gets_its_barrier(writer, reader):
    program = program_from(TEXT.replace("WRITER", writer).replace("READER", reader))
    assert len(barriers.derive(program)) == 1
