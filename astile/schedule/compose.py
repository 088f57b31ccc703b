"""Recipes made only of primitives: each is an ordinary function of a `Schedule`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from astile.diagnostics import suggestions
from astile.errors import LoweringError, ScheduleError
from astile.ir import query
from astile.rewrites.parts.result import check_listed
from astile.schedule import select
from astile.schedule.attempts import attempt
from astile.schedule.for_cores import for_cores
from astile.schedule.select import Loop
from astile.schedule.wants import Wants

if TYPE_CHECKING:
    from astile.schedule.loop_methods import LoopMethods
    from astile.schedule.schedule import Schedule

#: Sizes of the tiles that bare `@tile` makes for a GPU, outermost loop first.
_CUDA_TILE = (16, 16)
_BLOCKS = ("blockIdx.y", "blockIdx.x")
_THREADS = ("threadIdx.y", "threadIdx.x")


def tile(
    s: LoopMethods,
    loops: Sequence[Loop | str],
    sizes: Sequence[int],
    names: Sequence[str] | None = None,
    tail: str = "guard",
    *,
    unsafe: bool = False,
) -> tuple[Loop, ...]:
    """Split each loop by its size and put all outer loops outside all inner ones.

    Args:
        s: the schedule.
        loops: nested loops, outermost first.
        sizes: trip counts of the inner loops.
        names: variables of the new loops: all outer ones, then all inner ones.
        tail: as for `split`.
        unsafe: take the steps without a proof.

    Raises:
        ScheduleError: as `split` and `reorder`, or when sizes or names do not match the loops.
    """
    for what, given in (("loops", loops), ("sizes", sizes)):
        check_listed(what, given, "schedule.bad-factor", _written(loops, sizes))
    count = len(loops)
    if len(sizes) != count or (names is not None and len(names) != 2 * count):
        raise ScheduleError(
            f"tile needs one size for each of the {count} loops, and two names for each or none",
            code="schedule.bad-factor",
            hints=[_written(loops, sizes)],
        )
    handles = [s.handle(each) for each in loops]
    outer: list[Loop] = []
    inner: list[Loop] = []
    for k, (loop, size) in enumerate(zip(handles, sizes, strict=True)):
        pair = None if names is None else [names[k], names[count + k]]
        made = s.split(loop, [None, size], names=pair, tail=tail, unsafe=unsafe)
        outer.append(made[0])
        inner.append(made[1])
    if count > 1:
        s.reorder(*outer, *inner, unsafe=unsafe)
    return (*outer, *inner)


def _written(loops: object, sizes: object) -> str:
    """How a call of `tile` is written, with what was given as far as that fits."""
    single = [loops, *([sizes] if isinstance(sizes, (str, Loop)) else [])]
    given = loops if isinstance(loops, (list, tuple)) else single
    names = [each.name if isinstance(each, Loop) else str(each) for each in given]
    listed = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes] * len(names)
    factors = [each if isinstance(each, int) else _CUDA_TILE[0] for each in listed]
    wanted = [*factors, *[_CUDA_TILE[0]] * len(names)][: len(names)]
    return f"write `tile({names}, {wanted})`"


def auto(s: Schedule, tiles: Mapping[str, int] | None = None, target: str = "cpu") -> Wants:
    """The schedule of `@tile` and `@tile(i=16, j=16)`.

    Tiles the loops of the last stage, computes the stages before it inside a tile where that is
    legal, keeps what then fits a tile out of slow memory, and runs tiles in parallel. For a CPU
    without sizes, `for_cores` chooses.

    Args:
        s: the schedule; steps are added to it.
        tiles: loop name -> size of its tiles, for loops of the last stage; None lets astile
            choose, and then leaves out what is not legal.
        target: ``"cpu"``, ``"python"``, ``"cuda"`` or ``"emulate"``.

    Returns:
        What types the steps are for.

    Raises:
        ScheduleError: when named loops are not there, or tiling them is not legal.
    """
    on_gpu = target in ("cuda", "emulate")
    if tiles is None and not on_gpu:
        return for_cores(s)
    if tiles is not None:
        outer, inner = _tiled_by_name(s, tiles)
    else:
        found = _tiled_by_rule(s, _CUDA_TILE)
        if found is None:
            return Wants()
        outer, inner = found
    staged = _interleave(s, outer, "shared" if on_gpu else "local")
    if on_gpu:
        _bind_where_possible(s, outer, inner, staged)
    else:
        attempt(s.parallel, outer[0])
    return Wants()


def _tiled_by_name(
    s: Schedule, tiles: Mapping[str, int]
) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
    every = select.counted_loops(s.program)
    nests: list[list[ast.For]] = []
    for statement in s.program.function.body:
        inside = [each for each in query.loops(statement) if any(each is e for e in every)]
        if inside:
            nests.append(inside)
    for nest in reversed(nests):
        named = {h.variable: each for each in nest if (h := query.header(each)) is not None}
        if set(tiles) <= set(named):
            order = [each for each in nest if (h := query.header(each)) and h.variable in tiles]
            break
    else:
        raise _no_such_tiles(tiles, nests)
    handles = [_handle(s, each) for each in order if named[_variable(each)] is each]
    sizes = [tiles[each.var] for each in handles]
    made = s.tile(handles, sizes)
    return made[: len(handles)], made[len(handles) :]


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    assert header is not None
    return header.variable


def _handle(s: Schedule, loop: ast.For) -> Loop:
    return next(each for each in s.loops() if s.program.loop(each.identity) is loop)


def _no_such_tiles(tiles: Mapping[str, int], nests: Sequence[Sequence[ast.For]]) -> ScheduleError:
    names = [_variable(each) for nest in nests for each in nest]
    unknown = [each for each in tiles if each not in names]
    if not unknown:
        return ScheduleError(
            f"no single nest has loops named {', '.join(tiles)}",
            code="schedule.no-such-loop",
            hints=["name loops of one nest"],
        )
    return ScheduleError(
        f"no loop named {unknown[0]!r}",
        code="schedule.no-such-loop",
        hints=suggestions(unknown[0], names, "loops here"),
    )


def _tiled_by_rule(
    s: Schedule, sizes: Sequence[int]
) -> tuple[tuple[Loop, ...], tuple[Loop, ...]] | None:
    """Tile the outer parallel loops of the last nest, if it has any; None when it has not."""
    nests = [each for each in s.program.function.body if isinstance(each, ast.For)]
    if not nests:
        return None
    band = [each for each in _perfect_band(nests[-1]) if _is_parallel(s, [_handle(s, each)])][
        : len(sizes)
    ]
    while band:
        handles = [_handle(s, each) for each in band]
        try:
            made = s.tile(handles, sizes[-len(handles) :])
        except ScheduleError:
            band.pop()
            continue
        return made[: len(handles)], made[len(handles) :]
    return None


def _perfect_band(loop: ast.For) -> list[ast.For]:
    """The loops that stand alone in each other from the outermost one on."""
    band = [loop]
    while isinstance(only := query.only_statement(band[-1].body), ast.For):
        band.append(only)
    return [each for each in band if query.header(each) is not None]


def _is_parallel(s: Schedule, loops: Sequence[Loop]) -> bool:
    trial = s.copy()
    return all(attempt(trial.parallel, Loop(trial, each.identity)) for each in loops)


def _interleave(s: Schedule, outer: Sequence[Loop], scope: str) -> list[str]:
    """Compute what can be inside a tile, last producer first; the arrays now kept in `scope`.

    A producer whose array cannot leave slow memory stays where it was if computing it in the
    tile would keep tiles from running in parallel.
    """
    staged = []
    for stage in reversed(s.stages()):
        inside = {each.name for each in outer[-1].stages}
        if stage.name in inside or not attempt(s.compute_at, stage, outer[-1]):
            continue
        if _is_repeated(s, stage.array, outer):
            s.undo()
        elif attempt(s.set_scope, stage.array, scope):
            beside = [e.array for e in outer[-1].stages if e.name not in inside]
            also = [e for e in dict.fromkeys(beside) if attempt(s.set_scope, e, scope)]
            staged += [f"{each}_{scope}" for each in (stage.array, *also)]
        elif not _is_parallel(s, outer):
            s.undo()
    return staged


def _is_repeated(s: Schedule, array: str, outer: Sequence[Loop]) -> bool:
    """Whether every tile computes all of an array, of which no size says that it is small."""
    home = s.program.loop(outer[-1].identity)
    assert home is not None
    own = [each for each in home.body if array in query.written_arrays(each)]
    tiles = {each.var for each in outer}
    if any(query.names_read(each) & tiles for each in own):
        return False
    headers = [query.header(loop) for each in own for loop in query.loops(each)]
    return any(each is None or query.integer(each.stop) is None for each in headers)


def _bind_where_possible(
    s: Schedule, outer: Sequence[Loop], inner: Sequence[Loop], staged: Sequence[str]
) -> None:
    """Bind the loops of tiles, if the program then has a form as CUDA kernels."""
    trial = s.copy()
    _bind(trial, outer, inner, staged)
    try:
        trial.lowered("cuda")
    except LoweringError:
        return
    s.adopt(trial)


def _bind(s: Schedule, outer: Sequence[Loop], inner: Sequence[Loop], staged: Sequence[str]) -> None:
    """Bind tile loops to blocks, and the loops inside a tile to threads."""
    blocks, threads = _BLOCKS[-len(outer) :], _THREADS[-len(inner) :]
    for loop, axis in zip(outer, blocks, strict=True):
        if not attempt(s.bind, loop, axis):
            return
    for loop, axis in zip(inner, threads, strict=True):
        attempt(s.bind, loop, axis)
    for array in staged:
        for stage in s.stages():
            if stage.array != array:
                continue
            around = {each.identity for each in outer}
            own = [each for each in s.loops(stage) if each.identity not in around]
            for loop, axis in zip(own[: len(threads)], threads, strict=False):
                attempt(s.bind, loop, axis)
