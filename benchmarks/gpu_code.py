"""Machine code of all kernels, and whether it is what an expert would have got; without a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from astile import Schedule
from astile.analysis.counts import sass
from astile.runtime import emulate, machine_code
from astile.schedule import recipes
from benchmarks.gpu_cases import DOUBLED, HALF, SINGLE, Case, cases
from tests.support.recipes import RECIPES, half_matrices

CAPABILITIES = ((8, 0), (9, 0))
Records = Mapping[tuple[str, str], Mapping[str, Any]]


def compiled(case: Case) -> Iterator[dict[str, Any]]:
    """The figures of each kernel of a case, for each capability.

    Args:
        case: is scheduled and compiled.

    Raises:
        LoweringError: where something is missing.
    """
    for cc in CAPABILITIES:
        for code in machine_code.of(case.lowered(), case.arguments(), {}, cc).kernels:
            yield code.to_dict() | {"kernel": f"{case.name}/{code.kernel}"}


def all_compiled(
    only: str | None, tell: Callable[[str], None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The name of each case, and the figures of its kernels.

    Args:
        only: part of a name; all cases where None.
        tell: told of cases that cannot be compiled.
    """
    for case in cases(only):
        try:
            for record in compiled(case):
                yield case.name, record
        except Exception as error:  # the other cases are still looked at
            tell(f"{case.name}: {type(error).__name__}: {error}")


@dataclass(frozen=True)
class Line:
    """One demand.

    Args:
        name: of what is looked at.
        wanted: as text.
        found: as text.
        holds: whether it is met.
    """

    name: str
    wanted: str
    found: str
    holds: bool


def lines(records: Records) -> Iterator[Line]:
    """The demands on machine code, then those on what kernels read, which the emulator counts.

    Args:
        records: case and capability -> figures of its first kernel.
    """
    for cc in ("sm_80", "sm_90"):
        yield from _single(records.get((SINGLE, cc)), f"{SINGLE} {cc}")
        yield _doubled(records, cc)
        yield from _half(records.get((HALF, cc)), f"{HALF} {cc}")
    yield from _half_values()
    for name in ("softmax", "layernorm"):
        report = _emulated(_short_rows(name))
        yield _at_most(f"{name}: reads of an element", 1, report.traffic("x").most_reads)
    yield _equal("transpose: bank conflicts", 0, _counted("transpose", (64, 64)).bank_conflicts)
    yield from _conv_add()
    seconds = _emulation_seconds()
    name = "product of 128 x 128 x 128 in the emulator"
    yield Line(name, "under 5 s", f"{seconds:.1f} s", seconds < 5)


def _single(record: Mapping[str, Any] | None, name: str) -> Iterator[Line]:
    if record is None:
        yield Line(name, "compiled", "missing", False)
        return
    mix, total = record["main_loop"], record["total_main_loop"]
    share = mix.get("FFMA", 0) / total
    yield Line(f"{name}: FFMA", "at least 90 %", f"{share:.1%} of {total}", share >= 0.9)
    for each, wanted in (("FFMA", 512), ("LDS.128", 32), ("LDG.128", 2)):
        yield _equal(f"{name}: {each}", wanted, mix.get(each, 0))
    integers = sass.overhead(mix)
    yield _at_most(f"{name}: integer and moves", 20, integers)
    yield _at_most(f"{name}: registers", 128, record["registers"])
    yield _equal(f"{name}: stack", 0, record["stack"])
    yield _equal(f"{name}: LDL and STL", 0, mix.get("LDL", 0) + mix.get("STL", 0))


def _doubled(records: Records, cc: str) -> Line:
    one, other = records.get((SINGLE, cc)), records.get((DOUBLED, cc))
    name = f"{DOUBLED} {cc}: instructions for an FFMA beyond {SINGLE}"
    if one is None or other is None:
        return Line(name, "at most 3 %", "missing", False)
    more = _per_product(other) / _per_product(one) - 1
    return Line(name, "at most 3 %", f"{more:.1%}", more <= 0.03)


def _per_product(record: Mapping[str, Any]) -> float:
    """Instructions of the main loop for each FFMA: it may hold several steps."""
    return float(record["total_main_loop"] / max(record["main_loop"].get("FFMA", 0), 1))


