"""One concrete pair of iterations at small sizes, out of a relation that is not empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.forms.params import readable
from astile.analysis.reading.scene import Scene, Touch

#: Upper limits of sizes that are tried before any size is taken.
_LIMITS = (1, 2, 3, 4, 8, 16, 17, 32, 33, 64, 128)


@dataclass(frozen=True)
class Sample:
    """Two iterations that meet on a cell.

    Args:
        sizes: integer argument or extent, as the user writes it -> value.
        first: variable of a loop around the first statement -> value, outermost first.
        second: the same for the second statement.
        cell: indices of the cell; empty for a name.
    """

    sizes: Mapping[str, int]
    first: Mapping[str, int]
    second: Mapping[str, int]
    cell: tuple[int, ...]


def pick(scene: Scene, pairs: isl.UnionMap, one: Touch, two: Touch) -> Sample:
    """A pair with sizes as small as can be found, and then the first iterations.

    Args:
        scene: the program.
        pairs: instance of `one` -> instance of `two`; not empty.
        one: the access that the first iteration makes.
        two: the access that the second iteration makes.
    """
    values = pairs.wrap().as_set()
    sizes = _sizes(scene, values)
    fixed = values.intersect_params(sizes) if sizes is not None else values
    found = isl.points(fixed)
    assert found is not None
    parameters, _ = found
    fixed = values.intersect_params(_exactly(scene, parameters))
    first = isl.points(fixed.lexmin())
    coordinates = found[1] if first is None else first[1]
    split = len(one.seat.leaf.variables)
    mine, theirs = coordinates[:split], coordinates[split:]
    return Sample(
        {readable(name, scene.survey.names): value for name, value in parameters.items()},
        dict(zip(one.seat.leaf.variables, mine, strict=True)),
        dict(zip(two.seat.leaf.variables, theirs, strict=True)),
        _cell(scene, one, mine, parameters),
    )


def _sizes(scene: Scene, values: isl.Set) -> isl.Set | None:
    for limit in _LIMITS:
        limits = " and ".join(f"0 <= {each} <= {limit}" for each in scene.parameters) or "true"
        box = scene.session.set(f"[{', '.join(scene.parameters)}] -> {{ : {limits} }}")
        if not values.intersect_params(box).is_empty():
            return box
    return None


def _exactly(scene: Scene, parameters: Mapping[str, int]) -> isl.Set:
    values = " and ".join(f"{k} = {v}" for k, v in parameters.items()) or "true"
    return scene.session.set(f"[{', '.join(scene.parameters)}] -> {{ : {values} }}")


def _cell(
    scene: Scene, touch: Touch, coordinates: list[int], parameters: Mapping[str, int]
) -> tuple[int, ...]:
    if not touch.access.indices:
        return ()
    at = f"{scene.name(touch.seat.leaf)}[{', '.join(map(str, coordinates))}]"
    here = scene.session.union_set(scene.parameters, [at])
    cells = (
        scene.cells([touch]).intersect_domain(here).intersect_params(_exactly(scene, parameters))
    )
    found = isl.points(cells.range().as_set())
    return () if found is None else tuple(found[1][-len(touch.access.indices) :])
