"""Who touches which cell, on which block and thread: a program as isl maps for race checks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from astile.analysis import isl
from astile.analysis.forms import affine_sets
from astile.analysis.forms.affine_sets import Quasi
from astile.analysis.reading import hardware
from astile.analysis.reading.accesses import EFFECTS, RETURN, Access, Accesses, Reader
from astile.analysis.reading.aliases import check_aliases
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.domains import lowest, lows
from astile.analysis.reading.hardware import AXES, Kernel, Seat
from astile.analysis.reading.homes import Homes
from astile.analysis.reading.statements import Leaf, Level, survey
from astile.ir import query
from astile.ir.program import Program


@dataclass(frozen=True, eq=False)
class Touch:
    """One access of a leaf.

    Args:
        seat: the leaf's seat.
        access: array and indices.
        writes: whether it writes.
    """

    seat: Seat
    access: Access
    writes: bool


class Scene:
    """A program as sets and maps.

    Args:
        program: the program.
        budget: what all questions asked about it may cost, or None.
        session: the isl session to ask them in, a new one when not given.

    Raises:
        NotModelled: for Python whose meaning is not known.
    """

    def __init__(
        self,
        program: Program,
        budget: isl.Budget | None = None,
        session: isl.Session | None = None,
    ) -> None:
        self.program = program
        self.session = session or isl.Session()
        self.session.begin(budget)
        self.survey = survey(program)
        self.seats = hardware.seats(program.function, self.survey.leaves)
        self.kernels = hardware.kernels(self.seats)
        names = self.survey.names
        self.homes = Homes(program.function, names, self.seats)
        calls = Calls(program, frozenset(names.arguments) | names.local)
        check_aliases(program, names, calls)
        reader = Reader(names, calls)
        self.accesses: Mapping[int, Accesses] = {
            seat.leaf.number: reader.accesses(seat.leaf) for seat in self.seats
        }
        #: Arrays of which each thread has its own.
        self.private = hardware.private_arrays(program.function)
        self.parameters = sorted(self._parameters())
        #: Number of a leaf and slot of a read -> dataflow into it, kept by `PrivateFlow`.
        self.flows: dict[tuple[int, str], tuple[isl.UnionMap, isl.UnionMap]] = {}

    def _parameters(self) -> set[str]:
        texts: list[str] = []
        for seat in self.seats:
            texts += seat.leaf.place.constraints
            found = self.accesses[seat.leaf.number]
            for access in (*found.reads, *found.writes):
                texts += [each.text for each in access.indices if each is not None]
                texts += [each.text for each in self._extents(seat, access) if each is not None]
            for level in seat.leaf.place.levels:
                texts += [level.start.text]
        return affine_sets.parameters_in(texts)

    # --- text -----------------------------------------------------------------------------------

    def map(self, pieces: Iterable[str]) -> isl.UnionMap:
        """A union of maps over the program's parameters."""
        self.session.tick()
        return self.session.union_map(self.parameters, pieces)

    def instance(self, leaf: Leaf) -> str:
        """``S3[v0_i, v1_j]``: one run of a leaf."""
        return f"{self.name(leaf)}[{', '.join(leaf.place.dimensions)}]"

    def name(self, leaf: Leaf) -> str:
        """The isl name of a leaf's instances."""
        return f"S{leaf.number}"

    def domain(self, leaf: Leaf) -> str:
        """The formula of a leaf's instances: loop ranges, conditions, sizes not negative."""
        sizes = [f"{each} >= 0" for each in self.parameters if not each.startswith("n_")]
        return " and ".join([*sizes, *leaf.place.constraints, "true"])

    @cached_property
    def domains(self) -> isl.UnionSet:
        """The instances of all leaves; read once, since reading is what costs time."""
        pieces = [f"{self.instance(e.leaf)} : {self.domain(e.leaf)}" for e in self.seats]
        return self.session.union_set(self.parameters, pieces)

    # --- cells ----------------------------------------------------------------------------------

    def touches(self, seats: Iterable[Seat]) -> list[Touch]:
        """The accesses of leaves; contents that a write may keep do not count as read.

        Making an array with ``empty`` touches no cell.
        """
        found: list[Touch] = []
        for seat in seats:
            both = self.accesses[seat.leaf.number]
            reads = [each for each in both.reads if not each.slot.startswith("o")]
            made = query.allocation(seat.leaf.node)
            writes = () if made is not None and "empty" in made.word else both.writes
            found += [Touch(seat, each, False) for each in reads]
            found += [Touch(seat, each, True) for each in writes]
        return found

    def cells(self, touches: Iterable[Touch]) -> isl.UnionMap:
        """Instance -> cell, the array's home before the indices."""
        return self.map(self._cell(each) for each in touches).intersect_domain(self.domains)

    def _cell(self, touch: Touch) -> str:
        leaf, access = touch.seat.leaf, touch.access
        home = self.homes.of(touch.seat, access.array)
        outer = [] if home is None else [each.dimension for each in home.levels]
        number = "" if home is None or not home.number else f"{home.number}"
        formulas, names, known = ["true"], [], lows(leaf.place)
        for axis, (index, extent) in enumerate(
            zip(access.indices, self._extents(touch.seat, access), strict=True)
        ):
            names.append(f"c{axis}")
            low = None if index is None else lowest(index, known)
            formulas.append(_position(f"c{axis}", index, extent, low is not None and low >= 0))
        array = f"A{number}_{affine_sets.mangled(access.array).strip('<>')}"
        cell = f"{array}[{', '.join([*outer, *names])}]"
        return f"{self.instance(leaf)} -> {cell} : {' and '.join(formulas)}"

    def _extents(self, seat: Seat, access: Access) -> list[Quasi | None]:
        scope = self.accesses[seat.leaf.number].scope
        return [scope.extent(access.array, axis) for axis in range(len(access.indices))]

    # --- places in hardware and in time ---------------------------------------------------------

    def hardware(self, kernel: Kernel, by_thread: bool = True) -> isl.UnionMap:
        """Instance -> ``H[launch..., block x, y, z, thread x, y, z, ...]`` that runs it.

        Which thread runs an iteration of cooperative loops is left open: after the thread come the
        number of the cooperative nest, 0 outside of them, and what tells its iterations apart. One
        thread of a nest is taken for another one than those of other nests.

        Args:
            kernel: the kernel.
            by_thread: whether threads are told apart; if not, all count as thread 0.
        """
        pieces = []
        names = self._places(kernel)
        for seat in kernel.seats:
            levels = seat.leaf.place.levels
            launch = [f"h{k} = {levels[k].dimension}" for k in range(seat.host)]
            for formulas in self._coordinates(seat, kernel, by_thread):
                where = " and ".join([*launch, *formulas])
                target = f"H[{', '.join(names)}]"
                pieces.append(f"{self.instance(seat.leaf)} -> {target} : {where}")
        return self.map(pieces).intersect_domain(self.domains)

    def _places(self, kernel: Kernel) -> list[str]:
        """The names of the coordinates of a kernel's places."""
        launch = [f"h{k}" for k in range(kernel.seats[0].host)]
        own = max((len(_told_by(each)) for each in kernel.seats), default=0)
        shared = ["m", *(f"e{k}" for k in range(own))] if own else []
        return [*launch, *(f"b{a}" for a in AXES), *(f"t{a}" for a in AXES), *shared]

    def _coordinates(self, seat: Seat, kernel: Kernel, by_thread: bool) -> Iterator[list[str]]:
        """The formulas of a seat's coordinates, of the launch apart; their union is meant."""
        by_loop = {id(level.loop): level for level in seat.leaf.place.levels}
        blocks = []
        grid = {axis for each in kernel.seats for axis in each.blocks}
        for axis in AXES:
            if axis in seat.blocks:
                blocks.append(_coordinate(f"b{axis}", by_loop[id(seat.blocks[axis])]))
            elif axis in grid and not seat.stores:
                blocks.append(f"b{axis} >= 0")
            else:
                blocks.append(f"b{axis} = 0")
        shared = [name for name in self._places(kernel) if name[0] in "me"]
        first = [f"t{axis} = 0" for axis in AXES]
        outside = [f"{name} = 0" for name in shared]
        if not by_thread:
            yield [*blocks, *first, *outside]
        elif seat.shared:
            own = [f"m = {kernel.cooperative[id(seat.phase)]}"]
            told = [by_loop[id(loop)].dimension for loop in _told_by(seat)]
            own += [f"e{k} = {each}" for k, each in enumerate(told)]
            yield [*blocks, *first, *own, *(f"{name} = 0" for name in shared[len(own) :])]
        else:
            yield [*blocks, *self._threads(seat, kernel), *outside]
            if shared and seat.replicated == frozenset(AXES):  # by all threads, whichever they are
                yield [*blocks, *first, "m > 0"]

    def _threads(self, seat: Seat, kernel: Kernel) -> list[str]:
        by_loop = {id(level.loop): level for level in seat.leaf.place.levels}
        formulas = []
        for axis in AXES:
            if axis in seat.threads:
                formulas.append(_coordinate(f"t{axis}", by_loop[id(seat.threads[axis])]))
            elif axis in kernel.extents and axis in seat.replicated:
                extent = kernel.extents[axis]
                limit = "" if extent is None else f" < {extent}"
                formulas.append(f"0 <= t{axis}{limit}")
            else:
                formulas.append(f"t{axis} = 0")
        return formulas

    def other_blocks(self, kernel: Kernel) -> isl.UnionMap:
        """Pairs of places of one launch on different blocks."""
        return self._other(kernel, "b", "tme")

    def other_threads(self, kernel: Kernel) -> isl.UnionMap:
        """Pairs of different threads of one block."""
        return self._other(kernel, "tme", "")

    def _other(self, kernel: Kernel, differ: str, free: str) -> isl.UnionMap:
        names = self._places(kernel)
        second = [f"{name}2" if name[0] in differ + free else name for name in names]
        changed = " or ".join(f"{name} != {name}2" for name in names if name[0] in differ)
        return self.map([f"H[{', '.join(names)}] -> H[{', '.join(second)}] : {changed}"])

    def schedule(self) -> isl.UnionMap:
        """Instance -> time, in textual order."""
        depth = max((len(seat.leaf.place.levels) for seat in self.seats), default=0)
        pieces = []
        for seat in self.seats:
            time: list[str] = []
            for level in seat.leaf.place.levels:
                time += [str(level.position), forward(level, level.dimension)]
            time.append(str(seat.leaf.position))
            time += ["0"] * (2 * depth + 1 - len(time))
            pieces.append(f"{self.instance(seat.leaf)} -> [{', '.join(time)}]")
        return self.map(pieces)

    # --- what cannot be said --------------------------------------------------------------------

    def unreadable(self, seats: Sequence[Seat]) -> tuple[str, ast.AST] | None:
        """Why the accesses of some leaves say less than what they do; None when they say all."""
        for seat in seats:
            both = self.accesses[seat.leaf.number]
            if both.leaves:
                return "the function may be left here", seat.statement
            if both.acts or any(e.array in (EFFECTS, RETURN) for e in both.writes):
                return "this may do more than compute a value", seat.statement
            for access in (*both.reads, *both.writes):
                if self.homes.is_unknown(seat, access.array):
                    where = access.node if access.node is not None else seat.statement
                    return f"{access.array} is not one array throughout", where
        return None


