"""One step of a schedule: the call, the program after it, and its proof."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from astile.analysis.proof.verdicts import Proved
from astile.display import Bundle, bundle
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.schedule.texts import Texts
from astile.schedule.trace import Call

if TYPE_CHECKING:
    from astile.lower.parameters.assumed import Dtypes
    from astile.schedule.printed import Printed


class Taken(Protocol):
    """The steps before a step: a `Schedule` as it was."""

    @property
    def program(self) -> Program:
        """The program after them."""
        ...

    def followed_by(self, step: Step) -> Taken:
        """These steps and one more."""
        ...

    def printed(self, target: str = "python", dtypes: Dtypes | None = None) -> Printed:
        """The text for a target after the last step."""
        ...


@dataclass(frozen=True)
class Step(Texts):
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

    def printed(self, target: str = "python", dtypes: Dtypes | None = None) -> Printed:
        """The text for a target after this step; see `Texts`."""
        return self.earlier.followed_by(self).printed(target, dtypes)


def unified_diff(before: str, after: str) -> str:
    """A unified diff of two texts."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "before", "after", lineterm=""
    )
    return "\n".join(lines)
