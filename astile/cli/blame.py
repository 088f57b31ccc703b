"""``astile blame``: which call made a line of generated text, and from which line of the user."""

from __future__ import annotations

import click

from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json, print_table


@click.command(cls=options.Sized)
@options.function
@options.target("python")
@options.dtypes
@click.option("--line", type=int, help="One line of the text; all of them without this.")
@options.as_json
def blame(
    function: str, target: str, dtypes: tuple[str, ...], line: int | None, as_json: bool
) -> None:
    """Say where the lines of the text of FILE:FUNCTION come from.

    The text for cpu and cuda is made for types of arguments, as that of `astile emit` is.
    """
    kernel = kernel_of(function)
    named = options.named_dtypes(kernel, dtypes)
    one = None if line is None else kernel.blame(line, target, named)
    found = kernel.line_table(target, named) if one is None else (one,)
    if as_json:
        lines = [each.to_dict() for each in found]
        print_json(schema.document("blame", function=kernel.__name__, target=target, lines=lines))
    elif line is not None:
        click.echo(str(found[0]))
    else:
        rows = [
            (
                str(each.line),
                "" if each.place is None else str(each.place.line),
                "" if each.step is None else f"{each.step}: {each.call}",
                each.text,
            )
            for each in found
        ]
        print_table(("line", "yours", "step", "text"), rows)
