"""Python's search for garbage in cycles, put off while a kernel is compiled.

What a compiler makes lives until it is done. Looking through all of it again and again, and through
what numba and the user's program hold, takes a sixth of the time of a first call.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """No search begins inside; where the user has switched it off, it stays off."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
