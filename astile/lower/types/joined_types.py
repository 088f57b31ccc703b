"""Types joined of those of arguments, ``np.result_type(0.0, x)``, in text for any arguments.

numba cannot join types where it compiles. Where the types of the arguments are known they are
spelled out; a text for any types gets them from outside of what is compiled.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from astile.errors import LoweringError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.lower.types import dtypes


def handed_in(
    function: ast.FunctionDef, parameters: list[str], fresh: Callable[[str], str]
) -> dict[str, ast.expr]:
    """Replace joined types in a function by names, for parameters that it gets.

    Args:
        function: a function of the text, whose known types are spelled out; it is changed.
        parameters: its parameters.
        fresh: makes a name that is free in the text.

    Returns:
        Name of the parameter -> the type, made of the other parameters.

    Raises:
        LoweringError: for a type that only the function itself can tell.
    """
    given: dict[str, ast.expr] = {}
    known: dict[str, str] = {}
    for statement in query.statements(function):
        made = query.allocation(statement)
        if made is None or not isinstance(made.dtype, ast.Call):
            continue
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.value, ast.Call)
        text = print_expression(made.dtype)
        if text not in known:
            _check_operands(made, parameters)
            known[text] = fresh(f"{made.array}_dtype")
            given[known[text]] = made.dtype
        call, name = statement.value, nodes.name(known[text])
        call.args = [nodes.clone(name) if each is made.dtype else each for each in call.args]
        for keyword in call.keywords:
            keyword.value = nodes.clone(name) if keyword.value is made.dtype else keyword.value
    return given


def settled(program: Program, types: Mapping[str, str]) -> Program:
    """The program with the type of an argument for each joined type inside of kernels.

    The host compares the two before anything else.

    Args:
        program: the program that is lowered.
        types: parameter -> its type, where known.

    Raises:
        LoweringError: for a type that only a kernel can tell.
    """
    new = program.cloned()
    tests: dict[str, ast.stmt] = {}
    for statement in query.statements(new.function):
        made = query.allocation(statement)
        if made is None or not isinstance(made.dtype, ast.Call) or made.scope == "global":
            continue
        if dtypes.name_of(new, made.dtype, types) is not None:
            continue
        assert isinstance(statement, ast.Assign)
        assert isinstance(statement.value, ast.Call)
        arrays = _check_operands(made, query.parameters(new.function))
        own = nodes.attribute(arrays[0], "dtype")
        text = print_expression(made.dtype)
        tests.setdefault(text, _test(made.dtype, own))
        call = statement.value
        call.args = [nodes.clone(own) if each is made.dtype else each for each in call.args]
    if not tests:
        return program
    new.function.body[0:0] = tests.values()
    return new


def _test(joined: ast.expr, own: ast.expr) -> ast.stmt:
    text = (
        f"this text is for arguments for which {print_expression(joined)} is "
        f"{print_expression(own)}"
    )
    differs = nodes.compare(nodes.clone(joined), ast.NotEq, nodes.clone(own))
    error = nodes.call("TypeError", [nodes.const(text)])
    return nodes.if_then(differs, [ast.Raise(error, None)])


def _check_operands(made: query.Allocation, parameters: list[str]) -> list[str]:
    """The arguments that a joined type is made of; refuses arrays of the function's own."""
    assert isinstance(made.dtype, ast.Call)
    joins = [each for each in ast.walk(made.dtype) if isinstance(each, ast.Call)]
    arrays = [each.id for join in joins for each in join.args if isinstance(each, ast.Name)]
    if not arrays or not set(arrays) <= set(parameters):
        raise LoweringError(
            f"the type of {made.array}, {print_expression(made.dtype)}, is not known before the "
            "function runs",
            code="lowering.types",
            hints=["build the schedule and call the kernel: its text is for the types it got"],
        )
    return arrays
