"""``astile``: the group of commands, their errors and exit codes."""

from __future__ import annotations

import importlib
import json
from typing import Any

import click

import astile
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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help text, without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an error of astile is printed without frames, and exits with 1."""
        try:
            return super().invoke(ctx)
        except AstileError as error:
            if ctx.obj and ctx.obj.get("json"):
                click.echo(json.dumps(error.to_dict(), indent=2))
            else:
                click.echo(f"{type(error).__name__}: {error}", err=True)
            ctx.exit(1)


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="FILE:FUNCTION is a Python file, which is imported, and the name of a function, Kernel "
    "or Schedule in it. Exit codes: 0 all right, 1 refused or differing, 2 a wrong call.",
)
@click.version_option(astile.__version__, message="astile %(version)s")
def main() -> None:
    """Tiles and interleaves plain Python loops, proves every step, and prints each as Python."""
