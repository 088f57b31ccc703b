"""A kernel as one HTML file: steps, loop nests, an animation, and what `explain` counts.

Names are resolved when they are first asked for: nobody else waits for the template engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.page.document import Content as Content
    from astile.page.document import html as html
    from astile.page.document import sample as sample

__all__ = ["Content", "html", "sample"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module("astile.page.document"), name)
    globals()[name] = value
    return value
