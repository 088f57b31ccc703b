"""Steps of numba's compiler are quicker inside, give the same, and are numba's own afterwards."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from llvmlite import ir as llvm  # noqa: E402
from numba.core import errors, ir, lowering, ssa, typeinfer, types  # noqa: E402, TID251
from numba.core.base import BaseContext  # noqa: E402, TID251
from numba.core.codegen import CPUCodeLibrary  # noqa: E402, TID251
from numba.core.compiler_lock import global_compiler_lock  # noqa: E402, TID251
from numba.core.registry import cpu_target  # noqa: E402, TID251
from numba.core.runtime import _nrt_python, rtsys  # noqa: E402, TID251

from astile.intrinsics import quick_steps  # noqa: E402
from astile.intrinsics.quick_steps import quicker  # noqa: E402

PLACE = ir.Loc("f.py", 1)


def variable(name: str) -> Any:
    return ir.Var(None, name, PLACE)


def test_numba_has_its_own_steps_afterwards() -> None:
    def steps() -> list[Any]:
        return [vars(owner)[name] for owner, name, _ in quick_steps._quicker_steps()]

    before = steps()
    with quicker():
        assert all(a is not b for a, b in zip(before, steps(), strict=True))
    with pytest.raises(ZeroDivisionError), quicker():
        raise ZeroDivisionError
    assert all(a is b for a, b in zip(before, steps(), strict=True))


def test_other_threads_wait_before_they_compile() -> None:
    found: list[bool] = []
    with quicker():
        other = threading.Thread(target=lambda: found.append(global_compiler_lock.is_locked()))
        other.start()
        other.join()
        assert global_compiler_lock.is_locked()
    assert found == [False]  # it does not have the lock


@pytest.mark.parametrize(
    "value",
    [
        variable("b"),
        ir.Const(3, PLACE),
        ir.Expr.call(variable("f"), [variable("b")], [("k", variable("c"))], PLACE, variable("d")),
        ir.Expr.build_map([(variable("b"), variable("c"))], 1, {}, {}, PLACE),
    ],
)
def test_variables_of_values_are_found_in_order(value: Any) -> None:
    has_the_same_variables(ir.Assign(value, variable("a"), PLACE))


@pytest.mark.parametrize(
    "statement",
    [
        ir.SetItem(variable("a"), variable("b"), variable("c"), PLACE),
        ir.Branch(variable("a"), 1, 2, PLACE),
        ir.Jump(1, PLACE),
    ],
)
def test_variables_of_statements_are_found_in_order(statement: Any) -> None:
    has_the_same_variables(statement)


def has_the_same_variables(statement: Any) -> None:
    plain = [each.name for each in statement.list_vars()]
    with quicker():
        assert [each.name for each in statement.list_vars()] == plain


def several(x: float, n: int) -> float:
    total, kept, late = x, 1.0, 0.0
    for i in range(n):
        if i % 3 == 1:
            total, kept = kept + total, total
            late = total
        elif i % 3 == 2:
            late = late - kept
        total = total * 2 + late
    return total + kept * late


def test_names_that_are_set_several_times_mean_the_same() -> None:
    made = numba.njit(several)
    with quicker():
        made.compile((types.float64, types.int64))
    assert [made(1.5, n) for n in range(8)] == [several(1.5, n) for n in range(8)]


def test_blocks_without_a_name_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []
    plain = ssa._FreshVarHandler.on_assign

    def on_assign(self: Any, states: Any, assign: Any) -> Any:
        body = states["block"].body
        seen.append(any(v.name == states["varname"] for e in body for v in e.list_vars()))
        return plain(self, states, assign)

    monkeypatch.setattr(ssa._FreshVarHandler, "on_assign", on_assign)
    with quicker():
        numba.njit(several).compile((types.float64, types.int64))
    assert seen
    assert all(seen)


def test_sizes_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    plain = BaseContext.get_abi_sizeof

    def size(self: Any, kind: Any) -> int:
        asked.append(str(kind))
        return 8 if kind is named else int(plain(self, kind))

    monkeypatch.setattr(BaseContext, "get_abi_sizeof", size)
    named = llvm.Context().get_identified_type("pair")
    context = cpu_target.target_context
    with quicker():
        pair = llvm.LiteralStructType([llvm.IntType(64), llvm.IntType(8)])
        sizes = [context.get_abi_sizeof(e) for e in (pair, llvm.IntType(32), pair, named, named)]
    assert sizes == [16, 4, 16, 8, 8]
    assert asked == ["{i64, i8}", "i32", '%"pair"', '%"pair"']  # names may be of several types


def test_functions_that_are_only_declared_are_not_optimised() -> None:
    found: list[str] = []

    def optimised(library: Any, module: Any) -> None:
        found.extend(each.name for each in module.functions)
        module.data_layout = "e"

    class Module:
        functions: Any = ()
        data_layout = ""

    class Function:
        def __init__(self, name: str, is_declaration: bool) -> None:
            self.name, self.is_declaration = name, is_declaration

    module = Module()
    module.functions = [Function("f", False), Function("g", True)]
    quick_steps._of_defined(optimised)(None, module)
    assert found == ["f"]
    assert module.data_layout == "e"
    assert CPUCodeLibrary._optimize_functions is not optimised


@pytest.mark.parametrize(
    ("kind", "is_counted"),
    [
        (types.float64, False),
        (types.UniTuple(types.intp, 3), False),
        (types.Tuple((types.intp, types.float32[:])), True),
        (types.UniTuple(types.float32[:], 2), True),
        (types.float32[:], True),
        (types.complex64, False),
        (types.Optional(types.float32[:]), True),
        (types.ListType(types.intp), True),
        (types.none, False),
        (types.unicode_type, True),
    ],
)
def test_references_are_counted_where_there_are_any(kind: Any, is_counted: bool) -> None:
    kinds = cpu_target.target_context.data_model_manager
    assert quick_steps._is_counted(kinds[kind]) is is_counted


def test_arrays_are_freed() -> None:
    def f(n: int) -> float:
        total = 0.0
        for i in range(n):
            pair = (np.ones(i + 1), i)
            total += pair[0].sum() * pair[1]
        return total

    made = numba.njit(f)
    with quicker():
        made.compile((types.int64,))
    counting = _nrt_python.memsys_stats_enabled()
    _nrt_python.memsys_enable_stats()
    try:
        before = rtsys.get_allocation_stats()
        assert made(5) == f(5)
        after = rtsys.get_allocation_stats()
    finally:
        if not counting:
            _nrt_python.memsys_disable_stats()
    assert after.alloc - before.alloc == after.free - before.free > 0


def message(compiled: Any) -> str:
    with pytest.raises(errors.TypingError) as caught:
        compiled.compile((types.float64,))
    return str(caught.value)


def test_errors_tell_the_same() -> None:
    def f(x: float) -> Any:
        return x.nothing + 1  # type: ignore[attr-defined]

    plain = message(numba.njit(f))
    with quicker():
        assert message(numba.njit(f)) == plain
    assert "typing of get attribute" in plain


class Network:
    """A network of one constraint, which warns."""

    def __init__(self, category: type[Warning]) -> None:
        self.category = category
        self.constraints = [self]
        self.loc = PLACE

    def __call__(self, inference: Any) -> None:
        warnings.warn("look", self.category, stacklevel=1)


@pytest.mark.parametrize("category", [errors.NumbaWarning, UserWarning])
def test_warnings_have_the_place_of_their_statement(category: type[Warning]) -> None:
    class Inference:
        warnings = errors.WarningsFixer(errors.NumbaWarning)

    def told(propagate: Any) -> list[Any]:
        with warnings.catch_warnings(record=True) as caught, Inference.warnings:
            warnings.simplefilter("always")
            propagate(Network(category), Inference())
            propagate(Network(category), Inference())
        Inference.warnings.flush()
        return [(str(each.message), each.category, each.filename, each.lineno) for each in caught]

    plain = told(typeinfer.ConstraintNetwork.propagate)
    assert told(quick_steps._propagated) == plain != []


def test_failed_steps_name_what_they_were_at() -> None:
    with (
        pytest.raises(errors.NumbaError, match="while at 3"),
        quick_steps._Told("while at {n}", n=3),
    ):
        raise errors.NumbaError("broken")
    with pytest.raises(KeyError), quick_steps._Told("while at {n}", n=3):
        raise KeyError("x")
    assert lowering.new_error_context is errors.new_error_context
