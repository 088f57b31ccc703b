"""Values of expressions, found by running them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_of(text: str, names: Mapping[str, object]) -> Any:
    """The value that Python gives an expression."""
    namespace = dict(names)
    exec(f"value = {text}", namespace)
    return namespace["value"]
