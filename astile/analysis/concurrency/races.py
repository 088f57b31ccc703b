"""Whether loops that run in any order, or on blocks and threads, have independent iterations.

Three verdicts, as for steps: proved for all sizes, refuted with two iterations that meet, or
unknown with what could not be read. Conflicts that a barrier can order are not refused here;
`astile.lower.kernels.barriers` places the barriers.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from astile.analysis import isl
from astile.analysis.concurrency import race_text
from astile.analysis.concurrency.conflicts import (
    Conflict,
    KernelConflicts,
    concurrent,
    of_iterations,
)
from astile.analysis.concurrency.private import Astray, PrivateFlow
from astile.analysis.concurrency.race_text import RaceWitness
from astile.analysis.extents import bounds
from astile.analysis.forms.apart import apart_form
from astile.analysis.forms.params import readable
from astile.analysis.forms.radix import affine_form
from astile.analysis.proof.flows import original_flow, unset
from astile.analysis.proof.verdicts import Proved, Refuted, Unknown, Verdict
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.hardware import Kernel, Seat
from astile.analysis.reading.model import extract
from astile.analysis.reading.scene import Scene, Touch
from astile.ir import query
from astile.ir.program import Program

__all__ = ["RaceWitness", "check"]

#: What one check may cost, in seconds of a slow machine.
BUDGET = 15.0


def check(
    program: Program,
    *,
    exact: bool = False,
    is_finished: bool = True,
    budget: isl.Budget | None = None,
    session: isl.Session | None = None,
) -> Verdict:
    """Check every `parallel`, `vector`, `block.*` and `thread.*` loop of a program.

    Args:
        program: the program, with its loops bound.
        exact: has no effect, since no reduction is accepted over such a loop in either mode.
        is_finished: whether all loops are bound that will be. If not, it is left open whether
            each thread finds in its names and local arrays what it wrote there: a loop of one
            phase is bound before that of the next. Lowering asks again.
        budget: what it may cost, `BUDGET` seconds when not given; when it is spent the verdict is
            unknown.
        session: an isl session in which forms of the same program were looked at before.
    """
    del exact
    started = time.thread_time()
    form = apart_form(program) or affine_form(program, unrolls=False)
    scene: Scene | None = None
    budget = budget or isl.Budget(BUDGET)
    try:
        scene = Scene(form, budget, session)
        finding = next(_findings(scene, is_finished), None)
    except NotModelled as unread:
        return Unknown(f"not modelled: {unread.reason}", program.source.span(unread.node))
    except isl.BudgetError as problem:
        return Unknown(str(problem))
    except isl.Error as failure:
        if scene is not None and scene.session.is_budget(failure):
            return Unknown(f"{isl.OUT_OF_TIME} {budget}")
        return Unknown(f"the check for races failed: {failure}")
    if finding is not None:
        return finding if form is program else _of_other_form(finding)
    names = tuple(readable(each, scene.survey.names) for each in scene.parameters)
    return Proved("equal", names, time.thread_time() - started)


def is_independent(scene: Scene, loop: ast.For) -> bool:
    """Whether iterations of a loop are proved to touch no cell and no name of one another.

    Args:
        scene: the program.
        loop: a loop of any kind around statements of the scene.

    Raises:
        isl.BudgetError: when the scene's time is spent.
        isl.Error: when isl fails.
    """
    seats = [seat for seat in scene.seats if loop in seat.loops]
    if not seats or next(_unread(scene, seats), None) is not None:
        return False
    return next(_loop(scene, loop), None) is None


def is_private(scene: Scene, kernel: Kernel) -> bool:
    """Whether each thread of a kernel is proved to find its own values in names and local arrays.

    Args:
        scene: the program.
        kernel: one of its kernels.

    Raises:
        isl.BudgetError: when the scene's time is spent.
        isl.Error: when isl fails.
    """
    found = PrivateFlow(scene).astray_in_kernel(kernel)
    return next(_strayed(scene, found, kernel.root), None) is None


def _of_other_form(finding: Refuted | Unknown) -> Unknown:
    """What was found in another form of a program, as far as it holds for the program.

    The form has loops of its own, of which more iterations are taken as concurrent: two of them
    that meet need not be two of the program.
    """
    if isinstance(finding, Unknown):
        return finding
    witness = finding.witness
    span = None if witness.first is None else witness.first.span
    return Unknown(
        f"iterations that may run at the same time may meet in {witness.array}", span, witness.array
    )


def _findings(scene: Scene, is_finished: bool) -> Iterator[Refuted | Unknown]:
    """What is wrong, what is certain first within each kernel or loop."""
    yield from _form(scene)
    for kernel in scene.kernels:
        yield from _unread(scene, kernel.seats)
        yield from _kernel(scene, kernel, is_finished)
    for loop in concurrent(scene.program.function):
        seats = [seat for seat in scene.seats if loop in seat.loops]
        yield from _unread(scene, seats)
        yield from _loop(scene, loop)


def _form(scene: Scene) -> Iterator[Unknown]:
    """Nests whose form says nothing about who runs what."""
    source = scene.program.source
    for leaf in scene.survey.leaves:
        hidden = hardware.concurrent_loops(leaf.node)
        if hidden:
            yield Unknown(
                f"the loop over {_variable(hidden[0])} stands inside a statement that cannot be "
                "taken apart, or is left early",
                source.span(hidden[0]),
            )
    twice = hardware.doubly_bound(scene.seats)
    if twice is not None:
        yield Unknown(
            f"{_variable(twice[0])} and {_variable(twice[1])}, one inside the other, are both "
            f"bound to {hardware.kind(twice[1])}",
            source.span(twice[1]),
        )
    inside = hardware.blocks_inside_threads(scene.seats)
    if inside is not None:
        yield Unknown(
            f"{_variable(inside[1])} runs over blocks inside {_variable(inside[0])}, which runs "
            "over threads",
            source.span(inside[1]),
        )


def _variable(loop: ast.stmt) -> str:
    header = query.header(loop) if isinstance(loop, ast.For) else None
    return "a loop" if header is None else header.variable


def _unread(scene: Scene, seats: Sequence[Seat]) -> Iterator[Unknown]:
    found = scene.unreadable(seats)
    if found is not None:
        reason, node = found
        yield Unknown(reason, scene.program.source.span(node))
    for touch in scene.touches(scene.seats):
        if not touch.writes and _may_be_variable(touch, seats):
            node = touch.access.node or touch.seat.statement
            yield Unknown(
                f"{touch.access.array} is read outside of its loop, whose iterations run in any "
                "order",
                scene.program.source.span(node),
            )


def _may_be_variable(read: Touch, seats: Sequence[Seat]) -> bool:
    """Whether a name may hold what a loop around or inside the seats left in its variable."""
    return any(
        level.variable == read.access.array
        and not (read.seat.leaf.number < seat.leaf.number and _apart(read.seat, level.loop))
        for seat in seats
        for level in seat.leaf.place.levels
    )


def _apart(seat: Seat, loop: ast.For) -> bool:
    """Whether no loop runs both a statement and a loop again and again."""
    return not any(loop in query.loops(each) for each in seat.loops)


def _kernel(scene: Scene, kernel: Kernel, is_finished: bool) -> Iterator[Refuted | Unknown]:
    conflicts = KernelConflicts(scene, kernel)
    yield from _judged(scene, conflicts.across_blocks, "block")
    within = [each for each in conflicts.within_phase if not each.first.seat.shared]
    yield from _judged(scene, within, "thread")  # cooperative loops are asked about by `_loop`
    yield from _strayed(
        scene, PrivateFlow(scene).astray_in_kernel(kernel, is_finished), kernel.root
    )


def _loop(scene: Scene, loop: ast.For) -> Iterator[Refuted | Unknown]:
    yield from _judged(scene, of_iterations(scene, loop), "iteration")
    yield from _strayed(scene, PrivateFlow(scene).astray_in_loop(loop), loop)


def _judged(
    scene: Scene, conflicts: Sequence[Conflict], unit: race_text.Unit
) -> Iterator[Refuted | Unknown]:
    for each in sorted(conflicts, key=lambda conflict: not conflict.is_certain):
        pairs = each.pairs.intersect_params(_inside(scene))
        if pairs.is_empty():
            continue
        met = replace(each, pairs=pairs)
        if met.is_certain:
            shown = replace(met, pairs=_calm(scene, pairs))
            yield Refuted(race_text.of_conflict(scene, shown, unit))
        else:
            yield race_text.uncertain(scene, met, unit)


def _strayed(scene: Scene, found: Iterator[Astray], region: ast.For) -> Iterator[Refuted | Unknown]:
    for each in sorted(found, key=lambda astray: astray.write is None):
        if each.write is None or each.pairs is None:
            yield race_text.unwritten(scene, each, region)
            continue
        pairs = each.pairs.intersect_params(_inside(scene))
        if pairs.is_empty():
            continue
        if each.write.access.is_exact and each.read.access.is_exact:
            shown = replace(each, pairs=_calm(scene, pairs))
            yield Refuted(race_text.of_astray(scene, shown, region))
        else:
            yield race_text.unwritten(scene, each, region)


def _inside(scene: Scene) -> isl.Set:
    """The sizes at which the program can be called: every access stays inside its array."""
    return bounds.inside(scene)


def _calm(scene: Scene, pairs: isl.UnionMap) -> isl.UnionMap:
    """Those of some pairs for sizes at which the program runs to its end, where there are any."""
    calm = pairs.intersect_params(bounds.calm(scene))
    calm = pairs if calm.is_empty() else calm
    try:
        model = extract(scene.program, session=scene.session)
        left = calm.subtract(calm.intersect_params(unset(model, original_flow(model))))
    except NotModelled:
        return calm
    return calm if left.is_empty() else left
