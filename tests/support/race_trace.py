"""What a scheduled program does cell by cell, found by running it: the oracle for races.

It shares nothing with the analysis but the meaning of the words: it runs the text with arrays and
names that note each access together with the loops around it, and compares all pairs.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

_KINDS = ("range", "parallel", "unroll", "vector")
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Turn:
    """One iteration of one loop: its line, its kind, and the how-many-eth."""

    line: int
    kind: str
    number: int


@dataclass(frozen=True)
class Event:
    """One access. `cell` tells cells apart; `home` says where an array was made."""

    order: int
    line: int
    turns: tuple[Turn, ...]
    name: str
    cell: tuple[object, ...]
    write: bool
    scope: str
    home: tuple[int, tuple[Turn, ...]]
    names_only: bool
    epochs: tuple[tuple[tuple[str, int], ...], ...] = ()


class Tracer:
    """Runs a program and gathers its events."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.turns: list[Turn] = []
        self.line = 0
        self.names_only = False
        self.barriers: list[tuple[tuple[str, int], ...]] = []
        self.made = 0

    def loop(self, line: int, kind: str, *bounds: int) -> Iterable[int]:
        for number, value in enumerate(range(*bounds)):
            self.turns.append(Turn(line, kind, number))
            try:
                yield value
            finally:
                self.turns.pop()

    def at(self, line: int, names_only: bool) -> None:
        self.line, self.names_only = line, names_only

    def barrier(self) -> None:
        self.barriers.append(tuple(sorted(coordinates(self.turns, "block").items())))

    def touch(
        self,
        name: str,
        cell: tuple[object, ...],
        write: bool,
        scope: str,
        home: tuple[int, tuple[Turn, ...]] = (0, ()),
    ) -> None:
        self.events.append(
            Event(
                len(self.events),
                self.line,
                tuple(self.turns),
                name,
                cell,
                write,
                scope,
                home,
                self.names_only,
                tuple(self.barriers),
            )
        )

    def read(self, name: str, value: object) -> object:
        self.touch(name, ("name", name), False, "name")
        return value

    def wrote(self, name: str) -> None:
        self.touch(name, ("name", name), True, "name")

    def array(self, name: str, data: np.ndarray, scope: str) -> TracedArray:
        self.made += 1
        return TracedArray(self, name, data, scope, self.made, (self.line, tuple(self.turns)))


@dataclass
class TracedArray:
    tracer: Tracer
    name: str
    data: np.ndarray
    scope: str
    number: int
    home: tuple[int, tuple[Turn, ...]]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def __len__(self) -> int:
        return len(self.data)

    def _touch(self, index: object, write: bool) -> None:
        key = index if isinstance(index, tuple) else (index,)
        self.data[key]  # raises where it is out of bounds
        place = tuple(int(i) % n for i, n in zip(key, self.shape, strict=True))
        self.tracer.touch(self.name, (self.number, *place), write, self.scope, self.home)

    def __getitem__(self, index: object) -> object:
        self._touch(index, False)
        return self.data[index]

    def __setitem__(self, index: object, value: object) -> None:
        self._touch(index, True)
        self.data[index] = value


def coordinates(turns: Sequence[Turn], level: str) -> dict[str, int]:
    """Axis -> coordinate of the block or thread that runs under these loops."""
    return {
        turn.kind.partition(".")[2]: turn.number
        for turn in turns
        if turn.kind.startswith(level + ".")
    }


class _Instrument(ast.NodeTransformer):
    def __init__(self, names: set[str], before: dict[int, int], at_end: set[int]) -> None:
        self.names, self.before, self.at_end = names, before, at_end

    def _call(self, word: str, *arguments: object) -> ast.Call:
        made = [a if isinstance(a, ast.expr) else ast.Constant(a) for a in arguments]
        return ast.Call(ast.Name(word, ast.Load()), made, [])

    def _block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for each in body:
            if each.lineno in self.before:
                result.append(ast.Expr(self._call("_barrier")))
            changed = self.visit(each)
            result += changed if isinstance(changed, list) else [changed]
        return result

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = []
        node.body = self._block(node.body)
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        assert isinstance(node.iter, ast.Call)
        kind = ast.unparse(node.iter.func)  # noqa: TID251
        bounds = [self.visit(each) for each in node.iter.args]
        node.iter = self._call("_loop", node.lineno, kind, *bounds)
        node.body = self._block(node.body)
        if node.lineno in self.at_end:
            node.body.append(ast.Expr(self._call("_barrier")))
        return node

    def visit_If(self, node: ast.If) -> ast.If:
        node.test = self.visit(node.test)
        node.body, node.orelse = self._block(node.body), self._block(node.orelse)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            return self._call("_read", node.id, ast.Name(node.id, ast.Load()))
        return node

    def _leaf(self, node: ast.stmt) -> list[ast.stmt]:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        written = [t.id for t in targets if isinstance(t, ast.Name)]
        made = isinstance(node, ast.Assign) and "empty" in ast.dump(node.value)
        names_only = bool(written) and not made
        result: list[ast.stmt] = [ast.Expr(self._call("_at", node.lineno, names_only))]
        if isinstance(node, ast.AugAssign) and written and written[0] in self.names:
            read = self._call("_read", written[0], ast.Name(written[0], ast.Load()))
            result.append(ast.Expr(read))
        if made:
            assert isinstance(node, ast.Assign)
            assert isinstance(node.value, ast.Call)
            node.value.keywords = [ast.keyword("name", ast.Constant(written[0]))]
            return [*result, node]
        self.generic_visit(node)
        result.append(node)
        result += [ast.Expr(self._call("_wrote", w)) for w in written if w in self.names]
        return result

    visit_Assign = _leaf
    visit_AugAssign = _leaf
    visit_Return = _leaf
    visit_Expr = _leaf


