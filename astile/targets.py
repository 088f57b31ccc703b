"""The targets by name, and what a name that is none may mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast, get_args

from astile.diagnostics import suggestions
from astile.errors import ScheduleError

Target = Literal["auto", "cpu", "cuda", "python", "emulate"]

TARGETS: tuple[str, ...] = get_args(Target)
#: Targets that have a text; ``"emulate"`` runs that of ``"cuda"``.
TEXTS = ("python", "cpu", "cuda")
#: What targets are called elsewhere.
CALLED = {
    "gpu": "cuda",
    "nvidia": "cuda",
    "ptx": "cuda",
    "host": "cpu",
    "llvm": "cpu",
    "numba": "cpu",
    "simulator": "emulate",
    "cudasim": "emulate",
}


def known_target(target: str) -> Target:
    """A target by its name.

    Args:
        target: as a user wrote it.

    Raises:
        ScheduleError: for any other name.
    """
    if target in TARGETS:
        return cast("Target", target)
    raise no_target(target, TARGETS, "targets")


def no_target(target: object, known: Sequence[str], what: str) -> ScheduleError:
    """The error for a name that is no target.

    Args:
        target: as a user wrote it.
        known: the names that there are.
        what: they are, for the message.
    """
    return ScheduleError(
        f"there is no target {target!r}",
        code="schedule.bad-target",
        hints=suggestions(str(target), known, what, CALLED),
    )


def no_text(target: object) -> ScheduleError:
    """The error for a target that is asked for its text and has none.

    Args:
        target: as a user wrote it.
    """
    if target == "emulate":
        return ScheduleError(
            "the target 'emulate' has no text of its own",
            code="schedule.bad-target",
            hints=["it runs the text of 'cuda'", f"targets with a text: {', '.join(TEXTS)}"],
        )
    return no_target(target, TEXTS, "targets with a text")
