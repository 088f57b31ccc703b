"""Loops of products that matrix units compute, in CUDA text.

All threads of a warp load parts of the operands together, then multiply them: a tile of the first
operand is loaded once for all tiles of the second one beside it, and the other way round. The
layout of the parts is that of `astile.intrinsics.matrix_units`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from astile.analysis.forms import affine
from astile.analysis.forms.intervals import Range
from astile.analysis.reading import fragments, warps
from astile.analysis.reading.fragments import Operand, Product
from astile.analysis.reading.warps import MisfitError, Threads
from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower.indices import IndexWriter
from astile.lower.kernels.structure import Structure
from astile.lower.layouts import Layout
from astile.lower.types.kinds import Kinds

#: Registers of a part of the first operand, and of one of the second.
_ROWS, _COLUMNS = 4, 2
#: Bytes of the rows that `ldmatrix` reads, each aligned to as many.
_ROW_BYTES = 16


def products(
    program: Program, root: ast.For, kinds: Kinds, kernel: Structure
) -> Callable[[ast.For], Product | None]:
    """What finds the products in a loop of a kernel; None where the types are not known yet.

    Args:
        program: the whole program.
        root: the nest that becomes a kernel.
        kinds: types of the program's values.
        kernel: the structure of the kernel.

    Raises:
        LoweringError: for a marked loop that is no product of the form that there is an
            instruction for.
    """
    known: dict[int | None, Threads] = {}
    for loop in query.loops(root):
        header = query.header(loop)
        if header is None or header.kind not in query.MATRIX_WORDS:
            continue
        try:
            threads = warps.threads_around(program, loop)
            found = fragments.product(program, loop, threads)
            _check_block(kernel, loop)
            if _has_types(found, kinds):
                known[nodes.loop_id(loop)] = threads
        except MisfitError as problem:
            raise LoweringError(
                f"{header.kind} cannot compute this: {problem.reason}",
                code="lowering.matrix-product",
                span=program.source.span(problem.node),
                hints=[problem.hint],
            ) from None

    def product(loop: ast.For) -> Product | None:
        threads = known.get(nodes.loop_id(loop))
        return None if threads is None else fragments.product(program, loop, threads)

    return product


def _check_block(kernel: Structure, loop: ast.For) -> None:
    if kernel.block[:2] != (warps.WARP_X, warps.WARP_Y):
        x, y, _ = kernel.block
        raise MisfitError(
            f"blocks have {x} x {y} threads along x and y, and other threads are in a warp",
            loop,
            "bind all loops over threadIdx.x with 4 iterations, all over threadIdx.y with 8, and "
            "those over warps to threadIdx.z",
        )


def _has_types(found: Product, kinds: Kinds) -> bool:
    """Whether the arrays have the types of the instruction; False where one is not known.

    Raises:
        MisfitError: where one has another type.
    """
    wanted = {query.base_name(found.target) or "": "float32"}
    wanted |= {each.array: "float16" for each in (found.rows, found.columns)}
    for array, kind in wanted.items():
        held = kinds.arrays.get(array)
        if held not in (None, kind):
            raise MisfitError(
                f"{array} holds {held} and not {kind}",
                found.target,
                "multiply float16 and sum up in float32, or leave the loop as it was",
            )
    return all(kinds.arrays.get(array) is not None for array in wanted)


def written(loop: ast.For, writer: IndexWriter) -> list[ast.stmt] | None:
    """A loop as the instructions that compute it; None for what stays a loop.

    Args:
        loop: of any kind.
        writer: rewrites expressions where the loop stands.
    """
    layout = writer.layout
    product = None if layout is None else layout.product(loop)
    if layout is None or product is None:
        return None
    checks = writer.checks
    checked = () if checks is None else (*checks.arrays, *(each[0] for each in checks.negative))
    accesses = (product.target, product.rows.access, product.columns.access)
    if any(query.base_name(each) in checked for each in accesses):
        return None
    text = _Text(product, layout, layout.lane())
    lanes = Range(text.lane, affine.constant(0), affine.constant(warps.WARP_X * warps.WARP_Y - 1))
    made = text.statements(replace(writer, ranges=(*writer.ranges, lanes)))
    nodes.add_comment(made[0], "the threads of a warp multiply matrices together")
    return made


def declared(parts: Mapping[str, tuple[int, ...]], cuda: str, numpy: str) -> list[ast.stmt]:
    """Arrays in registers for parts of operands, to stand at the top of a kernel.

    Args:
        parts: array -> its extents.
        cuda: the name of ``numba.cuda`` in the text.
        numpy: the name of ``numpy``.
    """
    made: list[ast.stmt] = []
    for name, shape in parts.items():
        extents = nodes.tuple_of([nodes.const(each) for each in shape])
        arguments = [extents, nodes.attribute(numpy, "uint32")]
        made.append(nodes.assign(name, nodes.call(f"{cuda}.local.array", arguments)))
    return made


@dataclass(frozen=True)
class _Text:
    """Writes one product.

    Args:
        product: the loops.
        layout: of the arrays.
        lane: the name of the number of a thread in its warp.
    """

    product: Product
    layout: Layout
    lane: str

    def statements(self, writer: IndexWriter) -> list[ast.stmt]:
        """All of it."""
        product = self.product

        def inside(here: IndexWriter) -> list[ast.stmt]:
            first = self._loads(product.rows, _ROWS, here)
            second = self._loads(product.columns, _COLUMNS, here)
            loops = (*product.rows.loops, *product.columns.loops)
            return [*first, *second, *_nested(loops, here, self._multiplied)]

        return _nested(product.outer, writer, inside)

    def _loads(self, operand: Operand, registers: int, writer: IndexWriter) -> list[ast.stmt]:
        """Statements that load the parts of an operand, for all its tiles.

        Two tiles of the second operand are loaded at once where their number is even.
        """
        part, values = self._part(operand, registers), self._places(operand, registers)
        loops = list(operand.loops)
        tile: list[ast.expr] = [nodes.name(_variable(each)) for each in loops]
        tiles = [tile]
        if loops and registers == _COLUMNS and _count(loops[-1]) % 2 == 0:
            name = _variable(loops[-1])
            loops[-1], pair = _halved(loops[-1]), affine.variable(name) * 2
            values[name] = (pair + affine.atom(_quotient(self.lane, 16))).expression()
            tiles = [[*tile[:-1], (pair + k).expression()] for k in range(2)]
        word = f"load_{'rows' if operand.along_sum else 'columns'}{registers * len(tiles)}"

        def body(here: IndexWriter) -> list[ast.stmt]:
            targets = [
                nodes.subscript(part, [*map(here.index, each), nodes.const(k)], store=True)
                for each in tiles
                for k in range(registers)
            ]
            cell = self._index(operand.access, values, here)
            call = nodes.call(self.layout.unit(word), [nodes.name(operand.array), cell])
            return _stored(self.layout.fresh(f"{operand.array}_loaded"), targets, call)

        self.layout.wide[operand.array] = _ROW_BYTES
        return _nested(loops, writer, body)

    def _part(self, operand: Operand, registers: int) -> str:
        """The array in registers for the parts of an operand."""
        shape = (*map(_count, operand.loops), registers)
        parts = self.layout.parts
        wanted = f"{operand.array}_part"
        name = self.layout.fresh(wanted)
        while parts.setdefault(name, shape) != shape:
            wanted += "_other"
            name = self.layout.fresh(wanted)
        return name

    def _places(self, operand: Operand, registers: int) -> dict[str, ast.expr]:
        """The values of variables for which the cell is that which a lane names to `ldmatrix`."""
        product, lane = self.product, self.lane
        row, half = _remainder(lane, 8), _remainder(_quotient(lane, 8), 2)
        zero = nodes.const(0)
        if registers == _ROWS:
            right = affine.atom(_quotient(lane, 16)) * 8
            if operand.along_sum:
                found = {product.half: half, product.row: row, product.depth: right.expression()}
            else:
                depth = (right + affine.atom(row)).expression()
                found = {product.half: half, product.row: zero, product.depth: depth}
        elif operand.along_sum:
            pair, column = _quotient(row, 2), _remainder(lane, 2)
            depth = (affine.atom(half) * 8).expression()
            found = {product.pair: pair, product.column: column, product.depth: depth}
        else:
            depth = _remainder(lane, 16)
            found = {product.pair: zero, product.column: zero, product.depth: depth}
        return found

    def _index(
        self, access: ast.Subscript, values: Mapping[str, ast.expr], writer: IndexWriter
    ) -> ast.expr:
        """The indices of an access at other values of its variables."""
        made = [affine.simplified(nodes.substitute(each, values)) for each in query.indices(access)]
        here = replace(writer, unsigned=writer.unsigned | {self.lane})
        return nodes.tuple_of([here.as_unsigned(each) or here.index(each) for each in made])

    def _multiplied(self, writer: IndexWriter) -> list[ast.stmt]:
        """The product of one tile."""
        product = self.product
        factors = []
        for operand, registers in ((product.rows, _ROWS), (product.columns, _COLUMNS)):
            part = self._part(operand, registers)
            tile = [writer.index(nodes.name(_variable(each))) for each in operand.loops]
            factors.append(
                nodes.tuple_of(
                    [
                        nodes.subscript(part, [*map(nodes.clone, tile), nodes.const(k)])
                        for k in range(registers)
                    ]
                )
            )
        cells = [self._cell(half, column, writer) for half in range(2) for column in range(2)]
        sums = nodes.tuple_of([nodes.clone(each) for each in cells])
        for each in cells:
            each.ctx = ast.Store()
        call = nodes.call(self.layout.unit("multiply_add_f16"), [*factors, sums])
        array = query.base_name(product.target)
        return _stored(self.layout.fresh(f"{array}_sums"), cells, call)

    def _cell(self, half: int, column: int, writer: IndexWriter) -> ast.Subscript:
        """One of the four sums of a thread."""
        product = self.product
        values = {product.half: nodes.const(half), product.column: nodes.const(column)}
        indices = [
            affine.simplified(nodes.substitute(each, values))
            for each in query.indices(product.target)
        ]
        base = query.base_name(product.target)
        assert base is not None
        return writer.access(nodes.subscript(base, indices))


def _nested(
    loops: Sequence[ast.For],
    writer: IndexWriter,
    body: Callable[[IndexWriter], list[ast.stmt]],
) -> list[ast.stmt]:
    """Statements in loops, outermost first."""
    if not loops:
        return body(writer)
    first, *rest = loops
    inner = _nested(rest, writer.inside(first), body)
    return [nodes.for_loop(nodes.clone(first.target), writer.range_call(first), inner)]


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    assert header is not None
    return header.variable


def _count(loop: ast.For) -> int:
    header = query.header(loop)
    count = None if header is None else query.integer(header.stop)
    assert count is not None
    return count


def _halved(loop: ast.For) -> ast.For:
    """A loop with half as many iterations."""
    counter = nodes.call("range", [nodes.const(_count(loop) // 2)])
    return nodes.for_loop(nodes.clone(loop.target), counter, nodes.clone_body(loop.body))


def _quotient(of: str | ast.expr, by: int) -> ast.expr:
    return nodes.binary(_expression(of), ast.FloorDiv, nodes.const(by))


def _remainder(of: str | ast.expr, by: int) -> ast.expr:
    return nodes.binary(_expression(of), ast.Mod, nodes.const(by))


def _expression(of: str | ast.expr) -> ast.expr:
    return nodes.name(of) if isinstance(of, str) else nodes.clone(of)


def _stored(name: str, targets: Sequence[ast.expr], call: ast.expr) -> list[ast.stmt]:
    """Statements that store the parts of what a call returns, each in a line of its own."""
    made: list[ast.stmt] = [nodes.assign(name, call)]
    for k, target in enumerate(targets):
        made.append(nodes.assign(target, nodes.subscript(name, [nodes.const(k)])))
    return made
