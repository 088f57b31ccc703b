"""Primitives that say where a stage is computed, as methods of `Schedule`."""

from __future__ import annotations

from astile import rewrites
from astile.ir.stages import Stage, stages
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
            call,
            unsafe,
            lambda p: rewrites.compute_at.compute_at(
                p, self._stage(stage), self._loop(loop), index
            ),
        )

    def reverse_compute_at(
        self, stage: StageLike, loop: LoopLike, index: int = -1, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a consumer inside a loop of its producer; see the rewrite of this name."""
        call = self._call("reverse_compute_at", stage, loop, index=index)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.reverse_compute_at.reverse_compute_at(
                p, self._stage(stage), self._loop(loop), index
            ),
        )

    def compute_inline(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a value where it is read; see `astile.rewrites.compute_inline`."""
        call = self._call("compute_inline", stage)
        return self._apply(
            call, unsafe, lambda p: rewrites.compute_inline.compute_inline(p, self._stage(stage))
        )

    def reverse_compute_inline(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a consumer where what it reads is made; see the rewrite of this name."""
        call = self._call("reverse_compute_inline", stage)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.reverse_compute_inline.reverse_compute_inline(p, self._stage(stage)),
        )

    def compute_root(self, stage: StageLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Compute a stage as a whole, before the loops; see `astile.rewrites.compute_root`."""
        call = self._call("compute_root", stage)
        return self._apply(
            call, unsafe, lambda p: rewrites.compute_root.compute_root(p, self._stage(stage))
        )

    def store_at(
        self, stage: StageLike, loop: LoopLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Let a stage's array live in the body of a loop; see `astile.rewrites.store_at`."""
        call = self._call("store_at", stage, loop)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.store_at.store_at(p, self._written(stage), self._loop(loop)),
        )

    def rolling_buffer(
        self, stage: StageLike, loop: LoopLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Compute only what the iteration before did not; see `astile.rewrites.rolling_buffer`.

        Returns the loops that compute the stage: before the loop, and inside of it.
        """
        call = self._call("rolling_buffer", stage, loop)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.rolling_buffer.rolling_buffer(
                p, self._stage(stage), self._loop(loop)
            ),
        )

    def _written(self, stage: StageLike) -> Stage:
        """A stage; where several write the array that is named, the first of them."""
        every = [each for each in stages(self.program.function) if each.array == stage]
        return every[0] if every else self._stage(stage)
