"""The parts of a generated module: imports, constants, helper functions, functions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence

from astile.analysis.forms import affine
from astile.analysis.forms.affine import Affine
from astile.ir import module, nodes, query
from astile.ir.casts import ROUNDINGS
from astile.ir.module import Parts
from astile.ir.program import Program

#: Modules whose names mean NumPy's types of the same name.
_TYPE_HOMES = ("numpy", "numba", "numba.types", "astile.loops")


class Frame:
    """What stands above the functions of a generated module, and the names still free in it.

    Args:
        program: the program whose module it is.
        roundings: the module that has `tf32` and `bf16` for what compiles the text.
    """

    def __init__(self, program: Program, roundings: str) -> None:
        self.program = program
        self.above = module.parts(program)
        self.imports = {n: p for n, p in self.above.imports.items() if not _is_word(p)}
        for name, path in self.imports.items():
            if path in ROUNDINGS:
                self.imports[name] = f"{roundings}.{path.rpartition('.')[2]}"
            elif path.startswith("astile.loops."):
                self.imports[name] = "numpy." + path.rpartition(".")[2]
        self._taken = {*self.above.imports, *self.above.constants}
        for helper in self.above.helpers:
            self._taken |= query.names(helper) | {helper.name}
        self._wanted: dict[str, str] = {}

    def fresh(self, wanted: str) -> str:
        """A name that is free in the whole module, taken from now on."""
        found = self.program.fresh_name(wanted, self._taken)
        self._taken.add(found)
        return found

    def word(self, path: str) -> str:
        """The name in the text for a dotted path; it is imported where it is used."""
        last = path.rpartition(".")[2]
        for name, known in {**self.imports, **self._wanted}.items():
            head, _, tail = known.rpartition(".")
            same_type = path == f"numpy.{tail}" and head in _TYPE_HOMES
            if known == path or same_type:
                return name
        name = self.fresh("np" if path == "numpy" else last)
        self._wanted[name] = path
        return name

    def module(
        self,
        functions: Sequence[ast.stmt],
        helper: Callable[[ast.FunctionDef], ast.FunctionDef],
    ) -> list[ast.stmt]:
        """The whole module.

        Args:
            functions: the functions of the text.
            helper: gives a helper function the form of the target.
        """
        helpers = [helper(nodes.clone(each)) for each in self.above.helpers]
        names = used([*functions, *helpers])
        imports = {n: p for n, p in {**self.imports, **self._wanted}.items() if n in names}
        constants = {n: v for n, v in self.above.constants.items() if n in names}
        head = module.preamble(Parts(imports, constants, ()))
        return [*head, *helpers, *functions]


def _is_word(path: str) -> bool:
    """Whether a path is a word of printed programs, which a generated module does without."""
    home, _, last = path.rpartition(".")
    words = {word.partition(".")[0] for word in query.LOOP_WORDS} | {"shared", "local"}
    return home == "astile.loops" and last in words


def used(body: Iterable[ast.stmt]) -> set[str]:
    """All names that statements mention."""
    return {name for each in body for name in query.names(each)}


def docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    """The first statement of a function where that is its docstring, else none."""
    return function.body[:1] if ast.get_docstring(function, clean=False) is not None else []


def trip_count(start: ast.expr, stop: ast.expr, step: int) -> Affine:
    """How often a loop from `start` to `stop` runs, where it is not negative."""
    distance = affine.of(stop) - affine.of(start)
    if step < 0:
        distance, step = -distance, -step
    return affine.floor_div(distance + (step - 1), step)


def function(
    name: str, parameters: Sequence[str], body: Sequence[ast.stmt], decorator: ast.expr
) -> ast.FunctionDef:
    """``@decorator def name(parameters): body``."""
    made = nodes.function(name, parameters, body)
    made.decorator_list = [decorator]
    return made
