"""Checks of the indices of a CUDA text that no condition on sizes shows to stay inside.

A kernel never touches what is outside of its arrays: such an index is replaced by 0, a cell in the
GPU's memory takes note, and the host function raises after the launch.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from astile.analysis.extents import bounds
from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.program import Program
from astile.lower import assemble
from astile.lower.checks import Checks, literal_extents
from astile.lower.indices import Casts


class Inside:
    """The parts of a text that check indices.

    Args:
        program: the program that is lowered.
        frame: the module's names.
        cuda: the name of numba.cuda in the text.
        numpy: the name of NumPy in the text.
        casts: the integer types.
    """

    def __init__(
        self, program: Program, frame: assemble.Frame, cuda: str, numpy: str, casts: Casts
    ) -> None:
        self.program, self.cuda, self.numpy, self.casts = program, cuda, numpy, casts
        found = {each.array for each in bounds.unproved(program)}
        if "" in found:  # the program was not read
            found = {
                base
                for each in query.accesses(program.function)
                if (base := query.base_name(each)) is not None
            }
        names = frame.fresh("inside"), frame.fresh("failed")
        self.checks = Checks(
            frozenset(found), *names, bounds.negative(program), literal_extents(program)
        )

    def is_used(self, body: Sequence[ast.stmt]) -> bool:
        """Whether statements of a kernel check an index."""
        return self.checks.word in assemble.used(body)

    def function(self) -> ast.FunctionDef:
        """The device function that checks one index; a negative one counts from the end."""
        text = (
            f"def {self.checks.word}(index, size, failed):\n"
            f"    index = {self.casts.int64}(index)\n"
            "    if index < 0:\n"
            "        index += size\n"
            "    if index < 0 or index >= size:\n"
            f"        {self.cuda}.atomic.max(failed, 0, 1)\n"
            "        index = 0\n"
            f"    return {self.casts.uint64}(index)\n"
        )
        made = ast.parse(text).body[0]
        assert isinstance(made, ast.FunctionDef)
        options = {"device": nodes.const(True), "inline": nodes.const("always")}
        made.decorator_list = [nodes.call(f"{self.cuda}.jit", [], options)]
        return made

    def _check_tuples(self, body: Sequence[ast.stmt]) -> None:
        """Refuse positions in tuples whose length is no number, so that it cannot be checked.

        Raises:
            LoweringError: showing the first.
        """
        stored = {
            target.id
            for each in query.statements(self.program.function)
            if isinstance(each, ast.Assign) and _is_tuple(each.value)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        lengthless = (stored & self.checks.arrays) - self.checks.extents.keys()
        for access in (found for each in body for found in query.accesses(each)):
            name = query.base_name(access)
            if name in lengthless:
                raise LoweringError(
                    f"{name} is a tuple whose length is not the same everywhere, and a kernel has "
                    "tuples of one length only",
                    code="lowering.tuple",
                    span=self.program.source.span(access),
                    hints=["use names of their own for its parts, or for tuples of other lengths"],
                )

    def before(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """What the host does before a launch: an empty array has no cell to fall back to.

        Args:
            body: the statements that the kernel was made from.

        Raises:
            LoweringError: for a tuple of which a kernel cannot check the position.
        """
        self._check_tuples(body)
        parameters = query.parameters(self.program.function)
        made: list[ast.stmt] = []
        for array in (each for each in self._touched(body) if each in parameters):
            empty = nodes.compare(nodes.attribute(array, "size"), ast.Eq, nodes.const(0))
            made.append(nodes.if_then(empty, [_raised(f"{array} is empty, and is indexed")]))
        zero = nodes.call(
            f"{self.numpy}.zeros", [nodes.const(1), nodes.attribute(self.numpy, "int32")]
        )
        made.append(nodes.assign(self.checks.failed, nodes.call(f"{self.cuda}.to_device", [zero])))
        return made

    def _touched(self, body: Sequence[ast.stmt]) -> list[str]:
        """The arrays that are checked in statements, by name."""
        touched = {query.base_name(each) for s in body for each in query.accesses(s)}
        return sorted(self.checks.arrays & touched)

    def after(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """What the host does after a launch.

        Args:
            body: the statements that the kernel was made from.
        """
        copied = nodes.call(nodes.attribute(self.checks.failed, "copy_to_host"))
        test = nodes.subscript(copied, [nodes.const(0)])
        names = " or ".join(self._touched(body))
        return [nodes.if_then(test, [_raised(f"an index of {names} is out of bounds")])]

    def check_helper(self, function: ast.FunctionDef, program: Program) -> None:
        """Refuse a helper function that indexes an array: nothing checks that index.

        Args:
            function: the helper.
            program: the program that calls it.

        Raises:
            LoweringError: when it has an index.
        """
        found = [e for e in query.accesses(function) if not query.is_shape_of(e)]
        if found:
            raise LoweringError(
                f"{function.name} indexes an array, and is called on the GPU",
                code="lowering.bounds",
                span=program.source.span(program.function),
                notes=["whether the index stays inside the array cannot be told from the call"],
                hints=[f"write the body of {function.name} in place of the call"],
            )


def _raised(text: str) -> ast.stmt:
    return ast.Raise(nodes.call("IndexError", [nodes.const(text)]), None)


def _is_tuple(value: ast.expr) -> bool:
    """Whether a value is a tuple: written out, or the shape of an array."""
    return isinstance(value, ast.Tuple) or (
        isinstance(value, ast.Attribute) and value.attr in ("shape", "strides")
    )
