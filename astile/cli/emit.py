"""``astile emit``: the source for a target, in a file."""

from __future__ import annotations

from pathlib import Path

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json, writing


@click.command(cls=options.Sized)
@options.function
@options.target("cuda")
@options.dtypes
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The file to write.",
)
@options.as_json
def emit(function: str, target: str, dtypes: tuple[str, ...], output: Path, as_json: bool) -> None:
    """Write the module of FILE:FUNCTION for a target.

    It runs by itself. Vectors, matrix units, and words such as `parallel` it imports from
    `astile.intrinsics` and `astile.loops`; without them it needs no astile.

    The text for cpu and cuda is made for the types of its arguments, and raises a TypeError for
    others. Where --dtype names none, arrays hold float32, or int64 where they hold indices, and
    numbers are those of Python.
    """
    kernel = kernel_of(function)
    named = options.named_dtypes(kernel, dtypes)
    with writing(output):
        kernel.emit(output, target, named)
    if as_json:
        print_json(
            schema.document("emit", function=kernel.__name__, target=target, output=str(output))
        )
    else:
        click.echo(f"{kernel.__name__} for {target}: {output}")
