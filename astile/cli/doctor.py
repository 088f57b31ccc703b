"""``astile doctor``: which targets work here, and the commands that install what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

import click

from astile.cache import files
from astile.cli import options, schema
from astile.cli.output import print_json, print_table
from astile.runtime import compile as compiling

_TARGETS = ("python", "cpu", "emulate", "cuda")
#: Package that not everybody needs -> the command that installs it.
_INSTALL = {
    "numba-cuda": "pip install 'astile[cuda]', or 'astile[cuda12]' for CUDA 12",
    "tbb": "pip install tbb",
}
_PACKAGES = ("astile", "numpy", "numba", "llvmlite", "islpy", "astor", "numba-cuda", "tbb")


@click.command()
@options.as_json
def doctor(as_json: bool) -> None:
    """Say which targets work here, and how to get the others."""
    found = _found()
    if as_json:
        print_json(schema.document("doctor", **found))
        return
    targets = found["targets"].items()
    rows = [(name, "-" if e["reason"] else "works", e["reason"] or "") for name, e in targets]
    print_table(("target", "here", "why not"), rows)
    for name, each in targets:
        for remedy in each["remedies"]:
            click.echo(f"  for {name}: {remedy}")
    click.echo()
    missing = found["missing"]
    versions = [(k, v or "-", missing.get(k, "")) for k, v in found["versions"].items()]
    print_table(("package", "version", "to install it"), versions)
    click.echo()
    cache = found["cache"]
    click.echo(f"generated modules: {cache['reason'] or cache['folder']}")
    click.echo(f"threads: {', '.join(found['threading_layers']) or 'none'}")
    for note in found["notes"]:
        click.echo(f"  {note}")


def _found() -> dict[str, Any]:
    layers = compiling.threading_layers()
    folder = files.default_cache_dir()
    versions = {"python": platform.python_version(), **{e: _version(e) for e in _PACKAGES}}
    return {
        "targets": {
            each: {"reason": compiling.why_not(each), "remedies": compiling.remedies(each)}
            for each in _TARGETS
        },
        "versions": versions,
        "missing": {k: _INSTALL.get(k, f"pip install {k}") for k, v in versions.items() if not v},
        "cache": {"folder": str(folder), "reason": files.why_not_used(folder)},
        "threading_layers": layers,
        "notes": _notes(layers),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _notes(layers: list[str]) -> list[str]:
    """What is worth knowing of threads here, each trap with its remedy."""
    found = []
    cores = os.cpu_count() or 1
    if layers[:1] == ["workqueue"]:
        found.append(
            "kernels that run in parallel take turns when several threads call them, and start "
            "slowly: numba's layer workqueue; `pip install tbb` brings a better one"
        )
    if layers[:1] == ["omp"] and cores > 1 and not os.environ.get("OMP_PROC_BIND"):
        found.append(
            "threads of numba's layer omp may land on one core, and short kernels then take "
            "milliseconds: set OMP_PROC_BIND=true before Python starts"
        )
    if layers and cores > 1 and not os.environ.get("OPENBLAS_THREAD_TIMEOUT"):
        found.append(
            "after a product in NumPy the threads of OpenBLAS go on spinning, and slow down the "
            "kernel that comes next: set OPENBLAS_THREAD_TIMEOUT=4 before Python starts"
        )
    return found
