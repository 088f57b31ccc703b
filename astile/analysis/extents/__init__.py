"""How far accesses reach: conditions on sizes, and boxes of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.analysis.extents import bounds as bounds
    from astile.analysis.extents import divisors as divisors
else:
    __getattr__ = deferred.modules_of(__name__)
