"""`Texts`: what can be asked about the lines of the text that a schedule has for a target."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from astile import schedule

if TYPE_CHECKING:
    from astile.lower.parameters.assumed import Dtypes
    from astile.schedule.blame import Blame
    from astile.schedule.printed import Printed


class Texts(ABC):
    """Something that has a text for each target, made for the types of its arguments."""

    @abstractmethod
    def printed(self, target: str = "python", dtypes: Dtypes | None = None) -> Printed:
        """The text for a target, and the schedule that it is of.

        Args:
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            dtypes: parameter -> its dtype, where it is named; see `Schedule.source`.

        Raises:
            ScheduleError: for an unknown target.
            ArgumentError: for names that are no parameters, and types that they cannot have.
            LoweringError: when the target cannot run this program for these types.
        """

    def blame(self, line: int, target: str = "python", dtypes: Dtypes | None = None) -> Blame:
        """The call that made a line of a generated text, and the user's statement in it.

        Args:
            line: of the text for the target and the types, from 1.
            target: ``"python"``, ``"cpu"`` or ``"cuda"``.
            dtypes: parameter -> its dtype, where it is named.

        Raises:
            ArgumentError: when there is no such line, and as for the text.
            ScheduleError: for an unknown target.
            LoweringError: when the target cannot run this program for these types.
        """
        return schedule.blame.at(self.line_table(target, dtypes), line)

    def line_table(self, target: str = "python", dtypes: Dtypes | None = None) -> tuple[Blame, ...]:
        """`blame` for all lines, in order: for tools that show lines of generated text.

        Args:
            target: as for `blame`, which raises the same.
            dtypes: as for `blame`.
        """
        return schedule.printed.line_table(self.printed(target, dtypes))
