"""The shared case corpus: programs with stated truth about them."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from astile.ir import nodes, query
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("ASTILE_CASES", ROOT.parent / "shared" / "cases"))


def programs() -> list[str]:
    """Names of the programs of the corpus; none where the folder is absent."""
    return sorted(each.stem for each in (FOLDER / "programs").glob("*.py"))


def not_observable(name: str) -> frozenset[str]:
    """Illegal claims of a program whose fault the corpus itself cannot see in any value."""
    index = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    found = [each for each in index["programs"] if each["name"] == name]
    return frozenset(found[0]["claims"]["not_observable"] if found else ())


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


def loop_node(schedule: Schedule, module: ModuleType, label: str) -> ast.For | ast.While:
    """The statement that the corpus calls `label`: labels name loops in source order."""
    order = [
        each
        for each in query.preorder(schedule.program.function)
        if isinstance(each, (ast.For, ast.While)) and hasattr(each, "lineno")  # the user wrote it
    ]
    return order[module.META["loops"].index(label)]


def labelled(schedule: Schedule, module: ModuleType, label: str) -> Loop:
    """The loop that the corpus calls `label`."""
    found = loop_node(schedule, module, label)
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