def _half(record: Mapping[str, Any] | None, name: str) -> Iterator[Line]:
    if record is None:
        yield Line(name, "compiled", "missing", False)
        return
    mix = record["main_loop"]
    products = mix.get("HMMA", 0)
    yield Line(f"{name}: HMMA", "at least 32", str(products), products >= 32)
    # 128 x 128 x 32 cells for 8 warps: 8 loads of a first operand, 4 of two second ones
    for each, wanted in (("LDSM", 12), ("LDGSTS.128", 4), ("BAR", 1)):
        yield _equal(f"{name}: {each}", wanted, mix.get(each, 0))
    yield _at_most(f"{name}: instructions", 100, record["total_main_loop"])
    yield _at_most(f"{name}: registers", 128, record["registers"])
    yield _equal(f"{name}: spilled bytes", 0, record["spill_bytes"])
    yield _equal(f"{name}: stack", 0, record["stack"])
    yield _equal(f"{name}: LDL and STL", 0, mix.get("LDL", 0) + mix.get("STL", 0))


def _half_values() -> Iterator[Line]:
    """The product of float16 in the emulator, beside float64."""
    [case] = cases(HALF)
    a, b, c = half_matrices(128, 96, 128)
    report = _emulated(Case(case.name, case.schedule, lambda: (a, b, c)))
    error = np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max()
    yield Line(f"{HALF}: error in the emulator", "at most 1e-4", f"{error:.1e}", error <= 1e-4)
    yield _equal(f"{HALF}: bank conflicts", 0, report.bank_conflicts)


def _conv_add() -> Iterator[Line]:
    """The program of the first example: what its tiles and halos cost, and what is in between."""
    [case] = cases("01_conv_add")
    x = np.ones((66, 66), np.float32)
    arguments = (x, x[:3, :3].copy(), x[1:-1, 1:-1].copy(), np.zeros((64, 64), np.float32))
    s = Schedule(case.schedule().original)
    recipes.stencil_chain(s, "out", inputs=("x", "w"))
    report = _emulated(Case(case.name, lambda: s, lambda: arguments))
    reads = report.traffic("x").reads / (64 * 64)
    wanted = 18 * 18 / (16 * 16)
    name = "conv + add: reads of x for each result"
    yield Line(name, f"at most {wanted:.2f}", f"{reads:.2f}", reads <= wanted)
    slow = [array for each in report.launches for array in each.arrays if array == "conv"]
    yield _equal("conv + add: arrays between the two in global memory", 0, len(slow))


def _equal(name: str, wanted: int, found: int) -> Line:
    return Line(name, str(wanted), str(found), found == wanted)


def _at_most(name: str, most: int, found: int) -> Line:
    return Line(name, f"at most {most}", str(found), found <= most)


def _short_rows(name: str) -> Case:
    """A recipe of rows that fit into the registers of a warp."""
    [recipe] = [each for each in RECIPES if each.name == name]
    s = Schedule(recipe.kernel)
    recipes.row_reduction(s, "i", 32, cells=2)
    return Case(name, lambda: s, lambda: recipe.arguments(3, 60))


def _counted(name: str, size: tuple[int, ...]) -> emulate.EmulationReport:
    """What the kernels of a recipe do at a small size."""
    [recipe] = [each for each in RECIPES if each.name == name]
    return _emulated(Case(name, recipe.schedule, lambda: recipe.arguments(*size)))


def _emulation_seconds() -> float:
    """Processor time of a tiled product with all checks, nothing counted."""
    [recipe] = [each for each in RECIPES if each.name == "matmul_24"]
    arguments = recipe.arguments(128, 128, 128)
    lowered = Case(recipe.name, recipe.schedule, lambda: arguments).lowered()
    run = emulate.load(lowered.text, lowered.entry)
    began = time.process_time()
    run(*arguments)
    return time.process_time() - began


def _emulated(case: Case) -> emulate.EmulationReport:
    lowered, report = case.lowered(), emulate.EmulationReport()
    with np.errstate(all="ignore"):
        emulate.load(lowered.text, lowered.entry, report=report)(*case.arguments())
    return report
