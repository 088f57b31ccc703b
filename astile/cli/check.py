"""``astile check``: every step and target against the plain function, on random arguments."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of, running
from astile.cli.output import print_json, print_table, progress
from astile.samples import sample_arguments


@click.command(cls=options.Sized)
@options.function
@options.shapes
@options.values
@options.dtypes
@click.option("--seed", default=0, show_default=True, help="Of the random arrays.")
@options.as_json
def check(
    function: str,
    shapes: Sequence[str],
    values: Sequence[str],
    dtypes: Sequence[str],
    seed: int,
    as_json: bool,
) -> None:
    """Run the plain function, every step and every target on copies of the same arguments.

    Arrays without --shape get small odd sizes, as large as the accesses need; they hold random
    float32 numbers between 0 and 1 without --dtype.
    """
    kernel = kernel_of(function)
    wanted = options.wanted(kernel, shapes, values, dtypes, seed)
    made = sample_arguments(kernel.schedule.original, kernel.__signature__.parameters, wanted)
    with running(kernel), progress(is_shown=not as_json) as show:
        report = kernel.check_showing(show, **made)
    if as_json:
        rows = [dataclasses.asdict(each) for each in report.rows]
        print_json(schema.document("check", function=kernel.__name__, rows=rows))
        return
    headings, *cells = report.cells()
    print_table(headings, cells)
