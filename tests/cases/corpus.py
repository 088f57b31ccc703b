"""The shared case corpus: programs with stated truth, and what astile makes of each statement."""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from astile.errors import AstileError, IllegalSchedule
from astile.ir import nodes, query
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("ASTILE_CASES", ROOT.parent / "shared" / "cases"))

#: Verdicts of the corpus under which a step must run and give the same bits.
LEGAL = ("legal",)
#: Verdicts under which a step must be refused.
ILLEGAL = ("illegal",)


@dataclass(frozen=True)
class Outcome:
    """What astile made of one claim.

    Args:
        program: name of the corpus program.
        claim: the step, as text.
        verdict: what the corpus says about it.
        result: ``accepted``, ``refused``, ``wrong`` or ``crashed``.
        message: first line of the refusal, or what differs.
        seconds: how long the step took.
    """

    program: str
    claim: str
    verdict: str
    result: str
    message: str
    seconds: float

    @property
    def is_fault(self) -> bool:
        """Whether this is a wrong value, an illegal step accepted, or a crash."""
        accepted_illegal = self.result == "accepted" and self.verdict in ILLEGAL
        return self.result in ("wrong", "crashed") or accepted_illegal

    @property
    def is_too_careful(self) -> bool:
        """Whether a legal step was refused."""
        return self.result == "refused" and self.verdict in LEGAL


def programs() -> list[str]:
    """Names of the programs of the corpus; none where the folder is absent."""
    return sorted(each.stem for each in (FOLDER / "programs").glob("*.py"))


def load(name: str, kind: str = "programs") -> ModuleType:
    """A corpus module."""
    path = FOLDER / kind / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"case_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    module = importlib.util.module_from_spec(spec)
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


def schedule_of(
    module: ModuleType, claim: dict[str, Any] | None = None, *, exact: bool = False
) -> Schedule:
    """A fresh schedule of a corpus program, for one claim about it.

    A scratch argument is given away where the claim shrinks it or calls it private; elsewhere
    its contents after the call are part of the result.
    """
    function = getattr(module, module.META["function"])
    scratch = module.META.get("scratch", ())
    if claim is not None and claim["op"] != "interleave":
        scratch = claim.get("private", ())
    return Schedule(function, exact=exact, scratch=tuple(scratch))


def labelled(schedule: Schedule, module: ModuleType, label: str) -> Loop:
    """The loop that the corpus calls `label`: labels name `for` and `while` in source order."""
    order = [
        each
        for each in query.preorder(schedule.program.function)
        if isinstance(each, (ast.For, ast.While)) and hasattr(each, "lineno")  # the user wrote it
    ]
    found = order[module.META["loops"].index(label)]
    identity = nodes.loop_id(found) if isinstance(found, ast.For) else None
    if identity is None or query.header(found) is None:  # type: ignore[arg-type]
        raise NotCountedError(label)
    return Loop(schedule, identity)


class NotCountedError(Exception):
    """A claim about a loop that astile keeps untouched."""


def apply_claim(schedule: Schedule, module: ModuleType, claim: dict[str, Any]) -> None:
    """Make the step that a claim is about."""

    def loop(label: str) -> Loop:
        return labelled(schedule, module, label)

    match claim["op"]:
        case "interchange":
            outer, inner = map(loop, claim["loops"].split())
            schedule.reorder(inner, outer)
        case "tile":
            loops = [loop(each) for each in claim["loops"].split()]
            schedule.tile(loops, [2] * len(loops))
        case "fuse":
            first, second = map(loop, claim["loops"].split())
            schedule.merge(first, second)
        case "interleave":
            schedule.compute_at(loop(claim["producer"]), loop(claim["at"]))
        case other:
            raise ValueError(f"unknown claim {other}")


def text_of(claim: dict[str, Any]) -> str:
    """A claim in a few words."""
    if claim["op"] == "interleave":
        return f"interleave {claim['producer']} at {claim['at']} ({claim['buffer']})"
    return f"{claim['op']} {claim['loops']}"


def judge(name: str, *, exact: bool = False) -> Iterator[Outcome]:
    """What astile makes of every claim about a program."""
    module = load(name)
    for claim in module.META["claims"]:
        began = time.perf_counter()
        seconds = 0.0
        try:
            schedule = schedule_of(module, claim, exact=exact)
            began = time.perf_counter()
            apply_claim(schedule, module, claim)
            seconds = time.perf_counter() - began
            differs = difference(module, compiled(schedule, module))
            close = differs is not None and claim["verdict"] == "reassoc" and not exact
            if close:
                differs = difference(module, compiled(schedule, module), bitwise=False)
            result, message = ("accepted", "") if differs is None else ("wrong", differs)
        except NotCountedError as error:
            result, message = "refused", f"the loop {error} is kept untouched"
        except AstileError as error:
            seconds = time.perf_counter() - began
            kind = "illegal: " if isinstance(error, IllegalSchedule) else ""
            result, message = "refused", kind + str(error).splitlines()[0]
        except Exception as error:
            result, message = "crashed", f"{type(error).__name__}: {error}"
        yield Outcome(name, text_of(claim), claim["verdict"], result, message, seconds)


def compiled(schedule: Schedule, module: ModuleType) -> Callable[..., Any]:
    """The scheduled program, run by CPython."""
    scope: dict[str, Any] = {}
    text = schedule.source("python")
    exec(compile(text, f"<{schedule.program.name}>", "exec"), scope)
    return scope[schedule.program.name]


def difference(
    module: ModuleType, candidate: Callable[..., Any], *, bitwise: bool = True
) -> str | None:
    """The first difference from the plain function over all sizes and two seeds, or None."""
    plain = getattr(module, module.META["function"])
    for size in module.SIZES:
        for seed in (0, 1):
            args, outputs = module.make_args(size, seed)
            wanted, got = _run(plain, args), _run(candidate, args)
            names = plain.__code__.co_varnames[: plain.__code__.co_argcount]
            scratch = set(module.META.get("scratch", ())) - set(outputs)
            for label, one, other in _pairs(names, scratch, wanted, got):
                if not _same(one, other, bitwise=bitwise):
                    return f"{label} differs at size {size}, seed {seed}"
    return None


def _run(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[tuple[Any, ...], Any]:
    copies = tuple(each.copy() if isinstance(each, np.ndarray) else each for each in args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        returned = function(*copies)
    return copies, returned


def _pairs(
    names: tuple[str, ...], scratch: set[str], wanted: Any, got: Any
) -> Iterator[tuple[str, Any, Any]]:
    for name, one, other in zip(names, wanted[0], got[0], strict=False):
        if name not in scratch:
            yield name, one, other
    yield "the returned value", wanted[1], got[1]


def _same(one: Any, other: Any, *, bitwise: bool) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(
            _same(a, b, bitwise=bitwise) for a, b in zip(one, other, strict=True)
        )
    if one is None:
        return other is None
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    if bitwise:
        return bool(np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"))
    return bool(np.allclose(one, other, rtol=1e-5, atol=1e-8, equal_nan=True))
