"""``astile report``: a page about a kernel, for a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json, writing


@click.command(cls=options.Sized)
@options.function
@options.shapes
@options.values
@options.dtypes
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The HTML file to write.",
)
@options.as_json
def report(
    function: str,
    shapes: Sequence[str],
    values: Sequence[str],
    dtypes: Sequence[str],
    output: Path,
    as_json: bool,
) -> None:
    """Write a page with steps, loop nests, an animation and what `astile explain` counts.

    Without sizes, all is counted for small ones.
    """
    kernel = kernel_of(function)
    sizes = options.sizes(kernel, shapes, values, dtypes)
    with writing(output):
        kernel.report(output, **sizes)
    if as_json:
        print_json(schema.document("report", function=kernel.__name__, output=str(output)))
    else:
        click.echo(f"{kernel.__name__}: {output}")
