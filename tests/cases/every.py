"""Runs the case corpus in every form on every target: ``python -m tests.cases.every``.

Programs: as they stand, with every loop split by 1, 2, 3, n and n + 1, and with each step that the
corpus claims to be legal. Troubles: as they stand, split in the same way, and under their own
schedules, where the outcome has to be the stated one. The exit status is 1 when one was not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

from tests.cases import corpus, troubles
from tests.cases.forms import TAILS, Subject
from tests.cases.runs import FACTORS, TARGETS, Run, bare, claims, corpus_subject, splits
from tests.cases.table import is_fault, table, told


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases.every", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs and troubles; all by default")
    parser.add_argument("--targets", default=",".join(TARGETS), help="separated by commas")
    parser.add_argument("--tails", default="guard", help=f"of splits, among {', '.join(TAILS)}")
    parser.add_argument("--bare", action="store_true", help="without splits and claims")
    options = parser.parse_args()
    targets, tails = options.targets.split(","), options.tails.split(",")
    runs: list[Run] = []
    for name in _chosen(corpus.programs(), options.names):
        runs += told(_forms(corpus_subject(name), targets, () if options.bare else tails))
        if not options.bare:
            runs += told(claims(name, targets))
    stated: list[Run] = []
    for name in _chosen(troubles.troubles(), options.names):
        subject = troubles.subject_of(corpus.load(name, "troubles"))
        runs += told(_forms(subject, targets, () if options.bare else tails))
        stated += troubles.as_stated(name, targets)
    print("\n".join(table(runs)), "\n")
    print("\n".join(troubles.table(stated)))
    unmet = [each for each in stated if not troubles.is_as_stated(each)]
    faults = [each for each in (*runs, *stated) if is_fault(each)]
    print(f"\n{len(runs) + len(stated)} runs; wrong: {len(faults)}; not as stated: {len(unmet)}")
    return int(bool(faults or unmet))


def _forms(subject: Subject, targets: Sequence[str], tails: Sequence[str]) -> Iterable[Run]:
    yield from bare(subject, targets)
    if tails:
        yield from splits(subject, targets, FACTORS, tails)


def _chosen(every: Iterable[str], names: Sequence[str]) -> list[str]:
    return [each for each in every if not names or each in names]


if __name__ == "__main__":
    sys.exit(main())
