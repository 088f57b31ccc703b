"""``astile show``: the transformed source, whole or step by step."""

from __future__ import annotations

from typing import Any

import click

from astile.analysis.proof.verdicts import Proved
from astile.cli import options, schema
from astile.cli.functions import kernel_of
from astile.cli.output import print_json, print_source
from astile.schedule.step import Step


@click.command(cls=options.Sized)
@options.function
@click.option("--steps", "form", flag_value="steps", help="The source after every step.")
@click.option("--diff", "form", flag_value="diff", help="What every step changed.")
@options.target("python")
@options.dtypes
@options.as_json
def show(
    function: str, form: str | None, target: str, dtypes: tuple[str, ...], as_json: bool
) -> None:
    """Print the transformed source of FILE:FUNCTION.

    The text for cpu and cuda is made for types of arguments, as that of `astile emit` is.
    """
    kernel = kernel_of(function)
    source = kernel.source(target, options.named_dtypes(kernel, dtypes))
    if as_json:
        steps = [_of_step(each) for each in kernel.steps]
        name = kernel.__name__
        print_json(
            schema.document("show", function=name, target=target, source=source, steps=steps)
        )
        return
    if form is None:
        print_source(source)
        return
    for number, step in enumerate(kernel.steps, 1):
        text = step.source if form == "steps" else step.diff
        print_source(f"# step {number}: s.{step.call}\n# {_told(step.proof)}\n")
        print_source(text, "python" if form == "steps" else "diff")
        click.echo()


def _told(proof: Proved | None) -> str:
    return "not proved: taken as unsafe" if proof is None else str(proof)


def _of_step(step: Step) -> dict[str, Any]:
    found = step.proof
    proof = None
    if found is not None:
        proof = {
            "kind": found.kind,
            "parameters": list(found.parameters),
            "milliseconds": found.seconds * 1e3,
            "proved_before": found.is_kept,
        }
    return {"call": step.call, "source": step.source, "diff": step.diff, "proof": proof}
