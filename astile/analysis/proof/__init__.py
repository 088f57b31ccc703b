"""Whether a program computes what the original does: dataflow, compared, with witnesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.analysis.proof import unwritten as unwritten
else:
    __getattr__ = deferred.modules_of(__name__)
