"""Primitives that change reductions, as methods of `Schedule`."""

from __future__ import annotations

from astile import rewrites
from astile.ir.stages import Stage
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, StageLike, Steps


class ReductionMethods(Steps):
    """Primitives that change reductions, as methods of `Schedule`."""

    def decompose_reduction(
        self, stage: StageLike, loop: LoopLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Initialise a reduction in a nest of its own; see the rewrite of this name.

        Returns the loops of the new nest.
        """
        call = self._call("decompose_reduction", stage, loop)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.decompose_reduction.decompose_reduction(
                p, self._stage(stage), self._loop(loop)
            ),
        )

    def rfactor(
        self, stage: StageLike, loop: LoopLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Reduce in parts, one for each iteration of a loop; see `astile.rewrites.rfactor`.

        Returns the loops that start the parts and those that join them.
        """
        call = self._call("rfactor", stage, loop)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.rfactor.rfactor(
                p, self._stage_inside(stage, loop), self._loop(loop)
            ),
        )

    def _stage_inside(self, wanted: StageLike, loop: LoopLike) -> Stage:
        """A stage; of several that write the array, the one inside a loop."""
        identity = self._loop(loop)
        inside = [each for each in Loop(self, identity).stages if each.array == wanted]
        return inside[0] if len(inside) == 1 else self._stage(wanted)
