"""Primitives that change loops, as methods of `Schedule`."""

from __future__ import annotations

from collections.abc import Sequence

from astile.rewrites.distribute import distribute
from astile.rewrites.fuse import fuse
from astile.rewrites.merge import merge
from astile.rewrites.reorder import reorder
from astile.rewrites.split import split
from astile.rewrites.unroll import unroll
from astile.schedule import compose
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, StageLike, Steps


class LoopMethods(Steps):
    """Primitives that change loops, as methods of `Schedule`."""

    def split(
        self,
        loop: LoopLike,
        factors: Sequence[int | None],
        names: Sequence[str] | None = None,
        tail: str = "guard",
        *,
        unsafe: bool = False,
    ) -> tuple[Loop, ...]:
        """Split a loop into nested loops, outermost first; see `astile.rewrites.split`."""
        call = self._call("split", loop, factors=list(factors), names=names, tail=tail)
        return self._apply(call, unsafe, lambda p: split(p, self._loop(loop), factors, names, tail))

    def tile(
        self,
        loops: Sequence[LoopLike],
        sizes: Sequence[int],
        names: Sequence[str] | None = None,
        tail: str = "guard",
        *,
        unsafe: bool = False,
    ) -> tuple[Loop, ...]:
        """Split each loop and reorder: all outer loops, then all inner ones."""
        return compose.tile(self, loops, sizes, names, tail, unsafe=unsafe)

    def reorder(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Put loops in the given order, outermost first; see `astile.rewrites.reorder`."""
        call = self._call("reorder", *loops)
        return self._apply(call, unsafe, lambda p: reorder(p, [self._loop(x) for x in loops]))

    def fuse(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of nested loops; see `astile.rewrites.fuse`."""
        call = self._call("fuse", *loops)
        return self._apply(call, unsafe, lambda p: fuse(p, [self._loop(x) for x in loops]))

    def merge(self, first: LoopLike, second: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of two neighbouring loops; see `astile.rewrites.merge`."""
        call = self._call("merge", first, second)
        return self._apply(call, unsafe, lambda p: merge(p, self._loop(first), self._loop(second)))

    def distribute(
        self, loop: LoopLike, at: StageLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Cut a loop in two before a stage; see `astile.rewrites.distribute`."""
        call = self._call("distribute", loop, at=at)
        position = compose.position_in(self.program, self._loop(loop), self._stage(at))
        return self._apply(call, unsafe, lambda p: distribute(p, self._loop(loop), position))

    def unroll(
        self, loop: LoopLike, factor: int | None = None, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Unroll a loop where the target compiles it; see `astile.rewrites.unroll`."""
        call = self._call("unroll", loop, factor=factor)
        return self._apply(call, unsafe, lambda p: unroll(p, self._loop(loop), factor))
