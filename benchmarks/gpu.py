"""GPU kernels of astile: their machine code, and times beside others: ``gpu.py --help``."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from astile.tables import table_text
from benchmarks import gpu_code


@click.command()
@click.option("--dry", is_flag=True, help="Compile all kernels; no GPU is needed.")
@click.option("--check", is_flag=True, help="Compile, and fail where a demand is not met.")
@click.option("--only", help="Part of the name of what to look at.")
@click.option("--seconds", default=330.0, show_default=True, help="Time for all measurements.")
def main(dry: bool, check: bool, only: str | None, seconds: float) -> None:
    """Verify every recipe and example on the GPU, then measure them: one line of JSON for each.

    What is no result goes to standard error. It leaves with 1 where a kernel does not compile, a
    demand is not met, or a result is wrong.
    """
    if dry or check:
        records: dict[tuple[str, str], dict[str, Any]] = {}
        failed: list[str] = []
        for case, record in gpu_code.all_compiled(only, failed.append):
            print(json.dumps(record), flush=True)
            records.setdefault((case, record["cc"]), record)
        for each in failed:
            _tell(each)
        if (check and not _holds(records)) or failed:
            sys.exit(1)
        return
    device = importlib.import_module("benchmarks.gpu_device")
    is_wrong = False
    for record in device.measured(only, seconds, _tell):
        print(json.dumps(record), flush=True)
        is_wrong |= "error" in record
    if is_wrong:
        sys.exit(1)


def _holds(records: gpu_code.Records) -> bool:
    """Print the table of demands; whether all are met."""
    found = list(gpu_code.lines(records))
    rows = [(e.name, e.wanted, e.found, "" if e.holds else "falls short") for e in found]
    print(table_text(("what", "wanted", "found", ""), rows))
    return all(each.holds for each in found)


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
