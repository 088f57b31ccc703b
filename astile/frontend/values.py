"""What a value found under a module or closure name can become in a printed program."""

from __future__ import annotations

import builtins
import inspect
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from astile.ir.casts import ROUNDINGS
from astile.ir.program import ConstantValue

#: Modules whose functions both plain Python and numba run.
MODULES = ("math", "cmath", "numpy", "numba", "builtins")
#: The module of the words of printed programs.
WORDS_MODULE = "astile.loops"


@dataclass(frozen=True)
class Frozen:
    """A number, truth value or text, frozen at decoration."""

    value: ConstantValue


@dataclass(frozen=True)
class Imported:
    """Something that printed programs import by this dotted path."""

    path: str


@dataclass(frozen=True)
class Helper:
    """Another plain function."""

    function: Callable[..., object]


@dataclass(frozen=True)
class Module:
    """A module."""

    module: types.ModuleType


@dataclass(frozen=True)
class Word:
    """A loop or memory word of `astile.loops`, by its own name."""

    name: str


@dataclass(frozen=True)
class Unread:
    """What a name of a text holds whose value is not known without running the text."""


Meaning = Frozen | Imported | Helper | Module | Word


def meaning(value: object) -> Meaning | None:
    """What a value can become; None when it has to be an argument.

    Args:
        value: what a module or closure name holds.
    """
    if isinstance(value, types.ModuleType):
        return Module(value)
    frozen = _frozen(value)
    if frozen is not None:
        return frozen
    word = _word(value)
    if f"{WORDS_MODULE}.{word}" in ROUNDINGS:
        return Imported(f"{WORDS_MODULE}.{word}")
    if word is not None:
        return Word(word)
    path = import_path(value)
    if path is not None:
        return Imported(path)
    function = plain_function(value)
    return None if function is None else Helper(function)


def _frozen(value: object) -> Frozen | None:
    if isinstance(value, (bool, np.bool_)):
        return Frozen(bool(value))
    if isinstance(value, np.generic) and value.dtype.kind in "iufc":
        number = cast("np.number[Any]", value)  # keeps its dtype: np.float32(3) / 7 is not 3.0 / 7
        return None if isinstance(value.item(), np.generic) else Frozen(number)
    if isinstance(value, int):
        return Frozen(int(value))  # an IntEnum becomes a plain int
    if isinstance(value, float):
        return Frozen(float(value))
    if isinstance(value, complex):
        return Frozen(complex(value))
    return Frozen(str(value)) if isinstance(value, str) else None


def _word(value: object) -> str | None:
    if WORDS_MODULE not in (getattr(value, "__module__", None), type(value).__module__):
        return None
    words = vars(sys.modules[WORDS_MODULE])
    return next((name for name, each in words.items() if each is value), None)


def import_path(value: object) -> str | None:
    """The dotted path of a function or type of `MODULES`, or None.

    Args:
        value: a function, ufunc, dtype or type.
    """
    if isinstance(value, np.dtype):
        value = value.type
    name = getattr(value, "__name__", None) or getattr(value, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        return None
    for home in (*MODULES, getattr(value, "__module__", None)):
        module = sys.modules.get(home) if isinstance(home, str) else None
        if home is None or home.partition(".")[0] not in MODULES or module is None:
            continue
        if getattr(module, name, None) is value:
            return f"{home}.{name}"
    return None


def plain_function(value: object) -> Callable[..., object] | None:
    """The plain Python function behind a value: itself, or what numba or astile compiled.

    Args:
        value: what a name holds that is called.
    """
    if isinstance(value, types.FunctionType):
        return value
    inner = getattr(value, "py_func", None)
    if inner is None and type(value).__module__ == "astile.kernel":
        inner = getattr(value, "__wrapped__", None)
    return inner if isinstance(inner, types.FunctionType) else None


def fills_argument(function: object, given: int) -> bool:
    """Whether a call of NumPy stores into its last positional argument: ``np.sqrt(A, B)``.

    Args:
        function: what is called.
        given: number of positional arguments.
    """
    if isinstance(function, np.ufunc):
        return given > function.nin
    if import_path(function) is None or not str(import_path(function)).startswith("numpy."):
        return False
    try:
        parameters = list(inspect.signature(cast("Callable[..., object]", function)).parameters)
    except (TypeError, ValueError):
        return False
    return "out" in parameters[:given]


def is_builtin(name: str, value: object) -> bool:
    """Whether a value is Python's own builtin of that name.

    Args:
        name: the name in the program.
        value: what it holds.
    """
    return hasattr(builtins, name) and getattr(builtins, name) is value
