"""Shared and local arrays, declared at the top of a kernel."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import shapes
from astile.lower.facts import Facts
from astile.lower.kernels.memory import ALIGNMENT, Piece
from astile.lower.kernels.private import LocalArray


class Declarations:
    """The arrays that one kernel allocates.

    Args:
        program: the whole program.
        facts: the program's integers.
        held: the local arrays as each thread holds them.
        cuda: the name of ``numba.cuda`` in the text.
        dtypes: array -> the text of its dtype.
    """

    def __init__(
        self,
        program: Program,
        facts: Facts,
        held: Mapping[str, LocalArray],
        cuda: str,
        dtypes: Mapping[str, ast.expr],
    ) -> None:
        self.program, self.facts, self.held = program, facts, held
        self.cuda, self.dtypes = cuda, dtypes
        self.made: dict[str, ast.Assign] = {}

    def add(self, statement: ast.stmt, *, in_phase: bool) -> None:
        """Declare the array that a statement allocates.

        Args:
            statement: an allocation.
            in_phase: whether it stands inside a loop over threads.

        Raises:
            LoweringError: where no kernel can allocate it.
        """
        made = query.allocation(statement)
        assert made is not None
        if made.scope == "global" or made.word != "empty":
            self._refuse(
                f"{made.array} is allocated in global memory inside a kernel",
                statement,
                f"s.set_scope({made.array!r}, 'shared') or 'local', or allocate it outside "
                "of the bound loops",
            )
        if made.scope == "shared" and in_phase:
            self._refuse(
                f"{made.array} is shared, but allocated inside a loop over threads",
                statement,
                "allocate it outside of the thread loops, or make it local",
            )
        if made.scope == "local":
            shape = self.held[made.array].shape
        else:
            shape = shapes.literal(self.program, statement, self.facts)
        value = nodes.call(
            nodes.attribute(self.cuda, made.scope, "array"),
            [nodes.tuple_of([nodes.const(n) for n in shape]), nodes.clone(self.dtypes[made.array])],
        )
        declared = nodes.assign(made.array, value)
        known = self.made.get(made.array)
        if known is not None and not nodes.same(known, declared):
            self._refuse(
                f"{made.array} is allocated twice in one kernel, with another shape or dtype",
                statement,
                "give the arrays names of their own",
            )
        if known is None:
            self.made[made.array] = declared
            for comment in nodes.comments(statement):
                nodes.add_comment(declared, comment)

    def _refuse(self, message: str, statement: ast.stmt, hint: str) -> None:
        raise LoweringError(
            message,
            code="lowering.allocation",
            span=self.program.source.span(statement),
            hints=[hint],
        )

    def statements(self, piece: Piece | None, *, is_aligned: bool) -> list[ast.stmt]:
        """The declarations, to stand at the top of the kernel.

        Args:
            piece: where the shared arrays lie; None where each is allocated by itself.
            is_aligned: whether shared arrays are accessed several cells at a time.
        """
        for array, declared in self.made.items():
            call = declared.value
            assert isinstance(call, ast.Call)
            if not (query.dotted(call.func) or "").endswith("shared.array"):
                continue
            if piece is not None:
                call.func = nodes.name(piece.array)
                call.args.append(nodes.const(piece.offsets[array]))
            elif is_aligned:
                call.keywords = [ast.keyword("alignment", nodes.const(ALIGNMENT))]
        return list(self.made.values())
