"""The form of a nest that becomes one CUDA kernel: bound loops, block shape, refusals."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from astile.analysis.counts.gpu_limits import MOST_ALONG, MOST_BLOCKS, MOST_THREADS
from astile.analysis.reading import hardware
from astile.errors import LoweringError
from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower import flow
from astile.lower.facts import Facts

AXES = hardware.AXES


@dataclass(frozen=True, eq=False)
class Structure:
    """One kernel.

    Args:
        root: its outermost loop, which is bound.
        blocks: axis -> the loop over blocks along it.
        threads: axis -> threads of a block along it, the most where a call decides how many there
            are; axes without a loop are absent.
        counted: axis -> how many threads there are along it, where a call decides that; at most
            one axis.
    """

    root: ast.For
    blocks: Mapping[str, ast.For]
    threads: Mapping[str, int]
    counted: Mapping[str, ast.For] = field(default_factory=dict)

    @property
    def block(self) -> tuple[int, int, int]:
        """Threads along x, y, z; the most that there can be."""
        return (self.threads.get("x", 1), self.threads.get("y", 1), self.threads.get("z", 1))

    @property
    def wide(self) -> tuple[str, ...]:
        """Axes along which a block has more than one thread."""
        return tuple(axis for axis in AXES if self.threads.get(axis, 1) > 1)

    @property
    def size(self) -> int | None:
        """How many threads a block has; None where a call decides that."""
        return None if self.counted else prod(self.block)

    @cached_property
    def has_more(self) -> bool:
        """Whether there is something to do where a call asks for no threads."""
        return bool(self.counted) and self._does_more(self.root)

    def _does_more(self, statement: ast.stmt) -> bool:
        if level(statement) == "thread":
            assert isinstance(statement, ast.For)
            if axis_of(statement) in self.counted:
                return False
        inside = query.bodies(statement)
        if not inside:
            return not hardware.writes_names_only(statement) and not query.is_allocation(statement)
        return any(self._does_more(each) for body in inside for each in body)


def level(statement: ast.AST) -> str:
    """``"block"``, ``"thread"``, or ``""`` for what is no bound loop."""
    if not isinstance(statement, ast.For):
        return ""
    header = query.header(statement)
    return header.kind.partition(".")[0] if header is not None and header.is_bound else ""


def axis_of(loop: ast.For) -> str:
    """The axis of a bound loop."""
    header = query.header(loop)
    assert header is not None
    return header.kind.partition(".")[2]


def holds(statement: ast.stmt, wanted: str) -> bool:
    """Whether a loop of a level is the statement or inside it."""
    return any(level(each) == wanted for each in query.loops(statement))


def is_bound(statement: ast.stmt) -> bool:
    """Whether a bound loop is the statement or inside it."""
    return holds(statement, "block") or holds(statement, "thread")


def has_phases(statement: ast.stmt) -> bool:
    """Whether what threads of a block run together or share out is the statement or inside it."""
    return is_bound(statement) or any(map(hardware.is_cooperative, query.statements(statement)))


def extent(loop: ast.For, facts: Facts) -> int | None:
    """The number of iterations of a counted loop where it is known now.

    Args:
        loop: the loop.
        facts: the program's integers.
    """
    header = query.header(loop)
    assert header is not None
    start, stop, step = (facts.number(e) for e in (header.start, header.stop, header.step))
    if start is None or stop is None or not step:
        return None
    return len(range(start, stop, step))


def read(program: Program, root: ast.For, facts: Facts) -> Structure:
    """The structure of a nest, its form checked.

    Args:
        program: the whole program.
        root: the outermost loop of the nest; it is bound.
        facts: the program's integers.

    Raises:
        LoweringError: for a form that has no CUDA kernel, saying what to write.
    """
    check = _Check(program, root, facts)
    check.returns()
    check.statement(root, ())
    check.names()
    check.limits()
    return Structure(root, check.blocks, check.threads, check.counted)


class _Check:
    def __init__(self, program: Program, root: ast.For, facts: Facts) -> None:
        self.program, self.root, self.facts = program, root, facts
        self.blocks: dict[str, ast.For] = {}
        self.threads: dict[str, int] = {}
        self.counted: dict[str, ast.For] = {}
        self.inner_names = query.names_written(root)

    def fail(
        self,
        message: str,
        node: ast.AST,
        hint: str,
        note: str | None = None,
        *,
        code: str = "lowering.nesting",
    ) -> None:
        raise LoweringError(
            message,
            code=code,
            span=self.program.source.span(node),
            hints=[hint],
            notes=[] if note is None else [note],
        )

    def returns(self) -> None:
        """Refuse to leave the function from inside a kernel."""
        for each in query.statements(self.root):
            if isinstance(each, ast.Return):
                self.fail(
                    "a kernel cannot return out of a loop",
                    each,
                    "store the value in an array, and return after the loop",
                    code="lowering.return",
                )

    def statement(self, statement: ast.stmt, around: tuple[ast.For, ...]) -> None:
        """Check one statement inside the bound and other loops `around`."""
        if not is_bound(statement):
            return
        if isinstance(statement, ast.For):
            self._loop(statement, around)
            around = (*around, statement)
        elif not isinstance(statement, ast.If):
            word = type(statement).__name__.lower()
            self.fail(
                f"a loop bound to blocks or threads stands inside `{word}`",
                statement,
                "bind loops inside counted loops and static conditions only",
            )
        elif not self.facts.is_static(statement.test):
            self.fail(
                "a loop bound to blocks or threads stands under a condition on data",
                statement,
                "put the condition inside the bound loop",
            )
        for body in query.bodies(statement):
            self._beside_blocks(body)
            for each in body:
                self.statement(each, around)

    def _loop(self, loop: ast.For, around: tuple[ast.For, ...]) -> None:
        header = query.header(loop)
        if header is None or loop.orelse or any(map(flow.leaves, loop.body)):
            self.fail(
                "a loop around bound loops must count over a range, without `else`, `break`, "
                "`continue` or `return`",
                loop,
                "move what leaves the loop out of it",
            )
        assert header is not None
        kind = level(loop)
        if kind == "block":
            self._block_loop(loop, around)
        elif kind == "thread":
            self._thread_loop(loop, around)
        elif holds(loop, "block"):
            self.fail(
                f"{header.variable} runs in order inside a kernel, around a loop over blocks",
                loop,
                f"reorder {header.variable} outside of all block loops, or inside all of them",
                "blocks of one launch cannot wait for each other",
            )
        elif not all(map(self.facts.is_integer, (header.start, header.stop, header.step))):
            self.fail(
                f"how often {header.variable} runs depends on data, and loops over threads stand "
                "inside it",
                loop,
                f"reorder {header.variable} inside the loops over threads",
                "all threads of a block must run it equally often",
            )

    def _block_loop(self, loop: ast.For, around: tuple[ast.For, ...]) -> None:
        header, axis = query.header(loop), axis_of(loop)
        assert header is not None
        if axis in self.blocks:
            self.fail(
                f"two loops of one nest are block.{axis}",
                loop,
                "bind one of them to another axis, or distribute them into nests of their own",
            )
        if any(level(each) == "thread" for each in around):
            self.fail(
                f"{header.variable} runs over blocks inside a loop over threads",
                loop,
                f"reorder {header.variable} outside of the thread loops",
            )
        self.blocks[axis] = loop
        for bound in (header.start, header.stop, header.step):
            inside = query.names_read(bound) & self.inner_names
            if inside:
                self.fail(
                    f"the number of blocks along {axis} depends on {min(inside)}, which the "
                    "kernel itself computes",
                    loop,
                    "let the loop run over the largest range, with a guard inside",
                )
        if not query.integer(header.step):
            self.fail(
                f"the step of {header.variable} is no literal",
                loop,
                "write the step as a number",
                code="lowering.not-literal",
            )
        blocks = extent(loop, self.facts)
        if blocks is not None and blocks > MOST_BLOCKS[axis]:
            self.fail(
                f"{blocks} blocks along {axis}; a grid has at most {MOST_BLOCKS[axis]}",
                loop,
                "bind the longest loop to blockIdx.x, or split by a larger factor",
                code="lowering.limit",
            )

    def _thread_loop(self, loop: ast.For, around: tuple[ast.For, ...]) -> None:
        header, axis = query.header(loop), axis_of(loop)
        assert header is not None
        if any(level(each) == "thread" and axis_of(each) == axis for each in around):
            self.fail(
                f"{header.variable} is thread.{axis} inside another loop over thread.{axis}",
                loop,
                "bind one of them to another axis",
            )
        threads, known = extent(loop, self.facts), self.counted.get(axis)
        if threads is not None:
            self.threads[axis] = max(threads, self.threads.get(axis, 1))
        elif not self._is_counted(header) or (known is not None and not _is_alike(known, loop)):
            self._not_literal(loop, axis)
        else:
            self.counted[axis] = loop

    def _is_counted(self, header: query.Header) -> bool:
        """Whether the host can count the iterations of a loop before it launches the kernel."""
        from_0 = query.is_constant(header.start, 0) and query.is_constant(header.step, 1)
        is_known = self.facts.is_integer(header.stop)
        return from_0 and is_known and not query.names_read(header.stop) & self.inner_names

    def _not_literal(self, loop: ast.For, axis: str) -> None:
        header = query.header(loop)
        assert header is not None
        self.fail(
            f"the number of threads along {axis} must be a literal, or the same size in all loops; "
            f"{header.variable} runs over {printer.print_expression(loop.iter)}",
            loop,
            f"split {header.variable} by a literal factor and bind the inner loop",
            code="lowering.not-literal",
        )

    def _beside_blocks(self, body: Sequence[ast.stmt]) -> None:
        """What stands beside a loop over blocks must be the same for all blocks."""
        holding = [each for each in body if holds(each, "block")]
        if len(holding) > 1:
            self.fail(
                "two loops over blocks stand side by side in one nest",
                holding[1],
                "distribute the nest, so that each becomes a kernel of its own",
            )
        if not holding:
            return
        for each in body:
            fine = hardware.writes_names_only(each) or query.is_allocation(each)
            if each is not holding[0] and not fine:
                self.fail(
                    "this statement stands inside one loop over blocks and outside another",
                    each,
                    "distribute the nest, or move the statement into the inner loop",
                    "it would run once per block of the inner loop",
                )

    def names(self) -> None:
        """Refuse names that carry a value from one block or thread to another."""
        for loop in query.loops(self.root):
            if not level(loop):
                continue
            changed = {name for each in loop.body for name in query.names_written(each)}
            changed |= query.names_written(loop.target)
            lost = flow.carried(loop) | (changed & flow.live_after(self.program.function, loop))
            if lost:
                self._lost(min(lost), loop)

    def _lost(self, name: str, loop: ast.For) -> None:
        header = query.header(loop)
        assert header is not None
        writer = next(
            (
                s
                for s in query.statements(loop)
                if name in query.names_written(s) and not query.bodies(s)
            ),
            loop,
        )
        self.fail(
            f"{name} is written inside {header.variable}, which runs over {level(loop)}s, and "
            "read by another iteration of it or after it",
            writer,
            f"expand {name} into an array with one cell per iteration: "
            f"s.expand({name!r}, {header.variable!r})",
            f"each {level(loop)} has a {name} of its own",
            code="lowering.carried",
        )

    def limits(self) -> None:
        """Refuse blocks that no GPU takes."""
        for axis, loop in self.counted.items():
            if axis in self.threads:
                self._not_literal(loop, axis)
        if len(self.counted) > 1:
            *_, last = self.counted.values()
            self.fail(
                f"calls decide how many threads there are along {' and '.join(self.counted)}: at "
                "most one number of threads can be left open",
                last,
                "split all of these loops but one by literal factors, and bind the inner loops",
                code="lowering.not-literal",
            )
        total = 1
        for axis, threads in self.threads.items():
            total *= threads
            if threads > MOST_ALONG[axis]:
                self.fail(
                    f"{threads} threads along {axis}; a block has at most {MOST_ALONG[axis]}",
                    self.root,
                    "split the loop by a smaller factor",
                    code="lowering.limit",
                )
        if total > MOST_THREADS:
            shape = " x ".join(str(self.threads[a]) for a in AXES if a in self.threads)
            self.fail(
                f"{shape} = {total} threads; a block has at most {MOST_THREADS}",
                self.root,
                "split by smaller factors, or leave one of the loops unbound",
                code="lowering.limit",
            )
        for axis in self.counted:
            self.threads[axis] = min(MOST_ALONG[axis], MOST_THREADS // total)


def _is_alike(one: ast.For, other: ast.For) -> bool:
    return nodes.same(one.iter, other.iter)
