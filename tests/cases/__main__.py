"""Prints what astile makes of every claim of the case corpus: ``python -m tests.cases``.

With ``--write`` the table goes into docs/cases.md too. The exit status is 1 when a claim was
answered wrongly.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
from collections.abc import Sequence

from astile.schedule.known import AGAIN_VARIABLE
from tests.cases import corpus
from tests.cases.claims import Judge, Outcome, head, row

DOCUMENT = corpus.ROOT / "docs" / "cases.md"
#: What stands around the table in the document.
BEGIN, END = "<!-- claims: made by python -m tests.cases --write -->", "<!-- end of claims -->"


def main() -> int:
    """The command."""
    os.environ[AGAIN_VARIABLE] = "yes"
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; all of them by default")
    parser.add_argument("--all", action="store_true", help="list every claim, not only faults")
    parser.add_argument("--write", action="store_true", help="write the table to docs/cases.md")
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write takes all programs")
    default: list[Outcome] = []
    exact: list[Outcome] = []
    rows = []
    for name in options.names or corpus.programs():
        judge = Judge(name)
        found = list(judge.claims())
        strict = list(judge.claims(exact=True))
        rows.append(row(name, found, strict))
        default += found
        exact += strict
        for each in found:
            _tell(each, "", always=options.all)
        for each in strict:
            _tell(each, "exact", always=options.all)
    lines = [*head(), *rows, row("all", default, exact), "", _times([*default, *exact])]
    print("\n".join(lines))
    if options.write:
        write(lines)
    return int(any(each.is_fault for each in (*default, *exact)))


def _tell(each: Outcome, mode: str, *, always: bool) -> None:
    """Print a claim that was not answered as it should be, or any."""
    mark = "FAULT" if each.is_fault else "care" if each.is_too_careful else "ok"
    if mark == "ok" and not always and not each.unnamed:
        return
    unnamed = f"  (does not name {', '.join(each.unnamed)})" if each.unnamed else ""
    print(
        f"{mark:5} {mode:5} {each.program:20} {each.claim:42} {each.verdict:12} "
        f"{each.result:9} {each.seconds * 1000:6.0f} ms  {each.message}{unnamed}",
        flush=True,
    )


def _times(outcomes: Sequence[Outcome]) -> str:
    seconds = [each.seconds for each in outcomes if each.seconds] or [0.0]
    return (
        f"Processor time of {len(seconds)} claims, of which a tile is several steps: "
        f"median {statistics.median(seconds) * 1000:.0f} ms, worst {max(seconds):.2f} s."
    )


def write(lines: Sequence[str]) -> None:
    """Put the table into the document."""
    text = DOCUMENT.read_text(encoding="utf-8")
    made = "\n".join([BEGIN, "", *lines, "", END])
    pattern = f"{re.escape(BEGIN)}.*{re.escape(END)}"
    DOCUMENT.write_text(re.sub(pattern, lambda _: made, text, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
