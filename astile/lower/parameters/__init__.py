"""Parameters: how a function uses them, and the types that a text is made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.lower.parameters import assumed as assumed
    from astile.lower.parameters import expected as expected
else:
    __getattr__ = deferred.modules_of(__name__)
