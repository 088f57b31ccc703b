"""What is compiled, checked and measured for a GPU: recipes that have kernels, and examples."""

from __future__ import annotations

import contextlib
import functools
import io
import runpy
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astile import Schedule
from astile.ir import query
from astile.schedule import recipes
from tests.support.recipes import RECIPES, half_matrices, matmul, matrices, on_matrix_units

_EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
#: Sizes at which recipes are compiled and measured, in the order of their `arguments`.
_SIZES = {
    "matmul": (2048, 2048, 2048),
    "blur": (4096, 4096),
    "three": (4096, 4096),
    "softmax": (8192, 1024),
    "layernorm": (8192, 1024),
    "transpose": (4096, 4096),
    "jacobi": (1024, 1024),
    "histogram": (1 << 24,),
}
SINGLE, DOUBLED, HALF = "matmul_registers", "matmul_doubled", "matmul_tensor_cores"


@dataclass(frozen=True)
class Case:
    """One program with kernels.

    Args:
        name: as it is printed.
        schedule: makes its schedule, once.
        arguments: makes the arguments of a call; the results are among them.
    """

    name: str
    schedule: Callable[[], Schedule]
    arguments: Callable[[], tuple[Any, ...]]

    @property
    def function(self) -> str:
        """The name of the function that is scheduled."""
        return self.schedule().original.name

    def lowered(self) -> Any:
        """The CUDA text for arguments of these types."""
        s = self.schedule()
        names = [each.arg for each in s.original.function.args.args]
        pairs = zip(names, self.arguments(), strict=True)
        types = {name: each.dtype.name for name, each in pairs if isinstance(each, np.ndarray)}
        return s.lowered("cuda", types)


def cases(only: str | None = None) -> Iterator[Case]:
    """Recipes, then examples.

    Args:
        only: part of a name; all cases where None.
    """
    for each in (*_recipes(), *_examples()):
        if only is None or only in each.name:
            yield each


def _recipes() -> Iterator[Case]:
    for recipe in RECIPES:
        if recipe.barriers is not None:
            make = functools.partial(recipe.arguments, *_SIZES[recipe.kernel.__name__])
            yield Case(recipe.name, functools.cache(recipe.schedule), make)
    yield Case(DOUBLED, _doubled, functools.partial(matrices, *_SIZES["matmul"]))
    yield Case(HALF, on_matrix_units, functools.partial(half_matrices, *_SIZES["matmul"]))


@functools.cache
def _doubled() -> Schedule:
    """The product of `SINGLE` with tiles that are filled one step ahead."""
    s = Schedule(matmul)
    recipes.tiled_matmul(s, tile=(128, 128), depth=8, cells=(8, 8), stages=2)
    return s


def _examples() -> Iterator[Case]:
    for path in sorted(_EXAMPLES.glob("[0-9]*.py")):
        if "Idx" in (text := path.read_text(encoding="utf-8")) or '"emulate"' in text:
            run = functools.cache(functools.partial(_run, path))
            yield Case(path.stem, lambda f=run: f()[0], lambda f=run: f()[1])  # type: ignore[misc]


def _run(path: Path) -> tuple[Schedule, tuple[Any, ...]]:
    """The last schedule of an example and its arguments; what it prints and draws is lost."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(path, folder)
        with contextlib.redirect_stdout(io.StringIO()):
            found = runpy.run_path(str(copy), run_name="__main__")
    schedule = found["s"]
    names = query.parameters(schedule.original.function)
    return schedule, tuple(np.array(found[each]) for each in names)
