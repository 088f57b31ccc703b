"""``astile explain``: what the schedule changes, in bytes and operations, for given sizes."""

from __future__ import annotations

from collections.abc import Sequence

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json


@click.command(cls=options.Sized)
@options.function
@options.shapes
@options.values
@options.dtypes
@options.as_json
def explain(
    function: str,
    shapes: Sequence[str],
    values: Sequence[str],
    dtypes: Sequence[str],
    as_json: bool,
) -> None:
    """Print footprints, bytes moved to and from slow memory, operations and occupancy.

    Without sizes, as formulas over them.
    """
    kernel = kernel_of(function)
    report = kernel.explain(**options.sizes(kernel, shapes, values, dtypes))
    if as_json:
        print_json(schema.document("explain", function=kernel.__name__, report=report.to_dict()))
    else:
        click.echo(str(report))
