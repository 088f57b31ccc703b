"""``astile emit``: the source for a target, in a file."""

from __future__ import annotations

from pathlib import Path

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json, writing


@click.command()
@options.function
@options.target("cuda")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write.",
)
@options.as_json
def emit(function: str, target: str, output: Path, as_json: bool) -> None:
    """Write the module of FILE:FUNCTION for a target; it runs without astile.

    The text for cpu and cuda knows no types of arguments: numba's own rules hold there, which are
    wider than NumPy's for small integers and for float32 beside numbers of Python.
    """
    kernel = kernel_of(function)
    with writing(output):
        kernel.emit(output, target)
    if as_json:
        print_json(
            schema.document("emit", function=kernel.__name__, target=target, output=str(output))
        )
    else:
        click.echo(f"{kernel.__name__} for {target}: {output}")
