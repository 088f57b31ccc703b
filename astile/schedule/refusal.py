"""A verdict that is no proof -> the error that a user reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.concurrency.race_text import RaceWitness
from astile.analysis.proof.verdicts import Instance, Refuted, Unknown, Witness
from astile.analysis.reading.accesses import CONTROL, EFFECTS, RETURN
from astile.diagnostics import Related
from astile.errors import IllegalSchedule


@dataclass(frozen=True)
class _Words:
    """How the accesses of one kind of cell are told.

    Args:
        writes: what an iteration does that writes the cell.
        reads: what an iteration does that reads it.
        headlines: kind of conflict -> what would go wrong.
    """

    writes: str
    reads: str
    headlines: Mapping[str, str]


_OUTSIDE = {
    CONTROL: _Words(
        "may leave the function here",
        "runs here, unless the function was left before",
        {
            "flow": "an iteration would run that the function may be left before",
            "anti": "the function may be left before an iteration that has to run",
            "output": "the function may be left at another iteration",
        },
    ),
    EFFECTS: _Words(
        "may raise here, or act outside of the arrays",
        "may raise here, or act outside of the arrays",
        dict.fromkeys(
            ("flow", "anti", "output"),
            "errors, or what acts outside of the arrays, would change their order",
        ),
    ),
    RETURN: _Words("decides here what is returned", "returns what was decided before", {}),
}


def _words(witness: Witness, where: str) -> _Words:
    known = _OUTSIDE.get(witness.array)
    if known is not None:
        return known
    late = f"{where} would be read before it is written"
    if witness.first is None:
        late = f"{where} would no longer be read {witness.start}"
    return _Words(
        f"writes {where} here",
        f"reads {where} here",
        {
            "flow": late,
            "anti": f"{where} would be overwritten before it is read",
            "output": f"another value would be the last one written to {where}",
            "missing": f"an iteration would not run that writes {where}",
            "statement": f"a statement that writes {where} would compute something else",
        },
    )


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
            array=verdict.array,
            kind="unknown",
            hints=[
                *([] if verdict.hint is None else [verdict.hint]),
                "`unsafe=True` takes the step on trust",
            ],
        )
    witness = verdict.witness
    if isinstance(witness, RaceWitness):
        return witness.refusal()
    if _runs_again(witness):
        return _again(witness)
    words = _words(witness, _cell(witness))
    first, second = _labels(witness, words)
    places = [
        Related(instance.span, f"{instance} {does}" if does else "")
        for instance, does in ((witness.first, first), (witness.second, second))
        if isinstance(instance, Instance) and instance.span is not None
    ]
    return IllegalSchedule(
        words.headlines.get(witness.kind, "the result would change"),
        code=f"illegal.{witness.kind}",
        witness=witness,
        array=None if witness.array in _OUTSIDE else witness.array,
        kind=witness.kind,
        span=places[0].span if places else None,
        label=places[0].label if places else "",
        related=places[1:],
        notes=_notes(witness, places),
    )


def _runs_again(witness: Witness) -> bool:
    """Whether an iteration would read what it wrote itself, which takes two runs of it."""
    first, second = witness.first, witness.second
    return (
        witness.array not in _OUTSIDE
        and witness.kind == "anti"
        and first is not None
        and first.statement is not None
        and isinstance(second, Instance)
        and (first.number, first.iteration) == (second.number, second.iteration)
    )


def _again(witness: Witness) -> IllegalSchedule:
    """The error for an iteration that updates a cell and would run more than once."""
    where = _cell(witness)
    assert witness.first is not None
    return IllegalSchedule(
        f"{witness.first} would run more than once, and update {where} each time",
        code=f"illegal.{witness.kind}",
        witness=witness,
        array=witness.array,
        kind=witness.kind,
        span=witness.first.span,
        label=f"{witness.first} reads and writes {where} here",
        notes=_notes(witness, ()) if witness.first.span is None else _sizes(witness),
        hints=[
            f"write first values of {witness.array} in the loops of the function that update it: "
            "what is computed again then starts anew"
        ],
    )


def _cell(witness: Witness) -> str:
    if not witness.cell:
        return witness.array
    return f"{witness.array}[{', '.join(map(str, witness.cell))}]"


def _labels(witness: Witness, words: _Words) -> tuple[str, str]:
    """What the two iterations do, in the order in which they run now."""
    first_now = ", and would run first"
    match witness.kind:
        case "anti":
            return words.reads, words.writes + first_now
        case "output":
            return words.writes, words.writes.replace("writes", "overwrites") + first_now
        case "missing":
            return words.writes + ", and would not run", words.reads
        case "flow" if witness.first is None:
            return "", f"{words.reads}, {witness.start}"
        case "flow":
            return words.writes, words.reads + first_now
    return "", ""


def _notes(witness: Witness, places: Sequence[Related]) -> list[str]:
    notes: list[str] = []
    if witness.array not in _OUTSIDE and (witness.kind == "statement" or not places):
        notes.append(witness.message)
    if witness.distance is not None and witness.first is not None:
        names = [name for name, _ in witness.first.iteration]
        vector = _joined(list(map(str, witness.distance)))
        notes.append(f"distance {vector} in trips of {_joined(names[: len(witness.distance)])}")
    return notes + _sizes(witness)


def _sizes(witness: Witness) -> list[str]:
    """The sizes of a witness, as one note where there are any."""
    sizes = [
        f"{name} = {value}"
        for name, value in witness.sizes.items()
        if witness.telling is None or name in witness.telling
    ]
    return [f"for example with {', '.join(sizes)}"] if sizes else []


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"
