"""Primitives that say what runs a loop, as methods of `Schedule`."""

from __future__ import annotations

from astile import rewrites
from astile.ir.nodes import Note
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, Steps


class HardwareMethods(Steps):
    """Primitives that say what runs a loop, as methods of `Schedule`."""

    def bind(self, loop: LoopLike, axis: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Bind a loop to ``"blockIdx.x"`` ... ``"threadIdx.z"``; see `astile.rewrites.bind`."""
        call = self._call("bind", loop, axis)
        return self._apply(call, unsafe, lambda p: rewrites.bind.bind(p, self._loop(loop), axis))

    def parallel(self, loop: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Run a loop on several CPU threads; see `astile.rewrites.parallel`."""
        call = self._call("parallel", loop)
        return self._apply(call, unsafe, lambda p: rewrites.parallel.parallel(p, self._loop(loop)))

    def vectorize(self, loop: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Run a loop in vector lanes; see `astile.rewrites.vectorize`."""
        call = self._call("vectorize", loop)
        return self._apply(
            call, unsafe, lambda p: rewrites.vectorize.vectorize(p, self._loop(loop))
        )

    def pipeline(
        self, loop: LoopLike, stages: int = 2, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Fill tiles ahead of the computation that reads them; see `astile.rewrites.pipeline`.

        Returns the loops of the prologue, the steady state and the epilogue.
        """
        call = self._call("pipeline", loop, stages)
        return self._apply(
            call, unsafe, lambda p: rewrites.pipeline.pipeline(p, self._loop(loop), stages)
        )

    def tensorize(
        self, loop: LoopLike, intrinsic: str, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Let matrix units compute a loop; see `astile.rewrites.tensorize`."""
        call = self._call("tensorize", loop, intrinsic)
        return self._apply(
            call, unsafe, lambda p: rewrites.tensorize.tensorize(p, self._loop(loop), intrinsic)
        )

    def annotate(
        self, loop: LoopLike, key: str, value: Note, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Write a note on a loop, printed as a comment; see `astile.rewrites.annotate`."""
        call = self._call("annotate", loop, key, value)
        return self._apply(
            call, unsafe, lambda p: rewrites.annotate.annotate(p, self._loop(loop), key, value)
        )
