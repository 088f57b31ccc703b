"""One step of a schedule: the call, the program after it, and its proof."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from astile.analysis.verdicts import Proved
from astile.display import Bundle, bundle
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.schedule.trace import Call


@dataclass(frozen=True)
class Step:
    """What one call did.

    Args:
        made_by: the call as data.
        before: the program before the call.
        program: the program after it.
        proof: what was proved about it; None for a step that was taken as `unsafe`.
    """

    made_by: Call
    before: Program
    program: Program
    proof: Proved | None

    @property
    def call(self) -> str:
        """The call as text."""
        return str(self.made_by)

    def _repr_mimebundle_(self, **_: Any) -> Bundle:
        proof = "not proved: unsafe" if self.proof is None else f"proved {self.proof.kind}"
        return bundle(f"{self.call}  # {proof}", self.diff, "diff")

    @cached_property
    def source(self) -> str:
        """The text of the module after the step."""
        return module_text(self.program)

    @cached_property
    def diff(self) -> str:
        """A unified diff from the module before the step to the one after it."""
        return unified_diff(module_text(self.before), self.source)


def unified_diff(before: str, after: str) -> str:
    """A unified diff of two texts."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), "before", "after", lineterm=""
    )
    return "\n".join(lines)
