"""The forms in which a program is run: as it stands, with every loop split, and as claimed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from astile.errors import ScheduleError
from astile.kernel import Kernel
from astile.schedule.schedule import Schedule
from tests.cases.values import run

TAILS = ("guard", "cut", "perfect")


@dataclass
class Subject:
    """A program that is run in several forms.

    Args:
        name: of the program.
        function: plain loops.
        make_args: ``(size, seed) -> arguments``.
        sizes: for `make_args`, small ones first.
        scratch: arguments whose contents after the call nobody reads.
    """

    name: str
    function: Callable[..., Any]
    make_args: Callable[[Any, int], Sequence[Any]]
    sizes: Sequence[Any]
    scratch: tuple[str, ...] = ()
    _plain: dict[tuple[int, int], Any] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        code = self.function.__code__
        return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def plain(self, size: int, seed: int) -> tuple[Sequence[Any], Any]:
        """The arguments for a size, by its position, and what the plain function gives."""
        if (size, seed) not in self._plain:
            args = self.make_args(self.sizes[size], seed)
            self._plain[size, seed] = args, run(self.function, args, self.parameters)
        return self._plain[size, seed]

    def schedule(self) -> Schedule:
        """A schedule without steps."""
        return Schedule(self.function, scratch=self.scratch)

    def bare(self, target: str) -> Kernel[..., Any]:
        """The function under ``@tile``."""
        return Kernel(self.function, target=target, scratch=self.scratch)  # type: ignore[arg-type]


def trips(subject: Subject, size: int) -> list[int]:
    """For each ``for`` in source order, the most iterations that it makes in one go."""
    tree = ast.parse(subject.schedule().source("python"))
    counts: list[int] = []
    for number, loop in enumerate(_loops(_function(tree, subject.function.__name__))):
        counts.append(0)
        call = ast.Call(ast.Name("_astile_count", ast.Load()), [ast.Constant(number), loop.iter])
        call.keywords = []
        loop.iter = call

    def count(number: int, iterable: Any) -> Iterator[Any]:
        for done, each in enumerate(iterable, 1):
            counts[number] = max(counts[number], done)
            yield each

    scope: dict[str, Any] = {"_astile_count": count}
    exec(compile(ast.fix_missing_locations(tree), "<counted>", "exec"), scope)
    run(scope[subject.function.__name__], subject.plain(size, 0)[0], subject.parameters)
    return counts


def _function(tree: ast.AST, name: str) -> ast.FunctionDef:
    found = [e for e in ast.walk(tree) if isinstance(e, ast.FunctionDef) and e.name == name]
    return found[-1]


def _loops(node: ast.AST) -> list[ast.For]:
    """The ``for`` statements below a node, in source order."""
    found = [node] if isinstance(node, ast.For) else []
    for child in ast.iter_child_nodes(node):
        found += _loops(child)
    return found


@dataclass(frozen=True)
class Split:
    """A schedule with loops split.

    Args:
        schedule: where as many loops as possible are split.
        done: loops that were split.
        refused: for each other loop, why it was not.
    """

    schedule: Schedule
    done: int
    refused: tuple[str, ...]


def split_all(subject: Subject, factor: int | None, extra: int, tail: str) -> Split:
    """Every counted loop split, innermost ones too.

    Args:
        subject: the program.
        factor: of every loop; None is the number of its iterations at the largest size.
        extra: is added to that number.
        tail: as for `Schedule.split`.
    """
    schedule = subject.schedule()
    loops = list(schedule.loops())
    counts = _counts(subject, schedule) if factor is None else []
    done, refused = 0, []
    for position, loop in enumerate(loops):
        size = factor if factor is not None else max(counts[position] + extra, 1)
        try:
            schedule.split(loop, [None, size], tail=tail)
        except ScheduleError as error:
            refused.append(str(error).splitlines()[0])
            continue
        done += 1
    return Split(schedule, done, tuple(refused))


def _counts(subject: Subject, schedule: Schedule) -> list[int]:
    """Iterations of the loops that the schedule counts, in its order."""
    every = _loops(schedule.program.function)
    counted = trips(subject, len(subject.sizes) - 1)
    nodes = [schedule.program.loop(each.identity) for each in schedule.loops()]
    return [counted[next(k for k, e in enumerate(every) if e is node)] for node in nodes]


def reorders(subject: Subject) -> Iterator[tuple[str, Schedule | str]]:
    """Each loop made the outer one of the loop that it stands in.

    Yields:
        The step as text, and the schedule or why it was refused.
    """
    for pair in _pairs(subject.schedule()):
        schedule = subject.schedule()
        outer, inner = (schedule.loops()[each] for each in pair)
        form = f"reorder {inner.name} {outer.name}"
        try:
            schedule.reorder(inner, outer)
        except ScheduleError as error:
            yield form, str(error).splitlines()[0]
            continue
        yield form, schedule


def _pairs(schedule: Schedule) -> Iterator[tuple[int, int]]:
    """Positions of loops and of the loops that stand directly in their bodies."""
    found = [schedule.program.loop(each.identity) for each in schedule.loops()]
    for first, outer in enumerate(found):
        for second, inner in enumerate(found):
            if any(each is inner for each in outer.body):
                yield first, second
