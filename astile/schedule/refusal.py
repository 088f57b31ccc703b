"""A verdict that is no proof -> the error that a user reads."""

from __future__ import annotations

from astile.analysis.race_text import RaceWitness
from astile.analysis.verdicts import Instance, Refuted, Unknown, Witness
from astile.diagnostics import Related
from astile.errors import IllegalSchedule

_WHAT = {
    "flow": "a value would be read before it is written",
    "anti": "a value would be overwritten before it is read",
    "output": "the last value written would be another one",
    "missing": "an iteration would not run",
    "extra": "an iteration would run that does not run now",
    "statement": "a statement would compute something else",
}


def refusal(verdict: Refuted | Unknown) -> IllegalSchedule:
    """The error for a step that was not proved.

    Args:
        verdict: what the proof found.
    """
    if isinstance(verdict, Unknown):
        return IllegalSchedule(
            f"this was not proved to keep the result: {verdict.reason}",
            code="illegal.not-proved",
            span=verdict.span,
            kind="unknown",
            hints=["`unsafe=True` takes the step on trust"],
        )
    witness = verdict.witness
    if isinstance(witness, RaceWitness):
        return witness.refusal()
    what = _WHAT.get(witness.kind, "the result would change")
    return IllegalSchedule(
        f"{what}: {_cell(witness)}",
        code=f"illegal.{witness.kind}",
        witness=witness,
        array=witness.array,
        kind=witness.kind,
        related=_places(witness),
        notes=[witness.message, *_vector(witness)],
    )


def _cell(witness: Witness) -> str:
    if not witness.cell:
        return witness.array
    return f"{witness.array}[{', '.join(map(str, witness.cell))}]"


def _places(witness: Witness) -> list[Related]:
    places: list[Related] = []
    for label, instance in (("first now", witness.first), ("then", witness.second)):
        if isinstance(instance, Instance) and instance.span is not None:
            places.append(Related(instance.span, f"{label}: {instance}"))
    return places


def _vector(witness: Witness) -> list[str]:
    if witness.distance is None:
        return []
    text = ", ".join(map(str, witness.distance))
    return [f"distance in trips of the loops around both: ({text})"]
