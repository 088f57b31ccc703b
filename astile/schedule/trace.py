"""The calls of a schedule as data: a runnable script, JSON, and replay."""

from __future__ import annotations

import json
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astile.errors import ScheduleError
from astile.ir.module import module_text
from astile.ir.program import Program

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Version of the JSON form.
VERSION = 1
_SIZE_LIMIT = 1 << 20

Argument = None | bool | int | float | str | Sequence["Argument"]


@dataclass(frozen=True)
class Call:
    """One schedule call with its arguments as names and literals.

    Args:
        primitive: name of the method of `Schedule`.
        arguments: positional arguments; loops and stages as the names that find them.
        options: keyword arguments that differ from their defaults.
    """

    primitive: str
    arguments: tuple[Any, ...]
    options: Mapping[str, Any]

    def __str__(self) -> str:
        parts = [repr(_plain(each)) for each in self.arguments]
        parts += [f"{key}={_plain(value)!r}" for key, value in self.options.items()]
        return f"{self.primitive}({', '.join(parts)})"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value


@dataclass(frozen=True)
class Trace:
    """The calls that made a schedule from its original program.

    Args:
        original: the program before the first call.
        calls: the calls, in order.
    """

    original: Program
    calls: tuple[Call, ...]

    def as_python(self) -> str:
        """A script that builds the same schedule anew and prints its source."""
        text = module_text(self.original).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        lines = [
            "from astile import Schedule, from_source",
            "",
            f'KERNEL = """\n{text}"""',
            "",
            f"s = Schedule(from_source(KERNEL, {self.original.name!r}))",
            *(f"s.{each}" for each in self.calls),
            "print(s.source())",
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> str:
        """The calls as JSON; it holds no code, and replaying it proves every step again."""
        calls = [
            {
                "primitive": each.primitive,
                "arguments": [_plain(a) for a in each.arguments],
                "options": {key: _plain(value) for key, value in each.options.items()},
            }
            for each in self.calls
        ]
        return json.dumps({"version": VERSION, "calls": calls}, indent=2)

    def apply_to_schedule(self, schedule: Schedule) -> None:
        """Make the same calls on another schedule; each is proved again.

        Raises:
            ScheduleError: from the first call that cannot be made.
        """
        for each in self.calls:
            getattr(schedule, each.primitive)(*each.arguments, **each.options)


def calls_from_json(text: str, primitives: Sequence[str]) -> tuple[Call, ...]:
    """The calls of a JSON trace, checked: nothing in it is executed or imported.

    Args:
        text: JSON as `Trace.as_json` writes it.
        primitives: names of primitives that may occur.

    Raises:
        ScheduleError: for anything that is no trace.
    """
    if len(text) > _SIZE_LIMIT:
        raise ScheduleError("the trace is larger than 1 MiB", code="schedule.bad-trace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise ScheduleError("the trace is no JSON", code="schedule.bad-trace") from None
    if not isinstance(data, dict) or set(data) != {"version", "calls"}:
        raise ScheduleError("the trace has unknown keys", code="schedule.bad-trace")
    if data["version"] != VERSION or not isinstance(data["calls"], list):
        raise ScheduleError("the trace has another version", code="schedule.bad-trace")
    return tuple(_call(each, primitives) for each in data["calls"])


def _call(data: object, primitives: Sequence[str]) -> Call:
    if not isinstance(data, dict) or set(data) != {"primitive", "arguments", "options"}:
        raise ScheduleError("a call of the trace has unknown keys", code="schedule.bad-trace")
    primitive, arguments, options = data["primitive"], data["arguments"], data["options"]
    if primitive not in primitives:
        raise ScheduleError(f"no primitive {primitive!r}", code="schedule.bad-trace")
    if not isinstance(arguments, list) or not isinstance(options, dict):
        raise ScheduleError("a call of the trace is malformed", code="schedule.bad-trace")
    for each in [*arguments, *options.values()]:
        _check_value(each, 0)
    for key in options:
        if not key.isidentifier() or keyword.iskeyword(key):
            raise ScheduleError(f"{key!r} is no option", code="schedule.bad-trace")
    return Call(primitive, tuple(arguments), options)


def _check_value(value: object, depth: int) -> None:
    if isinstance(value, list) and depth < 2:
        for each in value:
            _check_value(each, depth + 1)
        return
    plain = value is None or isinstance(value, (bool, int, str))
    if not plain or (isinstance(value, str) and not value.isprintable()):
        raise ScheduleError(f"{value!r} is no argument of a primitive", code="schedule.bad-trace")
