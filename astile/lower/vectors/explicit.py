"""Vector loops as operations of vector registers, and their local tiles as named registers.

A loop fits whose body is arithmetic of cells side by side along the loop. Where one does not fit
it stays a plain loop, and so do the arrays that it shares with others.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from astile.analysis.forms import affine
from astile.ir import loop_variables, nodes, query
from astile.ir.program import Program
from astile.lower import bounds, facts, flow
from astile.lower.facts import Facts
from astile.lower.indices import IndexWriter
from astile.lower.types import operators
from astile.lower.types.dtypes import SIZES
from astile.lower.types.kinds import Kinds
from astile.lower.types.promotion import native
from astile.lower.vectors import (
    dataflow,
    filled,
    late,
    prefetched,
    registers,
    repeated,
    rolled,
    row_names,
    squares,
    unrolled,
    whole,
)
from astile.lower.vectors.places import DoesNotFitError, Lanes, Places
from astile.lower.vectors.registers import Register, Strip
from astile.lower.vectors.statements import LATE, STORE, Statements
from astile.lower.vectors.values import Values
from astile.lower.vectors.words import Words

#: Most vectors of one loop that are written out one after the other.
_MOST = 8


@dataclass(frozen=True)
class Machine:
    """What vectors are made for.

    Args:
        vector_bytes: width of a register.
        exact: keep the rounding of every operation.
    """

    vector_bytes: int
    exact: bool = False


def vectorised(program: Program, types: Mapping[str, str], machine: Machine) -> Program:
    """The program with its vector loops written as operations of vectors, where they fit.

    Args:
        program: its types written out; it is not changed.
        types: parameter -> its type, see `Kinds`.
        machine: what vectors are made for.

    Before, x and y float32:
        for j in vector(16):
            y[j] += a * x[j]

    After:
        store(y, 0, fma(splat(a, 16), load(x, 0, 16), load(y, 0, 16)))
    """
    if not any(unrolled.is_vector(loop) for loop in query.loops(program.function)):
        return program
    work = program.cloned()
    words = Words(work)
    joined = rolled.gather(work, words)
    known = facts.of(work)
    bounds.hoist(work.function, known)
    unrolled.expand(work.function, known)
    filled.whole(work.function.body)
    pass_ = _Pass(work, known, Kinds(work, types), machine, words)
    pass_.choose_registers()
    if not pass_.made:
        return program
    pass_.replace(work.function)
    body = whole.apart(work.function.body, pass_.words, IndexWriter(known))
    body = prefetched.added(body, pass_.words, pass_.cell_sizes())
    body = squares.turned(body, pass_.words)
    body = repeated.named(body, pass_.words)
    work.function.body = row_names.named(body, pass_.words)
    rolled.mark(work.function, joined, pass_.words)
    return replace(work, imports=pass_.words.imports)


@dataclass
class _Pass:
    """One program being rewritten.

    Args:
        program: edited in place.
        facts: its integer names.
        kinds: of its names.
        machine: what vectors are made for.
        words: for names that it adds.
        held: the arrays in registers.
        loose: vectors in registers that are used under one mask only.
        made: identity of a vector loop -> what it becomes.
    """

    program: Program
    facts: Facts
    kinds: Kinds
    machine: Machine
    words: Words
    held: dict[str, Register] = field(default_factory=dict)
    loose: frozenset[str] = frozenset()
    made: dict[int, list[ast.stmt]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = dataflow.rows(self.program.function, self.facts)
        self._masks: dict[str, set[str]] = {}
        self._places = Places()
        #: of loops that were looked at: the program stays as it is until all loops are written
        self._read_after: dict[int, bool] = {}
        function = self.program.function
        headers = [each for each in map(query.header, query.loops(function)) if each is not None]
        variables = [each.variable for each in headers]
        self._read_outside = loop_variables.read_outside(function.body, variables)

    def choose_registers(self) -> None:
        """Find what registers hold, and write all loops that fit; drop arrays of those that do not.

        An array that is no use in registers stays in memory as well.
        """
        function = self.program.function
        self.held = registers.find(function, self.facts, self.kinds, self.strip, self.words)
        while True:
            lost = self._written()
            if not lost:
                break
            for each in lost:
                del self.held[each]
        self.loose = self._under_one_mask()
        if self.loose and self._written():
            self.loose = frozenset()
            self._written()

    def _written(self) -> set[str]:
        """Write all vector loops that fit; the arrays in registers that the others need."""
        self.made, self._masks = {}, {}
        failed: list[ast.For] = []
        self._walk(self.program.function.body, IndexWriter(self.facts), failed)
        return {name for each in failed for name in query.names(each)} & self.held.keys()

    def _under_one_mask(self) -> frozenset[str]:
        """Vectors in registers that nobody reads where the mask of their updates does not hold."""
        found: set[str] = set()
        for array, register in self.held.items():
            changed = dataflow.changed_beside(self.program.function.body, array)
            for name in register.names.values():
                masks = self._masks.get(name, {""})
                mask = min(masks)
                if len(masks) > 1 or not mask or register.is_apart:
                    continue
                tree = ast.parse(mask, mode="eval")
                known = query.names(tree).isdisjoint(changed)
                if known and dataflow.is_of_bounds(tree, self.words.intrinsic("below")):
                    found.add(name)
        return frozenset(found)

    def strip(self, loop: ast.For) -> Strip | None:
        """The vectors of a loop whose iterations are known, where they fill it."""
        header = query.header(loop)
        if header is None or header.kind != "vector":
            return None
        trips = self._trips(header)
        if trips is None:
            return None
        lanes = self._lanes(loop, trips)
        if lanes < 2 or trips % lanes or trips // lanes > _MOST:
            return None
        start = affine.of(header.start)
        starts = tuple(start + lanes * each for each in range(trips // lanes))
        return Strip(header.variable, starts, lanes)

    def _trips(self, header: query.Header) -> int | None:
        if not query.is_constant(header.step, 1):
            return None
        return (self.facts.form(header.stop) - self.facts.form(header.start)).value

    def _lanes(self, loop: ast.For, trips: int | None) -> int:
        """How many lanes the widest type in a loop leaves; as few as a short loop has."""
        sizes = [1]
        for access in query.accesses(loop):
            kind = self.kinds.arrays.get(query.base_name(access) or "")
            if kind not in (None, "?"):
                sizes.append(SIZES.get(native(str(kind)), 16))
        for name in query.names_written(loop) - query.names_written(loop.target):
            kind = self.kinds.names.get(name)
            if kind not in (None, "?"):
                sizes.append(SIZES.get(native(str(kind)), 16))
        if trips is not None and trips <= 0:
            return 1
        lanes = self.machine.vector_bytes // max(sizes)
        while trips is not None and trips < lanes:
            lanes //= 2
        return lanes

    # --- loops ----------------------------------------------------------------------------------

    def _walk(self, body: Sequence[ast.stmt], writer: IndexWriter, failed: list[ast.For]) -> None:
        for statement in body:
            inner = writer
            if isinstance(statement, ast.For):
                if unrolled.is_vector(statement):
                    try:
                        self.made[id(statement)] = self._loop(statement, writer)
                    except DoesNotFitError:
                        failed.append(statement)
                        self._walk(statement.body, operators.inside(writer, statement), failed)
                    continue
                inner = operators.inside(writer, statement)
            elif isinstance(statement, ast.If):
                inner = writer.under(statement.test, statement.body)
            for part in query.bodies(statement):
                here = writer if part is getattr(statement, "orelse", None) else inner
                self._walk(part, here, failed)

    def _loop(self, loop: ast.For, writer: IndexWriter) -> list[ast.stmt]:
        header = query.header(loop)
        assert header is not None
        if id(loop) not in self._read_after:
            self._read_after[id(loop)] = self._is_read_after(loop, header.variable)
        if loop.orelse or flow.carried(loop) or self._read_after[id(loop)]:
            raise DoesNotFitError
        if not query.is_constant(header.step, 1) or query.leaves_early(loop.body):
            raise DoesNotFitError
        changed = {name for each in loop.body for name in query.names_written(each)}
        if not changed.isdisjoint(query.names(loop.iter)):
            raise DoesNotFitError
        statements = self._statements(loop)
        inside = operators.inside(writer, loop)
        strip, trips = self.strip(loop), self._trips(header)
        lanes = strip.lanes if strip is not None else self._lanes(loop, trips)
        if lanes < 2:
            raise DoesNotFitError
        start = affine.of(header.start)
        place = Lanes(header.variable, start, lanes, inside, self._vectors(loop), start)
        if strip is None:
            return self._in_strips(header, place, loop, statements, writer)
        made: list[ast.stmt] = []
        for each in strip.starts:
            made += statements.block(loop.body, replace(place, base=each))
        return _started(made, place, self.words, self.kinds)

    def _is_read_after(self, loop: ast.For, variable: str) -> bool:
        """Whether something else reads a name that the loop writes."""
        function = self.program.function
        if variable in self._read_outside:
            return True
        changed = query.names_written(loop) - {variable}
        return bool(changed) and not changed.isdisjoint(flow.live_after(function, loop))

    def _statements(self, loop: ast.For) -> Statements:
        exact = self.machine.exact
        values = Values(self.kinds, self.words, self.held, self.rows, self._places, exact=exact)
        values.masks = self._masks
        return Statements(values, self.loose, exact=exact, store=nodes.notes(loop).get(STORE))

    def _vectors(self, loop: ast.For) -> dict[str, str]:
        """The names that differ from lane to lane -> those of their vectors."""
        header = query.header(loop)
        assert header is not None
        varying = {header.variable}
        while True:
            found = dataflow.varying_in(loop.body, varying, is_masked=False)
            if found <= varying:
                break
            varying |= found
        names = sorted(varying - {header.variable})
        return {each: self.words.fresh(f"{each}_lanes") for each in names}

    def _in_strips(
        self,
        header: query.Header,
        place: Lanes,
        loop: ast.For,
        statements: Statements,
        writer: IndexWriter,
    ) -> list[ast.stmt]:
        """Whole vectors in a loop, and one of fewer lanes at the end."""
        variable, lanes = header.variable, place.count
        start, stop = affine.of(header.start), affine.of(header.stop)

        def block(base: affine.Affine) -> list[ast.stmt]:
            made = statements.block(loop.body, replace(place, base=base))
            return _started(made, place, self.words, self.kinds)

        length = stop - start
        if not writer.is_nonnegative(length.expression()):
            length = affine.of(nodes.call("max", [nodes.const(0), length.expression()]))
        full = affine.floor_div(length, lanes) * lanes
        if full.value is not None:
            end, tail = (start + full).expression(), full.value < (length.value or 0)
            before: list[ast.stmt] = []
        else:
            name = self.words.fresh(f"{variable}_end")
            before = [nodes.assign(name, (start + full).expression())]
            end, tail = nodes.name(name), True
        is_late = nodes.notes(loop).get(STORE) == LATE
        whole, strips = late.strips(block, place, affine.of(end), self.words, is_late=is_late)
        ahead = prefetched.iterations(loop)
        if ahead:
            nodes.set_note(strips, prefetched.PREFETCH, -(-ahead // lanes))
        if not tail:
            return [*before, *whole]
        left = self._tail(header, place, loop, statements, end)
        if full.value is not None and isinstance(left, ast.If):
            return [*before, *whole, *left.body]  # there is something left, for certain
        return [*before, *whole, left]

    def _tail(
        self,
        header: query.Header,
        place: Lanes,
        loop: ast.For,
        statements: Statements,
        end: ast.expr,
    ) -> ast.stmt:
        """What is left after the whole vectors: masked where it can be, else one by one."""
        words, base, count = self.words, affine.of(end), nodes.const(place.count)
        stop = nodes.clone(header.stop)
        below = nodes.call(words.intrinsic("below"), [nodes.clone(end), stop, count])
        try:
            body = statements.block(loop.body, replace(place, base=base, mask=below, whole=below))
        except DoesNotFitError:
            one_by_one = nodes.call("range", [nodes.clone(end), nodes.clone(header.stop)])
            return nodes.for_loop(header.variable, one_by_one, nodes.clone_body(loop.body))
        body = _started(body, place, words, self.kinds)
        return nodes.if_then(nodes.compare(nodes.clone(end), ast.Lt, nodes.clone(stop)), body)

    def cell_sizes(self) -> dict[str, int]:
        """Arrays of the caller whose types are known -> bytes of a cell."""
        arrays = self.kinds.arrays
        known = {each: arrays.get(each) for each in query.parameters(self.program.function)}
        types = {name: native(str(kind)) for name, kind in known.items() if kind}
        return {name: SIZES[each] for name, each in types.items() if each in SIZES}

    # --- the whole tree -------------------------------------------------------------------------

    def replace(self, function: ast.FunctionDef) -> None:
        """Put in what was made, and take out the arrays that registers hold."""
        function.body = self._replaced(function.body)

    def _replaced(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        starts: list[tuple[int, str]] = []
        for statement in body:
            made = query.allocation(statement)
            if made is not None and made.array in self.held:
                starts.append((len(result), made.array))
                continue
            if id(statement) in self.made:
                result += self.made[id(statement)]
                continue
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    setattr(statement, name, self._replaced(inner) or [ast.Pass()])
            result.append(self._plain(statement))
        for position, array in reversed(starts):
            made_before = registers.cleared(self.held[array], result[position:], self.words)
            result[position:position] = made_before
        return result

    def _plain(self, statement: ast.stmt) -> ast.stmt:
        """A statement outside vector loops, cells in registers by their names."""
        return registers.with_names(statement, self.held, self.facts, self.kinds, self.words)


def _started(made: list[ast.stmt], place: Lanes, words: Words, kinds: Kinds) -> list[ast.stmt]:
    """Statements, after start values for vectors of which only some lanes are set at first."""
    exposed = flow.exposed(made)
    before: list[ast.stmt] = []
    for name, vector in place.vectors.items():
        if vector in exposed:
            dtype = native(kinds.names.get(name) or "float64")
            zero = nodes.call(words.dtype(dtype), [nodes.const(0)])
            splat = nodes.call(words.intrinsic("splat"), [zero, nodes.const(place.count)])
            before.append(nodes.assign(vector, splat))
    return [*before, *made]
