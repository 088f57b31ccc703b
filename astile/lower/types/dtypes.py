"""Types of elements: of the arrays that a CUDA text allocates, and of scalars that come back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.casts import array_of_type
from astile.ir.program import Program
from astile.ir.query import Allocation
from astile.lower import shapes
from astile.lower.facts import Facts

#: Name of a dtype -> bytes of one element.
SIZES = {
    "bool_": 1,
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "complex64": 8,
    "complex128": 16,
}
_PYTHON = {"float": "float64", "int": "int64", "bool": "bool_", "complex": "complex128"}


def name_of(program: Program, dtype: ast.expr | None, types: Mapping[str, str]) -> str | None:
    """``"float32"`` for an expression of a dtype, None where only the run time knows it.

    Args:
        program: the program, with what its names stand for.
        dtype: the expression; None is NumPy's default.
        types: array parameter -> name of its dtype.
    """
    if dtype is None:
        return "float64"
    if isinstance(dtype, ast.Constant) and isinstance(dtype.value, str):
        return _of_text(dtype.value)
    of_array = None if dtype is None else array_of_type(dtype)
    if of_array is not None:
        return _array_dtype(program, of_array, types)
    if isinstance(dtype, ast.Attribute) and dtype.attr == "dtype":
        array = query.dotted(dtype.value)
        return None if array is None else _array_dtype(program, array, types)
    if isinstance(dtype, ast.Call):
        if _path(program, dtype.func) == "numpy.dtype" and len(dtype.args) == 1:
            return None if dtype.keywords else name_of(program, dtype.args[0], types)
        return _joined(program, dtype, types)
    word = query.dotted(dtype)
    if word is None:
        return None
    head, _, last = word.rpartition(".")
    path = program.imports.get(word, word)
    if head in program.imports:
        path = f"{program.imports[head]}.{last}"
    name = path.rpartition(".")[2]
    name = _PYTHON.get(name, name)
    return name if name in SIZES else None


def _of_text(text: str) -> str | None:
    """``"int32"`` for ``"i4"``, None for what has no name here."""
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        return None
    name = "bool_" if dtype.name == "bool" else dtype.name
    return name if name in SIZES and dtype.isnative else None


def _path(program: Program, function: ast.expr) -> str:
    """``numpy.dtype`` for ``np.dtype``."""
    head, _, last = (query.dotted(function) or "").rpartition(".")
    return f"{program.imports.get(head, head)}.{last}"


def _joined(program: Program, call: ast.Call, types: Mapping[str, str]) -> str | None:
    """The type that ``np.result_type(0.0, x)`` gives, with Python's own numbers weak."""
    if _path(program, call.func) != "numpy.result_type" or call.keywords:
        return None
    operands: list[complex | np.dtype[np.generic]] = []
    for each in call.args:
        if isinstance(each, ast.Constant) and isinstance(each.value, (int, float, complex)):
            operands.append(each.value)
            continue
        if isinstance(each, ast.Name) and each.id not in program.imports:
            name = _array_dtype(program, each.id, types)
        else:
            name = name_of(program, each, types)
        if name is None:
            return None
        operands.append(np.dtype(name.removesuffix("_")))
    found = np.result_type(*operands).name if operands else ""
    return {"bool": "bool_"}.get(found, found) if found in {*SIZES, "bool"} else None


def _array_dtype(program: Program, array: str, types: Mapping[str, str]) -> str | None:
    if array in types:
        known = types[array].removesuffix("()")  # a number of NumPy has a type too
        return known if known in SIZES else None
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None and made.array == array and not _mentions(made, array):
            return name_of(program, made.dtype, types) if made.shape is not None else None
    return None


def _mentions(made: Allocation, array: str) -> bool:
    return made.dtype is not None and array in query.names(made.dtype)


def of_arrays(program: Program, types: Mapping[str, str], numpy: str) -> dict[str, ast.expr]:
    """The dtype of each allocated array, as the text spells it.

    Args:
        program: the program.
        types: array parameter -> name of its dtype.
        numpy: the name that stands for NumPy in the text.
    """
    found: dict[str, ast.expr] = {}
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is None:
            continue
        known = name_of(program, made.dtype, types)
        spelled = made.dtype
        is_type = isinstance(spelled, (ast.Name, ast.Attribute)) and not (
            isinstance(spelled, ast.Attribute) and spelled.attr == "dtype"
        )
        if is_type and spelled is not None and query.dotted(spelled) not in _PYTHON:
            found[made.array] = spelled
        elif known is not None:
            found[made.array] = nodes.attribute(numpy, known)
        elif spelled is not None:
            found[made.array] = spelled
    return found


