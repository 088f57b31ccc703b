"""Prints what astile makes of every claim of the case corpus: ``python -m tests.cases``."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter

from tests.cases.corpus import Outcome, judge, programs


def main() -> int:
    """Print the table; the exit code is 1 when a claim was answered wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="programs; all of them by default")
    parser.add_argument("--exact", action="store_true", help="refuse what reassociates")
    parser.add_argument("--all", action="store_true", help="list every claim, not only faults")
    options = parser.parse_args()
    outcomes: list[Outcome] = []
    for name in options.names or programs():
        for each in judge(name, exact=options.exact):
            outcomes.append(each)
            if options.all or each.is_fault or each.is_too_careful:
                mark = "FAULT" if each.is_fault else "care" if each.is_too_careful else "ok"
                print(
                    f"{mark:5} {each.program:20} {each.claim:42} {each.verdict:12} "
                    f"{each.result:9} {each.seconds * 1000:6.0f} ms  {each.message}",
                    flush=True,
                )
    counted = Counter((each.verdict, each.result) for each in outcomes)
    print(f"\n{'verdict':14}{'accepted':>10}{'refused':>10}{'wrong':>8}{'crashed':>9}")
    for verdict in sorted({each.verdict for each in outcomes}):
        row = [counted[verdict, result] for result in ("accepted", "refused", "wrong", "crashed")]
        print(f"{verdict:14}{row[0]:>10}{row[1]:>10}{row[2]:>8}{row[3]:>9}")
    seconds = [each.seconds for each in outcomes if each.seconds]
    faults = sum(each.is_fault for each in outcomes)
    print(
        f"\n{len(outcomes)} claims; faults {faults}; too careful "
        f"{sum(each.is_too_careful for each in outcomes)}; median step "
        f"{statistics.median(seconds or [0]) * 1000:.0f} ms, worst {max(seconds or [0]):.2f} s"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
