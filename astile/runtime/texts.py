"""The text that runs a program, made once: the next process finds it again.

Lowering is decided by the program, the types of the arguments and the processor, and the state of
a schedule names its program. What is found was sealed by this user; it is loaded as if it had just
been made. Only texts for a CPU are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from astile.cache.files import default_cache_dir
from astile.cache.sealed import Sealed
from astile.lower.types.promotion import Kind

if TYPE_CHECKING:
    from astile.lower.lowered import Lowered

#: So many texts are kept at most.
_MOST = 1000


@dataclass(frozen=True)
class Text:
    """A module that runs a program, and what is known of it.

    Args:
        text: the module.
        entry: name of its function.
        is_original: whether it runs the loops in the order in which the user wrote them.
        returned: kinds of the numbers that it returns.
        threads: CUDA kernel -> threads of a block.
        lower: makes the text anew, for the places of its lines in the user's file.
    """

    text: str
    entry: str
    is_original: bool
    returned: tuple[Kind, ...]
    threads: Mapping[str, int]
    lower: Callable[[], Lowered]

    @cached_property
    def lowered(self) -> Lowered:
        """The text with the statements that were printed."""
        return self.lower()


class Texts:
    """The texts of one program for a CPU.

    Args:
        state: names the program; None where it cannot be told from others.
        options: all else that decides a text, whatever the types.
    """

    def __init__(self, state: str | None, options: Sequence[object]) -> None:
        self._state = state
        self._options = list(options)

    def find(
        self, types: Mapping[str, str], flags: Sequence[bool], lower: Callable[[bool], Lowered]
    ) -> Text | None:
        """The text for arguments of some types, None where it was not made before.

        Args:
            types: parameter -> its type.
            flags: what the call asks for besides.
            lower: makes the text anew, of the original or of the scheduled program.
        """
        if self._state is None:
            return None
        found = _files().read(self._purpose(types, flags))
        if found is None:
            return None
        held: dict[str, Any] = json.loads(found)
        is_original = bool(held["is_original"])
        returned = tuple(held["returned"])
        return Text(
            held["text"], held["entry"], is_original, returned, {}, lambda: lower(is_original)
        )

    def keep(self, types: Mapping[str, str], flags: Sequence[bool], made: Text) -> None:
        """Keep a text.

        Args:
            types: parameter -> its type.
            flags: what the call asks for besides.
            made: the text.
        """
        if self._state is None:
            return
        held = {
            "text": made.text,
            "entry": made.entry,
            "is_original": made.is_original,
            "returned": list(made.returned),
        }
        content = json.dumps(held).encode("utf-8", "surrogatepass")
        _files().write(self._purpose(types, flags), content)

    def _purpose(self, types: Mapping[str, str], flags: Sequence[bool]) -> list[str]:
        parts = [self._state, self._options, sorted(types.items()), list(flags)]
        return ["text", json.dumps(parts)]


def _files() -> Sealed:
    return Sealed(default_cache_dir() / "texts", _MOST)
