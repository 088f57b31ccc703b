"""Packages whose modules are loaded when they are first asked for.

A process that finds what an earlier one made needs few of them, and loading the others would take
it longer than everything else that it does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """What finds the attributes that a package does not have: its modules.

    Args:
        package: its name.
    """

    def found(name: str) -> ModuleType:
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name) from None

    return found
