"""Facts about a program; never edits a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.analysis import extents as extents
    from astile.analysis import isl as isl
    from astile.analysis import proof as proof
else:
    __getattr__ = deferred.modules_of(__name__)
