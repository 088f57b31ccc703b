"""What the user holds: names, steps, trace, recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from astile import deferred

if TYPE_CHECKING:
    from astile.schedule import advice as advice
    from astile.schedule import blame as blame
    from astile.schedule import compose as compose
    from astile.schedule import for_cores as for_cores
    from astile.schedule import printed as printed
    from astile.schedule import prover as prover
    from astile.schedule import rewriting as rewriting
else:
    __getattr__ = deferred.modules_of(__name__)
