"""Makes a chosen call of isl fail, to see what becomes of the question that was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import islpy  # noqa: TID251 - its classes are what fails here

from astile.analysis import isl

#: The classes through whose methods all of isl is reached.
CLASSES = (
    islpy.AstBuild,
    islpy.AstExpr,
    islpy.Map,
    islpy.Point,
    islpy.PwAff,
    islpy.Set,
    islpy.UnionAccessInfo,
    islpy.UnionFlow,
    islpy.UnionMap,
    islpy.UnionSet,
    islpy.Val,
)
#: A method and which of its calls.
Place = tuple[str, int]


@dataclass
class Calls:
    """Counts calls of isl, and lets one of them fail.

    Args:
        place: the call that fails, None for none.
        counts: calls of each method.
        failed: whether the call came.
    """

    place: Place | None = None
    counts: Counter[str] = field(default_factory=Counter)
    failed: bool = False

    def called(self, method: str) -> None:
        """Note a call; raise when it is the one that fails."""
        self.counts[method] += 1
        if self.place == (method, self.counts[method]):
            self.failed = True
            raise isl.Error("injected")

    def places(self) -> list[Place]:
        """One call of every method: its first, middle or last one, in turns."""
        return [
            (method, (1, (count + 1) // 2, count)[turn % 3])
            for turn, (method, count) in enumerate(sorted(self.counts.items()))
        ]


@contextmanager
def watched(place: Place | None = None) -> Iterator[Calls]:
    """Count the calls of isl inside, of which one may fail."""
    calls = Calls(place)
    held = [(kind, name, vars(kind)[name]) for kind in CLASSES for name in _methods(kind)]
    for kind, name, _ in held:
        setattr(kind, name, _wrapped(calls, kind, name))
    try:
        yield calls
    finally:
        for kind, name, method in held:
            setattr(kind, name, method)


def _methods(kind: type) -> list[str]:
    return [k for k in vars(kind) if not k.startswith("_") and callable(getattr(kind, k))]


def _wrapped(calls: Calls, kind: type, name: str) -> Any:
    method: Callable[..., Any] = getattr(kind, name)

    def call(*args: Any, **options: Any) -> Any:
        calls.called(f"{kind.__name__}.{name}")
        return method(*args, **options)

    is_bound = type(vars(kind)[name]).__name__ in ("nb_func", "staticmethod", "classmethod")
    return staticmethod(call) if is_bound else call
