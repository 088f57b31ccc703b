"""The whole page: one file that needs nothing else."""

from __future__ import annotations

import base64
import inspect
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from jinja2 import Environment, PackageLoader, select_autoescape

import astile
from astile.general_report import GeneralReport
from astile.highlight import DARK, LIGHT
from astile.ir import query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.page.steps import boxes, side_by_side
from astile.page.watch import Watch, live, watch
from astile.report import Report
from astile.samples import Wanted, sample_arguments
from astile.schedule.step import Step

#: Statements that an animation shows at most, and cells of one array.
_EVENTS, _CELLS = 30_000, 4096
#: Extents that are tried for a run that is shown, until it is short enough.
_EXTENTS = (24, 12, 6, 3)


@dataclass(frozen=True)
class Sample:
    """A small call of a kernel.

    Args:
        arguments: parameter -> argument.
        runs: of the function as it was written, and of the scheduled program; None where there is
            no call so small that both can be looked at.
    """

    arguments: Mapping[str, object]
    runs: tuple[Watch, Watch] | None


@dataclass(frozen=True)
class Content:
    """What a page is about.

    Args:
        name: of the kernel.
        original: the function as it was written.
        steps: of its schedule.
        report: what `explain` counts, for sizes that the user gave.
        runs: that are shown, as in `Sample`.
        formulas: the same as `report` for all sizes.
    """

    name: str
    original: Program
    steps: tuple[Step, ...]
    report: Report
    runs: tuple[Watch, Watch] | None
    formulas: GeneralReport


def sample(
    original: Program,
    scheduled: Program,
    parameters: Mapping[str, inspect.Parameter],
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Sample:
    """Arguments so small that runs of both programs can be shown, where there are such.

    Args:
        original: the function as it was written.
        scheduled: the program after the last step.
        parameters: of both.
        shapes: what the user is interested in; taken where it is small enough.

    Raises:
        ArgumentError: for a parameter that is no array and no integer.
    """
    given = shapes or {}
    tried = []
    if given and all(prod(each) <= _CELLS for each in given.values()):
        tried.append(Wanted(extent=_EXTENTS[0], shapes=given))
    for extent in _EXTENTS:  # a filter of 3 x 3 keeps its size, an image becomes a small one
        small = {name: each for name, each in given.items() if max(each, default=0) < extent // 2}
        tried += [Wanted(extent=extent, shapes=each) for each in ([small, {}] if small else [{}])]
    for wanted in tried:
        arguments = sample_arguments(original, parameters, wanted)
        first = _watched(original, arguments)
        if first is None:
            continue
        touched = {name: each for name, each in first.touched().items() if name not in given}
        smaller = sample_arguments(
            original, parameters, replace(wanted, shapes={**wanted.shapes, **touched})
        )
        again = _watched(original, smaller)
        if again is not None and len(again.events) == len(first.events):  # nobody reads these sizes
            arguments, first = smaller, again
        second = _watched(scheduled, arguments)
        if second is not None:
            return Sample(arguments, (first, second))
    return Sample(arguments, None)


def _watched(program: Program, arguments: Mapping[str, object]) -> Watch | None:
    """A run that is short enough to be looked at; None where it is not, or fails."""
    try:
        found = watch(program, arguments, _EVENTS)
    except Exception:  # of the user's program, with arguments that are made up
        return None
    small = found is not None and all(_size(e) <= _CELLS for e in found.arrays.values())
    return found if small else None


def html(content: Content) -> str:
    """The text of the HTML file.

    Args:
        content: what it is about.
    """
    scheduled = content.steps[-1].program if content.steps else content.original
    loader = PackageLoader("astile.page", "templates")
    environment = Environment(
        loader=loader, autoescape=select_autoescape(default=True), trim_blocks=True
    )
    return environment.get_template("page.html").render(
        name=content.name,
        version=astile.__version__,
        report=str(content.report),
        formulas=str(content.formulas),
        notes=content.report.notes,
        steps=[(each.call, _proof(each)) for each in content.steps],
        nests=[("before", boxes(content.original)), ("after", boxes(scheduled))],
        is_animated=content.runs is not None,
        data=packed(_data(content, scheduled)),
        light=LIGHT,
        dark=DARK,
    )


def packed(data: object) -> str:
    """Data for the script of a page: JSON, deflated, as text that needs no escapes.

    Args:
        data: of types that JSON knows.
    """
    text = json.dumps(data, separators=(",", ":")).encode()
    return base64.b64encode(zlib.compress(text, 9)).decode("ascii")


def _proof(step: Step) -> str:
    return "taken as unsafe, not proved" if step.proof is None else str(step.proof)


def _data(content: Content, scheduled: Program) -> dict[str, Any]:
    """What the script of the page draws.

    ``lines`` has every highlighted line once; a row of a step is the number of its left line, that
    of its right one (-1 for none) and whether they differ, or how many lines it stands for.
    """
    numbers: dict[str, int] = {}

    def number(line: str | None) -> int:
        return -1 if line is None else numbers.setdefault(line, len(numbers))

    steps = [
        [
            each.skipped or [number(each.left), number(each.right), int(each.is_changed)]
            for each in side_by_side(module_text(step.before), step.source)
        ]
        for step in content.steps
    ]
    programs = (content.original, scheduled)
    runs = [
        _run(title, program, found)
        for title, program, found in zip(
            ("before", "after"), programs, content.runs or (), strict=False
        )
    ]
    return {"lines": list(numbers), "steps": steps, "runs": runs}


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def _run(title: str, program: Program, found: Watch) -> dict[str, Any]:
    made = {
        each.array: each.scope
        for statement in query.statements(program.function)
        if (each := query.allocation(statement)) is not None
    }
    return {
        "title": title,
        "arrays": [
            {"name": name, "rows": _rows(shape), "columns": shape[-1] if shape else 1,
             "scope": made.get(name, "argument")}
            for name, shape in found.arrays.items()
        ],
        "events": _coded(found),
        "live": live(found, made.__contains__),
    }  # fmt: skip


def _coded(found: Watch) -> list[int]:
    """The events one after the other: how many cells, and for each its array and its distance.

    The array is twice its number, and one more for a write; the distance is from the cell that was
    touched in this way before. Loops repeat distances, which deflate to next to nothing.
    """
    last: dict[int, int] = {}
    made = []
    for event in found.events:
        made.append(len(event))
        for array, cell, is_write in event:
            key = 2 * array + is_write
            made += [key, cell - last.get(key, 0)]
            last[key] = cell
    return made


def _rows(shape: tuple[int, ...]) -> int:
    return _size(shape[:-1]) if shape else 1
