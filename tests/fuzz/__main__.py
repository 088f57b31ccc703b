"""Checks random schedules of random programs for some minutes; see `tests.fuzz.oracle`.

Run ``python -m tests.fuzz --minutes 30``. The exit status is 1 when a claim did not hold; each kind
of failure is then printed once, made small, as a test function.
"""

from __future__ import annotations

import argparse
import os
import sys

from astile.schedule.known import AGAIN_VARIABLE
from tests.fuzz.campaign import report, watch


def main() -> int:
    """The command."""
    os.environ[AGAIN_VARIABLE] = "yes"
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="where programs are drawn from")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument(
        "--emulate", type=float, default=0.1, help="share of programs whose CUDA text is emulated"
    )
    parser.add_argument(
        "--cpu", type=float, default=0.0, help="share of programs that numba compiles and runs"
    )
    parser.add_argument("--most", type=int, default=6, help="steps of one program, at most")
    parser.add_argument("--careful", action="store_true", help="print refusals that look needless")
    options = parser.parse_args()
    total, hours = watch(options)
    if options.careful:
        for key, texts in sorted(total.careful.items()):
            print(f"=== {key}\n" + "\n---\n".join(texts) + "\n")
    print(report(total, hours))
    return 1 if total.found else 0


if __name__ == "__main__":
    sys.exit(main())
