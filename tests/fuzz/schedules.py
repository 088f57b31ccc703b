"""Random calls of primitives that could make sense for the program at hand."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Generator
from itertools import pairwise

from astile.ir import nodes, query
from astile.ir.stages import Stage
from astile.schedule.schedule import Schedule
from astile.schedule.select import Loop
from astile.schedule.trace import Call

#: Yields calls, and is sent the loops that each of them made (none when it was refused).
Recipe = Generator[Call, tuple[Loop, ...], None]

_FACTORS = (2, 2, 3, 3, 4, 5, 1, 16)
_AXES = ("blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "threadIdx.z")


def draw(schedule: Schedule, chance: random.Random, most: int = 6) -> Recipe:
    """Calls one after the other, each drawn when those before it have been made.

    Args:
        schedule: the schedule they are made on.
        chance: where choices come from.
        most: how many calls at most.
    """
    left = chance.choice(range(1, most + 1))
    while left > 0:
        if chance.random() < 0.25:
            recipe = chance.choice((_tiles, _stage_in_tile, _kernel, _pipeline))(schedule, chance)
            made: tuple[Loop, ...] | None = None
            while left > 0:
                try:
                    call = next(recipe) if made is None else recipe.send(made)
                except StopIteration:
                    break
                made = yield call
                left -= 1
            if left == 0:
                return
        drawn = _any(schedule, chance)
        if drawn is None:
            return
        yield drawn
        left -= 1


def _any(schedule: Schedule, chance: random.Random) -> Call | None:
    """A call of any primitive, or None when there is no loop."""
    if not schedule.loops():
        return None
    for _ in range(20):
        call = chance.choice(_DRAWS)(schedule, chance)
        if call is not None:
            return call
    return None


# --- what there is to choose from ---------------------------------------------------------------


def _chains(schedule: Schedule) -> list[list[Loop]]:
    """Loops inside each other, outermost first, one list for each innermost loop."""
    handles = {each.identity: each for each in schedule.loops()}
    function = schedule.program.function
    chains = []
    for loop in query.loops(function):
        if any(each is not loop for each in query.loops(loop)):
            continue
        place = query.find_place(function, loop)
        assert place is not None
        ids = [nodes.loop_id(each) for each in (*place.loops, loop)]
        chain = [handles[each] for each in ids if each in handles]
        if chain:
            chains.append(chain)
    return chains


def _chain(schedule: Schedule, chance: random.Random, least: int = 1) -> list[Loop] | None:
    fitting = [each for each in _chains(schedule) if len(each) >= least]
    return chance.choice(fitting) if fitting else None


def _loop(schedule: Schedule, chance: random.Random) -> Loop:
    return chance.choice(schedule.loops())


def _siblings(schedule: Schedule, chance: random.Random) -> tuple[Loop, Loop] | None:
    """Two loops one after the other in the same body."""
    handles = {each.identity: each for each in schedule.loops()}
    found = []
    for statement in query.statements(schedule.program.function):
        for body in query.bodies(statement):
            loops = [each for each in body if isinstance(each, ast.For)]
            ids = [nodes.loop_id(each) for each in loops]
            known = [handles[each] for each in ids if each in handles]
            found += list(pairwise(known))
    return chance.choice(found) if found else None


def _written_scalars(schedule: Schedule) -> list[str]:
    variables = {each.var for each in schedule.loops()}
    arrays = {
        made.array
        for each in query.statements(schedule.program.function)
        if (made := query.allocation(each)) is not None
    }
    return sorted(query.names_written(schedule.program.function) - variables - arrays)


def _own_arrays(schedule: Schedule) -> list[str]:
    found = [
        made.array
        for each in query.statements(schedule.program.function)
        if (made := query.allocation(each)) is not None
    ]
    return found + sorted(schedule.original.scratch)


# --- one call of each primitive -----------------------------------------------------------------


def _split(schedule: Schedule, chance: random.Random) -> Call:
    loop = _loop(schedule, chance)
    factor = chance.choice(_FACTORS)
    factors: list[int | None] = [None, factor]
    draw = chance.random()
    if draw < 0.12:
        factors = [None, chance.choice(_FACTORS), factor]
    elif draw < 0.18:
        factors = [factor, None]
    elif draw < 0.21:
        factors = [chance.choice(_FACTORS), factor]
    options: dict[str, object] = {"factors": factors}
    tail = chance.choice(["guard", "guard", "guard", "cut", "cut", "perfect"])
    if tail != "guard":
        options["tail"] = tail
    if chance.random() < 0.15 and len(factors) == 2:
        options["names"] = chance.choice([["p", "q"], ["p", loop.var], ["x", "y"], ["n", "q"]])
    return Call("split", (loop.name,), options)


def _reorder(schedule: Schedule, chance: random.Random) -> Call | None:
    chain = _chain(schedule, chance, 2)
    if chain is None:
        return None
    names = [each.name for each in chain]
    if len(names) > 2 and chance.random() < 0.6:
        start = chance.choice(range(len(names) - 1))
        names = names[start : start + chance.choice([2, 3])]
    if chance.random() < 0.5:
        names.reverse()
    else:
        chance.shuffle(names)
    return Call("reorder", tuple(names), {})


def _fuse(schedule: Schedule, chance: random.Random) -> Call | None:
    chain = _chain(schedule, chance, 2)
    if chain is None:
        return None
    start = chance.choice(range(len(chain) - 1))
    count = 2 if chance.random() < 0.85 else 3
    return Call("fuse", tuple(each.name for each in chain[start : start + count]), {})


def _merge(schedule: Schedule, chance: random.Random) -> Call | None:
    pair = _siblings(schedule, chance)
    if pair is None:
        return None
    return Call("merge", (pair[0].name, pair[1].name), {})


def _distribute(schedule: Schedule, chance: random.Random) -> Call | None:
    loop = _loop(schedule, chance)
    inside = loop.stages
    if not inside:
        return None
    return Call("distribute", (loop.name,), {"at": chance.choice(inside).name})


def _unroll(schedule: Schedule, chance: random.Random) -> Call:
    factor = chance.choice([None, 2, 3])
    return Call("unroll", (_loop(schedule, chance).name,), {"factor": factor} if factor else {})


def _at(primitive: str) -> Callable[[Schedule, random.Random], Call | None]:
    def call(schedule: Schedule, chance: random.Random) -> Call | None:
        stages, loops = schedule.stages(), schedule.loops()
        if not stages:
            return None
        pairs = [(each, loop) for each in stages for loop in loops if each not in loop.stages]
        if chance.random() < 0.85:  # rather a stage and a loop that have to do with each other
            places = _Places(schedule)
            related = places.feeds if primitive == "compute_at" else places.uses
            pairs = [(each, loop) for each, loop in pairs if related(each, loop)]
        if not pairs:
            return None
        stage, loop = chance.choice(pairs)
        index = chance.choice([-1, -1, -1, -2, 0, 1])
        return Call(primitive, (stage.name, loop.name), {"index": index} if index != -1 else {})

    return call


class _Places:
    """Where stages and loops of a program stand, and what they read and write."""

    def __init__(self, schedule: Schedule) -> None:
        self.program = schedule.program
        self.every = list(query.statements(self.program.function))

    def feeds(self, stage: Stage, loop: Loop) -> bool:
        """Whether a loop after the stage reads what it writes."""
        node = self.program.loop(loop.identity)
        assert node is not None
        is_before = max(stage.positions) < self._position(node)
        return is_before and stage.array in query.names_read(node)

    def uses(self, stage: Stage, loop: Loop) -> bool:
        """Whether a stage after the loop reads what that writes."""
        node = self.program.loop(loop.identity)
        assert node is not None
        if min(stage.positions) < self._position(node):
            return False
        written = {*query.written_arrays(node), *query.names_written(node)} - {loop.var}
        return any(written & query.names_read(self.every[each]) for each in stage.positions)

    def _position(self, node: ast.stmt) -> int:
        return next(k for k, each in enumerate(self.every) if each is node)


def _set_scope(schedule: Schedule, chance: random.Random) -> Call | None:
    arrays = _own_arrays(schedule)
    if not arrays:
        return None
    return Call("set_scope", (chance.choice(arrays), chance.choice(["shared", "local"])), {})


def _expand(schedule: Schedule, chance: random.Random) -> Call | None:
    scalars = _written_scalars(schedule)
    chain = _chain(schedule, chance)
    if not scalars or chain is None:
        return None
    start = chance.choice(range(len(chain)))
    stop = chance.choice(range(start + 1, len(chain) + 1))
    names = tuple(each.name for each in chain[start:stop])
    return Call("expand", (chance.choice(scalars), *names), {})


def _bind(schedule: Schedule, chance: random.Random) -> Call:
    return Call("bind", (_loop(schedule, chance).name, chance.choice(_AXES)), {})


def _parallel(schedule: Schedule, chance: random.Random) -> Call:
    return Call("parallel", (_loop(schedule, chance).name,), {})


def _vectorize(schedule: Schedule, chance: random.Random) -> Call:
    return Call("vectorize", (_loop(schedule, chance).name,), {})


def _tile(schedule: Schedule, chance: random.Random) -> Call | None:
    chain = _chain(schedule, chance, 2)
    if chain is None:
        return None
    names = [each.name for each in chain[: chance.choice([2, 2, 3])]]
    sizes = [chance.choice(_FACTORS) for _ in names]
    return Call("tile", (names, sizes), {"tail": "cut"} if chance.random() < 0.2 else {})


def _peel(schedule: Schedule, chance: random.Random) -> Call:
    options = {chance.choice(["first", "last"]): chance.choice([1, 1, 2])}
    if chance.random() < 0.2:
        options = {"first": 1, "last": chance.choice([1, 2])}
    return Call("peel", (_loop(schedule, chance).name,), options)


def _shift(schedule: Schedule, chance: random.Random) -> Call:
    return Call("shift", (_loop(schedule, chance).name, chance.choice([1, 2, -1, -3])), {})


def _skew(schedule: Schedule, chance: random.Random) -> Call | None:
    chain = _chain(schedule, chance, 2)
    if chain is None:
        return None
    start = chance.choice(range(len(chain) - 1))
    outer, inner = chain[start], chain[chance.choice(range(start + 1, len(chain)))]
    return Call("skew", (outer.name, inner.name, chance.choice([1, 1, 2, -1])), {})


def _reverse(schedule: Schedule, chance: random.Random) -> Call:
    return Call("reverse", (_loop(schedule, chance).name,), {})


def _specialize(schedule: Schedule, chance: random.Random) -> Call | None:
    words = query.names(schedule.program.function)
    loop = _loop(schedule, chance)
    conditions = [f"{each} {test}" for each in ("n", "m") if each in words for test in _TESTS]
    chain = _chain(schedule, chance)
    if chain is not None and chance.random() < 0.5:  # a condition inside of its loop
        loop = chain[-1]
        conditions += [f"{each.var} {test}" for each in chain[:-1] for test in _TESTS]
    if not conditions:
        return None
    options = {"loop": loop.name} if chance.random() < 0.8 else {}
    return Call("specialize", (chance.choice(conditions),), options)


_TESTS = ("> 1", "== 0", "< 3", "% 2 == 0", ">= 4")


def _kept(primitive: str) -> Callable[[Schedule, random.Random], Call | None]:
    """A call about where an array lives: mostly about a loop that holds the stage of an own one."""

    def call(schedule: Schedule, chance: random.Random) -> Call | None:
        stages, loops, own = schedule.stages(), schedule.loops(), _own_arrays(schedule)
        pairs = [(each, loop) for loop in loops for each in loop.stages if each.array in own]
        if not pairs or chance.random() < 0.1:
            pairs = [(each, loop) for each in stages for loop in loops]
        if not pairs:
            return None
        stage, loop = chance.choice(pairs)
        return Call(primitive, (stage.name, loop.name), {})

    return call


#: Number of axes -> maps of indices; the last ones send two cells to one place.
_LAYOUTS = {
    1: ("i + 2", "(i // 4, i % 4)", "(i % 2, i // 2)", "2 * i", "i // 2"),
    2: (
        "(j, i)",
        "(i // 4, j, i % 4)",
        "(j // 3, i // 2, i % 2, j % 3)",
        "(i + j, j)",
        "(i, j // 2)",
    ),
}


def _ranks(schedule: Schedule) -> dict[str, int]:
    """The own arrays with their numbers of axes."""
    own = _own_arrays(schedule)
    return {
        name: len(query.indices(each))
        for each in query.accesses(schedule.program.function)
        if (name := query.base_name(each)) in own and name is not None
    }


def _transform_layout(schedule: Schedule, chance: random.Random) -> Call | None:
    ranks = {name: rank for name, rank in _ranks(schedule).items() if rank in _LAYOUTS}
    if not ranks:
        return None
    array = chance.choice(sorted(ranks))
    names = ", ".join("ij"[: ranks[array]])
    index_map = f"lambda {names}: {chance.choice(_LAYOUTS[ranks[array]])}"
    return Call("transform_layout", (array, index_map), {})


def _storage_align(schedule: Schedule, chance: random.Random) -> Call | None:
    ranks = _ranks(schedule)
    if not ranks:
        return None
    array = chance.choice(sorted(ranks))
    axis = chance.choice(range(ranks[array]))
    return Call("storage_align", (array, axis, chance.choice([2, 4, 8]), chance.choice([0, 1])), {})


def _double_buffer(schedule: Schedule, chance: random.Random) -> Call | None:
    arrays = _own_arrays(schedule)
    return Call("double_buffer", (chance.choice(arrays),), {}) if arrays else None


def _pipeline(schedule: Schedule, chance: random.Random) -> Call | None:
    chain = _chain(schedule, chance)
    if chain is None:
        return None
    return Call("pipeline", (chance.choice(chain).name, chance.choice([2, 2, 3])), {})


def _reuse_buffer(schedule: Schedule, chance: random.Random) -> Call | None:
    arrays = sorted(_own_arrays(schedule))
    return Call("reuse_buffer", tuple(chance.sample(arrays, 2)), {}) if len(arrays) > 1 else None


def _of_stage(primitive: str) -> Callable[[Schedule, random.Random], Call | None]:
    def call(schedule: Schedule, chance: random.Random) -> Call | None:
        stages, own = list(schedule.stages()), _own_arrays(schedule)
        if chance.random() < 0.8:
            if primitive == "reverse_compute_inline":
                places, loops = _Places(schedule), schedule.loops()
                stages = [s for s in stages if any(places.uses(s, loop) for loop in loops)]
            elif primitive == "compute_root":  # what other stages stand in the same loop
                stages = [s for s in stages if any(_is_inside(s, e) for e in schedule.loops())]
            else:
                stages = [each for each in stages if each.array in own]
        return Call(primitive, (chance.choice(stages).name,), {}) if stages else None

    return call


def _is_inside(stage: Stage, loop: Loop) -> bool:
    """Whether a loop holds a stage and others besides."""
    return stage in loop.stages and len(loop.stages) > 1


def _cache(primitive: str) -> Callable[[Schedule, random.Random], Call | None]:
    def call(schedule: Schedule, chance: random.Random) -> Call | None:
        loop = _loop(schedule, chance)
        node = schedule.program.loop(loop.identity)
        assert node is not None
        used = query.accesses(node)
        if primitive == "cache_write":
            used = [each for each in used if isinstance(each.ctx, ast.Store)]
        names = sorted({name for each in used if (name := query.base_name(each)) is not None})
        if not names:
            return None
        scope = chance.choice(["shared", "local", "local"])
        return Call(primitive, (chance.choice(names), scope), {"at": loop.name})

    return call


def _reduction(primitive: str) -> Callable[[Schedule, random.Random], Call | None]:
    def call(schedule: Schedule, chance: random.Random) -> Call | None:
        every = list(query.statements(schedule.program.function))
        inside = [
            (stage, loop)
            for loop in schedule.loops()
            for stage in loop.stages
            if any(_is_update(every[each], stage.array) for each in stage.positions)
        ]
        if not inside:
            return None
        stage, loop = chance.choice(inside)
        return Call(primitive, (stage.name, loop.name), {})

    return call


def _is_update(statement: ast.stmt, array: str) -> bool:
    return isinstance(statement, ast.AugAssign) or array in query.names_read(statement)


def _annotate(schedule: Schedule, chance: random.Random) -> Call:
    return Call("annotate", (_loop(schedule, chance).name, "cost", chance.choice([1, 2])), {})


_CALLS: dict[str, Callable[[Schedule, random.Random], Call | None]] = {
    "split": _split,
    "reorder": _reorder,
    "fuse": _fuse,
    "merge": _merge,
    "distribute": _distribute,
    "unroll": _unroll,
    "tile": _tile,
    "peel": _peel,
    "shift": _shift,
    "skew": _skew,
    "reverse": _reverse,
    "specialize": _specialize,
    "compute_inline": _of_stage("compute_inline"),
    "reverse_compute_inline": _of_stage("reverse_compute_inline"),
    "compute_root": _of_stage("compute_root"),
    "cache_read": _cache("cache_read"),
    "cache_write": _cache("cache_write"),
    "decompose_reduction": _reduction("decompose_reduction"),
    "rfactor": _reduction("rfactor"),
    "annotate": _annotate,
    "store_at": _kept("store_at"),
    "rolling_buffer": _kept("rolling_buffer"),
    "transform_layout": _transform_layout,
    "storage_align": _storage_align,
    "double_buffer": _double_buffer,
    "reuse_buffer": _reuse_buffer,
    "pipeline": _pipeline,
    "compute_at": _at("compute_at"),
    "reverse_compute_at": _at("reverse_compute_at"),
    "set_scope": _set_scope,
    "expand": _expand,
    "bind": _bind,
    "parallel": _parallel,
    "vectorize": _vectorize,
}

#: Primitives that are drawn.
DRAWN = tuple(_CALLS)
#: `annotate` changes no order: once in a while is enough, see `_any`.
_DRAWS = [call for name, call in _CALLS.items() if name != "annotate"] * 3 + [_annotate]


# --- sequences that people write ----------------------------------------------------------------


def _tiles(schedule: Schedule, chance: random.Random) -> Recipe:
    """Split the loops of a nest and put the outer ones outside."""
    chain = _chain(schedule, chance, 2)
    if chain is None:
        return
    outer, inner = [], []
    for loop in chain[:2]:
        made = yield _split_of(loop, chance)
        if len(made) != 2:
            return
        outer.append(made[0])
        inner.append(made[1])
    yield Call("reorder", tuple(each.name for each in outer + inner), {})


def _split_of(loop: Loop, chance: random.Random) -> Call:
    tail = chance.choice(["guard", "guard", "cut"])
    options: dict[str, object] = {"factors": [None, chance.choice([2, 3, 4])]}
    return Call("split", (loop.name,), options if tail == "guard" else {**options, "tail": tail})


def _stage_in_tile(schedule: Schedule, chance: random.Random) -> Recipe:
    """Tile the last nest, and compute a stage before it inside the tile."""
    chains = _chains(schedule)
    if not chains:
        return
    chain = chains[-1]
    home = chain[0]
    for loop in chain[:2]:
        made = yield _split_of(loop, chance)
        if not made:
            return
        home = made[0]
    stages = [each for each in schedule.stages() if each not in home.stages]
    own = [each for each in stages if each.array in _own_arrays(schedule)]
    if not stages:
        return
    stage = chance.choice(own or stages)
    made = yield Call("compute_at", (stage.name, home.name), {})
    if made and chance.random() < 0.15:
        yield Call("compute_root", (stage.name,), {})
    elif stage.array in _own_arrays(schedule):
        if made and chance.random() < 0.3:
            names = [e.name for e in schedule.stages() if e.array == stage.array]
            yield Call("rolling_buffer", (chance.choice(names or [stage.name]), home.name), {})
            return
        yield Call("set_scope", (stage.array, chance.choice(["shared", "local"])), {})
        draw = chance.random()
        if draw < 0.15:
            yield Call("store_at", (stage.array, chance.choice(schedule.loops()).name), {})
        elif draw < 0.3:
            yield Call("double_buffer", (stage.array,), {})


def _kernel(schedule: Schedule, chance: random.Random) -> Recipe:
    """Bind a nest to blocks and threads."""
    chain = _chain(schedule, chance)
    if chain is None:
        return
    made = yield _split_of(chain[0], chance)
    if len(made) != 2:
        return
    yield Call("bind", (made[0].name, "blockIdx.x"), {})
    yield Call("bind", (made[1].name, "threadIdx.x"), {})


def _pipeline(schedule: Schedule, chance: random.Random) -> Recipe:
    """Stages into the loops of their consumers, then their arrays into small memory."""
    for stage in schedule.stages():
        if stage.array not in _own_arrays(schedule):
            continue
        loops = [each for each in schedule.loops() if stage not in each.stages]
        if not loops:
            return
        yield Call("compute_at", (stage.name, chance.choice(loops).name), {})
        yield Call("set_scope", (stage.array, chance.choice(["shared", "local"])), {})
