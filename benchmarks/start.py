"""How long a process takes to its first result: ``python benchmarks/start.py --help``.

The first process compiles, the second one finds the machine code of the first. Each is measured in
seconds of the processor, which other programs of the machine disturb less than the clock. Python's
own bytecode is there for both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

_ROOT = Path(__file__).resolve().parent.parent
_PARTS = ("NumPy, numba", "astile", "proofs", "first call", "all")


def in_this_process(name: str) -> dict[str, float]:
    """Seconds of the processor for each part, until a workload has its first result.

    Args:
        name: of the workload.
    """
    marks = [time.process_time()]

    def passed() -> float:
        marks.append(time.process_time())
        return marks[-1] - marks[-2]

    def loaded(module: str) -> object:
        return __import__(module, fromlist=["*"])

    loaded("numpy")
    loaded("numba")
    found = {"NumPy, numba": passed()}
    loaded("astile.kernel")
    tile = loaded("astile.decorator").tile  # type: ignore[attr-defined]
    found["astile"] = passed()
    workload = loaded("benchmarks.workloads").WORKLOADS[name]  # type: ignore[attr-defined]
    arguments = workload.inputs()
    passed()
    kernel = tile(schedule=workload.schedule, target="cpu")(workload.function)
    found["proofs"] = passed()
    kernel(*arguments)
    found["first call"] = passed()
    kernel(*arguments)
    found["first call"] -= passed()  # what the computation itself takes
    return found | {"all": sum(found.values())}


def _child(name: str, cache: str, bytecode: str, threads: int) -> dict[str, float]:
    environment = {**os.environ, "ASTILE_CACHE_DIR": cache, "NUMBA_NUM_THREADS": str(threads)}
    environment |= {"PYTHONPYCACHEPREFIX": bytecode, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    code = f"import benchmarks.start as s, json; print(json.dumps(s.in_this_process({name!r})))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=_ROOT, env=environment, capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--threads", default=1, show_default=True, help="Cores that kernels may use.")
def main(names: tuple[str, ...], threads: int) -> None:
    """Measure workloads, by name: the first process, and one that comes after it."""
    table = Table(title="seconds to the first result")
    for heading in ("workload", "process", *_PARTS):
        table.add_column(heading, justify="right" if heading in _PARTS else "left")
    with tempfile.TemporaryDirectory() as folder:
        bytecode = f"{folder}/bytecode"
        for _ in range(2):  # the second one writes the bytecode of what needs no compiler
            _child(names[0], f"{folder}/cache", bytecode, threads)
        for name in names:
            for which in ("first", "second"):
                run = _child(name, f"{folder}/cache_{name}", bytecode, threads)
                table.add_row(name, which, *(f"{run[each]:.2f}" for each in _PARTS))
    Console(width=None if sys.stdout.isatty() else 100).print(table)


if __name__ == "__main__":
    main()
