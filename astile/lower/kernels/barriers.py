"""Where a kernel needs ``cuda.syncthreads()``, derived from dependences between threads.

Every pair of phases of which one thread touches a cell that another thread touched before, one of
them writing, needs a barrier on the way from the first to the second. The places on that way are
read off the tree, the cheapest set of places that meets every pair is chosen, and the choice is
proved afterwards by comparing times of whole executions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from astile.analysis import isl
from astile.analysis.concurrency import races
from astile.analysis.concurrency.conflicts import Conflict, KernelConflicts
from astile.analysis.extents import bounds
from astile.analysis.proof.verdicts import Proved
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.scene import Scene, Touch
from astile.diagnostics import Related
from astile.errors import LoweringError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.kernels import fences
from astile.lower.kernels.barrier_places import Place, candidates, choose
from astile.lower.kernels.barrier_proof import BarrierProof
from astile.lower.kernels.plan import BarrierPlan, FixedPlan

#: What finding the barriers of one program may cost, in seconds of a slow machine.
BUDGET = 15.0


@dataclass(frozen=True, eq=False)
class Barrier:
    """One ``cuda.syncthreads()``.

    Args:
        place: where it stands.
        comment: the write and the read that it separates, in one sentence.
        cuts: the conflicts that it separates.
    """

    place: Place
    comment: str
    cuts: tuple[Conflict, ...]


def find(program: Program) -> BarrierPlan:
    """The barriers that a program needs, and no others.

    A program that the model cannot read gets a barrier wherever phases touch the same array.

    Args:
        program: the program; statements of the plan are those of its tree.

    Raises:
        LoweringError: when threads meet where no barrier can stand, naming both statements.
    """
    try:
        found = derive(program)
    except (NotModelled, isl.BudgetError, isl.Error):
        return fences.find(program)
    return FixedPlan(
        {each.place.before: each.comment for each in found if each.place.before is not None},
        {each.place.holder: each.comment for each in found if each.place.before is None},
    )


def derive(program: Program, *, budget_seconds: float = BUDGET) -> tuple[Barrier, ...]:
    """The barriers of all kernels, each with the conflicts that it cuts.

    Args:
        program: the program.
        budget_seconds: time allowed.

    Raises:
        LoweringError: when threads meet where no barrier can stand.
        NotModelled: for a program that cannot be read.
        isl.BudgetError: when the time is spent.
    """
    scene = Scene(program, isl.Budget(budget_seconds))
    barriers: list[Barrier] = []
    for kernel in scene.kernels:
        conflicts = KernelConflicts(scene, kernel)
        _refuse_unordered(scene, conflicts.within_phase)
        crossing = conflicts.between_phases
        chosen = choose(crossing)
        proof = BarrierProof(scene, crossing)
        left = proof.uncut(chosen)
        if left is not None:
            raise _refused(scene, left)
        chosen = proof.in_textual_order(_needed(proof, chosen))
        barriers += [_barrier(place, chosen, crossing) for place in chosen]
    return tuple(barriers)


def _refuse_unordered(scene: Scene, conflicts: Sequence[Conflict]) -> None:
    """Refuse what meets inside one phase, at sizes at which the program can be called.

    Cells that this form of the program does not show may be known in another one.
    """
    if not conflicts:
        return
    inside = bounds.inside(scene)
    found = [each for each in conflicts if not each.pairs.intersect_params(inside).is_empty()]
    for each in found:
        if each.is_certain or each.first.seat.shared:
            raise _refused(scene, each)
    if found and not isinstance(races.check(scene.program), Proved):
        raise _refused(scene, found[0])


def _needed(proof: BarrierProof, chosen: Sequence[Place]) -> list[Place]:
    """The places without those that the proof can do without, innermost ones tried first."""
    kept = list(chosen)
    for place in sorted(chosen, key=lambda each: -each.loops):
        others = [each for each in kept if each is not place]
        if others and proof.uncut(others) is None:
            kept = others
    return kept


def _refused(scene: Scene, conflict: Conflict) -> LoweringError:
    source = scene.program.source
    first, second = conflict.first.seat.statement, conflict.second.seat.statement
    there = source.span(second)
    return LoweringError(
        f"threads of one block meet on {conflict.array} where no barrier can stand between them",
        code="lowering.barrier",
        span=source.span(first),
        label=f"one thread {'writes' if conflict.first.writes else 'reads'} {conflict.array} here",
        related=[] if there is None else [
            Related(there, f"another {'writes' if conflict.second.writes else 'reads'} it here")
        ],
        hints=["distribute the loops over threads, so that the two statements stand in different "
               "nests; a barrier can stand between these"],
    )  # fmt: skip


# --- what it says -------------------------------------------------------------------------------


def _barrier(place: Place, chosen: Sequence[Place], crossing: Sequence[Conflict]) -> Barrier:
    others = {each.key for each in chosen} - {place.key}
    ways = [(each, {p.key for p in candidates(each)}) for each in crossing]
    mine = [(each, keys) for each, keys in ways if place.key in keys]
    alone = [each for each, keys in mine if not keys & others]
    return Barrier(
        place, _comment(alone or [each for each, _ in mine]), tuple(each for each, _ in mine)
    )


def _weight(conflict: Conflict) -> tuple[bool, int]:
    """What explains a barrier best: something near, and a read of what was written."""
    return conflict.carrier is not None, ("flow", "anti", "output").index(conflict.kind)


def _comment(cuts: Sequence[Conflict]) -> str:
    main = min(cuts, key=_weight)
    alike = [
        each
        for each in cuts
        if (each.kind, each.carrier) == (main.kind, main.carrier)
        and _threads(each.first) == _threads(main.first)
    ]
    arrays = list(dict.fromkeys(each.array for each in alike))
    names = " and ".join([", ".join(arrays[:-1]), arrays[-1]] if arrays[1:] else arrays)
    header = None if main.carrier is None else query.header(main.carrier)
    where = "below" if header is None else f"in the next {header.variable}"
    verb = "are" if arrays[1:] else "is"
    before = "read" if main.kind == "anti" else "written"
    after = {"flow": "read", "anti": "overwritten", "output": "written again"}[main.kind]
    who = _threads(main.first)
    return f"{names}, {before} by {who} above, {verb} {after} by other threads {where}"


def _threads(touch: Touch) -> str:
    """``thread (i_1, j_1)``, in the order of the loops."""
    seat = touch.seat
    if seat.shared:
        return "all threads"
    names = [
        header.variable
        for loop in seat.loops
        if hardware.kind(loop).startswith("thread.") and (header := query.header(loop)) is not None
    ]
    if names:
        return f"thread ({', '.join(names)})"
    if not seat.stores:
        return "each thread"
    is_last = bool(seat.loops) and not hardware.kind(seat.loops[-1]).startswith("block.")
    return "the first warp" if is_last and not touch.writes else "thread 0"  # lanes may share it
