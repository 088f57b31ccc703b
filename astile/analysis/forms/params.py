"""What names of a function stand for: integer parameters, arrays with their ranks, scalars."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from astile.analysis.forms.affine_sets import Quasi, Scope, atom, const, mangled
from astile.ir import query
from astile.ir.program import Program

#: Functions of Python that the analysis gives a meaning to.
_WORDS = ("min", "max", "abs", "int", "len")
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Names:
    """The names of one program.

    Args:
        arguments: parameters of the function, in order.
        integers: arguments that are integers, because they count loops, size or index arrays.
        ranks: names that are used as arrays -> the largest number of indices they are used with.
        local: names that the function binds, its parameters left out.
    """

    arguments: tuple[str, ...]
    integers: frozenset[str]
    ranks: Mapping[str, int]
    local: frozenset[str]

    @property
    def array_arguments(self) -> tuple[str, ...]:
        """The arguments that are arrays, in order."""
        return tuple(each for each in self.arguments if each in self.ranks)


def names_of(program: Program, original: Names | None = None) -> Names:
    """Tell integers, arrays and scalars of a program apart.

    Args:
        program: the program.
        original: names of the original function, whose arguments these are too.
    """
    function = program.function
    arguments = tuple(query.parameters(function))
    local = frozenset(query.names_written(function) - set(arguments))
    every = query.preorder(function)
    ranks = _ranks(every, set(arguments) | local)
    if original is not None:
        for name in original.array_arguments:
            ranks[name] = max(ranks.get(name, 0), original.ranks[name])
    integers = _integers(every, set(arguments) - set(ranks), set(local) - set(ranks))
    known = (program.integers & set(arguments)) - set(ranks)
    return Names(arguments, frozenset(integers) | known, ranks, local)


def first_scope(program: Program, names: Names, *, names_quotients: bool = False) -> Scope:
    """What is known at the head of the function.

    Args:
        program: the program.
        names: its names.
        names_quotients: as for `Scope`.
    """
    bound = set(names.arguments) | names.local
    values: dict[str, Quasi] = {each: atom(f"n_{mangled(each)}") for each in names.integers}
    for name, value in program.constants.items():
        if name not in bound and type(value) is int:
            values[name] = const(value)
    shapes: dict[str, tuple[Quasi | None, ...]] = {
        each: tuple(atom(extent_name(each, axis)) for axis in range(names.ranks[each]))
        for each in names.array_arguments
    }
    taken = bound | set(program.constants) | set(program.imports) | set(program.helpers)
    hidden = frozenset(word for word in _WORDS if word in taken)
    return Scope(values, shapes, hidden, names_quotients)


def extent_name(array: str, axis: int) -> str:
    """The isl parameter that stands for ``array.shape[axis]``."""
    return f"s{axis}_{mangled(array)}"


def readable(parameter: str, names: Names) -> str:
    """An isl parameter as the user writes it: ``n``, ``A.shape[0]``."""
    head, _, rest = parameter.partition("_")
    known = {mangled(each): each for each in (*names.arguments, *names.local)}
    name = known.get(rest, rest)
    return name if head == "n" else f"{name}.shape[{head[1:]}]"


def shape_of(expression: ast.expr) -> str | None:
    """``A`` for ``A.shape``."""
    match expression:
        case ast.Attribute(value=ast.Name(id=array), attr="shape"):
            return array
    return None


def _ranks(every: Sequence[ast.AST], bound: set[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    like: list[tuple[str, str]] = []

    def seen(array: str | None, rank: int) -> None:
        if array is not None and array in bound:
            ranks[array] = max(rank, ranks.get(array, 0))

    for node in every:
        match node:
            case ast.Subscript():
                shape = shape_of(node.value)
                axis = query.integer(node.slice)
                if shape is not None:
                    seen(shape, axis + 1 if axis is not None and axis >= 0 else 1)
                else:
                    seen(query.base_name(node), len(query.indices(node)))
            case ast.Attribute(value=ast.Name(id=array), attr="shape"):
                seen(array, 1)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)]):
                seen(array, 1)
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value):
                seen(shape_of(value), len(elements))
        if isinstance(node, ast.Assign):
            made = query.allocation(node)
            if made is not None and made.shape is not None:
                seen(made.array, len(made.shape))
            elif made is not None and isinstance(node.value, ast.Call):
                source = node.value.args[0]
                if isinstance(source, ast.Name):
                    like.append((made.array, source.id))
    for _ in like:
        for made_name, source_name in like:
            rank = max(ranks.get(made_name, 0), ranks.get(source_name, 0))
            seen(made_name, rank)
            seen(source_name, rank)
    return ranks


def _integers(every: Sequence[ast.AST], free: set[str], local: set[str]) -> set[str]:
    """Names among `free` that must be integers, since range, shapes and indices take no others."""
    found: set[str] = set()
    for node in every:
        for expression in _integer_places(node):
            found |= set(_leaves(expression))
    plain = [
        (node.targets[0].id, node.value)
        for node in every
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in local
    ]
    while True:  # m = n - 1; range(m): n is an integer too
        before = len(found)
        for name, value in plain:
            if name in found:
                found |= set(_leaves(value))
        if len(found) == before:
            return found & free


def _integer_places(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.For):
        header = query.header(node)
        return [] if header is None else [header.start, header.stop, header.step]
    if isinstance(node, ast.Assign):
        made = query.allocation(node)
        # a shape of one name may be a tuple
        return list(made.shape or ()) if made is not None and len(made.shape or ()) > 1 else []
    if isinstance(node, ast.Subscript) and not query.is_shape_of(node):
        index = node.slice
        axes = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        return [each for each in axes if not isinstance(each, ast.Slice)]
    return []


def _leaves(expression: ast.expr) -> Iterator[str]:
    """The names that arithmetic of integers is made of."""
    match expression:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ARITHMETIC):
            yield from _leaves(left)
            yield from _leaves(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield from _leaves(operand)
        case ast.Call(func=ast.Name(id="min" | "max"), args=arguments):
            for each in arguments:
                yield from _leaves(each)
