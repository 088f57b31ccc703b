"""What every rewrite must do, whatever it rewrites; and running programs before and after."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from astile.analysis.proof.equivalence import compare
from astile.analysis.proof.verdicts import Proved
from astile.analysis.reading.statements import with_origins
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.module import module_text
from astile.ir.program import Program
from astile.ir.stages import Stage, stages
from astile.ir.verify import verify
from astile.rewrites.parts.result import Rewritten
from astile.rewrites.parts.simplify import simplify
from astile.schedule.schedule import Schedule
from tests.support.programs import program_from

#: Sizes at which guards and tails go wrong, for tiles of `tile`.
Arguments = Callable[[int], tuple[object, ...]]


def sizes(tile: int) -> tuple[int, ...]:
    """0, 1, tile - 1, tile, tile + 1, 2 * tile + 3, and a prime."""
    return (0, 1, tile - 1, tile, tile + 1, 2 * tile + 3, 37)


def program(text: str | Callable[..., object], scratch: Iterable[str] = ()) -> Program:
    """A program whose statements know their origins, as a schedule starts with."""
    return with_origins(program_from(text, scratch=scratch))


def loop(of: Program, variable: str, number: int = 0) -> int:
    """The identity of the so-manieth loop over a variable, in textual order."""
    found = [
        each
        for each in query.loops(of.function)
        if isinstance(each.target, ast.Name) and each.target.id == variable
    ]
    identity = nodes.loop_id(found[number])
    assert identity is not None
    return identity


def loops(of: Program, *variables: str) -> list[int]:
    """The identities of loops over variables; ``"i#1"`` is the second loop over i."""
    found = []
    for each in variables:
        variable, _, number = each.partition("#")
        found.append(loop(of, variable, int(number or 0)))
    return found


def stage(of: Program, name: str) -> Stage:
    """The stage with a name."""
    return next(each for each in stages(of.function) if each.name == name)


def rewritten(
    rewrite: Callable[..., Rewritten], before: Program, *args: Any, **options: Any
) -> Program:
    """Apply a rewrite and `simplify`, and check all that must hold whatever they do."""
    return applied(rewrite, before, *args, **options)[0]


def applied(
    rewrite: Callable[..., Rewritten], before: Program, *args: Any, **options: Any
) -> tuple[Program, tuple[int, ...]]:
    """As `rewritten`; also the identities of the loops that the rewrite hands out."""
    held = _held(before)
    result = rewrite(before, *args, **options)
    assert _held(before) == held, "the input was changed"
    verify(result.program)
    check_apart(result.program, before)
    after = simplify(result.program)
    check(after, result.program)
    for identity in result.loops:
        assert result.program.loop(identity) is not None, "a handle of a loop that is not there"
    return after, result.loops


def refused(
    rewrite: Callable[..., Rewritten], before: Program, *args: Any, **options: Any
) -> ScheduleError:
    """The error with which a rewrite refuses; it names a place or says what would be right."""
    with pytest.raises(ScheduleError) as caught:
        rewrite(before, *args, **options)
    assert type(caught.value) is ScheduleError
    return caught.value


def check(after: Program, before: Program) -> None:
    """What holds for every program that a rewrite made, and that is printed."""
    verify(after)
    check_apart(after, before)
    text = module_text(after)
    parsed = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert nodes.same(parsed[-1], after.function), "the printed text is another program"
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        assert len(line) <= max(100, indent + 12), f"more than 100 columns: {line}"


def check_apart(after: Program, before: Program) -> None:
    """A program shares no node with the one before, and each of its loops is a loop of its own."""
    owned = list(map(id, query.preorder(after.function)))
    assert len(owned) == len(set(owned)), "a node is in the tree twice"
    there = set(map(id, query.preorder(before.function)))
    assert not there.intersection(owned), "a node is shared with the program before"
    identities = [nodes.loop_id(each) for each in query.loops(after.function)]
    assert None not in identities
    assert len(set(identities)) == len(identities), "two loops have one identity"
    assert all(each is not None and each < after.next_loop for each in identities)


def _held(program: Program) -> list[dict[str, object]]:
    """What each node of a program, and of the origins of its statements, holds.

    It keeps the nodes alive, so that a node that was put in the place of another is seen.
    """
    found = []
    for node in query.preorder(program.function):
        found.append(_fields(node))
        held = nodes.origin(node) if isinstance(node, ast.stmt) else None
        for each in held.iteration if held is not None else ():
            found += map(_fields, query.preorder(each))
    return found


def _fields(node: ast.AST) -> dict[str, object]:
    return {
        name: list(value) if isinstance(value, list) else value
        for name, value in vars(node).items()
        if name in node._fields or name in node._attributes or name in nodes.FACTS
    }


def load(program: Program) -> Callable[..., Any]:
    """The function of a program's printed module."""
    module = types.ModuleType("printed")
    exec(compile(module_text(program), "<printed>", "exec"), module.__dict__)
    function: Callable[..., Any] = module.__dict__[program.name]
    return function


def assert_same_results(
    before: Program | Callable[..., object],
    after: Program,
    arguments: Arguments,
    at: Sequence[int],
) -> None:
    """Run two programs in plain Python at several sizes; all arrays and results must be equal.

    Args:
        before: the program, or function, before.
        after: the program after.
        arguments: size -> arguments; called twice, so that no array is shared.
        at: the sizes.
    """
    first = load(before) if isinstance(before, Program) else before
    second = load(after)
    for size in at:
        one, other = arguments(size), arguments(size)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            expected, found = first(*one), second(*other)
        names = inspect.signature(first).parameters
        for name, left, right in zip(names, one, other, strict=True):
            if name not in after.scratch:
                assert _equal(left, right), f"{name} differs at size {size}:\n{module_text(after)}"
        assert _equal(expected, found), f"the result differs at size {size}"


def _equal(left: object, right: object) -> bool:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(
            left, right, equal_nan=left.dtype.kind in "fc"
        )
    return bool(left == right)


def assert_proved(before: Program, after: Program) -> None:
    """The proof, which shares no code with the rewrites, must find the two equal."""
    verdict = compare(before, after)
    assert isinstance(verdict, Proved), f"{verdict}\n{module_text(after)}"


def assert_replays(schedule: Schedule) -> None:
    """The printed script makes the same text again."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(schedule.trace.as_python(), "<script>", "exec"), {"__name__": "script"})
    assert printed.getvalue().strip() == schedule.source().strip()