def element_sizes(program: Program, types: Mapping[str, str]) -> dict[str, int]:
    """Array -> bytes of an element, where that is known and the element is one number.

    Args:
        program: the program.
        types: array parameter -> name of its dtype.
    """
    known = dict(types)
    for statement in query.statements(program.function):
        made = query.allocation(statement)
        if made is not None:
            known[made.array] = name_of(program, made.dtype, types) or ""
    numbers = {k: v for k, v in SIZES.items() if not k.startswith(("bool", "complex"))}
    return {array: numbers[kind] for array, kind in known.items() if kind in numbers}


def spell_python_types(function: ast.FunctionDef, numpy: str) -> None:
    """``np.zeros(n, int)`` becomes ``np.zeros(n, np.int64)``: numba knows few of Python's types.

    Methods get the type by position, as in ``x.view(np.int8)`` for ``x.view(dtype="int8")``.

    Args:
        function: is changed.
        numpy: the name that stands for NumPy in the text.
    """
    words = _PYTHON.keys() - query.names_written(function) - set(query.parameters(function))

    def spelled(argument: ast.expr) -> ast.expr:
        if isinstance(argument, ast.Name) and argument.id in words:
            return nodes.attribute(numpy, _PYTHON[argument.id])
        return argument

    for call in query.preorder(function):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            if call.func.attr in ("astype", "view"):
                _spell_method(call, numpy)
            call.args = list(map(spelled, call.args))
            for keyword in call.keywords:
                keyword.value = spelled(keyword.value)


def _spell_method(call: ast.Call, numpy: str) -> None:
    match call:
        case ast.Call(args=[], keywords=[ast.keyword(arg="dtype", value=dtype)]):
            call.args, call.keywords = [dtype], []
    match call.args:
        case [ast.Constant(value=str(text))]:
            name = _of_text(text)
            call.args = call.args if name is None else [nodes.attribute(numpy, name)]


def shared_bytes(
    program: Program, root: ast.For, facts: Facts, types: Mapping[str, str]
) -> dict[str, int] | None:
    """Shared array -> bytes; None where a dtype is not known before the run.

    Args:
        program: the program.
        root: the nest that becomes a kernel.
        facts: the program's integers.
        types: array parameter -> name of its dtype.
    """
    found: dict[str, int] = {}
    for statement in query.statements(root):
        made = query.allocation(statement)
        if made is None or made.scope != "shared":
            continue
        name = name_of(program, made.dtype, types)
        if name is None:
            return None
        shape = shapes.literal(program, statement, facts)
        found[made.array] = prod(shape) * SIZES[name]
    return found


def device_allocation(
    statement: ast.stmt, made: Allocation, cuda: str, numpy: str, dtype: ast.expr | None
) -> ast.stmt:
    """The allocation of an intermediate in the GPU's memory.

    Filled arrays are made on the host and copied; others are only reserved.

    Args:
        statement: the allocation of the program.
        made: what it allocates.
        cuda: the name that stands for numba.cuda.
        numpy: the name that stands for NumPy.
        dtype: the dtype where it is spelled out.
    """
    assert isinstance(statement, ast.Assign)
    assert isinstance(statement.value, ast.Call)
    call = nodes.clone(statement.value)
    word = made.word.removesuffix("_like")
    like = made.word.endswith("_like")
    shape, kind = call.args[0], dtype or nodes.attribute(numpy, "float64")
    if like:
        array = call.args[0]
        shape = nodes.attribute(array, "shape")
        kind = made.dtype or nodes.attribute(array, "dtype")
    if word == "empty":
        value = nodes.call(f"{cuda}.device_array", [shape, nodes.clone(kind)])
    else:
        arguments = [shape]
        if made.fill is not None:
            arguments.append(nodes.clone(made.fill))
        arguments.append(nodes.clone(kind))
        filled = nodes.call(f"{numpy}.{word}", arguments)
        value = nodes.call(f"{cuda}.to_device", [filled])
    result = nodes.assign(made.array, value)
    for comment in nodes.comments(statement):
        nodes.add_comment(result, comment)
    return nodes.copy_place(statement, result)


def check_no_tuple(program: Program, body: Sequence[ast.stmt], name: str) -> None:
    """Refuse to hand back a name that a kernel sets to a tuple: a cell holds one number."""
    for statement in (each for outer in body for each in query.statements(outer)):
        match statement:
            case ast.Assign(targets=[ast.Name(id=written)], value=ast.Tuple()) if written == name:
                raise LoweringError(
                    f"{name}, which the GPU computes and hands back, holds a tuple",
                    code="lowering.types",
                    span=program.source.span(statement) or program.source.span(body[0]),
                    hints=["give each part of the tuple a name of its own"],
                )


