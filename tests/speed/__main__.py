"""Prints the processor time of steps, in milliseconds: ``python -m tests.speed``.

A step is one call of a primitive, rewriting and proof together, whether accepted or refused. It
is taken for every claim of the case corpus and for every recipe, once.
"""

from __future__ import annotations

import argparse
import os
import sys

from astile.schedule.known import AGAIN_VARIABLE
from tests.speed.measure import Timed, median, of_claims, of_recipes, worst


def line(name: str, steps: list[Timed]) -> str:
    """The figures of some steps."""
    longest = worst(steps)
    return (
        f"{name:20}{len(steps):7}{median(steps) * 1000:10.0f}{longest.seconds * 1000:10.0f}"
        f"  {longest.call}{' (refused)' if longest.is_refused else ''}"
    )


def main() -> int:
    """The command."""
    os.environ[AGAIN_VARIABLE] = "yes"
    parser = argparse.ArgumentParser(prog="python -m tests.speed", description=__doc__)
    parser.parse_args()
    for title, groups in (("program", of_claims()), ("recipe", of_recipes())):
        print(f"{title:20}{'steps':>7}{'median':>10}{'worst':>10}  the worst")
        every: list[Timed] = []
        for steps in groups:
            every += steps
            if steps:
                print(line(steps[0].subject, steps), flush=True)
        if every:
            print(line(f"all, by {title}", every) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