def _told_by(seat: Seat) -> list[ast.For]:
    """The loops whose variables tell which thread runs an iteration of cooperative loops.

    Where the count of iterations is the same each time, so is the thread of each of them.
    """
    headers = [header for each in seat.shared if (header := query.header(each)) is not None]
    ends = [each.start for each in headers] + [each.stop for each in headers[1:]]
    if all(query.integer(each) is not None for each in (*ends, *(h.step for h in headers))):
        return list(seat.shared)
    around = [each for each in seat.path if isinstance(each, ast.For)]
    return [*(each for each in around if not hardware.is_bound(each)), *seat.shared]


def forward(level: Level, name: str) -> str:
    """A loop variable, or its negative where it counts down: what grows with time."""
    return name if level.step > 0 else f"-{name}"


def _coordinate(name: str, level: Level) -> str:
    return f"{level.dimension} = {level.start.text} + {level.step}*{name}"


def _position(name: str, index: Quasi | None, extent: Quasi | None, is_front: bool) -> str:
    """The formula of a cell's coordinate, with negative indices counted from the end."""
    if index is None:
        return f"{name} >= 0"
    if is_front:
        return f"{name} = {index.text}"
    front = f"{name} = {index.text} and {name} >= 0"
    last = f"{name} >= 0" if extent is None else f"{name} = {index.text} + {extent.text}"
    back = f"{index.text} < 0 and {last}"
    return f"(({front}) or ({back}))"
