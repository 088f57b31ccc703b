"""Iterations away from the ends of the loops around a statement, for which formulas hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.counts.parts import NoFormulaError, is_tangled
from astile.analysis.forms.affine_sets import const
from astile.analysis.reading import hardware
from astile.analysis.reading.statements import Level

#: Pieces of the iterations, with a few divisions each: from more no formula came.
_MOST = 4
#: isl's names of the iteration that a footprint is of.
AT = "at_"


class Middle:
    """The iterations of one statement, loop by loop from the outside in.

    Args:
        domain: the values of its loop variables.
        levels: its loops.
        sets: conditions, dimensions -> a set.
    """

    def __init__(
        self,
        domain: isl.Set,
        levels: Sequence[Level],
        sets: Callable[[Sequence[str], Sequence[str]], isl.Set],
    ) -> None:
        self._levels, self._sets = levels, sets
        self._domains = {len(levels): domain}
        self._found: dict[tuple[int, int, int], isl.Set | None] = {}

    def domain(self, depth: int) -> isl.Set:
        """The iterations of the outer loops in which the statement runs."""
        if depth not in self._domains:
            inner = self.domain(depth + 1)
            self._domains[depth] = inner.project_out(isl.dim_type.set, depth, 1)
        return self._domains[depth]

    def within(self, depth: int, far: int, least: int, context: isl.Set) -> isl.Set:
        """Iterations of the outer loops with so many before and after them, as parameters.

        Where a loop has no such iteration, all of its iterations are there.

        Args:
            depth: how many loops.
            far: how many iterations.
            least: tells contexts apart.
            context: values of the parameters.

        Raises:
            NoFormulaError: where they are too many kinds of iterations for any.
        """
        if not depth:
            return context
        return as_parameters(self._within(depth, far, least, context), self._names(depth))

    def trips(self, depth: int) -> isl.Set:
        """The values of a loop's variable, the loops around it as parameters."""
        return as_parameters(self.domain(depth), self._names(depth - 1))

    def ranges(self, depth: int) -> isl.Set:
        """The same without the conditions inside of the loop."""
        names = [each.dimension for each in self._levels[:depth]]
        values = self._sets([each.bounds for each in self._levels[:depth]], names)
        return as_parameters(values, self._names(depth - 1))

    def _names(self, depth: int) -> list[str]:
        return [f"{AT}{each.dimension}" for each in self._levels[:depth]]

    def _within(self, depth: int, far: int, least: int, context: isl.Set) -> isl.Set:
        key = depth, far, least
        if key not in self._found:
            self._found[key] = None  # where this fails, all loops inside do
            self._found[key] = self._next(depth, far, least, context)
        found = self._found[key]
        if found is None or found.n_basic_set() > _MOST or is_tangled(found, _MOST):
            raise NoFormulaError
        return found

    def _next(self, depth: int, far: int, least: int, context: isl.Set) -> isl.Set:
        here = self.domain(depth).intersect_params(context)
        if depth > 1:
            outer = self._within(depth - 1, far, least, context)
            here = here.intersect(outer.add_dims(isl.dim_type.set, 1))
        level = self._levels[depth - 1]
        trips = hardware.trip_count(level.loop)
        if trips is not None and trips <= 2 * far:
            return here
        inner = here.intersect(self._away(here, depth, far))
        last = depth - 1
        has_inner = inner.project_out(isl.dim_type.set, last, 1).add_dims(isl.dim_type.set, 1)
        rest = here.subtract(has_inner)
        return inner if rest.is_empty() else inner.union(rest).coalesce()

    def _away(self, here: isl.Set, depth: int, far: int) -> isl.Set:
        """Values of the last dimension that are not near the ends of a set."""
        level = self._levels[depth - 1]
        names = [each.dimension for each in self._levels[:depth]]
        outer = here.project_out(isl.dim_type.set, depth - 1, 1).add_dims(isl.dim_type.set, 1)
        if outer.intersect(self._sets([level.bounds], names)).is_subset(here):
            inside = replace(
                level,
                start=level.start.plus(const(far * level.step)),
                stop=level.stop.plus(const(-far * level.step)),
            )
            return self._sets([inside.bounds], names)
        step = far * isl.integer(here.get_stride(depth - 1))
        return _moved(here, step).intersect(_moved(here, -step))


def _moved(values: isl.Set, distance: int) -> isl.Set:
    names = [f"x{k}" for k in range(int(values.dim(isl.dim_type.set)))]
    after = [*names[:-1], f"{names[-1]} + {distance}"]
    text = f"{{ [{', '.join(names)}] -> [{', '.join(after)}] }}"
    return values.apply(isl.Map.read_from_str(values.get_ctx(), text))


def as_parameters(values: isl.Set, names: Sequence[str]) -> isl.Set:
    """The first dimensions of a set as parameters; a set of parameters when that is all of them.

    Args:
        values: the set.
        names: of the new parameters.
    """
    for axis, name in enumerate(names):
        values = values.set_dim_name(isl.dim_type.set, axis, name)
    count = int(values.dim(isl.dim_type.param))
    moved = values.move_dims(isl.dim_type.param, count, isl.dim_type.set, 0, len(names))
    return moved if int(moved.dim(isl.dim_type.set)) else moved.params()
