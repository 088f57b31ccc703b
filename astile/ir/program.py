"""The frozen program: a function's tree, where it came from, and the values it closes over."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from astile.ir import nodes, query
from astile.ir.needs import Need
from astile.source import SourceFile

if TYPE_CHECKING:
    import numpy as np

#: What a module or closure name may hold to be frozen into the printed text.
ConstantValue: TypeAlias = "int | float | complex | bool | str | np.number[Any]"


@dataclass(frozen=True)
class Program:
    """One form of a kernel. A value: rewrites clone the tree once and return a new program.

    Args:
        function: the tree, without decorators and annotations; never changed in place.
        source: the user's text, to which the positions of nodes refer.
        constants: module and closure names that the function reads -> their value, frozen.
        imports: module and closure names that stand for modules, NumPy types or functions of
            modules -> the dotted path to import, such as ``np -> numpy``,
            ``float32 -> numpy.float32``, ``sqrt -> math.sqrt``.
        helpers: other Python functions that the function calls, by the name it uses.
        helper_programs: the same functions, read as programs of their own.
        scratch: array arguments whose contents after the call nobody reads.
        next_loop: the next free loop identity.
        gone: identity of a loop that is no more -> what became of it, for messages.
        integers: arguments that are integers, as the user's function shows by what it does with
            them; rewrites may leave none of these places.
        needs: what a call must bring for this program to do what the function does as written.
        written: the function as it was written, for calls that bring something else or arrays
            that meet in memory; None where no call needs it.
        ranks: arguments -> how many axes they have, where a call showed more than the text.
        integers_of: arguments that a call showed to be arrays of integers -> their dtype.
        reassociated: whether this program adds floating-point numbers in another order than the
            function as it was written.
    """

    function: ast.FunctionDef
    source: SourceFile
    constants: Mapping[str, ConstantValue] = field(default_factory=dict)
    imports: Mapping[str, str] = field(default_factory=dict)
    helpers: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    helper_programs: Mapping[str, Program] = field(default_factory=dict)
    scratch: frozenset[str] = frozenset()
    next_loop: int = 0
    gone: Mapping[int, str] = field(default_factory=dict)
    integers: frozenset[str] = frozenset()
    needs: tuple[Need, ...] = ()
    written: Program | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    integers_of: Mapping[str, str] = field(default_factory=dict)
    reassociated: bool = False

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.name

    def cloned(self) -> Program:
        """The same program over a fresh tree that may be edited before it is handed on."""
        return replace(self, function=nodes.clone(self.function))

    def used_names(self) -> set[str]:
        """Every name that is taken: in the tree, by constants, imports, helpers and words."""
        words = {word.partition(".")[0] for word in query.LOOP_WORDS} | {"shared", "local"}
        taken = query.names(self.function) | set(self.constants) | set(self.imports)
        return taken | set(self.helpers) | words | {self.name}

    def fresh_name(self, wanted: str, also_taken: frozenset[str] | set[str] = frozenset()) -> str:
        """`wanted`, or `wanted` with the first free number: ``i_0``, ``i_0_1``, ``i_0_2``."""
        return free_name(wanted, self.used_names() | also_taken)

    def loop(self, identity: int) -> ast.For | None:
        """The first loop with this identity, or None when it is gone."""
        for each in query.statements(self.function):
            if isinstance(each, ast.For) and nodes.loop_id(each) == identity:
                return each
        return None


def free_name(wanted: str, taken: Set[str]) -> str:
    """`wanted`, or `wanted` with the first number that makes it a name not taken.

    Args:
        wanted: the name.
        taken: other names.
    """
    number, result = 0, wanted
    while result in taken:
        number += 1
        result = f"{wanted}_{number}"
    return result
