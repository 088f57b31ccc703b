"""Loops of a kernel outside of its thread loops, shared out over the threads of a block.

A tile that is staged, or computed where it is used, is filled by loops that say nothing of threads.
Where iterations are proved independent, as for `parallel`, the whole block runs them together;
otherwise one thread runs all of them. Such loops are marked `parallel` before a program becomes
text, so that all that follows sees them: where barriers stand, and what is counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from math import prod

from astile.analysis import isl
from astile.analysis.concurrency import races
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import NotModelled
from astile.analysis.reading.scene import Scene
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import facts, flow
from astile.lower.facts import Facts
from astile.lower.kernels import sharing
from astile.lower.kernels.structure import is_bound, level

#: What finding the loops of one program may cost, in seconds of a slow machine.
BUDGET = 8.0
#: Kinds of loops whose threads nobody has chosen.
_OPEN = ("range", "parallel")
#: What statements of such loops may be.
_ALLOWED = (ast.Assign, ast.AugAssign, ast.For, ast.If, ast.Pass)


def shared_out(program: Program) -> Program:
    """The program with loops that the threads of a block share out marked `parallel`.

    They are loops of kernels of more than one thread, outside of the thread loops, which store
    cells that threads share, and whose iterations are proved independent.

    Args:
        program: it is not changed.

    Before:
        for i_0 in block.x(8):
            for a in range(18):
                x_shared[a] = x[i_0 * 16 + a]
            for i_1 in thread.x(16):
                y[i_0 * 16 + i_1] = x_shared[i_1] + x_shared[i_1 + 2]

    After:
        for i_0 in block.x(8):
            for a in parallel(18):
                x_shared[a] = x[i_0 * 16 + a]
            for i_1 in thread.x(16):
                y[i_0 * 16 + i_1] = x_shared[i_1] + x_shared[i_1 + 2]
    """
    made = program.cloned()
    known = facts.of(made)
    every = [loop for root in _kernels(made.function.body) for loop in _open_loops(root)]
    found = [loop for loop in every if _has_form(loop, known)]
    if not every:
        return program
    for loop in every:
        _mark(loop, "range")
    for loop in found:
        _mark(loop, "parallel")
    lost: list[ast.AST]
    try:
        kept = _Search(Scene(made, isl.Budget(BUDGET)), known).kept
        for loop in found:
            if id(loop) not in kept:
                _mark(loop, "range")
        lost = _losing(Scene(made, isl.Budget(BUDGET))) if kept else []
    except (NotModelled, isl.BudgetError, isl.Error):
        lost = [made.function]
    for loop in (each for root in lost for each in query.loops(root)):
        if any(loop is each for each in found):
            _mark(loop, "range")
    return made


def _mark(loop: ast.For, kind: str) -> None:
    assert isinstance(loop.iter, ast.Call)
    loop.iter = nodes.call(kind, loop.iter.args)


# --- which loops may be asked about -------------------------------------------------------------


def _kernels(body: Sequence[ast.stmt]) -> Iterator[ast.For]:
    """The outermost bound loops whose blocks have more than one thread."""
    for statement in body:
        if level(statement):
            assert isinstance(statement, ast.For)
            threads = [each for each in query.loops(statement) if level(each) == "thread"]
            if any(hardware.trip_count(each) != 1 for each in threads):
                yield statement
        elif is_bound(statement):
            for inner in query.bodies(statement):
                yield from _kernels(inner)


def _open_loops(root: ast.stmt) -> Iterator[ast.For]:
    """The loops outside of a kernel's thread loops whose threads nobody has chosen."""
    if level(root) == "thread":
        return
    if not is_bound(root) and isinstance(root, ast.For) and hardware.kind(root) in _OPEN:
        yield root
    for body in query.bodies(root):
        for each in body:
            yield from _open_loops(each)


def _has_form(loop: ast.For, known: Facts) -> bool:
    """Whether threads can share out a loop: one of `parallel` by its own word, too."""
    header = query.header(loop)
    if header is None or loop.orelse or hardware.trip_count(loop) == 0:
        return False
    step = query.integer(header.step)
    if step is None or step <= 0 or not all(map(known.is_integer, (header.start, header.stop))):
        return False
    inside = [each for body in query.bodies(loop) for s in body for each in query.statements(s)]
    if any(flow.has_jump(each) or not isinstance(each, _ALLOWED) for each in inside):
        return False
    if any(isinstance(each, ast.For) and query.header(each) is None for each in inside):
        return False
    if header.variable in {name for each in loop.body for name in query.names_written(each)}:
        return False
    made = [found for each in inside if (found := query.allocation(each)) is not None]
    own = {each.array for each in made}
    return all(each.scope == "local" for each in made) and bool(
        set(query.written_arrays(loop)) - own
    )