@dataclass
class _Maker:
    tracer: Tracer
    scope: str
    names: list[str] = field(default_factory=list)

    def empty(self, shape: object, _dtype: object, name: str = "") -> TracedArray:
        return self.tracer.array(name, np.zeros(shape, np.int64), self.scope)


class _NumPy:
    float32 = np.float32
    int64 = np.int64

    def __init__(self, tracer: Tracer) -> None:
        self.empty = _Maker(tracer, "global").empty


def trace(
    text: str,
    sizes: dict[str, tuple[int, ...] | int],
    before: Iterable[int] = (),
    at_end: Iterable[int] = (),
) -> list[Event]:
    """The events of running `text` with barriers before some lines and at the end of some loops.

    Args:
        text: a module with one function.
        sizes: parameter -> the shape of an array, or an integer.
        before: lines of the statements before which a barrier stands.
        at_end: lines of the loops at the end of whose bodies a barrier stands.
    """
    tree = ast.parse(text)
    function = next(each for each in tree.body if isinstance(each, ast.FunctionDef))
    names = {
        target.id
        for each in ast.walk(function)
        for target in (
            each.targets
            if isinstance(each, ast.Assign) and "empty" not in ast.dump(each.value)
            else [each.target]
            if isinstance(each, ast.AugAssign)
            else []
        )
        if isinstance(target, ast.Name)
    }
    function = _Instrument(names, dict.fromkeys(before, 0), set(at_end)).visit(function)
    tree.body = [function]
    tracer = Tracer()
    space: dict[str, object] = {
        "_loop": tracer.loop,
        "_at": tracer.at,
        "_read": tracer.read,
        "_wrote": tracer.wrote,
        "_barrier": tracer.barrier,
        "shared": _Maker(tracer, "shared"),
        "local": _Maker(tracer, "local"),
        "np": _NumPy(tracer),
        "float32": np.float32,
        "int64": np.int64,
    }
    exec(compile(ast.fix_missing_locations(tree), "<traced>", "exec"), space)
    arguments = {
        name: tracer.array(name, np.zeros(size, np.int64), "global")
        if isinstance(size, tuple)
        else size
        for name, size in sizes.items()
    }
    space[function.name](**arguments)  # type: ignore[operator]
    return tracer.events


# --- comparing all pairs ------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """An event as one thread of one block runs it."""

    event: Event
    launch: object
    block: tuple[int, ...]
    thread: tuple[int, ...]
    phase: object
    epoch: int


def runs(events: Sequence[Event]) -> list[Run]:
    """Every event inside a kernel, once for each thread that runs it."""
    used: dict[object, dict[str, int]] = {}
    placed = []
    for event in events:
        root = next((i for i, t in enumerate(event.turns) if "." in t.kind), None)
        if root is None:
            continue
        launch = (event.turns[:root], event.turns[root].line)
        placed.append((event, root, launch))
        extents = used.setdefault(event.turns[root].line, {})
        for turn in event.turns:
            if "." in turn.kind:
                extents[turn.kind] = max(extents.get(turn.kind, 0), turn.number + 1)
    result = []
    for event, root, launch in placed:
        extents = used[event.turns[root].line]
        axes = {
            "block": coordinates(event.turns, "block"),
            "thread": coordinates(event.turns, "thread"),
        }
        choices = []
        for level in ("block", "thread"):
            for axis in AXES:
                if axis in axes[level]:
                    choices.append([axes[level][axis]])
                elif event.names_only:
                    choices.append(list(range(extents.get(f"{level}.{axis}", 1))))
                else:
                    choices.append([0])
        inside = event.turns[root:]
        first = next((i for i, t in enumerate(inside) if t.kind.startswith("thread.")), None)
        phase = (event.line, inside) if first is None else (inside[first].line, inside[:first])
        for chosen in itertools.product(*choices):
            block = dict(zip(AXES, chosen[:3], strict=True))
            epoch = sum(
                all(block[axis] == number for axis, number in each) for each in event.epochs
            )
            result.append(Run(event, launch, chosen[:3], chosen[3:], phase, epoch))
    return result


