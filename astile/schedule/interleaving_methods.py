"""Primitives that say where a stage is computed, as methods of `Schedule`."""

from __future__ import annotations

from astile.rewrites.compute_at import compute_at
from astile.rewrites.compute_inline import compute_inline
from astile.rewrites.compute_root import compute_root
from astile.rewrites.reverse_compute_at import reverse_compute_at
from astile.rewrites.reverse_compute_inline import reverse_compute_inline
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, StageLike, Steps


class InterleavingMethods(Steps):
    """Primitives that say where a stage is computed, as methods of `Schedule`."""

    def compute_at(
        self, stage: StageLike, loop: LoopLike, index: int = -1, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a producer inside a loop of its consumer; see `astile.rewrites.compute_at`."""
        call = self._call("compute_at", stage, loop, index=index)
        return self._apply(
            call, unsafe, lambda p: compute_at(p, self._stage(stage), self._loop(loop), index)
        )

    def reverse_compute_at(
        self, stage: StageLike, loop: LoopLike, index: int = -1, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a consumer inside a loop of its producer; see the rewrite of this name."""
        call = self._call("reverse_compute_at", stage, loop, index=index)
        return self._apply(
            call,
            unsafe,
            lambda p: reverse_compute_at(p, self._stage(stage), self._loop(loop), index),
        )

    def compute_inline(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a value where it is read; see `astile.rewrites.compute_inline`."""
        call = self._call("compute_inline", stage)
        return self._apply(call, unsafe, lambda p: compute_inline(p, self._stage(stage)))

    def reverse_compute_inline(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a consumer where what it reads is made; see the rewrite of this name."""
        call = self._call("reverse_compute_inline", stage)
        return self._apply(call, unsafe, lambda p: reverse_compute_inline(p, self._stage(stage)))

    def compute_root(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a stage as a whole, before the loops; see `astile.rewrites.compute_root`."""
        call = self._call("compute_root", stage)
        return self._apply(call, unsafe, lambda p: compute_root(p, self._stage(stage)))
