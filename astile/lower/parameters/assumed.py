"""The types that a text is made for where nobody calls it yet: those named, and those assumed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from astile.analysis.forms import params
from astile.diagnostics import did_you_mean
from astile.errors import ArgumentError
from astile.ir import query
from astile.ir.program import Program
from astile.lower.parameters.uses import Use
from astile.lower.types import call_kinds, promotion
from astile.lower.types.kinds import SCALAR

#: Names that a misspelt dtype may have meant.
_DTYPES = ("bool", "float32", "float64", "int32", "int64", "uint8", "complex64", "complex128")
#: Parameter -> what NumPy takes for a dtype; a type of Python for a number of Python.
Dtypes = Mapping[str, Any]


def types(program: Program, uses: Sequence[Use], named: Dtypes) -> dict[str, str]:
    """Parameter -> its type, as `astile.lower.types.kinds` spells types.

    Where none is named, a parameter with a default value has the type of that. Arrays hold
    float32, and int64 where their cells are indices or set a range. Integers are Python's, and so
    are numbers, floating-point ones.

    Args:
        program: the function as the user wrote it.
        uses: of its parameters.
        named: what is named of them.

    Raises:
        ArgumentError: for a name that is no parameter, and a type that it cannot have.
    """
    parameters = [each.name for each in uses]
    for name in named:
        if name not in parameters:
            hint = did_you_mean(str(name), parameters) or f"there are {', '.join(parameters)}"
            raise ArgumentError(
                f"{program.name} has no parameter {name!r}",
                code="argument.unknown-name",
                hints=[hint],
            )
    arrays, indices = _arrays(program, uses), set(_index_arrays(program))
    integers, defaults = params.names_of(program).integers, _defaults(program)
    found = {}
    for use in uses:
        if use.name in named:
            is_array = use.name in arrays
            found[use.name] = _named(program, use, named[use.name], is_array=is_array)
        elif use.name in arrays:
            found[use.name] = "int64" if use.name in indices else "float32"
        elif use.name in defaults:
            found[use.name] = defaults[use.name]
        else:
            is_integer = use.role == "integer" or use.name in integers
            found[use.name] = "int" if is_integer else "float"
    return found


def _arrays(program: Program, uses: Sequence[Use]) -> set[str]:
    """The parameters that are arrays, as far as the text shows.

    One that is only computed with as a whole is taken for a number.
    """
    indexed, rebound = params.names_of(program).ranks, query.names_written(program.function)
    return {
        use.name
        for use in uses
        if use.role == "array"
        or (
            use.role == "open"
            and not use.operand
            and (use.name in indexed or use.name not in rebound)
        )
    }


def known_dtype(named: Any) -> np.dtype[Any]:
    """The dtype of a name.

    Args:
        named: as NumPy names it.

    Raises:
        ArgumentError: when NumPy has none of this name.
    """
    try:
        found: np.dtype[Any] = np.dtype(named)
    except TypeError:
        hint = did_you_mean(str(named), _DTYPES)
        raise ArgumentError(
            f"NumPy has no dtype {named!r}",
            code="argument.bad-dtype",
            hints=[hint] if hint else ["for example float32"],
        ) from None
    return found


def _named(program: Program, use: Use, given: Any, *, is_array: bool) -> str:
    """The type that a user names, where the parameter can have it."""
    word = given.__name__ if isinstance(given, type) else given
    if not is_array and word in promotion.PYTHON:
        kind = str(word)
    else:
        kind = promotion.kind_of(_plain_dtype(given)) + ("" if is_array else SCALAR)
    if use.role == "integer" and kind != "int":
        raise ArgumentError(
            f"{use.name} is an int: it sets a range or an index, and is not of {given!r}",
            code="argument.bad-dtype",
            span=use.span or program.source.span(program.function),
            hints=[f"name no type for {use.name}"],
        )
    return kind


def _plain_dtype(given: Any) -> np.dtype[Any]:
    """A dtype of numbers in the byte order of this machine."""
    found = known_dtype(given)
    if found.kind in "biufc" and found.isnative and found.char not in "gG":  # no longdouble
        return found
    raise ArgumentError(
        f"there is no text for arrays of {found.str!r}",
        code="argument.bad-dtype",
        hints=["name bool, integers, float16 to float64, complex64 or complex128"],
    )


def _defaults(program: Program) -> dict[str, str]:
    """The types of the default values that tell one."""
    declared = program.function.args
    positional = [*declared.posonlyargs, *declared.args]
    last = positional[len(positional) - len(declared.defaults) :]
    pairs = [*zip(last, declared.defaults, strict=True)]
    pairs += [
        (each, value)
        for each, value in zip(declared.kwonlyargs, declared.kw_defaults, strict=True)
        if value is not None
    ]
    found = {}
    for each, value in pairs:
        kind = _type_of_number(program, value)
        if kind is not None:
            found[each.arg] = kind
    return found


def _type_of_number(program: Program, value: ast.expr) -> str | None:
    match value:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _type_of_number(program, operand)
        case ast.Constant(value=number):
            return call_kinds.of_constant(number)
        case ast.Name(id=name):
            frozen = program.constants.get(name)
            kind = call_kinds.of_constant(frozen)
            return f"{kind}{SCALAR}" if kind and isinstance(frozen, np.generic) else kind
        case ast.Call(func=function):  # np.float32(3)
            home, _, word = call_kinds.path_of(program, function).rpartition(".")
            if home == "numpy" and word in np.sctypeDict:
                return promotion.kind_of(np.dtype(word)) + SCALAR
    return None


def _index_arrays(program: Program) -> Iterator[str]:
    """Arrays whose cells are indices or set ranges, by themselves or under a name."""
    function = program.function
    values: dict[str, list[ast.expr]] = {}
    for each in query.statements(function):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            values.setdefault(each.targets[0].id, []).append(each.value)
    pending = [place for node in query.preorder(function) for place in _integer_places(node)]
    seen: set[str] = set()
    while pending:
        match pending.pop():
            case ast.Subscript() as access if not query.is_shape_of(access):
                base = query.base_name(access)
                if base is not None:
                    yield base
            case ast.Name(id=name) if name not in seen:
                seen.add(name)
                pending += values.get(name, ())
            case ast.BinOp(left=left, op=operator, right=right):
                pending += [] if isinstance(operator, ast.Div) else [left, right]
            case ast.UnaryOp(operand=operand):
                pending.append(operand)
            case ast.Call(func=ast.Name(id="min" | "max"), args=arguments):
                pending += arguments


def _integer_places(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.For):
        return list(node.iter.args) if isinstance(node.iter, ast.Call) else []
    if isinstance(node, ast.Subscript) and not query.is_shape_of(node):
        return [each for each in query.indices(node) if not isinstance(each, ast.Slice)]
    return []
