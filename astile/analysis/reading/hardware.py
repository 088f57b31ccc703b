"""Which thread of which block runs a statement, read off the loops around it.

A *kernel* is a nest whose outermost loop is bound to blocks or threads; loops outside it start one
launch per iteration. Inside a kernel a *phase* is what stands below one outermost thread loop, or
a single statement outside all thread loops. What lies outside phases is the same for all threads
of a block, so barriers may stand there; inside a phase nothing orders two threads.

A `parallel` loop of a kernel outside of the thread loops is a phase too: the threads of a block
share out its iterations, each of which one thread runs, whichever it is. Such loops are called
*cooperative*.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from astile.analysis.reading.statements import Leaf
from astile.ir import query

AXES = ("x", "y", "z")
#: Kinds of loops whose iterations run in any order, those bound to hardware left out.
CONCURRENT = ("parallel", "vector")


@dataclass(frozen=True, eq=False)
class Seat:
    """Where a leaf statement runs.

    Args:
        leaf: the leaf statement.
        parents: loops and conditions around it, outermost first.
        kernel: the outermost loop around it that is bound to blocks or threads, or None.
        blocks: axis -> the loop around it bound to that axis of the grid.
        threads: axis -> the loop around it bound to that axis of the block.
        phase: the outermost thread loop or cooperative loop around it, or the statement itself.
        stores: whether it must run once: it stores cells that threads share, or calls for effect.
            Other statements are run by every thread for itself where no loop says which.
        shared: the cooperative loops around it whose iterations are shared out together.
    """

    leaf: Leaf
    parents: tuple[ast.stmt, ...]
    kernel: ast.For | None
    blocks: Mapping[str, ast.For]
    threads: Mapping[str, ast.For]
    phase: ast.stmt
    stores: bool
    shared: tuple[ast.For, ...] = ()

    @property
    def statement(self) -> ast.stmt:
        """The statement itself."""
        return self.leaf.node

    @property
    def loops(self) -> tuple[ast.For, ...]:
        """The loops around the statement, outermost first; one for each level of its place."""
        return tuple(each for each in self.parents if isinstance(each, ast.For))

    @property
    def in_phase(self) -> bool:
        """Whether a thread loop or a cooperative loop is around the statement."""
        return self.phase is not self.statement

    @property
    def host(self) -> int:
        """How many loops are outside the kernel; all of them where there is no kernel."""
        loops = self.loops
        return len(loops) if self.kernel is None else loops.index(self.kernel)

    @property
    def path(self) -> tuple[ast.stmt, ...]:
        """What stands around the phase inside the kernel, the kernel's root first."""
        if self.kernel is None:
            return ()
        start = self.parents.index(self.kernel)
        end = self.parents.index(self.phase) if self.in_phase else None
        return self.parents[start:end]

    @property
    def replicated(self) -> frozenset[str]:
        """The thread axes along which every thread runs the statement for itself.

        A phase runs on the first thread of the axes that no loop inside it is bound to.
        """
        if self.stores or self.kernel is None:
            return frozenset()
        if not self.in_phase:
            return frozenset(AXES)
        return frozenset(_thread_axes(self.phase) - self.threads.keys())


@dataclass(frozen=True, eq=False)
class Kernel:
    """A nest that becomes one launch.

    Args:
        root: its outermost loop.
        seats: its leaf statements in textual order.
        extents: axis of the block -> the number of threads where it is a literal, else None.
            Axes that no loop uses are absent.
    """

    root: ast.For
    seats: tuple[Seat, ...]
    extents: Mapping[str, int | None] = field(default_factory=dict)

    @cached_property
    def cooperative(self) -> Mapping[int, int]:
        """Identity in memory of a cooperative loop that is a phase -> its number, from 1."""
        phases = dict.fromkeys(id(each.phase) for each in self.seats if each.shared)
        return {phase: number for number, phase in enumerate(phases, 1)}


def kind(loop: ast.stmt) -> str:
    """The kind of a counted loop; empty for everything else."""
    header = query.header(loop) if isinstance(loop, ast.For) else None
    return "" if header is None else header.kind


def is_bound(loop: ast.stmt) -> bool:
    """Whether a statement is a loop over blocks or threads."""
    return kind(loop).startswith(("block.", "thread."))


def is_concurrent(loop: ast.stmt) -> bool:
    """Whether a statement is a loop whose iterations may run in any order."""
    return kind(loop) in CONCURRENT or is_bound(loop)


def is_cooperative(loop: ast.stmt) -> bool:
    """Whether a statement in a kernel, outside of its thread loops, is shared out over threads."""
    return kind(loop) == "parallel" and not any(map(is_bound, query.loops(loop)))


def cooperative_band(loop: ast.For) -> tuple[ast.For, ...]:
    """A cooperative loop and those inside whose iterations are shared out together with its own.

    They stand one inside the other, with nothing but conditions between them.
    """
    found = [loop]
    while (inner := _next_of_band(found[-1].body)) is not None:
        found.append(inner)
    return tuple(found)


def _next_of_band(body: list[ast.stmt]) -> ast.For | None:
    only = query.only_statement(body)
    if isinstance(only, ast.If) and not only.orelse:
        return _next_of_band(only.body)
    return only if isinstance(only, ast.For) and kind(only) == "parallel" else None


def _thread_axes(root: ast.stmt) -> set[str]:
    words = (kind(loop).partition(".") for loop in query.loops(root))
    return {axis for level, _, axis in words if level == "thread"}


