"""Two passes of numba's compiler run where they change something, and only there."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from numba.core.inline_closurecall import InlineClosureCallPass  # noqa: E402, TID251
from numba.core.rewrites import rewrite_registry  # noqa: E402, TID251

from astile.intrinsics.fewer_passes import with_fewer_passes  # noqa: E402

Passes = list[str]


@numba.njit
def smaller(a: float, b: float) -> float:
    return min(a, b)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Passes:
    """The passes that ran on a function called `f`."""
    found: Passes = []
    inline, apply = InlineClosureCallPass.run, rewrite_registry.apply

    def inlined(self: Any) -> None:
        if self.func_ir.func_id.func_name == "f":
            found.append("inlining")
        inline(self)

    def applied(kind: str, state: Any) -> None:
        if kind == "after-inference" and state.func_id.func_name == "f":
            found.append("rewriting")
        apply(kind, state)

    monkeypatch.setattr(InlineClosureCallPass, "run", inlined)
    monkeypatch.setattr(rewrite_registry, "apply", applied)
    return found


def result(f: Callable[..., Any], *arguments: Any) -> Any:
    compiled = numba.njit(f)
    with_fewer_passes(compiled)
    return compiled(*arguments)


def test_loops_over_cells_need_neither(passes: Passes) -> None:
    def f(x: Any) -> float:
        total, kept = 0.0, np.empty(x.size)
        for i in range(x.size):
            kept[i] = 2.0 * x[i]
            total += kept[i]
        return total

    assert result(f, np.arange(4.0)) == 12.0
    assert passes == []


def test_closures_are_inlined(passes: Passes) -> None:
    def f(x: Any) -> Any:
        def twice(y: float) -> float:
            return 2 * y

        return twice(x) + np.array([each for each in range(3)]).sum()  # noqa: C416

    assert result(f, 2.0) == 7.0
    assert passes == ["inlining", "rewriting"]


def test_reductions_are_inlined(passes: Passes) -> None:
    def f(x: Any) -> Any:
        return reduce(smaller, x)

    assert result(f, np.array([3.0, 1.0])) == 1.0
    assert passes == ["inlining"]


def test_operators_of_arrays_are_joined(passes: Passes) -> None:
    def f(x: Any) -> Any:
        return np.sqrt(x) * 2

    assert list(result(f, np.array([1.0, 4.0]))) == [2.0, 4.0]
    assert passes == ["rewriting"]


def test_fields_of_records_have_their_names(passes: Passes) -> None:
    def f(x: Any) -> Any:
        return x[0]["a"]

    assert result(f, np.ones(1, [("a", np.float32)])) == 1.0
