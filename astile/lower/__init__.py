"""Program to the source text of a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.lower import cpu as cpu
    from astile.lower import cuda as cuda
    from astile.lower import parameters as parameters
    from astile.lower import places as places
    from astile.lower import python as python
    from astile.lower import types as types
    from astile.lower import vectors as vectors
else:
    __getattr__ = deferred.modules_of(__name__)
