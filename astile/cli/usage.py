"""Errors of a call of the command line that know what may be meant."""

from __future__ import annotations

import click


class Misused(click.UsageError):
    """A wrong call; printed with its hint after it, and as JSON with the hint apart.

    Args:
        told: what is wrong.
        hint: what may be meant, where something is near.
        ctx: of the command.
    """

    def __init__(self, told: str, hint: str | None, ctx: click.Context | None = None) -> None:
        super().__init__(told if hint is None else f"{told}; {hint}", ctx)
        self.told = told
        self.hints = () if hint is None else (hint,)
