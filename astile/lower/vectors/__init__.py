"""Vector loops in explicit registers: the statements of a loop in all lanes of a vector at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.lower.vectors import explicit as explicit
else:
    __getattr__ = deferred.modules_of(__name__)
