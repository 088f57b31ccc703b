"""astile: loops of plain Python, tiled and interleaved by proved steps, for CPUs and GPUs.

Public names are resolved when they are first asked for, so that `import astile` loads neither
numba nor the proof's library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from astile.diagnostics import did_you_mean

if TYPE_CHECKING:
    from astile.decorator import from_source as from_source
    from astile.decorator import tile as tile
    from astile.errors import ArgumentError as ArgumentError
    from astile.errors import AstileError as AstileError
    from astile.errors import IllegalSchedule as IllegalSchedule
    from astile.errors import InternalError as InternalError
    from astile.errors import LoweringError as LoweringError
    from astile.errors import ScheduleError as ScheduleError
    from astile.errors import SourceError as SourceError
    from astile.kernel import Kernel as Kernel
    from astile.schedule.schedule import Schedule as Schedule

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "AstileError",
    "IllegalSchedule",
    "InternalError",
    "Kernel",
    "LoweringError",
    "Schedule",
    "ScheduleError",
    "SourceError",
    "__version__",
    "from_source",
    "tile",
]

#: Public name -> the module that defines it.
_HOME = {
    "Kernel": "astile.kernel",
    "Schedule": "astile.schedule.schedule",
    "from_source": "astile.decorator",
    "tile": "astile.decorator",
    **{name: "astile.errors" for name in __all__ if name.endswith("Error")},
    "IllegalSchedule": "astile.errors",
}
#: Modules that are loaded when a method of a kernel first asks for them.
_REPORTS = ("candidates", "check", "explain", "general_report")


def __getattr__(name: str) -> object:
    if name in _REPORTS:
        return import_module(f"{__name__}.{name}")
    home = _HOME.get(name)
    if home is None:
        hint = None if name.startswith("_") else did_you_mean(name, __all__)
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(f"{message}; {hint}" if hint else message, name=name)
    value: object = getattr(import_module(home), name)
    globals()[name] = value  # the next look-up is an ordinary one
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
