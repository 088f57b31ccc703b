"""A handle of another schedule is refused by recipes too: its identity may be a loop here."""

import pytest

from astile.errors import ScheduleError
from astile.schedule import recipes
from astile.schedule.schedule import Schedule
from tests.support.recipes import histogram, jacobi, matmul, softmax, transpose, weighted

FOREIGN = {
    "tile": (matmul, lambda s, loop: s.tile([loop, "j"], [4, 4])),
    "tiled_matmul": (matmul, lambda s, loop: recipes.tiled_matmul(s, loops=(loop, "j", "k"))),
    "packed_matmul": (matmul, lambda s, loop: recipes.packed_matmul(s, loops=(loop, "j", "k"))),
    "row_reduction": (softmax, recipes.row_reduction),
    "vector_rows": (softmax, recipes.vector_rows),
    "row_vectors": (softmax, recipes.row_vectors),
    "histogram": (weighted, lambda s, loop: recipes.histogram(s, loop, "counts")),
    "block_histogram": (histogram, lambda s, loop: recipes.block_histogram(s, loop, "counts")),
    "transposed": (transpose, lambda s, loop: recipes.transposed(s, (loop, "j"))),
    "time_tiled": (jacobi, lambda s, loop: recipes.time_tiled(s, loop, (5, 8, 8))),
    "time_fronts": (jacobi, lambda s, loop: recipes.time_fronts(s, loop, (5, 8))),
    "stage": (matmul, lambda s, loop: s.loops(loop)),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_loop_of_another_schedule_is_refused(name):
    kernel, apply = FOREIGN[name]
    s, other = Schedule(kernel), Schedule(kernel)
    with pytest.raises(ScheduleError, match="is one of another schedule") as refused:
        apply(s, other.loops()[0])
    assert refused.value.code == "schedule.foreign-loop"
    assert s.steps == ()
