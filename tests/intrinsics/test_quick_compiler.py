"""Passes of numba's compiler run where they change something; types are found once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from numba.core.inline_closurecall import InlineClosureCallPass  # noqa: E402, TID251
from numba.core.registry import cpu_target  # noqa: E402, TID251
from numba.core.rewrites import rewrite_registry  # noqa: E402, TID251
from numba.core.typing.context import BaseContext  # noqa: E402, TID251

from astile.intrinsics.quick_compiler import use_quick_compiler  # noqa: E402

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
    use_quick_compiler(compiled)
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


@pytest.fixture
def products(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The types of the products that numba looked for."""
    found: list[Any] = []
    resolve = BaseContext.resolve_function_type

    def resolved(self: Any, function: Any, given: Any, named: Any) -> Any:
        if getattr(function, "typing_key", None) is operator.mul:
            found.append(given)
        return resolve(self, function, given, named)

    monkeypatch.setattr(BaseContext, "resolve_function_type", resolved)
    return found


def test_products_of_one_type_are_looked_for_once(products: list[Any]) -> None:
    def f(x: float, n: int) -> float:
        return x * x * x + n * n * n

    assert result(f, 2.0, 3) == 35.0
    assert len(products) == len(set(products)) == 2


@numba.njit
def failing(x: float) -> float:
    return x.nothing  # type: ignore[attr-defined,no-any-return]


def test_what_remembers_types_is_gone_afterwards() -> None:
    use_quick_compiler(failing)

    def f(x: float) -> float:
        return failing(x)

    with pytest.raises(numba.TypingError):
        result(f, 1.0)
    assert "resolve_function_type" not in vars(cpu_target.typing_context)
