"""Where barriers stand: what a finder of barriers hands to the CUDA lowering."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from astile.ir.program import Program


class BarrierPlan(Protocol):
    """Barriers of a program; statements are those of the program's own tree."""

    @property
    def before(self) -> Mapping[ast.stmt, str]:
        """Statement -> comment of the barrier that stands before it."""
        ...

    @property
    def at_end(self) -> Mapping[ast.stmt, str]:
        """Loop -> comment of the barrier that stands at the end of its body."""
        ...


@dataclass(frozen=True)
class FixedPlan:
    """A plan written out.

    Args:
        before: statement -> comment of the barrier before it.
        at_end: loop -> comment of the barrier at the end of its body.
    """

    before: Mapping[ast.stmt, str] = field(default_factory=dict)
    at_end: Mapping[ast.stmt, str] = field(default_factory=dict)


#: What finds the barriers of a program.
Finder = Callable[[Program], BarrierPlan]
