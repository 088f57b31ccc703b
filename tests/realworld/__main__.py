"""Runs the functions of this folder in every form: ``python -m tests.realworld``.

As they stand, with every loop split by 2 and by 3, and with each two loops that stand in one
another reordered where that is legal; on each target that is named. The exit status is 1 when a
value was wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from astile.schedule.known import AGAIN_VARIABLE
from tests.cases.runs import TARGETS, Run, bare, reordered, splits
from tests.cases.table import is_fault, table, told
from tests.realworld.functions import subjects


def main() -> int:
    """The command."""
    os.environ[AGAIN_VARIABLE] = "yes"
    parser = argparse.ArgumentParser(prog="python -m tests.realworld", description=__doc__)
    parser.add_argument("names", nargs="*", help="functions; all of them by default")
    parser.add_argument("--targets", default=",".join(TARGETS), help="separated by commas")
    parser.add_argument("--bare", action="store_true", help="without splits and reorders")
    options = parser.parse_args()
    targets = options.targets.split(",")
    runs: list[Run] = []
    every = [each for each in subjects() if not options.names or each.name in options.names]
    for each in every:
        found = told(bare(each, targets))
        runs += found
        if not options.bare and any(run.result == "ok" for run in found):
            runs += told(splits(each, targets, ((2, 0), (3, 0))))
            runs += told(reordered(each, targets))
    print("\n".join(table(runs)))
    print(f"\n{len(every)} functions, {summary(runs)}")
    return int(any(map(is_fault, runs)))


def summary(runs: Sequence[Run]) -> str:
    """How many functions were refused as they stand, by target, and how many values are wrong."""
    refused = []
    for target in dict.fromkeys(run.target for run in runs if run.form == "bare"):
        found = [run for run in runs if run.form == "bare" and run.target == target]
        refused.append(f"{sum(run.result == 'refused' for run in found)} refused on {target}")
    return f"{', '.join(refused)}; wrong values: {sum(map(is_fault, runs))}"


if __name__ == "__main__":
    sys.exit(main())
