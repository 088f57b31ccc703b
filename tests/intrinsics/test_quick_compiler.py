"""Passes of numba's compiler run where they change something; types are found once."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from numba.core import analysis  # noqa: E402, TID251
from numba.core.inline_closurecall import InlineClosureCallPass  # noqa: E402, TID251
from numba.core.postproc import PostProcessor  # noqa: E402, TID251
from numba.core.registry import cpu_target  # noqa: E402, TID251
from numba.core.rewrites import rewrite_registry  # noqa: E402, TID251
from numba.core.runtime import _nrt_python, rtsys  # noqa: E402, TID251
from numba.core.ssa import _FixSSAVars  # noqa: E402, TID251
from numba.core.types.functions import Function  # noqa: E402, TID251
from numba.core.typing.context import BaseContext  # noqa: E402, TID251
from numba.extending import intrinsic  # noqa: E402, TID251

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
    assert passes == ["inlining"]


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


def test_the_type_of_a_product_is_looked_for_once_for_all_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[Any] = []
    types = Function.get_call_type

    def looked_for(self: Any, context: Any, given: Any, named: Any) -> Any:
        if self.typing_key is operator.mul and named is not None:
            found.append(given)
        return types(self, context, given, named)

    def f(x: float) -> float:
        return x * x * x * x * x

    monkeypatch.setattr(Function, "get_call_type", looked_for)
    assert result(f, 2.0) == 32.0
    assert len(found) == 2  # for the types of f, and for its code


@pytest.fixture
def lifetimes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """For each time that numba found the last uses of names: how many blocks it went over."""
    found: list[int] = []
    compute = analysis.compute_dead_maps

    def computed(cfg: Any, blocks: Any, *more: Any) -> Any:
        found.append(len(blocks))
        return compute(cfg, blocks, *more)

    monkeypatch.setattr(analysis, "compute_dead_maps", computed)
    return found


def test_last_uses_are_found_once(lifetimes: list[int]) -> None:
    def f(x: float, n: int) -> float:
        for _ in range(n):
            x = x / 2 if x > 1 else x * 3
        return x

    assert result(f, 3.0, 2) == 0.75
    once = max(lifetimes)
    assert lifetimes.count(once) == 1


def sums(x: float, n: int) -> float:
    a, b = x, 1.0
    for i in range(n):
        a = a * 2 + b
        b = a - b
        b = b * a
        if a > 10:
            a = a - 10
            b = b + a if i % 2 else a
            a = a + b
        a, b = b, a
    b = b + a
    return a + b * 2


def test_names_that_are_set_several_times() -> None:
    for n in range(6):
        assert result(sums, 1.5, n) == sums(1.5, n)


def test_blocks_are_not_searched_statement_by_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    plain = _FixSSAVars._stmt_index

    def gone_over(*given: Any, **named: Any) -> Any:
        found.append(given)
        return plain(*given, **named)

    monkeypatch.setattr(_FixSSAVars, "_stmt_index", gone_over)
    result(sums, 1.5, 3)
    assert found == []
    assert _FixSSAVars._stmt_index is gone_over


def test_arrays_end_where_they_are_used_last() -> None:
    def f(n: int) -> float:
        total = 0.0
        for i in range(n):
            x = np.ones(i + 1)
            if i % 2:
                x = np.zeros(i)
            total += x.sum()
        return total

    counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert result(f, 10) == 25.0
        after = rtsys.get_allocation_stats()
    finally:
        if not counting:
            _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free == 15


def test_generators_keep_what_lives_across_a_yield() -> None:
    @numba.njit
    def counted(x: Any) -> Any:
        seen = 0.0
        for each in x:
            seen += each
            yield seen

    use_quick_compiler(counted)

    def f(x: Any) -> float:
        total = 0.0
        for each in counted(x):
            total += each
        return total

    assert result(f, np.array([1.0, 2.0, 3.0])) == 10.0


@numba.njit
def untyped(x: float) -> float:
    return x.nothing  # type: ignore[attr-defined,no-any-return]


@intrinsic  # type: ignore[misc]
def without_code(context: Any, x: Any) -> Any:
    def generate(*_: Any) -> Any:
        raise numba.errors.LoweringError("there is no code for this")

    return x(x), generate


@numba.njit
def uncoded(x: float) -> Any:
    return without_code(x + x)


@pytest.mark.parametrize("failing", [untyped, uncoded])
def test_what_remembers_is_gone_afterwards(failing: Any) -> None:
    use_quick_compiler(failing)
    run = PostProcessor.run

    def f(x: float) -> Any:
        return failing(x + x)

    with pytest.raises(numba.errors.NumbaError):
        result(f, 1.0)
    types, code = cpu_target.typing_context, cpu_target.target_context
    assert "resolve_function_type" not in vars(types)
    assert "get_function" not in vars(code)
    assert "get_call_type" not in vars(types.resolve_value_type(operator.add))
    assert PostProcessor.run is run