def seats(function: ast.FunctionDef, leaves: Iterable[Leaf]) -> list[Seat]:
    """The seats of leaf statements, in textual order.

    Args:
        function: the tree that holds them.
        leaves: the leaf statements; what is inside them is not looked at.
    """
    wanted = {id(each.node): each for each in leaves}
    local = private_arrays(function)

    def walk(body: list[ast.stmt], parents: tuple[ast.stmt, ...]) -> Iterator[Seat]:
        for statement in body:
            leaf = wanted.get(id(statement))
            if leaf is not None:
                yield _seat(leaf, parents, local)
                continue
            for inner in query.bodies(statement):
                yield from walk(inner, (*parents, statement))

    return list(walk(function.body, ()))


def private_arrays(function: ast.FunctionDef) -> set[str]:
    """The local arrays that each thread of a kernel has for itself.

    One that is made outside of all kernels is in slow memory, as any other array is there.
    """
    inside: set[str] = set()
    outside: set[str] = set()

    def walk(statement: ast.stmt, is_inside: bool) -> None:
        made = query.allocation(statement)
        if made is not None and made.scope == "local":
            (inside if is_inside else outside).add(made.array)
        is_inside = is_inside or is_bound(statement)
        for body in query.bodies(statement):
            for each in body:
                walk(each, is_inside)

    for statement in function.body:
        walk(statement, False)
    return inside - outside


def _seat(leaf: Leaf, parents: tuple[ast.stmt, ...], local: set[str]) -> Seat:
    kernel: ast.For | None = None
    phase: ast.stmt = leaf.node
    blocks: dict[str, ast.For] = {}
    threads: dict[str, ast.For] = {}
    shared: tuple[ast.For, ...] = ()
    for each in parents:
        if not isinstance(each, ast.For) or not is_bound(each):
            if kernel is not None and phase is leaf.node and is_cooperative(each):
                assert isinstance(each, ast.For)
                phase, shared = each, cooperative_band(each)
            continue
        level, _, axis = kind(each).partition(".")
        kernel = kernel or each
        if level == "thread":
            phase = phase if threads else each
            threads.setdefault(axis, each)
        else:
            blocks.setdefault(axis, each)
    own = tuple(each for each in shared if any(each is loop for loop in parents))
    return Seat(leaf, parents, kernel, blocks, threads, phase, _stores(leaf.node, local), own)


def _stores(statement: ast.stmt, local: set[str]) -> bool:
    if any(array not in local for array in query.written_arrays(statement)):
        return True
    return any(isinstance(each, ast.Expr) for each in query.statements(statement))


def roots(body: Sequence[ast.stmt]) -> Iterator[ast.For]:
    """The outermost bound loops of statements, in textual order; each becomes one kernel."""
    for each in body:
        if isinstance(each, ast.For) and is_bound(each):
            yield each
        else:
            for inner in query.bodies(each):
                yield from roots(inner)


def writes_names_only(statement: ast.stmt) -> bool:
    """Whether a statement assigns plain names from values, and touches no array's cells.

    Such a statement outside the thread loops is run by every thread for itself.
    """
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    else:
        return isinstance(statement, ast.Pass)
    if query.is_allocation(statement):
        return False
    return all(isinstance(each, ast.Name) for target in targets for each in _flat(target))


def _flat(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for each in target.elts for leaf in _flat(each)]
    return [target]


def kernels(every: Iterable[Seat]) -> list[Kernel]:
    """The kernels of a program, in textual order.

    Args:
        every: the seats of all leaf statements, in textual order.
    """
    grouped: dict[int, list[Seat]] = {}
    for seat in every:
        if seat.kernel is not None:
            grouped.setdefault(id(seat.kernel), []).append(seat)
    found = []
    for members in grouped.values():
        root = members[0].kernel
        assert root is not None
        found.append(Kernel(root, tuple(members), _extents(members)))
    return found


def _extents(members: list[Seat]) -> dict[str, int | None]:
    extents: dict[str, int | None] = {}
    for seat in members:
        for axis, loop in seat.threads.items():
            count = trip_count(loop)
            known = extents.get(axis, 0)
            extents[axis] = None if count is None or known is None else max(count, known)
    return extents


def trip_count(loop: ast.For) -> int | None:
    """The number of iterations of a loop with literal bounds, else None."""
    header = query.header(loop)
    if header is None:
        return None
    numbers = [query.integer(each) for each in (header.start, header.stop, header.step)]
    start, stop, step = numbers
    if start is None or stop is None or not step:
        return None
    return len(range(start, stop, step))


def doubly_bound(every: Iterable[Seat]) -> tuple[ast.For, ast.For] | None:
    """Two loops around one statement that are bound to the same axis, or None."""
    for seat in every:
        taken: dict[str, ast.For] = {}
        for loop in seat.loops:
            if not is_bound(loop):
                continue
            if kind(loop) in taken:
                return taken[kind(loop)], loop
            taken[kind(loop)] = loop
    return None


def blocks_inside_threads(every: Iterable[Seat]) -> tuple[ast.For, ast.For] | None:
    """A thread loop and a block loop inside it, or None."""
    for seat in every:
        thread: ast.For | None = None
        for loop in seat.loops:
            if kind(loop).startswith("thread."):
                thread = thread or loop
            elif kind(loop).startswith("block.") and thread is not None:
                return thread, loop
    return None


def concurrent_loops(root: ast.AST) -> list[ast.For]:
    """All loops below `root` whose iterations may run in any order, bound ones included."""
    return [loop for loop in query.loops(root) if is_concurrent(loop)]
