"""The parts of a generated module: imports, constants, helper functions, functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from astile.analysis import affine
from astile.analysis.affine import Affine
from astile.ir import nodes, query
from astile.ir.program import Program


def used(body: Iterable[ast.stmt]) -> set[str]:
    """All names that statements mention."""
    return {name for each in body for name in query.names(each)}


def imports(wanted: Mapping[str, str]) -> list[ast.stmt]:
    """Import statements for names: module imports first, then one line per module.

    Args:
        wanted: name in the text -> dotted path it stands for.
    """
    modules: list[ast.stmt] = []
    members: dict[str, list[ast.alias]] = {}
    for name, path in sorted(wanted.items(), key=lambda item: (item[1], item[0])):
        head, _, last = path.rpartition(".")
        if not head:
            modules.append(nodes.import_as(path, name))
        else:
            alias = ast.alias(last, None if last == name else name)
            members.setdefault(head, []).append(alias)
    from_imports: list[ast.stmt] = [
        ast.ImportFrom(head, aliases, 0) for head, aliases in members.items()
    ]
    return modules + from_imports


def constants(program: Program, names: set[str]) -> list[ast.stmt]:
    """``NAME = value`` for the module constants among `names`."""
    return [
        nodes.assign(name, nodes.const(value))
        for name, value in program.constants.items()
        if name in names
    ]


def numpy_name(program: Program) -> str:
    """The name by which the program calls NumPy, or a free one."""
    for name, path in program.imports.items():
        if path == "numpy":
            return name
    return program.fresh_name("np")


def type_name(program: Program, wanted: str) -> str:
    """The name by which the text calls a NumPy type: the type's own, or a free one."""
    if program.imports.get(wanted) in (f"numpy.{wanted}", f"numba.{wanted}"):
        return wanted
    return program.fresh_name(wanted)


def header(
    program: Program,
    body: Sequence[ast.stmt],
    wanted: Mapping[str, str],
    numpy: str,
) -> list[ast.stmt]:
    """Imports and constants that `body` needs.

    Args:
        program: the program, with what its names stand for.
        body: the statements that follow.
        wanted: names that the lowering itself uses -> dotted path.
        numpy: the name that stands for NumPy.
    """
    names = used(body)
    needed = {name: path for name, path in program.imports.items() if name in names}
    needed = {name: path for name, path in wanted.items() if name in names} | needed
    if numpy in names:
        needed[numpy] = "numpy"
    return [*imports(needed), *constants(program, names)]


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
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    made = ast.FunctionDef(name, arguments, list(body), [decorator])
    return with_type_parameters(made)


def with_type_parameters(made: ast.FunctionDef) -> ast.FunctionDef:
    """The same node with the empty list of type parameters that Python 3.12 wants."""
    if "type_params" in ast.FunctionDef._fields:
        made.type_params = []  # type: ignore[attr-defined,unused-ignore]
    return made
