"""The calls of a schedule as data: a runnable script, JSON, and replay."""

from __future__ import annotations

import difflib
import json
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from astile.diagnostics import did_you_mean
from astile.errors import AstileError, ScheduleError
from astile.ir.module import module_text
from astile.ir.program import Program

if TYPE_CHECKING:
    from astile.schedule.schedule import Schedule

#: Version of the JSON form.
VERSION = 1
_SIZE_LIMIT = 1 << 20
#: How many drifted lines a message shows.
_SHOWN = 3

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
        name: of the function.
        text: the module of the program before the first call.
        calls: the calls, in order.
        scratch: the array arguments whose contents after the call nobody reads.
        exact: whether steps that only reassociate a reduction were refused.
    """

    name: str
    text: str
    calls: tuple[Call, ...]
    scratch: tuple[str, ...] = ()
    exact: bool = False

    @classmethod
    def of(cls, original: Program, calls: Sequence[Call], *, exact: bool) -> Trace:
        """The trace of a schedule.

        Args:
            original: the program before the first call.
            calls: the calls, in order.
            exact: as for `Schedule`.
        """
        text, scratch = module_text(original), tuple(sorted(original.scratch))
        return cls(original.name, text, tuple(calls), scratch, exact)

    def as_python(self) -> str:
        """A script that builds the same schedule anew and prints its source."""
        text = self.text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
        given = f", scratch={self.scratch!r}" if self.scratch else ""
        lines = [
            "from astile import Schedule, from_source",
            "",
            f'KERNEL = """\n{text}"""',
            "",
            f"s = Schedule(from_source(KERNEL, {self.name!r}{given})"
            f"{', exact=True' if self.exact else ''})",
            *(f"s.{each}" for each in self.calls),
            "print(s.source())",
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> str:
        """The calls as JSON; none of it is executed, and replaying it proves every step again.

        The text of the program is there for messages: which line is another one by now.
        """
        calls = [
            {
                "primitive": each.primitive,
                "arguments": [_plain(a) for a in each.arguments],
                "options": {key: _plain(value) for key, value in each.options.items()},
            }
            for each in self.calls
        ]
        return json.dumps({"version": VERSION, "source": self.text, "calls": calls}, indent=2)

    def apply_to_schedule(self, schedule: Schedule) -> None:
        """Make the same calls on another schedule; each is proved again.

        Raises:
            ScheduleError: from the first call that cannot be made; it says which lines of the
                program are not those for which the trace was made.
        """
        for number, each in enumerate(self.calls, 1):
            try:
                getattr(schedule, each.primitive)(*each.arguments, **each.options)
            except AstileError as error:
                error.noted(f"this is call {number} of {len(self.calls)} of a trace")
                for line in self._drift(module_text(schedule.original)):
                    error.noted(line)
                raise

    def _drift(self, text: str) -> list[str]:
        """The lines that differ from those of the trace's program, the first few of them."""
        before, after = self.text.splitlines(), text.splitlines()
        found = []
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        for kind, i, i_end, j, j_end in matcher.get_opcodes():
            if kind == "equal":
                continue
            old = " / ".join(each.strip() for each in before[i:i_end] if each.strip())
            new = " / ".join(each.strip() for each in after[j:j_end] if each.strip())
            if old and new:
                found.append(f"`{old}` was there when the trace was made; now it is `{new}`")
            elif new:
                found.append(f"`{new}` was not there when the trace was made")
            elif old:
                found.append(f"`{old}` was there when the trace was made")
        return found[:_SHOWN]


def trace_from_json(text: str, name: str, primitives: Sequence[str]) -> Trace:
    """The trace that JSON holds, checked: nothing in it is executed or imported.

    Args:
        text: JSON as `Trace.as_json` writes it.
        name: of the function.
        primitives: names of primitives that may occur.

    Raises:
        ScheduleError: for anything that is no trace.
    """
    calls, source = _read(text, primitives)
    return Trace(name, source, calls)


def _bad(message: str, hint: str | None = None) -> ScheduleError:
    hints = [hint or "write traces by `s.trace.as_json()`"]
    return ScheduleError(message, code="schedule.bad-trace", hints=hints)


def _read(text: str, primitives: Sequence[str]) -> tuple[tuple[Call, ...], str]:
    if not isinstance(text, str):
        raise _bad(f"{text!r} is no trace")
    if len(text) > _SIZE_LIMIT:
        raise _bad("the trace is larger than 1 MiB")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise _bad("the trace is no JSON") from None
    if not isinstance(data, dict) or set(data) != {"version", "source", "calls"}:
        raise _bad("the trace has unknown keys")
    if data["version"] != VERSION or not isinstance(data["calls"], list):
        raise _bad("the trace has another version")
    if not isinstance(data["source"], str):
        raise _bad("the source of the trace is no text")
    return tuple(_call(each, primitives) for each in data["calls"]), data["source"]


def _call(data: object, primitives: Sequence[str]) -> Call:
    if not isinstance(data, dict) or set(data) != {"primitive", "arguments", "options"}:
        raise _bad("a call of the trace has unknown keys")
    primitive, arguments, options = data["primitive"], data["arguments"], data["options"]
    if primitive not in primitives:
        raise _bad(f"no primitive {primitive!r}", did_you_mean(str(primitive), primitives))
    if not isinstance(arguments, list) or not isinstance(options, dict):
        raise _bad("a call of the trace is malformed")
    for each in [*arguments, *options.values()]:
        _check_value(each, 0)
    for key in options:
        if not key.isidentifier() or keyword.iskeyword(key):
            raise _bad(f"{key!r} is no option")
    return Call(primitive, tuple(arguments), options)


def _check_value(value: object, depth: int) -> None:
    if isinstance(value, list) and depth < 2:
        for each in value:
            _check_value(each, depth + 1)
        return
    plain = value is None or isinstance(value, (bool, int, str))
    if not plain or (isinstance(value, str) and not value.isprintable()):
        raise _bad(f"{value!r} is no argument of a primitive")
