"""Primitives that say where values are kept, as methods of `Schedule`."""

from __future__ import annotations

from collections.abc import Callable

from astile import rewrites
from astile.ir.program import Program
from astile.rewrites.parts.result import Rewritten
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, StageLike, Steps


class StorageMethods(Steps):
    """Primitives that say where values are kept, as methods of `Schedule`."""

    def set_scope(self, array: str, scope: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Keep an intermediate in a memory scope; see `astile.rewrites.set_scope`."""
        call = self._call("set_scope", array, scope)
        return self._apply(call, unsafe, lambda p: rewrites.set_scope.set_scope(p, array, scope))

    def expand(self, scalar: str, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Give each iteration its own cell of a scalar; see `astile.rewrites.expand`."""
        call = self._call("expand", scalar, *loops)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.expand.expand(p, scalar, [self._loop(x) for x in loops]),
        )

    def cache_read(
        self,
        array: str,
        scope: str,
        at: LoopLike,
        stage: StageLike | None = None,
        *,
        unsafe: bool = False,
    ) -> tuple[Loop, ...]:
        """Copy what an iteration reads of an array into a tile; see `astile.rewrites.cache_read`.

        Returns the loops of the copy.
        """
        call = self._call("cache_read", array, scope, at=at, stage=stage)

        def rewrite(program: Program) -> Rewritten:
            only = None if stage is None else self._stage(stage)
            return rewrites.cache_read.cache_read(program, array, scope, self._loop(at), only)

        return self._apply(call, unsafe, rewrite)

    def cache_write(
        self, array: str, scope: str, at: LoopLike, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Keep what an iteration writes in a tile; see `astile.rewrites.cache_write`.

        Returns the loops of the copies, in and out.
        """
        call = self._call("cache_write", array, scope, at=at)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.cache_write.cache_write(p, array, scope, self._loop(at)),
        )

    def storage_align(
        self, array: str, axis: int, factor: int, offset: int, *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Pad an array so that its rows start at chosen distances; see the rewrite of this name."""
        call = self._call("storage_align", array, axis, factor, offset)
        return self._apply(
            call,
            unsafe,
            lambda p: rewrites.storage_align.storage_align(p, array, axis, factor, offset),
        )

    def transform_layout(
        self, array: str, index_map: str | Callable[..., object], *, unsafe: bool = False
    ) -> tuple[Loop, ...]:
        """Keep the cells of an array in another order; see `astile.rewrites.transform_layout`.

        `index_map` is a lambda, or one as text.
        """
        text = (
            index_map
            if isinstance(index_map, str)
            else rewrites.transform_layout.text_of(index_map)
        )
        call = self._call("transform_layout", array, text)
        return self._apply(
            call, unsafe, lambda p: rewrites.transform_layout.transform_layout(p, array, text)
        )

    def double_buffer(self, array: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Let iterations of a loop use two halves of a tile in turns; see the rewrite."""
        call = self._call("double_buffer", array)
        return self._apply(call, unsafe, lambda p: rewrites.double_buffer.double_buffer(p, array))

    def reuse_buffer(self, buffer: str, array: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Keep an array in the memory of another; see `astile.rewrites.reuse_buffer`."""
        call = self._call("reuse_buffer", buffer, array)
        return self._apply(
            call, unsafe, lambda p: rewrites.reuse_buffer.reuse_buffer(p, buffer, array)
        )
