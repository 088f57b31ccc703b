"""How a host function launches a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.ir import nodes


@dataclass(frozen=True)
class Choice:
    """Which kernel is launched.

    Args:
        kernel: its name.
        test: whether it can be; None where it always can.
        other: the name of the kernel that is launched otherwise.
    """

    kernel: str
    test: ast.expr | None = None
    other: str | None = None

    def launched(self, grid: ast.expr, block: ast.expr, parameters: Sequence[str]) -> ast.stmt:
        """``kernel[grid, block](parameters)``."""
        made = _launched(self.kernel, grid, block, parameters)
        if self.test is None or self.other is None:
            return made
        other = _launched(self.other, nodes.clone(grid), nodes.clone(block), parameters)
        return nodes.if_then(self.test, [made], [other])


def _launched(name: str, grid: ast.expr, block: ast.expr, parameters: Sequence[str]) -> ast.stmt:
    configured = nodes.subscript(name, [grid, block])
    return ast.Expr(nodes.call(configured, [nodes.name(p) for p in parameters]))


def launch(
    choice: Choice,
    grid: Mapping[str, ast.expr],
    block: tuple[int, int, int],
    parameters: Sequence[str],
    grid_name: str,
) -> list[ast.stmt]:
    """``kernel[grid, block](...)``, left out where the grid is empty.

    Args:
        choice: the kernel.
        grid: axis -> blocks along it, as the host computes them.
        block: threads along x, y, z.
        parameters: what the kernel is handed.
        grid_name: a free name for the grid.
    """
    deepest = max((i for i, axis in enumerate("xyz") if axis in grid), default=0)
    extents = [grid.get(axis, nodes.const(1)) for axis in "xyz"[: deepest + 1]]
    shape = list(block)
    while len(shape) > 1 and shape[-1] == 1:
        shape.pop()
    threads = [nodes.const(n) for n in shape]
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
    if not unknown:
        return [launched]
    smallest: ast.expr = nodes.name(grid_name)
    if len(extents) > 1:
        smallest = nodes.call("min", [smallest])
    positive = nodes.compare(smallest, ast.Gt, nodes.const(0))
    return [*made, nodes.if_then(positive, [launched])]
