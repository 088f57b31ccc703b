"""Generated text becomes a callable, is checked and launched.

The emulator of a GPU is large, and is loaded when it is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from astile.runtime import emulate as emulate


def __getattr__(name: str) -> object:
    if name != "emulate":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("astile.runtime.emulate")
