"""Every claim of the case corpus is answered as the corpus says, and as docs/cases.md shows."""

from __future__ import annotations

import re

import pytest

from astile.errors import ScheduleError
from tests.cases import corpus
from tests.cases.__main__ import BEGIN, DOCUMENT, END
from tests.cases.claims import COLUMNS, Judge, Outcome, head, row, unnamed

pytestmark = pytest.mark.skipif(not corpus.programs(), reason="the case corpus is not here")


def table() -> list[str]:
    """The lines of the table in the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    inside = text[text.index(BEGIN) : text.index(END)]
    return [line for line in inside.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("name", corpus.programs())
def test_claims(name: str) -> None:
    judge = Judge(name)
    default, exact = list(judge.claims()), list(judge.claims(exact=True))
    for each in (*default, *exact):
        assert not each.is_fault, each
        assert not each.is_too_careful, each
        assert not each.unnamed, each
    for each in exact:
        assert each.verdict != "reassoc" or each.result == "refused", each
    assert row(name, default, exact) in table(), "python -m tests.cases --write"


def test_the_document_has_every_program() -> None:
    first, second, *rows, total = table()
    assert [first, second] == head()
    names = [re.match(r"\| (\w+) ", each) for each in rows]
    assert [each.group(1) for each in names if each] == corpus.programs()
    assert total == _sum(rows)


def _sum(rows: list[str]) -> str:
    """The last line: the cells of all others added up."""
    cells = [[each.strip() for each in line.strip("|").split("|")][1:] for line in rows]
    added = []
    for column in zip(*cells, strict=True):
        counts = [[int(part) for part in cell.split("/")] for cell in column if cell]
        added.append(" / ".join(str(sum(part)) for part in zip(*counts, strict=True)))
    return f"| {' | '.join(['all', *added])} |"


# --- the harness itself ---------------------------------------------------------------------------


def outcome(verdict: str, result: str) -> Outcome:
    return Outcome("p", "interchange i j", verdict, result, "", (), 0.1)


def test_what_counts_as_what() -> None:
    assert not outcome("illegal", "refused").is_fault
    assert outcome("illegal", "wrong").is_fault
    assert outcome("legal", "crashed").is_fault
    assert outcome("legal", "refused").is_too_careful
    assert not outcome("imperfect", "refused").is_too_careful


def test_a_row() -> None:
    found = [outcome("legal", "accepted"), outcome("legal", "refused"), outcome("illegal", "wrong")]
    cells = [each.strip() for each in row("p", found, []).strip("|").split("|")]
    assert cells == ["p", "1 / 1", *[""] * (len(COLUMNS) - 1), "0 / 0", "0", "1", "1"]


def test_an_illegal_step_that_is_accepted_is_wrong() -> None:
    judge = Judge("doitgen")
    claim = next(each for each in judge.module.META["claims"] if each["verdict"] == "illegal")
    assert judge.judged(claim, exact=False).result == "not observable"
    judge.hidden = frozenset()
    assert judge.judged(claim, exact=False).result == "wrong"


def test_messages_that_name_nothing_are_seen() -> None:
    judge = Judge("seidel_2d")
    schedule = corpus.schedule_of(judge.module)
    claim = next(each for each in judge.module.META["claims"] if each["verdict"] == "illegal")

    error = ScheduleError("reorder: this would change the result")
    assert unnamed(schedule, judge.module, claim, error) == ("i", "j", "the array")
    named = ScheduleError("reorder('i', 'j'): A[1, 1] would be read before it is written")
    assert unnamed(schedule, judge.module, claim, named) == ()
