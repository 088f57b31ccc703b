"""One step of a schedule: the call, the program after it, and its proof."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from astile import schedule
from astile.analysis.proof.verdicts import Proved
from astile.display import Bundle, bundle
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.schedule.trace import Call

if TYPE_CHECKING:
    from astile.schedule.blame import Blame


class Taken(Protocol):
    """The steps before a step: a `Schedule` as it was."""

    @property
    def program(self) -> Program:
        """The program after them."""
        ...

    def followed_by(self, step: Step) -> Taken:
        """These steps and one more."""
        ...

    def line_table(self, target: str = "python") -> tuple[Blame, ...]:
        """The blame of every line of the text after the last step."""
        ...


@dataclass(frozen=True)
class Step:
    """What one call did.

    Args:
        made_by: the call as data.
        proof: what was proved about it; None for a step that was taken as `unsafe`.
        earlier: the steps before it.
        next_loop: the next free loop identity after it.
        state: names the program after it among all programs; None where it cannot be told.
        make: gives the program after it.
    """

    made_by: Call
    proof: Proved | None
    earlier: Taken = field(repr=False, compare=False)
    next_loop: int = field(repr=False)
    state: str | None = field(repr=False, compare=False)
    make: Callable[[], Program] = field(repr=False)

    @property
    def before(self) -> Program:
        """The program before the call."""
        return self.earlier.program

    @cached_property
    def program(self) -> Program:
        """The program after the call."""
        return self.make()

    @property
    def call(self) -> str:
        """The call as text."""
        return str(self.made_by)

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        proof = "not proved: unsafe" if self.proof is None else str(self.proof)
        return bundle(f"{self.call}  # {proof}", self.diff, "diff")

    @cached_property
    def source(self) -> str:
        """The text of the module after the step."""
        return module_text(self.program)

    @cached_property
    def diff(self) -> str:
        """A unified diff from the module before the step to the one after it."""
        return unified_diff(module_text(self.before), self.source)

    def blame(self, line: int, target: str = "python") -> Blame:
        """The call that made a line of the text after this step, and the user's statement in it.

        Args:
            line: of `source`, or of the text for another target, from 1.
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.

        Raises:
            ArgumentError: when there is no such line.
            LoweringError: when the target cannot run the program as it is after this step.
        """
        return schedule.blame.at(self.line_table(target), line)

    def line_table(self, target: str = "python") -> tuple[Blame, ...]:
        """`blame` for all lines, in order; the text of each is in it.

        Args:
            target: as for `blame`.

        Raises:
            LoweringError: when the target cannot run the program as it is after this step.
        """
        return self.earlier.followed_by(self).line_table(target)


def unified_diff(before: str, after: str) -> str:
    """A unified diff of two texts."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "before", "after", lineterm=""
    )
    return "\n".join(lines)
