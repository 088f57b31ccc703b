"""What types the steps are for that astile chose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wants:
    """What the steps that were chosen are good for.

    Args:
        vectors: loops that have to fit vector registers.
        floats: arrays whose values take a processor as long as floating-point numbers do.
    """

    vectors: bool = False
    floats: frozenset[str] = frozenset()
