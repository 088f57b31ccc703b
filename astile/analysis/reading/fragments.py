"""Products of matrices as one instruction of the matrix units computes them.

The 32 threads of a warp hold the 16 x 8 cells of a tile together, four each: the thread with
``threadIdx.y == row`` and ``threadIdx.x == pair`` those of rows ``row`` and ``row + 8`` and columns
``2 * pair`` and ``2 * pair + 1``. In a program, one thread's cells are computed by::

    for half in range(2):
        for column in range(2):
            for k in range(16):
                C[...] += float32(A[8 * half + row, k]) * float32(B[k, 2 * pair + column])

with loops over more such tiles anywhere among these. The operands lie in shared memory, where the
instruction `ldmatrix` reads rows of 16 bytes. The layout is that of "PTX ISA", NVIDIA, section
"Matrix multiply-accumulate operation using mma instruction". Other instructions multiply float32
that is rounded: ``tf32(A[...]) * tf32(B[...])``, in sums of 8, and ``bf16(A[...]) * bf16(B[...])``.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms import affine
from astile.analysis.reading.calls import Calls
from astile.analysis.reading.warps import WARP_X, WARP_Y, MisfitError, Threads, counts_to, is_data
from astile.ir import nodes, query
from astile.ir.program import Program

#: Rows of the matrices that operands are made of, and bytes of a row.
_SIDE, _ROW_BYTES = 8, 16
_SINGLE = ("numpy.float32", "astile.loops.float32")


@dataclass(frozen=True)
class Unit:
    """What an instruction multiplies.

    Args:
        depth: products for each sum.
        kind: type of the cells of the operands.
        casts: functions around the operands of a product.
        spelled: one of them, as it is written.
    """

    depth: int
    kind: str
    casts: tuple[str, ...]
    spelled: str

    @property
    def cells(self) -> int:
        """Cells of a row of 16 bytes."""
        return _ROW_BYTES // (2 if self.kind == "float16" else 4)

    @property
    def form(self) -> str:
        """The form of the product, as text."""
        return f"C[...] += {self.spelled}(A[...]) * {self.spelled}(B[...])"


#: Word of a loop -> its instruction.
UNITS: Mapping[str, Unit] = {
    "mma.m16n8k16.f16": Unit(16, "float16", _SINGLE, "float32"),
    "mma.m16n8k16.bf16": Unit(16, "float32", ("astile.loops.bf16",), "bf16"),
    "mma.m16n8k8.tf32": Unit(8, "float32", ("astile.loops.tf32",), "tf32"),
}


@dataclass(frozen=True, eq=False)
class Operand:
    """One of the two matrices that are multiplied.

    Args:
        array: its name.
        access: the cell that an iteration reads.
        loops: the loops over tiles that only it depends on.
        along_sum: whether neighbours along the sum lie side by side; else those along its rows or
            columns do, for cells of 2 bytes.
    """

    array: str
    access: ast.Subscript
    loops: tuple[ast.For, ...]
    along_sum: bool


@dataclass(frozen=True, eq=False)
class Product:
    """A nest of the form that an instruction has.

    Args:
        target: the cell that an iteration adds to.
        rows: the operand that has the rows of the result.
        columns: the one that has its columns.
        outer: the other loops over tiles, outermost first.
        row: variable of the loop over threads that have rows of their own.
        pair: of that over threads that have columns of their own.
        half: of the loop over the two rows of a thread.
        column: of the loop over its two columns.
        depth: of the sum.
        word: of the instruction.
    """

    target: ast.Subscript
    rows: Operand
    columns: Operand
    outer: tuple[ast.For, ...]
    row: str
    pair: str
    half: str
    column: str
    depth: str
    word: str

    @property
    def unit(self) -> Unit:
        """What the instruction multiplies."""
        return UNITS[self.word]


def product(program: Program, loop: ast.For, threads: Threads, word: str) -> Product:
    """A loop as products that the matrix units compute.

    Args:
        program: the program.
        loop: the outermost loop over such tiles.
        threads: of the warp that runs it.
        word: of the instruction, a key of `UNITS`.

    Raises:
        MisfitError: for a nest of another form.
    """
    unit = UNITS[word]
    loops, update = _nest(loop, unit)
    target, factors = _factors(program, update, unit)
    rows, columns = _told_apart(update, factors, threads)
    used = {name: query.names(each) for name, each in (("a", rows), ("b", columns))}
    used["c"] = query.names(target)
    roles = [
        _role(loops, (2, unit), used, "ac", "b", "the two rows of each thread"),
        _role(loops, (2, unit), used, "bc", "a", "the two columns of each thread"),
        _role(loops, (unit.depth, unit), used, "ab", "c", f"the {unit.depth} products of each sum"),
    ]
    half, column, depth = (_variable(each) for each in roles)
    _check_cells(target, half, column)
    rest = [each for each in loops if not any(each is role for role in roles)]
    own = {
        key: tuple(e for e in rest if _variable(e) in used[key] and _variable(e) not in used[other])
        for key, other in ("ab", "ba")
    }
    outer = tuple(e for e in rest if e not in own["a"] and e not in own["b"])
    across_rows = [{threads.row: k} for k in range(_SIDE)]
    across_columns = [{threads.pair: k // 2, column: k % 2} for k in range(_SIDE)]
    return Product(
        target,
        _operand(program, rows, own["a"], (depth, unit), across_rows, threads.own),
        _operand(program, columns, own["b"], (depth, unit), across_columns, threads.own),
        outer,
        threads.row,
        threads.pair,
        half,
        column,
        depth,
        word,
    )


def _variable(loop: ast.For) -> str:
    header = query.header(loop)
    assert header is not None
    return header.variable


def _nest(loop: ast.For, unit: Unit) -> tuple[list[ast.For], ast.AugAssign]:
    """The loops of a nest, outermost first, and the one statement in it."""
    loops: list[ast.For] = []
    statement: ast.stmt | None = loop
    while isinstance(statement, ast.For):
        header = query.header(statement)
        count = None if header is None else query.integer(header.stop)
        kinds = ("range", "unroll", *query.MATRIX_WORDS)
        if header is None or count is None or header.kind not in kinds or statement.orelse:
            raise _no_tile(statement)
        if not counts_to(header, count) or count < 1 or header.variable in map(_variable, loops):
            raise _no_tile(statement)
        loops.append(statement)
        statement = query.only_statement(statement.body)
    if not isinstance(statement, ast.AugAssign):
        raise MisfitError(
            f"the loops hold something else than one `{unit.form}`",
            loops[-1].body[0],
            "distribute the loops, so that the products are alone in theirs",
        )
    return loops, statement


def _no_tile(loop: ast.For) -> MisfitError:
    return MisfitError(
        "this is no loop from 0 to a number",
        loop,
        "split the loops by numbers, and tensorize one of the inner ones",
    )


def _factors(
    program: Program, update: ast.AugAssign, unit: Unit
) -> tuple[ast.Subscript, tuple[ast.Subscript, ast.Subscript]]:
    """What an update adds to, and the cells it multiplies."""
    calls = Calls(program, frozenset(query.names_written(program.function)))
    match update:
        case ast.AugAssign(
            target=ast.Subscript() as target,
            op=ast.Add(),
            value=ast.BinOp(
                left=ast.Call(args=[ast.Subscript() as left], keywords=[]) as first,
                op=ast.Mult(),
                right=ast.Call(args=[ast.Subscript() as right], keywords=[]) as second,
            ),
        ) if all(calls.path(e.func) in unit.casts for e in (first, second)):
            return target, (left, right)
    hint = "cast the operands of the product, which then is exact: `np.float32(A[i, k])`"
    if unit.casts != _SINGLE:
        hint = (
            f"say in the function that operands are rounded, since that changes the result: "
            f"`{unit.spelled}(A[i, k])`, from astile.loops"
        )
    raise MisfitError(f"the statement is no `{unit.form}`", update, hint)


def _told_apart(
    update: ast.AugAssign, factors: tuple[ast.Subscript, ast.Subscript], threads: Threads
) -> tuple[ast.Subscript, ast.Subscript]:
    """The operand with the rows of the result, then the one with its columns."""
    first, second = factors
    if threads.row not in query.names(first):
        first, second = second, first
    in_first, in_second = query.names(first), query.names(second)
    apart = threads.pair not in in_first and threads.row not in in_second
    if threads.row not in in_first or threads.pair not in in_second or not apart:
        raise MisfitError(
            f"rows of one operand have to depend on {threads.row} alone, columns of the other on "
            f"{threads.pair}",
            update,
            "bind the innermost loop over rows to threadIdx.y, the pairs of columns to threadIdx.x",
        )
    names = [query.base_name(each) for each in (update.target, first, second)]
    if names[0] in names[1:]:
        raise MisfitError(
            f"{names[0]} is read and written", update, "sum up in an array of its own"
        )
    return first, second


def _role(
    loops: Sequence[ast.For],
    wanted: tuple[int, Unit],
    used: Mapping[str, set[str]],
    inside: str,
    outside: str,
    what: str,
) -> ast.For:
    """The innermost loop of a length that some accesses depend on and others do not."""
    count, unit = wanted
    for each in reversed(loops):
        name, header = _variable(each), query.header(each)
        assert header is not None
        fits = all(name in used[k] for k in inside) and not any(name in used[k] for k in outside)
        if fits and query.is_constant(header.stop, count):
            return each
    raise MisfitError(
        f"there is no loop of length {count} over {what}",
        loops[0],
        f"split rows by [..., 2, {WARP_Y}], columns by [..., {WARP_X}, 2] and the sum by "
        f"[..., {unit.depth}], and tensorize a loop around all of 2, 2 and {unit.depth}",
    )


def _check_cells(target: ast.Subscript, half: str, column: str) -> None:
    """Refuse where the four cells of a thread are not four."""
    corners = [
        _forms(target, {half: nodes.const(h), column: nodes.const(c)})
        for h in range(2)
        for c in range(2)
    ]
    for k, first in enumerate(corners):
        for second in corners[k + 1 :]:
            apart = [(a - b).value for a, b in zip(first, second, strict=True)]
            if not any(apart):
                raise MisfitError(
                    "it does not show that the four sums of a thread are four cells",
                    target,
                    f'index the result by {half} and {column}: s.transform_layout("C_local", ...)',
                )


# --- an operand ---------------------------------------------------------------------------------


def _forms(access: ast.Subscript, values: Mapping[str, ast.expr]) -> list[affine.Affine]:
    return [affine.of(nodes.substitute(each, values)) for each in query.indices(access)]


def _operand(
    program: Program,
    access: ast.Subscript,
    loops: tuple[ast.For, ...],
    sums: tuple[str, Unit],
    across: Sequence[Mapping[str, int]],
    own: frozenset[str],
) -> Operand:
    """An operand whose cells can be read by rows of 16 bytes, or one by one.

    Args:
        program: the program.
        access: of the operand.
        loops: over tiles of it alone.
        sums: variable of the sum, and the instruction.
        across: the values of the variables along its rows or columns, for 8 neighbours.
        own: names of which threads have values of their own.
    """
    array = query.base_name(access)
    made = [query.allocation(each) for each in query.statements(program.function)]
    home = next((e for e in made if e is not None and e.array == array), None)
    strange = [e for e in query.indices(access) if is_data(e) or query.names(e) & own]
    if strange:
        raise MisfitError(
            "threads may index this each in its own way", strange[0], "use loop variables"
        )
    if array is None or home is None or home.scope != "shared" or home.shape is None:
        raise MisfitError(
            f"{array} is not in shared memory",
            access,
            f's.cache_read("{array}", "shared", at=...) first',
        )
    depth, unit = sums
    starts = range(0, unit.depth, unit.cells)
    rows = [[{depth: start + k} for k in range(unit.cells)] for start in starts]
    length = query.integer(home.shape[-1])
    is_even = length is not None and length % unit.cells == 0
    if is_even and all(_is_row(access, each) for each in rows):
        return Operand(array, access, loops, along_sum=True)
    if unit.kind == "float32" or (is_even and _is_row(access, across)):
        return Operand(array, access, loops, along_sum=False)
    raise MisfitError(
        f"no {_SIDE} cells of {array} that one instruction reads lie side by side, from a "
        f"multiple of {_SIDE} on",
        access,
        f"let the last axis of {array} be rows, columns or the sum in the order of the program, "
        f"its length a multiple of {_SIDE}; s.storage_align({array!r}, ..., {2 * _SIDE}, {_SIDE}) "
        "keeps that",
    )


def _is_row(access: ast.Subscript, neighbours: Sequence[Mapping[str, int]]) -> bool:
    """Whether cells lie side by side, the first at a multiple of their number."""
    forms = [
        _forms(access, {name: nodes.const(value) for name, value in each.items()})
        for each in neighbours
    ]
    *outer, last = forms[0]
    count = len(neighbours)
    aligned = all(each % count == 0 for each in (*last.coefficients.values(), last.constant))
    return aligned and all(
        here[:-1] == outer and (here[-1] - last).value == k for k, here in enumerate(forms)
    )
