"""Types of values: what the plain program computes in, and casts that make numba do the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.lower.types import flags as flags
    from astile.lower.types import kinds as kinds
    from astile.lower.types import numeric as numeric
    from astile.lower.types import truncated as truncated
    from astile.lower.types import value_ranges as value_ranges
else:
    __getattr__ = deferred.modules_of(__name__)
