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
from astile.lower.kernels import parts
from astile.lower.kernels.parts import Load
from astile.lower.kernels.structure import Structure
from astile.lower.layouts import Layout
from astile.lower.types.kinds import Kinds

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
    known: dict[int | None, tuple[Threads, str]] = {}
    for loop in query.loops(root):
        header = query.header(loop)
        if header is None or header.kind not in query.MATRIX_WORDS:
            continue
        try:
            threads = warps.threads_around(program, loop)
            found = fragments.product(program, loop, threads, header.kind)
            _check_block(kernel, loop)
            if _has_types(found, kinds):
                known[nodes.loop_id(loop)] = threads, header.kind
        except MisfitError as problem:
            raise LoweringError(
                f"{header.kind} cannot compute this: {problem.reason}",
                code="lowering.matrix-product",
                span=program.source.span(problem.node),
                hints=[problem.hint],
            ) from None

    def product(loop: ast.For) -> Product | None:
        found = known.get(nodes.loop_id(loop))
        return None if found is None else fragments.product(program, loop, *found)

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
    kind = found.unit.kind
    wanted |= {each.array: kind for each in (found.rows, found.columns)}
    for array, needed in wanted.items():
        held = kinds.arrays.get(array)
        if held not in (None, needed):
            raise MisfitError(
                f"{array} holds {held} and not {needed}",
                found.target,
                f"multiply {kind} and sum up in float32, or leave the loop as it was",
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


def declared(held: Mapping[str, tuple[int, ...]], cuda: str, numpy: str) -> list[ast.stmt]:
    """Arrays in registers for parts of operands, to stand at the top of a kernel.

    Args:
        held: array -> its extents.
        cuda: the name of ``numba.cuda`` in the text.
        numpy: the name of ``numpy``.
    """
    made: list[ast.stmt] = []
    for name, shape in held.items():
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
            first = self._loads(product.rows, here)
            second = self._loads(product.columns, here)
            loops = (*product.rows.loops, *product.columns.loops)
            return [*first, *second, *_nested(loops, here, self._multiplied)]

        return _nested(product.outer, writer, inside)

    def _loads(self, operand: Operand, writer: IndexWriter) -> list[ast.stmt]:
        """Statements that load the parts of an operand, for all its tiles."""
        found = parts.loads(self.product, operand, self.lane)
        loops = list(operand.loops)
        tile: list[ast.expr] = [nodes.name(_variable(each)) for each in loops]
        tiles = [tile]
        if loops and found[0].word is not None and self._is_paired(found[0], loops[-1]):
            last = loops.pop()
            name, pairs = _variable(last), _count(last) // 2
            loops += [_counted(last, pairs)] if pairs > 1 else []
            pair = affine.variable(name) * 2 if pairs > 1 else affine.constant(0)
            second = (pair + affine.atom(parts.quotient(self.lane, 16))).expression()
            cells = ({**found[0].cells[0], name: second},)
            found = [replace(found[0], word=f"{found[0].word[:-1]}4", cells=cells)]
            tiles = [[*tile[:-1], (pair + k).expression()] for k in range(2)]
        if found[0].word is not None:
            self.layout.wide[operand.array] = _ROW_BYTES

        def body(here: IndexWriter) -> list[ast.stmt]:
            return [made for each in found for made in self._load(operand, each, tiles, here)]

        return _nested(loops, writer, body)

    def _is_paired(self, load: Load, loop: ast.For) -> bool:
        """Whether two tiles can be loaded at once, whose number is even."""
        return str(load.word).endswith("2") and _count(loop) % 2 == 0

    def _load(
        self, operand: Operand, load: Load, tiles: Sequence[list[ast.expr]], here: IndexWriter
    ) -> list[ast.stmt]:
        """What is loaded at once, and the registers it goes to."""
        part = self._part(operand)
        targets = [
            nodes.subscript(part, [*map(here.index, each), nodes.const(k)], store=True)
            for each in tiles
            for k in range(load.first, load.first + load.count)
        ]
        if load.word is not None:
            index = nodes.tuple_of(self._index(operand.access, load.cells[0], here))
            loaded: ast.expr = nodes.call(
                self.layout.unit(load.word), [nodes.name(operand.array), index]
            )
        else:
            cells = [self._index(operand.access, each, here) for each in load.cells]
            loaded = nodes.tuple_of([nodes.subscript(operand.array, each) for each in cells])
        rounding = parts.conversion(self.product)
        if rounding is not None:
            loaded = nodes.call(self.layout.unit(rounding), [loaded])
        return parts.stored(self.layout.fresh(f"{operand.array}_loaded"), targets, loaded)

    def _part(self, operand: Operand) -> str:
        """The array in registers for the parts of an operand."""
        registers = self._registers(operand)
        shape = (*map(_count, operand.loops), registers)
        wanted = f"{operand.array}_part"
        name = self.layout.fresh(wanted)
        while self.layout.parts.setdefault(name, shape) != shape:
            wanted += "_other"
            name = self.layout.fresh(wanted)
        return name

    def _registers(self, operand: Operand) -> int:
        return parts.ROWS if operand is self.product.rows else parts.COLUMNS

    def _index(
        self, access: ast.Subscript, values: Mapping[str, ast.expr], writer: IndexWriter
    ) -> list[ast.expr]:
        """The indices of an access at other values of its variables."""
        made = [affine.simplified(nodes.substitute(each, values)) for each in query.indices(access)]
        here = replace(writer, unsigned=writer.unsigned | {self.lane})
        return [here.as_unsigned(each) or here.index(each) for each in made]

    def _multiplied(self, writer: IndexWriter) -> list[ast.stmt]:
        """The product of one tile."""
        product = self.product
        factors = []
        for operand in (product.rows, product.columns):
            part, registers = self._part(operand), self._registers(operand)
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
        word = f"multiply_add_{product.word.rpartition('.')[2]}"
        call = nodes.call(self.layout.unit(word), [*factors, sums])
        array = query.base_name(product.target)
        return parts.stored(self.layout.fresh(f"{array}_sums"), cells, call)

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


def _counted(loop: ast.For, count: int) -> ast.For:
    """A loop with another number of iterations."""
    counter = nodes.call("range", [nodes.const(count)])
    return nodes.for_loop(nodes.clone(loop.target), counter, nodes.clone_body(loop.body))
