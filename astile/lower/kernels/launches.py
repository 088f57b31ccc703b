"""How a host function launches a kernel."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.ir import nodes, printer, query
from astile.lower.kernels import structure
from astile.lower.kernels.structure import Structure


@dataclass(frozen=True)
class Choice:
    """Which kernel is launched.

    Args:
        kernel: its name.
        test: whether it can be; None where it always can.
        other: the name of the kernel that is launched otherwise.
        shared: bytes of shared memory that both ask for.
    """

    kernel: str
    test: ast.expr | None = None
    other: str | None = None
    shared: int = 0

    def launched(self, grid: ast.expr, block: ast.expr, parameters: Sequence[str]) -> ast.stmt:
        """``kernel[grid, block](parameters)``."""
        made = self._launched(self.kernel, grid, block, parameters)
        if self.test is None or self.other is None:
            return made
        other = self._launched(self.other, nodes.clone(grid), nodes.clone(block), parameters)
        return nodes.if_then(self.test, [made], [other])

    def _launched(
        self, name: str, grid: ast.expr, block: ast.expr, parameters: Sequence[str]
    ) -> ast.stmt:
        stream_and_shared = [nodes.const(0), nodes.const(self.shared)] if self.shared else []
        configured = nodes.subscript(name, [grid, block, *stream_and_shared])
        return ast.Expr(nodes.call(configured, [nodes.name(p) for p in parameters]))


@dataclass(frozen=True)
class Block:
    """The threads of a block, as the host computes them.

    Args:
        extents: along x, y, z.
        counts: what the host computes before the launch.
        limits: conditions under which there are more than there can be, and what is raised then.
    """

    extents: Sequence[ast.expr]
    counts: Sequence[ast.stmt] = ()
    limits: Sequence[ast.If] = ()


@dataclass(frozen=True, eq=False)
class Limit:
    """What a launch with blocks asks before it is made.

    Args:
        statement: asks it right before the launch.
        test: whether the grid has blocks, and the blocks too many threads, at any place where the
            sizes are known.
    """

    statement: ast.If
    test: ast.expr

    def ahead(self) -> ast.If:
        """The statement for a place before other launches."""
        return nodes.if_then(self.test, self.statement.body)


def block(kernel: Structure, name: str) -> Block:
    """The threads of a block; a call that asks for more than there can be raises.

    Args:
        kernel: the structure of the kernel.
        name: a free name for how many there are along an axis.
    """
    extents: list[ast.expr] = [nodes.const(each) for each in kernel.block]
    counts: list[ast.stmt] = []
    limits: list[ast.If] = []
    for axis, loop in kernel.counted.items():
        header = query.header(loop)
        assert header is not None
        position, most = structure.AXES.index(axis), kernel.threads[axis]
        if isinstance(header.stop, ast.Name):
            name = header.stop.id
        else:
            counts.append(nodes.assign(name, nodes.clone(header.stop)))
        extents[position] = nodes.name(name)
        if kernel.has_more:
            extents[position] = nodes.call("max", [nodes.name(name), nodes.const(1)])
        message = (
            f"{printer.print_expression(header.stop)} is over {most}, the most threads that a "
            f"block can have here, and bind({header.variable!r}, 'threadIdx.{axis}') makes one of "
            f"each iteration: split {header.variable} by a literal factor, and bind the inner loop"
        )
        error = nodes.call("ValueError", [nodes.const(message)])
        test = nodes.compare(nodes.clone(header.stop), ast.Gt, nodes.const(most))
        limits.append(nodes.if_then(test, [ast.Raise(error, None)]))
    return Block(extents, counts, limits)


def limits(threads: Block, grid: Iterable[ast.expr]) -> list[Limit]:
    """What a launch asks, in a form for a place before other launches.

    Args:
        threads: of its blocks.
        grid: blocks along the axes that have several.
    """
    are_any = [
        nodes.compare(nodes.clone(each), ast.Gt, nodes.const(0))
        for each in grid
        if affine.of(each).value is None
    ]
    return [
        Limit(each, nodes.conjunction([*map(nodes.clone, are_any), nodes.clone(each.test)]))
        for each in threads.limits
    ]


def asked_first(
    body: Sequence[ast.stmt], kernels: Collection[str], asked: Sequence[Limit]
) -> list[ast.stmt]:
    """A host function that asks before the first launch what it can: nothing is stored by then.

    Args:
        body: its statements.
        kernels: the names of all kernels.
        asked: what launches ask.
    """
    first = _first(body, kernels)
    stored: list[str] = [
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    before = {name for each in body[:first] for name in query.names_written(each)}
    early = [
        each
        for each in asked
        if not _stands_in(each.statement, body[first : first + 1])
        and all(stored.count(name) == int(name in before) for name in query.names(each.test))
    ]
    gone = [each.statement for each in early]
    return _without([*body[:first], *(each.ahead() for each in early), *body[first:]], gone)


def _first(body: Sequence[ast.stmt], kernels: Collection[str]) -> int:
    """Position of the first statement that launches a kernel."""
    launching = (k for k, each in enumerate(body) if not query.names(each).isdisjoint(kernels))
    return next(launching, len(body))


def _stands_in(statement: ast.stmt, body: Sequence[ast.stmt]) -> bool:
    return any(node is statement for each in body for node in ast.walk(each))


def _without(body: Sequence[ast.stmt], gone: Sequence[ast.stmt]) -> list[ast.stmt]:
    kept = [each for each in body if not any(each is e for e in gone)]
    for each in kept:
        for inner in query.bodies(each):
            inner[:] = _without(inner, gone)
    return kept


def launch(
    choice: Choice,
    grid: Mapping[str, ast.expr],
    block: Block,
    parameters: Sequence[str],
    grid_name: str,
) -> list[ast.stmt]:
    """``kernel[grid, block](...)``, left out where the grid or the block is empty.

    Args:
        choice: the kernel.
        grid: axis -> blocks along it, as the host computes them.
        block: threads of a block, as the host computes them.
        parameters: what the kernel is handed.
        grid_name: a free name for the grid.
    """
    deepest = max((i for i, axis in enumerate("xyz") if axis in grid), default=0)
    extents = [grid.get(axis, nodes.const(1)) for axis in "xyz"[: deepest + 1]]
    threads = list(block.extents)
    while len(threads) > 1 and query.is_constant(threads[-1], 1):
        threads.pop()
    if any(affine.of(each).value == 0 for each in extents):
        return [ast.Pass()]
    unknown = [e for e in extents if affine.of(e).value is None]
    whole = extents[0] if len(extents) == 1 else nodes.tuple_of(extents)
    threads_expression = threads[0] if len(threads) == 1 else nodes.tuple_of(threads)
    made: list[ast.stmt] = [*block.counts]
    first: ast.expr = nodes.clone(whole)
    if isinstance(whole, ast.Name):
        grid_name = whole.id
    elif unknown:
        made.append(nodes.assign(grid_name, whole))
        first = nodes.name(grid_name)
    launched = choice.launched(first, threads_expression, parameters)
    tests: list[ast.expr] = []
    if unknown:
        smallest: ast.expr = nodes.name(grid_name)
        if len(extents) > 1:
            smallest = nodes.call("min", [smallest])
        tests.append(nodes.compare(smallest, ast.Gt, nodes.const(0)))
    for each in threads:
        if isinstance(each, ast.Name):
            tests.append(nodes.compare(nodes.clone(each), ast.Gt, nodes.const(0)))
    body = [*block.limits, launched]
    return [*made, *([nodes.if_then(nodes.conjunction(tests), body)] if tests else body)]
