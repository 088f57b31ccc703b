"""Primitives that change loops, as methods of `Schedule`."""

from __future__ import annotations

from collections.abc import Sequence

from astile import rewrites, schedule
from astile.errors import AstileError
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
        call = self._call("split", loop, factors=factors, names=names, tail=tail)
        return self._apply(
            call, unsafe, lambda p: rewrites.split.split(p, self._loop(loop), factors, names, tail)
        )

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
        given = list(loops) if isinstance(loops, (list, tuple)) else loops
        asked = self._call("tile", given, sizes, names=names, tail=tail)
        try:
            with self.all_or_nothing(), self.as_one_step():
                return schedule.compose.tile(self, loops, sizes, names, tail, unsafe=unsafe)
        except AstileError as error:
            self._refused(error, self._spelled(asked))
            raise

    def reorder(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Put loops in the given order, outermost first; see `astile.rewrites.reorder`."""
        call = self._call("reorder", *loops)
        return self._apply(
            call, unsafe, lambda p: rewrites.reorder.reorder(p, [self._loop(x) for x in loops])
        )

    def fuse(self, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of nested loops; see `astile.rewrites.fuse`."""
        call = self._call("fuse", *loops)
        return self._apply(
            call, unsafe, lambda p: rewrites.fuse.fuse(p, [self._loop(x) for x in loops])
        )

    def merge(self, first: LoopLike, second: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Make one loop of two neighbouring loops; see `astile.rewrites.merge`."""
        call = self._call("merge", first, second)
        return self._apply(
            call, unsafe, lambda p: rewrites.merge.merge(p, self._loop(first), self._loop(second))
        )

    def distribute(
        self, loop: LoopLike, at: StageLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Cut a loop in two before a stage; see `astile.rewrites.distribute`."""
        call = self._call("distribute", loop, at=at)
        stage = self._stage(at)
        return self._apply(
            call, unsafe, lambda p: rewrites.distribute.distribute(p, self._loop(loop), stage)
        )

    def unroll(
        self, loop: LoopLike, factor: int | None = None, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Unroll a loop where the target compiles it; see `astile.rewrites.unroll`."""
        call = self._call("unroll", loop, factor=factor)
        return self._apply(
            call, unsafe, lambda p: rewrites.unroll.unroll(p, self._loop(loop), factor)
        )

    def peel(
        self, loop: LoopLike, first: int = 0, last: int = 0, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Put the first and last iterations outside of a loop; see `astile.rewrites.peel`."""
        call = self._call("peel", loop, first=first, last=last)
        return self._apply(
            call, unsafe, lambda p: rewrites.peel.peel(p, self._loop(loop), first, last)
        )

    def shift(self, loop: LoopLike, by: int, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Let a loop's variable count from elsewhere; see `astile.rewrites.shift`."""
        call = self._call("shift", loop, by)
        return self._apply(call, unsafe, lambda p: rewrites.shift.shift(p, self._loop(loop), by))

    def skew(
        self, outer: LoopLike, inner: LoopLike, factor: int, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Slant an inner loop along an outer one; see `astile.rewrites.skew`."""
        call = self._call("skew", outer, inner, factor)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.skew.skew(p, self._loop(outer), self._loop(inner), factor),
        )

    def reverse(self, loop: LoopLike, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Run a loop from its last iteration to its first; see `astile.rewrites.reverse`."""
        call = self._call("reverse", loop)
        return self._apply(call, unsafe, lambda p: rewrites.reverse.reverse(p, self._loop(loop)))

    def specialize(
        self, condition: str, loop: LoopLike | None = None, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Run a version of its own for some sizes; see `astile.rewrites.specialize`."""
        call = self._call("specialize", condition, loop=loop)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.specialize.specialize(
                p, condition, None if loop is None else self._loop(loop)
            ),
        )
