"""Programs for tests, built from text or from functions."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping

from astile.ir import nodes
from astile.ir.program import ConstantValue, Program
from astile.source import SourceFile


def program_from(
    source: str | Callable[..., object],
    *,
    constants: Mapping[str, ConstantValue] | None = None,
    helpers: Mapping[str, Callable[..., object]] | None = None,
    scratch: Iterable[str] = (),
) -> Program:
    """The program of the first function in a text, or of a function object."""
    text = source if isinstance(source, str) else inspect.getsource(source)  # noqa: TID251
    text = textwrap.dedent(text).strip("\n") + "\n"
    tree = ast.parse(text)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    function.decorator_list = []
    for number, loop in enumerate(n for n in ast.walk(function) if isinstance(n, ast.For)):
        nodes.set_loop_id(loop, number)
    count = sum(isinstance(n, ast.For) for n in ast.walk(function))
    return Program(
        function,
        SourceFile("kernel.py", text),
        constants=dict(constants or {}),
        imports={
            "np": "numpy",
            "math": "math",
            **{name: f"astile.loops.{name}" for name in ("bf16", "tf32")},
        },
        helpers=dict(helpers or {}),
        scratch=frozenset(scratch),
        next_loop=count,
    )
