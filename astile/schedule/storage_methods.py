"""Primitives that say where values are kept, as methods of `Schedule`."""

from __future__ import annotations

from astile.rewrites.expand import expand
from astile.rewrites.set_scope import set_scope
from astile.schedule.select import Loop
from astile.schedule.steps import LoopLike, Steps


class StorageMethods(Steps):
    """Primitives that say where values are kept, as methods of `Schedule`."""

    def set_scope(self, array: str, scope: str, *, unsafe: bool = False) -> tuple[Loop, ...]:
        """Keep an intermediate in a memory scope; see `astile.rewrites.set_scope`."""
        call = self._call("set_scope", array, scope)
        return self._apply(call, unsafe, lambda p: set_scope(p, array, scope))

    def expand(self, scalar: str, *loops: LoopLike, unsafe: bool = False) -> tuple[Loop, ...]:
        """Give each iteration its own cell of a scalar; see `astile.rewrites.expand`."""
        call = self._call("expand", scalar, *loops)
        return self._apply(
            call, unsafe, lambda p: expand(p, scalar, [self._loop(x) for x in loops])
        )
