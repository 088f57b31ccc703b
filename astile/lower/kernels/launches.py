"""How a host function launches a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
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
        checks: what the host does before the launch.
    """

    extents: Sequence[ast.expr]
    checks: Sequence[ast.stmt] = ()


def block(kernel: Structure, name: str) -> Block:
    """The threads of a block; a call that asks for more than there can be raises.

    Args:
        kernel: the structure of the kernel.
        name: a free name for how many there are along an axis.
    """
    extents: list[ast.expr] = [nodes.const(each) for each in kernel.block]
    checks: list[ast.stmt] = []
    for axis, loop in kernel.counted.items():
        header = query.header(loop)
        assert header is not None
        position, most = structure.AXES.index(axis), kernel.threads[axis]
        if isinstance(header.stop, ast.Name):
            name = header.stop.id
        else:
            checks.append(nodes.assign(name, nodes.clone(header.stop)))
        extents[position] = nodes.name(name)
        if kernel.has_more:
            extents[position] = nodes.call("max", [nodes.name(name), nodes.const(1)])
        message = (
            f"{printer.print_expression(header.stop)} is over {most}, the most threads that a "
            f"block can have here, and bind({header.variable!r}, 'threadIdx.{axis}') makes one of "
            f"each iteration: split {header.variable} by a literal factor, and bind the inner loop"
        )
        error = nodes.call("ValueError", [nodes.const(message)])
        test = nodes.compare(nodes.name(name), ast.Gt, nodes.const(most))
        checks.append(nodes.if_then(test, [ast.Raise(error, None)]))
    return Block(extents, checks)


def launch(
    choice: Choice,
    grid: Mapping[str, ast.expr],
    block: Sequence[ast.expr],
    parameters: Sequence[str],
    grid_name: str,
) -> list[ast.stmt]:
    """``kernel[grid, block](...)``, left out where the grid or the block is empty.

    Args:
        choice: the kernel.
        grid: axis -> blocks along it, as the host computes them.
        block: threads along x, y, z, as the host computes them.
        parameters: what the kernel is handed.
        grid_name: a free name for the grid.
    """
    deepest = max((i for i, axis in enumerate("xyz") if axis in grid), default=0)
    extents = [grid.get(axis, nodes.const(1)) for axis in "xyz"[: deepest + 1]]
    threads = list(block)
    while len(threads) > 1 and query.is_constant(threads[-1], 1):
        threads.pop()
    if any(affine.of(each).value == 0 for each in extents):
        return [ast.Pass()]
    unknown = [e for e in extents if affine.of(e).value is None]
    whole = extents[0] if len(extents) == 1 else nodes.tuple_of(extents)
    threads_expression = threads[0] if len(threads) == 1 else nodes.tuple_of(threads)
    made: list[ast.stmt] = []
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
    return [*made, nodes.if_then(nodes.conjunction(tests), [launched])] if tests else [launched]
