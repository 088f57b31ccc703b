"""The complete module of a program: imports, constants, helper functions and the function.

Names of helpers are unified with those of the program: what means the same shares a name, and a
constant or function of a helper that clashes with another meaning gets a number.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass

from astile.errors import InternalError
from astile.ir import nodes, printer, query
from astile.ir.program import ConstantValue, Program

_WORDS_MODULE = "astile.loops"
_MEMORY_WORDS = ("shared", "local")


@dataclass(frozen=True)
class Parts:
    """What stands above the function of a program.

    Args:
        imports: name in the text -> dotted path it stands for.
        constants: name in the text -> value.
        helpers: the functions that the program calls, each before those that call it.
    """

    imports: Mapping[str, str]
    constants: Mapping[str, ConstantValue]
    helpers: tuple[ast.FunctionDef, ...]


def module_text(program: Program) -> str:
    """The text of a module that holds the program and runs by itself under CPython.

    Args:
        program: any form of a kernel.

    Raises:
        InternalError: when it cannot be printed.
    """
    return printer.print_module(module_body(program))


def module_body(program: Program) -> list[ast.stmt]:
    """The statements of that module.

    Args:
        program: any form of a kernel.

    Raises:
        InternalError: when a helper was not read.
    """
    above = parts(program)
    return [*preamble(above), *above.helpers, nodes.clone(program.function)]


def parts(program: Program) -> Parts:
    """What the module of a program needs above its function; only what is used.

    Args:
        program: any form of a kernel.

    Raises:
        InternalError: when a helper was not read.
    """
    collector = _Collector(program)
    collector.read(program, program.function)
    return Parts(collector.imports, collector.constants, tuple(collector.helpers))


def preamble(above: Parts) -> list[ast.stmt]:
    """Import statements, in the order of a formatter, and assignments of constants.

    Args:
        above: what the module needs.
    """
    constants = dict(above.constants)
    imports = dict(above.imports)
    numpy = next((name for name, path in imports.items() if path == "numpy"), None)
    if numpy is None:
        numpy = "np" if "np" not in constants and "np" not in imports else "numpy"
        if any(_is_numpy(value) for value in constants.values()):
            imports[numpy] = "numpy"
    assigned: list[ast.stmt] = [
        nodes.assign(name, constant_of(value, numpy)) for name, value in constants.items()
    ]
    return [*import_statements(imports), *assigned]


def constant_of(value: ConstantValue, numpy: str) -> ast.expr:
    """The expression of a constant; NumPy scalars keep their type: ``np.float32(0.1)``.

    Args:
        value: a frozen constant.
        numpy: the name by which the text calls NumPy.
    """
    if not _is_numpy(value):
        return nodes.const(value)
    shortest = nodes.const(value)
    if type(value).__name__ in ("float16", "float32"):
        shortest = nodes.const(float(str(value)))
    return nodes.call(f"{numpy}.{type(value).__name__}", [shortest])


def import_statements(imports: Mapping[str, str]) -> list[ast.stmt]:
    """``import a``, ``import b as c``, ``from d import e, f``: standard library first, astile last.

    Args:
        imports: name in the text -> dotted path it stands for.
    """
    members: dict[str, list[str]] = {}
    found: list[ast.stmt] = []
    for name, path in sorted(imports.items(), key=lambda item: (item[1], item[0])):
        home, _, last = path.rpartition(".")
        if not home:
            found.append(nodes.import_as(path, name))
        else:
            members.setdefault(home, []).append(last if last == name else f"{last} as {name}")
    found += [nodes.import_from(home, names) for home, names in members.items()]
    return sorted(found, key=_import_order)


def _import_order(statement: ast.stmt) -> tuple[int, bool]:
    return printer.section(statement), isinstance(statement, ast.ImportFrom)


# --- collecting ---------------------------------------------------------------------------------


_Meaning = tuple[object, ...]


class _Collector:
    """Gathers what functions use, each meaning under one name.

    Args:
        program: the one whose own names stay as they are.
    """

    def __init__(self, program: Program) -> None:
        self.imports: dict[str, str] = {}
        self.constants: dict[str, ConstantValue] = {}
        self.helpers: list[ast.FunctionDef] = []
        self._meanings = _meanings(program)
        self._taken = program.used_names() | set(dir(builtins))
        self._printed: set[str] = set()

    def read(self, program: Program, function: ast.FunctionDef) -> dict[str, str]:
        """Collect what a function uses; gives the new names of what had to be renamed."""
        own = query.names(function)
        renamed: dict[str, str] = {}
        for name, meaning in _meanings(program).items():
            chosen = renamed[name] = self._name(name, meaning, own)
            if name in program.imports:
                self.imports[chosen] = program.imports[name]
            elif name in program.constants:
                self.constants[chosen] = program.constants[name]
            else:
                self._helper(name, chosen, program)
        for word in _words(function):
            if word not in program.imports:
                self.imports[word] = f"{_WORDS_MODULE}.{word}"
        return {old: new for old, new in renamed.items() if old != new}

    def _helper(self, name: str, chosen: str, program: Program) -> None:
        helper = program.helper_programs.get(name)
        if helper is None:
            raise InternalError(f"the helper function {name!r} was not read by the frontend")
        if chosen in self._printed:
            return
        self._printed.add(chosen)
        renamed = self.read(helper, helper.function)
        function = nodes.rename(helper.function, renamed)
        function.name = chosen
        self.helpers.append(function)  # after those that it calls

    def _name(self, name: str, meaning: _Meaning, own: set[str]) -> str:
        """The name of a meaning: the one it has, else `name`, else `name` with a number."""
        if self._meanings.get(name) == meaning:
            return name
        for known, other in self._meanings.items():
            if other == meaning and known not in own:
                return known
        number, chosen = 0, name
        while chosen in self._meanings or chosen in self._taken or (number and chosen in own):
            number += 1
            chosen = f"{name}_{number}"
        self._meanings[chosen] = meaning
        return chosen


def _meanings(program: Program) -> dict[str, _Meaning]:
    """What the names from outside a function mean, for those that it uses."""
    used = query.names_read(program.function)
    found: dict[str, _Meaning] = {}
    for name, path in program.imports.items():
        found[name] = ("import", path)
    for name, value in program.constants.items():
        found[name] = ("constant", type(value), repr(value))
    for name, helper in program.helpers.items():
        found[name] = ("helper", helper)
    return {name: meaning for name, meaning in found.items() if name in used}


def _is_numpy(value: ConstantValue) -> bool:
    return hasattr(value, "dtype")


def _words(function: ast.FunctionDef) -> set[str]:
    """The words of `astile.loops` that a function uses; `range` is Python's own."""
    found: set[str] = set()
    for statement in query.statements(function):
        made = query.allocation(statement)
        if made is not None and made.scope in _MEMORY_WORDS:
            found.add(made.scope)
        header = query.header(statement) if isinstance(statement, ast.For) else None
        if header is not None and header.kind != "range":
            found.add(header.kind.partition(".")[0])
    return found