# --- which of them are independent --------------------------------------------------------------


def _losing(scene: Scene) -> list[ast.AST]:
    """The kernels whose threads may not find their own values in names and local arrays."""
    return [each.root for each in scene.kernels if not races.is_private(scene, each)]


class _Search:
    """Finds loops to share out.

    Args:
        scene: the program, with all loops marked that have the form.
        known: the program's integers.
    """

    def __init__(self, scene: Scene, known: Facts) -> None:
        self.scene, self.facts = scene, known
        #: The identities in memory of the loops.
        self.kept: set[int] = set()
        made = list(map(query.allocation, query.statements(scene.program.function)))
        self.local = {each.array for each in made if each is not None and each.scope == "local"}
        self.own = {each.array for each in made if each is not None and each.scope != "global"}
        self.threads: int | None = None
        for kernel in scene.kernels:
            counts = [each for each in kernel.extents.values() if each is not None]
            self.threads = prod(counts) if len(counts) == len(kernel.extents) else None
            self._around(kernel.root)

    def _around(self, statement: ast.stmt) -> None:
        """Look at a statement that all threads of a block come by together."""
        if level(statement) == "thread":
            return
        if is_bound(statement):
            for body in query.bodies(statement):
                for each in body:
                    self._around(each)
        else:
            self.kept |= self._within([statement]) or set()

    def _within(self, body: Sequence[ast.stmt]) -> set[int] | None:
        """The loops to share out, where all of some statements are in them; None elsewhere.

        A loop in which threads share out others is run by all of them, so that nothing else may
        be in it.
        """
        found: set[int] = set()
        for each in body:
            inner: set[int] | None = None
            if isinstance(each, ast.For) and hardware.kind(each) == "parallel":
                inner = self._loop(each)
            elif isinstance(each, ast.If) and not each.orelse and self.facts.is_static(each.test):
                inner = self._within(each.body)
            if inner is None:
                return None
            found |= inner
        return found

    def _loop(self, loop: ast.For) -> set[int] | None:
        if self._uses_local(loop):
            return None
        band: list[ast.For] = []
        for each in hardware.cooperative_band(loop):
            if not self._is_static(loop, each) or not races.is_independent(self.scene, each):
                break
            if band and not _is_literal(each):
                band = []  # rows of no known length are shared out one by one
            band.append(each)
        if len(band) > 1 and not _is_literal(band[0]) and self._is_enough(band[1:]):
            del band[0]  # all threads have work in each of its iterations
        if band and self._is_enough(band):
            return {id(each) for each in band}
        inner = self._within(band[-1].body if band else loop.body)
        return {id(each) for each in band} if band and not inner else inner

    def _is_enough(self, band: Sequence[ast.For]) -> bool:
        """Whether loops have work for all threads, and neighbours touch neighbouring cells."""
        counts = [hardware.trip_count(each) for each in band]
        known = [each for each in counts if each is not None]
        if self.threads is None or len(known) < len(counts) or prod(known) < self.threads:
            return False
        return sharing.along_memory(band, self.own) is not None

    def _uses_local(self, loop: ast.For) -> bool:
        """Whether a loop touches what each thread has for itself, made outside of it."""
        made = [query.allocation(each) for each in query.statements(loop)]
        own = {each.array for each in made if each is not None}
        return bool({query.base_name(each) for each in query.accesses(loop)} & (self.local - own))

    def _is_static(self, loop: ast.For, inner: ast.For) -> bool:
        """Whether nothing but conditions on sizes stands between two loops of a band."""
        place = query.find_place(loop, inner)
        between = () if place is None else place.parents
        return all(self.facts.is_static(each.test) for each in between if isinstance(each, ast.If))


def _is_literal(loop: ast.For) -> bool:
    """Whether a loop starts and ends at numbers."""
    header = query.header(loop)
    return header is not None and all(
        query.integer(each) is not None for each in (header.start, header.stop)
    )
