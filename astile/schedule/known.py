"""Steps that were taken and proved before, in this process or in an earlier one.

What a step makes is decided by the program that the schedule began with and by the calls since. A
state of a schedule is named by a hash of all of this and of astile's own code. Under the name of a
state lies what the last call made and what was proved of it, in a file sealed with a secret of the
user: what somebody else wrote, changed or renamed counts as not there, and the step is taken and
proved as if it were the first time. Only what was proved is kept; of a refusal only that it was
one, for schedules that try whether a step is legal and go on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from astile.analysis.proof.verdicts import Proved
from astile.cache.engine import engine
from astile.cache.files import default_cache_dir
from astile.cache.sealed import Sealed
from astile.ir.program import Program
from astile.ir.stages import Stage
from astile.ir.stored import NotStored, program_from, program_text
from astile.schedule.select import Loop
from astile.schedule.trace import Call

#: Set to anything, steps are taken and proved every time.
AGAIN_VARIABLE = "ASTILE_PROVE_AGAIN"
#: So many steps are kept at most.
_MOST = 4000
_SCALARS = (str, int, bool, type(None))


@dataclass(frozen=True)
class Asked:
    """A call as it was made.

    Args:
        primitive: name of the method of `Schedule`.
        arguments: positional arguments, handles among them.
        options: keyword arguments that differ from their defaults.
    """

    primitive: str
    arguments: tuple[object, ...]
    options: Mapping[str, object]

    def handles(self) -> list[Loop]:
        """The loops that are named by handles."""
        return _loops_in([*self.arguments, *self.options.values()])


def _loops_in(values: Sequence[object]) -> list[Loop]:
    found: list[Loop] = []
    for each in values:
        if isinstance(each, (list, tuple)):
            found += _loops_in(each)
        elif isinstance(each, Loop):
            found.append(each)
    return found


@dataclass(frozen=True)
class Kept:
    """What is known of a step.

    Args:
        call: the call, with loops and stages as names.
        loops: identities of the loops that it returned.
        next_loop: the next free loop identity after it.
        proof: what was proved.
        text: the program after it, packed.
    """

    call: Call
    loops: tuple[int, ...]
    next_loop: int
    proof: Proved
    text: bytes

    def program(self, base: Program) -> Program:
        """The program after the step.

        Args:
            base: the program that the schedule began with.
        """
        return program_from(zlib.decompress(self.text), base)


@dataclass(frozen=True)
class KeptSteps:
    """What is known of a function that takes several steps.

    Args:
        steps: the steps, with the names of the states after them.
        free_loop: the next loop identity after them that no loop ever had.
        result: what the function returned, as it was kept.
    """

    steps: tuple[tuple[str, Kept], ...]
    free_loop: int
    result: Any


class Known:
    """The steps that are known of schedules of one program.

    Args:
        original: the program that the schedule begins with.
        exact: as for the schedule.
        files: where steps are kept.
    """

    def __init__(self, original: Program, *, exact: bool, files: Sealed) -> None:
        self._original = original
        self._files = files
        #: So many steps were refused that more time might have proved.
        self.undecided = 0
        self.start: str | None = None
        with contextlib.suppress(NotStored):
            self.start = _hashed([engine(), exact, program_text(original, None)])

    @classmethod
    def of(cls, original: Program, *, exact: bool) -> Known | None:
        """What is known in the user's cache folder, None where steps are proved every time.

        Args:
            original: the program that the schedule begins with.
            exact: as for the schedule.
        """
        if os.environ.get(AGAIN_VARIABLE):
            return None
        return cls(original, exact=exact, files=Sealed(default_cache_dir() / "steps", _MOST))

    def state(self, before: str | None, asked: Asked, next_loop: int) -> str | None:
        """The name of the state after a call, None where it cannot be told from others.

        Args:
            before: the name of the state before it.
            asked: the call.
            next_loop: the next free loop identity before it.
        """
        if before is None:
            return None
        options = [[key, value] for key, value in sorted(asked.options.items())]
        try:
            call = _plain([asked.primitive, *asked.arguments, options])
        except NotStored:
            return None
        return _hashed([before, next_loop, call])

    def find(self, state: str | None) -> Kept | None:
        """The step that leads to a state, None where it is not known.

        Args:
            state: its name.
        """
        found = None if state is None else self._files.read(["step", state])
        return None if found is None else _kept_in(found)

    def find_several(self, state: str | None) -> KeptSteps | None:
        """The steps of a function that leads to a state, None where they are not known.

        Args:
            state: its name.
        """
        found = None if state is None else self._files.read(["several", state])
        if found is None:
            return None
        head, _, content = found.partition(b"\n")
        held, steps, begin = json.loads(head), [], 0
        for after, size in held["steps"]:
            steps.append((after, _kept_in(content[begin : begin + size])))
            begin += size
        return KeptSteps(tuple(steps), held["free_loop"], held["result"])

    def keep_several(
        self, state: str | None, states: Sequence[str | None], free_loop: int, result: Any
    ) -> None:
        """Keep the steps of a function, if all of them are kept.

        Args:
            state: the name of the state to which it leads.
            states: the names of the states after its steps.
            free_loop: as for `KeptSteps`.
            result: what the function returned, as JSON holds it.
        """
        contents = [self._files.read(["step", each]) for each in states if each is not None]
        found = [each for each in contents if each is not None]
        if state is None or len(found) < len(states):
            return
        sizes = [[each, len(content)] for each, content in zip(states, found, strict=True)]
        head = {"steps": sizes, "free_loop": free_loop, "result": result}
        self._files.write(
            ["several", state], b"\n".join([json.dumps(head).encode(), b"".join(found)])
        )

    def keep(
        self, state: str | None, call: Call, loops: Sequence[int], program: Program, proof: Proved
    ) -> None:
        """Keep a step that was proved.

        Args:
            state: the name of the state after it.
            call: the call, with loops and stages as names.
            loops: identities of the loops that it returned.
            program: the program after it.
            proof: what was proved.
        """
        if state is None:
            return
        with contextlib.suppress(NotStored):
            text = program_text(program, self._original).encode("utf-8", "surrogatepass")
            head = {
                "call": [call.primitive, list(call.arguments), dict(call.options)],
                "loops": list(loops),
                "next_loop": program.next_loop,
                "kind": proof.kind,
                "sizes": list(proof.parameters),
                "seconds": proof.seconds,
            }
            content = json.dumps(head).encode() + b"\n" + zlib.compress(text, 1)
            self._files.write(["step", state], content)

    def was_refused(self, state: str | None) -> bool:
        """Whether the call that would lead to a state is known to be refused.

        Args:
            state: its name.
        """
        return state is not None and self._files.read(["refused", state]) is not None

    def keep_refusal(self, state: str | None) -> None:
        """Keep that a call was refused.

        Args:
            state: the name of the state to which it would have led.
        """
        if state is not None:
            self._files.write(["refused", state], b"")


def _kept_in(content: bytes) -> Kept:
    head, _, text = content.partition(b"\n")
    held = json.loads(head)
    primitive, arguments, options = held["call"]
    proof = Proved(held["kind"], tuple(held["sizes"]), held["seconds"], is_kept=True)
    call = Call(primitive, tuple(arguments), options)
    return Kept(call, tuple(held["loops"]), held["next_loop"], proof, text)


def _hashed(parts: Sequence[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _plain(value: object) -> Any:
    """An argument as JSON; what stands for what is told apart.

    Raises:
        NotStored: for anything that may be more than it looks like.
    """
    if isinstance(value, Loop):
        return {"loop": value.identity}
    if isinstance(value, Stage):
        return {"stage": [value.name, value.array, list(value.positions)]}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if type(value) not in _SCALARS:
        raise NotStored(f"{value!r} is no argument of a kept step")
    return value
