"""Steps of numba's compiler that give the same in less time, while something is compiled.

numba goes through all statements for each name that is set several times, asks LLVM for the size of
a type each time that it needs it, has LLVM optimise functions that are only declared, and looks for
references to count in numbers. What it compiles is the same to the bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import Any

from numba.core import errors, ir, lowering, ssa, typeinfer  # noqa: TID251
from numba.core.base import BaseContext  # noqa: TID251
from numba.core.codegen import CPUCodeLibrary  # noqa: TID251
from numba.core.compiler_lock import global_compiler_lock  # noqa: TID251
from numba.core.datamodel import models  # noqa: TID251
from numba.core.utils import chain_exception  # noqa: TID251

__all__ = ["instead", "quicker"]

#: numba's module, with names that are its own.
_errors: Any = errors


@contextmanager
def quicker() -> Iterator[None]:
    """Inside, numba's compiler takes less time. Other threads wait before they compile."""
    with global_compiler_lock, ExitStack() as stack:
        for owner, name, made in _quicker_steps():
            stack.enter_context(instead(owner, name, made))
        yield


def _quicker_steps() -> Iterator[tuple[Any, str, Any]]:
    """Owners of functions of numba, their names, and what takes their place."""
    yield ir.Inst, "_rec_list_vars", _variables
    yield ssa, "_run_ssa", _with_names_of_blocks(ssa._run_ssa)
    yield BaseContext, "get_abi_sizeof", _remembering_sizes(BaseContext.get_abi_sizeof)
    yield CPUCodeLibrary, "_optimize_functions", _of_defined(CPUCodeLibrary._optimize_functions)
    yield lowering.Lower, "incref", _where_counted(lowering.Lower.incref)
    yield lowering.Lower, "decref", _where_counted(lowering.Lower.decref)
    yield typeinfer.ConstraintNetwork, "propagate", _propagated
    for module in (lowering, typeinfer):
        yield module, "new_error_context", _Told


@contextmanager
def instead(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Another attribute for a while: numba holds its lock, and nothing else is compiled meanwhile.

    What is compiled for the same function, inside, may do the same.
    """
    outer = vars(owner).get(name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if outer is not None:
            setattr(owner, name, outer)
        else:
            delattr(owner, name)


# --- names --------------------------------------------------------------------------------------


def _variables(_: Any, value: Any) -> list[Any]:
    """The variables in a part of a statement, in order."""
    found: list[Any] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Any]) -> None:
    kind = _kind(value.__class__)
    if kind is ir.Var:
        found.append(value)
    elif kind is ir.Inst:
        found.extend(value.list_vars())
    elif kind is not None:
        for each in value.values() if kind is dict else value:
            _collect(each, found)


@lru_cache(maxsize=512)
def _kind(kind: Any) -> type | None:
    """What numba takes the values of a class for."""
    kinds = (ir.Var, ir.Inst, list, tuple, dict)
    return next((each for each in kinds if issubclass(kind, each)), None)


def _with_names_of_blocks(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of each name that is set several times, only the blocks that have it are gone through."""

    def made(blocks: Any) -> Any:
        names = {
            label: {variable.name for each in block.body for variable in each.list_vars()}
            for label, block in blocks.items()
        }

        def rewritten(blocks: Any, states: Any, handler: Any) -> Any:
            found = {}
            for label, block in blocks.items():
                found[label] = ir.Block(scope=block.scope, loc=block.loc)
                if states["varname"] in names[label]:
                    states["label"], states["block"] = label, block
                    found[label].body = [_handled(handler, states, e) for e in block.body]
                else:
                    found[label].body = list(block.body)
            return found

        with instead(ssa, "_run_block_rewrite", rewritten):
            return run(blocks)

    return made


def _handled(handler: Any, states: Any, statement: Any) -> Any:
    if isinstance(statement, ir.Assign):
        return handler.on_assign(states, statement)
    return handler.on_other(states, statement)


# --- LLVM ---------------------------------------------------------------------------------------


def _remembering_sizes(ask: Callable[[Any, Any], int]) -> Callable[[Any, Any], int]:
    """LLVM reads a module for each question."""
    known: dict[tuple[Any, str], int] = {}

    def size(context: Any, kind: Any) -> int:
        text = str(kind)
        if "%" in text:  # a name, which may stand for something else elsewhere
            return ask(context, kind)
        found = known.get((context, text))
        if found is None:
            found = known[context, text] = ask(context, kind)
        return found

    return size


class _Defined:
    """A module of LLVM that shows the functions that have a body."""

    def __init__(self, module: Any) -> None:
        vars(self)["_module"] = module

    @property
    def functions(self) -> list[Any]:
        return [each for each in self._module.functions if not each.is_declaration]

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)


def _of_defined(optimise: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    def made(library: Any, module: Any) -> None:
        optimise(library, _Defined(module))

    return made


# --- references ---------------------------------------------------------------------------------


def _where_counted(count: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any, Any], None]:
    """Numbers, and tuples of them, hold no reference: numba would read all their parts."""
    known: dict[tuple[Any, Any], bool] = {}

    def made(lower: Any, kind: Any, value: Any) -> None:
        kinds = lower.context.data_model_manager
        is_counted = known.get((kinds, kind))
        if is_counted is None:
            is_counted = known[kinds, kind] = _is_counted(kinds[kind])
        if is_counted:
            count(lower, kind, value)

    return made


def _is_counted(model: Any) -> bool:
    """Whether values may hold something whose references are counted."""
    if model.has_nrt_meminfo():
        return True
    parts = type(model).traverse
    if parts is models.DataModel.traverse:  # it has none
        return False
    if parts in (models.UniTupleModel.traverse, models.StructModel.traverse):
        return any(map(_is_counted, model.inner_models()))
    return True


# --- types --------------------------------------------------------------------------------------


def _propagated(network: Any, inference: Any) -> list[Exception]:
    """What `ConstraintNetwork.propagate` does, with the settings of warnings made once."""
    found: list[Exception] = []
    told: list[tuple[Any, Any]] = []
    fixer = inference.warnings
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", fixer._category)
            for constraint in network.constraints:
                try:
                    constraint(inference)
                except errors.ForceLiteralArg as error:
                    found.append(error)
                except errors.TypingError as error:
                    new = errors.TypingError(str(error), loc=constraint.loc, highlighting=False)
                    found.append(chain_exception(new, error))
                if caught:
                    told += [(constraint.loc, each) for each in caught]
                    caught.clear()
    finally:
        for place, each in told:
            with fixer.catch_warnings(place.filename, place.line):
                warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return found


class _Told:
    """What `new_error_context` does: numba makes a generator for each statement."""

    __slots__ = ("_form", "_named", "_parts")

    def __init__(self, form: str, *parts: Any, **named: Any) -> None:
        self._form, self._parts, self._named = form, parts, named

    def __enter__(self) -> None:
        place = self._named.get("loc")
        if place is not None and not place.filename.startswith(_errors._numba_path):
            _errors.loc_info.update(self._named)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, errors.NumbaError):
            error.add_context(_errors._format_msg(self._form, self._parts, self._named))
