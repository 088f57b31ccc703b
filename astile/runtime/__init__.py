"""Generated text becomes a callable, is checked and launched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.runtime import emulate as emulate
    from astile.runtime import machine_code as machine_code
else:
    __getattr__ = deferred.modules_of(__name__)