def _memory(run: Run) -> tuple[object, ...] | None:
    """The cell as memory of the device; None for memory of one thread."""
    event = run.event
    if event.scope == "name" or event.scope == "local":
        return None
    if event.scope == "shared" and any("." in t.kind for t in event.home[1]):
        outer = tuple(t for t in event.home[1] if t.kind.startswith("block."))
        return (event.home[0], outer, *event.cell[1:])
    return event.cell


def _pairs(events: Sequence[Run]) -> Iterable[tuple[Run, Run]]:
    cells: dict[object, list[Run]] = {}
    for run in events:
        cell = _memory(run)
        if cell is not None:
            cells.setdefault((run.launch, cell), []).append(run)
    for group in cells.values():
        for one, two in itertools.combinations(group, 2):
            if one.event.write or two.event.write:
                yield one, two


def kernel_races(events: Sequence[Event]) -> list[tuple[Event, Event]]:
    """Pairs that no barrier can order: of different blocks, or of one phase."""
    return [
        (one.event, two.event)
        for one, two in _pairs(runs(events))
        if one.block != two.block or (one.thread != two.thread and one.phase == two.phase)
    ]


def unordered(events: Sequence[Event]) -> list[tuple[Event, Event]]:
    """Pairs of one block, of different phases and threads, with no barrier between them."""
    return [
        (one.event, two.event)
        for one, two in _pairs(runs(events))
        if one.block == two.block
        and one.thread != two.thread
        and one.phase != two.phase
        and one.epoch == two.epoch
    ]


def private_faults(events: Sequence[Event]) -> list[tuple[Event | None, Event]]:
    """Reads of names and of local arrays whose value another thread or iteration wrote.

    Written outside (None included) counts when the name is also written inside.
    """
    last: dict[object, Event] = {}
    faults: list[tuple[Event | None, Event]] = []
    spread = {}
    for run in runs(events):
        spread.setdefault(run.event.order, []).append(run)
    written_in: dict[object, set[object]] = {}
    for event in events:
        if event.write and event.scope in ("name", "local"):
            for scope in _concurrent(event):
                written_in.setdefault(scope, set()).add(event.cell)
    for event in events:
        if event.scope not in ("name", "local"):
            continue
        if event.write:
            last[event.cell] = event
            continue
        source = last.get(event.cell)
        if source is None and event.scope == "local":
            continue  # a cell that nobody wrote has no value to lose
        if _faulty(source, event, spread, written_in):
            faults.append((source, event))
    return faults


def _concurrent(event: Event) -> list[object]:
    """Names of the regions of concurrent loops around an event, iterations left out."""
    found: list[object] = []
    for depth, turn in enumerate(event.turns):
        if turn.kind in ("parallel", "vector") or "." in turn.kind:
            found.append((turn.line, event.turns[:depth]))
    return found


def _faulty(source, event, spread, written_in) -> bool:  # type: ignore[no-untyped-def]
    if event.scope == "local" and any(t.kind.startswith("thread.") for t in event.home[1]):
        return False
    for depth, turn in enumerate(event.turns):
        if turn.kind in ("parallel", "vector") or "." in turn.kind:
            region = (turn.line, event.turns[:depth])
            if event.cell in written_in.get(region, set()):
                if turn.kind in ("parallel", "vector"):
                    if source is None or source.turns[: depth + 1] != event.turns[: depth + 1]:
                        return True
                elif source is None:
                    return True
    if source is None:
        return False
    for depth, turn in enumerate(source.turns):  # a value that leaves a concurrent region
        concurrent = turn.kind in ("parallel", "vector")
        if concurrent and event.turns[: depth + 1] != source.turns[: depth + 1]:
            return True
    mine, theirs = spread.get(event.order, []), spread.get(source.order, [])
    if not theirs:
        cell = event.cell
        return any(
            cell in written_in.get((t.line, event.turns[:d]), set())
            for d, t in enumerate(event.turns)
            if "." in t.kind
        )
    if not mine:
        return True
    where = {(run.launch, run.block, run.thread) for run in theirs}
    return any((run.launch, run.block, run.thread) not in where for run in mine)


def parallel_races(events: Sequence[Event]) -> list[tuple[Event, Event]]:
    """Pairs of different iterations of one `parallel` or `vector` loop on one cell of an array."""
    cells: dict[object, list[Event]] = {}
    for event in events:
        if event.scope != "name":
            cells.setdefault(event.cell, []).append(event)
    found = []
    for group in cells.values():
        for one, two in itertools.combinations(group, 2):
            if (one.write or two.write) and _split_by_parallel(one, two):
                found.append((one, two))
    return found


def _split_by_parallel(one: Event, two: Event) -> bool:
    for mine, theirs in zip(one.turns, two.turns, strict=False):
        if mine.line != theirs.line:
            return False
        if mine.number != theirs.number:
            return mine.kind in ("parallel", "vector")
    return False


def is_free_of_races(events: Sequence[Event]) -> bool:
    """Whether running every concurrent loop in any order, with barriers, keeps the meaning."""
    return not (kernel_races(events) or private_faults(events) or parallel_races(events))
