"""CPU kernels of astile beside other libraries: ``python benchmarks/cpu.py --help``."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import peer
from benchmarks.measure import Effort, Record, measure
from benchmarks.workloads import WORKLOADS

_FULL = Effort(rounds=12, seconds=0.1)
_QUICK = Effort(rounds=3, seconds=0.02)


@click.command()
@click.option("--only", help="Names of workloads, separated by commas; all of them by default.")
@click.option("--peers", help="Names of peers, separated by commas; all that are installed.")
@click.option("--threads", default="1,2", show_default=True, help="Numbers of threads.")
@click.option("--quick", is_flag=True, help="A few runs of each.")
@click.option("--json", "as_json", is_flag=True, help="One object for each line, as they come.")
@click.option("--plot", type=click.Path(path_type=Path), help="Write a chart to this PNG file.")
@click.option("--verbose", is_flag=True, help="Show what peers write to standard error.")
def main(
    only: str | None,
    peers: str | None,
    threads: str,
    quick: bool,
    as_json: bool,
    plot: Path | None,
    verbose: bool,
) -> None:
    """Measure workloads by turns, after each peer's result was compared with a float64 reference.

    Progress goes to standard error.
    """
    workloads = [WORKLOADS[each] for each in _chosen(only, list(WORKLOADS), "workload")]
    chosen = _chosen(peers, peer.installed(), "peer")
    effort = _QUICK if quick else _FULL
    records: list[Record] = []
    try:
        for count in _numbers(threads):
            for found in measure(workloads, chosen, count, effort, _tell, verbose):
                records += found
                for record in found if as_json else ():
                    print(json.dumps(record.as_dict()), flush=True)
    except KeyboardInterrupt:
        _tell("interrupted: what was measured so far")
    if not as_json:
        Console(width=None if sys.stdout.isatty() else 100).print(table(records))
    if plot is not None:
        importlib.import_module("benchmarks.plot").draw(records, plot)


def table(records: Sequence[Record]) -> Table:
    """Times, how often astile is as fast as a peer, and the part of the machine's limit reached.

    Args:
        records: of several peers, astile among them or not.
    """
    made = Table(title="milliseconds: median and minimum of alternating runs")
    made.add_column("workload")
    for heading in ("threads", "peer"):
        made.add_column(heading)
    for heading in ("median", "min", "astile is faster by", "of limit", "with plain stores"):
        made.add_column(heading, justify="right")
    previous = None
    for record in records:
        if previous is not None and (record.workload, record.threads) != previous:
            made.add_section()
        previous = (record.workload, record.threads)
        made.add_row(
            record.workload,
            str(record.threads),
            record.peer,
            f"{record.median_s * 1e3:.4g}",
            f"{record.min_s * 1e3:.4g}",
            _ratio(record, records),
            _share(record.limit_s, record.min_s),
            _share(record.plain_s, record.min_s),
        )
    return made


def _ratio(record: Record, records: Iterable[Record]) -> str:
    for each in records:
        same = (each.workload, each.threads) == (record.workload, record.threads)
        if same and each.peer == "astile" and record.peer != "astile":
            return f"{record.median_s / each.median_s:.2f}"
    return ""


def _share(limit: float | None, seconds: float) -> str:
    return "" if limit is None else f"{limit / seconds:.0%}"


def _chosen(given: str | None, known: Sequence[str], what: str) -> list[str]:
    if given is None:
        return list(known)
    names = given.split(",")
    for each in names:
        if each not in known:
            raise click.BadParameter(f"no {what} {each!r}; there are {', '.join(known)}")
    return names


def _numbers(given: str) -> list[int]:
    try:
        return [int(each) for each in given.split(",")]
    except ValueError:
        raise click.BadParameter(f"{given!r} are no numbers of threads") from None


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
