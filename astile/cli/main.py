"""``astile``: the group of commands, their errors and exit codes."""

from __future__ import annotations

import importlib
import json
from typing import Any

import click

import astile
from astile.cli.usage import Misused
from astile.diagnostics import SCHEMA, Diagnostic, as_dict, did_you_mean
from astile.errors import AstileError

#: Command -> what it does, in a line. Each is a module of this package, imported when it is used,
#: so that ``astile --help`` loads neither the proof's library nor numba.
_COMMANDS = {
    "show": "The transformed source.",
    "blame": "Which step made a line, and from which line of yours.",
    "explain": "Footprints, bytes moved, operations, occupancy.",
    "report": "A page for a browser: steps, animation, counts.",
    "check": "Run every step and target against the plain function.",
    "emit": "Write the source for a target to a file.",
    "doctor": "Which targets work here, and what is missing.",
}


class _Commands(click.Group):
    """Finds commands by the name of their module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of a first visit."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a module."""
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"astile.cli.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether JSON is asked for, before anything can be wrong."""
        ctx.obj = {"json": "--json" in args}
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is meant; a misspelt one gets a suggestion."""
        hint = did_you_mean(args[0], _COMMANDS) if args and args[0] not in _COMMANDS else None
        if hint is not None:
            raise Misused(f"there is no command {args[0]!r}", hint, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help text, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what is wrong is printed without frames, as JSON where that is asked.

        An error of astile exits with 1, a wrong call with 2.
        """
        try:
            return super().invoke(ctx)
        except AstileError as error:
            if ctx.obj["json"]:
                click.echo(json.dumps(error.to_dict(), indent=2))
            else:
                click.echo(f"{type(error).__name__}: {error}", err=True)
            ctx.exit(1)
        except click.ClickException as error:
            if not ctx.obj["json"]:
                raise
            kind = click.UsageError if isinstance(error, Misused) else type(error)
            near = error if isinstance(error, Misused) else None
            message = error.format_message() if near is None else near.told
            hints = () if near is None else near.hints
            told = as_dict(Diagnostic("command.usage", message, hints=hints))
            found = {"schema": SCHEMA, "error": {"type": kind.__name__, **told}}
            click.echo(json.dumps(found, indent=2))
            ctx.exit(error.exit_code)


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="FILE:FUNCTION is a Python file, which is imported, and the name of a function, Kernel "
    "or Schedule in it. Exit codes: 0 all right, 1 refused or differing, 2 a wrong call.",
)
@click.version_option(astile.__version__, message="astile %(version)s")
def main() -> None:
    """Tiles and interleaves plain Python loops, proves every step, and prints each as Python."""
