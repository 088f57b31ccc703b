"""`tensorize`: let the matrix units of a GPU compute products of matrices."""

from __future__ import annotations

from astile.analysis.reading import fragments, warps
from astile.diagnostics import suggestions
from astile.errors import ScheduleError
from astile.ir import query
from astile.ir.program import Program
from astile.rewrites.parts.marks import mark
from astile.rewrites.parts.result import Editor, Rewritten


def tensorize(program: Program, loop: int, intrinsic: str) -> Rewritten:
    """Let the matrix units of a GPU compute a loop over products of matrices.

    The loop stays a loop: it only gets the name of the instruction. On a GPU the 32 threads of a
    warp compute all iterations together, with operands read from shared memory by `ldmatrix`;
    elsewhere the loops run as they stand. The products are exact and are summed up in float32, in
    the order of the hardware. Operands of float32 are rounded to TF32 or bfloat16 on their way, as
    the function itself says: ``tf32(a[...]) * tf32(b[...])``. What form the loops need: see
    `astile.analysis.reading.fragments`. The primitive is that of TVM, and a case of `replace` in
    Exo.

    Args:
        program: the program before.
        loop: identity of a loop inside the loops over threads. Inside it are a loop over the two
            rows of a thread, one over its two columns, and one over 16 products for each sum, or
            8 for TF32; others of literal length are over tiles.
        intrinsic: ``"mma.m16n8k16.f16"``, ``"mma.m16n8k16.bf16"`` or ``"mma.m16n8k8.tf32"``.

    Raises:
        ScheduleError: for an unknown instruction, or a nest of another form.

    Before (`f` is `np.float32`):
        for i in thread.y(8):
            for j in thread.x(4):
                for h in range(2):
                    for q in range(2):
                        for k in range(16):
                            c[i, j, h, q] += f(a[h * 8 + i, k]) * f(b[k, j * 2 + q])

    After ``tensorize(h, "mma.m16n8k16.f16")``:
        for i in thread.y(8):
            for j in thread.x(4):
                for h in mma.m16n8k16.f16(2):
                    for q in range(2):
                        for k in range(16):
                            c[i, j, h, q] += f(a[h * 8 + i, k]) * f(b[k, j * 2 + q])
    """
    edit = Editor(program)
    if intrinsic not in query.MATRIX_WORDS:
        raise ScheduleError(
            f"no instruction {intrinsic!r}",
            code="schedule.bad-intrinsic",
            hints=suggestions(str(intrinsic), query.MATRIX_WORDS, "instructions"),
        )
    node = edit.loop(loop)
    try:
        threads = warps.threads_around(edit.program, node)
        fragments.product(edit.program, node, threads, intrinsic)
    except warps.MisfitError as problem:
        raise ScheduleError(
            f"the matrix units cannot compute this: {problem.reason}",
            code="schedule.no-matrix-product",
            span=edit.span(problem.node),
            hints=[problem.hint],
        ) from None
    return mark(edit, node, intrinsic)
