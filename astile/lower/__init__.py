"""Program to the source text of a target.

What makes CUDA text is large, and is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.lower import cuda as cuda


def __getattr__(name: str) -> object:
    if name != "cuda":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("astile.lower.cuda")