def of_scalar(
    program: Program, body: Sequence[ast.stmt], name: str, numpy: str, is_given: bool
) -> ast.expr:
    """The dtype of the cell in which a kernel hands back a name: wide enough for all it is set to.

    Args:
        program: the program.
        body: the statements of the kernel.
        name: the scalar.
        numpy: the name that stands for NumPy in the text.
        is_given: whether the kernel starts from a value of the host.

    Raises:
        LoweringError: when the type of a value cannot be told.
    """
    seen, values = _sources(body, name)
    calls_helper = any(query.names_read(each) & set(program.helpers) for each in values)
    every = [each for value in values for each in _dtypes_in(value, numpy)]
    found = {ast.dump(each): each for each in every if not isinstance(each, ast.Name)}
    written = {n for each in body for n in query.names_written(each)}
    for used in sorted(seen):
        if used not in written or (used == name and is_given):
            given = nodes.attribute(nodes.call(f"{numpy}.asarray", [nodes.name(used)]), "dtype")
            found[ast.dump(given)] = given
    if not found or calls_helper:
        raise LoweringError(
            f"the type of {name}, which the GPU computes and hands back, cannot be told",
            code="lowering.types",
            span=program.source.span(body[0]),
            hints=[f"store {name} in an array of one cell"],
        )
    joined = list(found.values())
    return joined[0] if len(joined) == 1 else nodes.call(f"{numpy}.result_type", joined)


def _sources(body: Sequence[ast.stmt], name: str) -> tuple[set[str], list[ast.expr]]:
    """The names that a name is computed from, itself too, and all their values."""
    pending, seen = [name], {name}
    values: list[ast.expr] = []
    while pending:
        for value in _values_of(body, pending.pop()):
            values.append(value)
            for each in _dtypes_in(value, ""):
                if isinstance(each, ast.Name) and each.id not in seen:
                    seen.add(each.id)
                    pending.append(each.id)
    return seen, values


def _values_of(body: Sequence[ast.stmt], name: str) -> list[ast.expr]:
    """Expressions that a name is set to; a loop variable counts as an integer."""
    found: list[ast.expr] = []
    for statement in (s for each in body for s in query.statements(each)):
        if isinstance(statement, ast.Assign) and name in query.names_written(statement):
            found.append(statement.value)
        elif isinstance(statement, ast.AugAssign) and name in query.names_written(statement):
            found.append(nodes.binary(nodes.name(name), type(statement.op), statement.value))
        elif isinstance(statement, ast.For) and name in query.names_written(statement.target):
            found.append(nodes.const(0))
    return found


def _dtypes_in(value: ast.expr, numpy: str) -> list[ast.expr]:
    """Dtypes that a value may have, all to be joined; names stand for themselves."""
    wide = nodes.attribute(numpy, "float64")
    if isinstance(value, ast.Attribute):
        return [wide]
    if isinstance(value, ast.Constant):
        kinds = {bool: "bool_", int: "int64", float: "float64", complex: "complex128"}
        kind = kinds.get(type(value.value))
        return [nodes.attribute(numpy, kind)] if kind is not None else []
    if isinstance(value, ast.Name):
        return [value]
    if isinstance(value, ast.Subscript):
        base = query.base_name(value)
        if base is None:
            return [nodes.attribute(numpy, "int64")]
        return [nodes.attribute(base, "dtype")]
    if isinstance(value, (ast.Compare, ast.BoolOp)):
        return [nodes.attribute(numpy, "bool_")]
    parts = [
        each
        for child in ast.iter_child_nodes(value)
        if isinstance(child, ast.expr)
        for each in _dtypes_in(child, numpy)
    ]
    if isinstance(value, ast.Call):
        cast = _cast_type(value, numpy)
        if cast is not None:
            return [cast]
        arguments = [each for child in value.args for each in _dtypes_in(child, numpy)]
        exact = query.dotted(value.func) in ("min", "max", "abs")
        return arguments if exact else [*arguments, wide]
    if isinstance(value, ast.BinOp):
        widest = wide if isinstance(value.op, (ast.Div, ast.Pow)) else None
        return [*parts, *([widest] if widest is not None else [nodes.attribute(numpy, "int64")])]
    return parts


def _cast_type(call: ast.Call, numpy: str) -> ast.expr | None:
    """The dtype that a call casts one number to, or None."""
    if len(call.args) != 1 or call.keywords:
        return None
    array, word = array_of_type(call.func), query.dotted(call.func) or ""
    if array is not None:
        return nodes.attribute(array, "dtype")
    if word in _PYTHON:
        return nodes.attribute(numpy, _PYTHON[word])
    return nodes.clone(call.func) if word.rpartition(".")[2] in SIZES else None
