"""Functions before and after the passes of the frontend: their text, and what calls do."""

from __future__ import annotations

import ast
import textwrap
import warnings
from typing import Any

import numpy as np

from astile.frontend.build import build_from_source
from astile.frontend.text import function_of
from astile.ir.module import module_text
from astile.ir.printer import print_module
from astile.ir.program import Program
from astile.ir.verify import verify
from astile.kernel import Kernel

HEAD = "import numpy as np\n\n\n"


def source(body: str, parameters: str = "A, B, n", above: str = "") -> str:
    """The text of a module with a function `f`."""
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"{HEAD}{textwrap.dedent(above)}def f({parameters}):\n{lines}\n"


def read(body: str, parameters: str = "A, B, n", above: str = "") -> Program:
    """The program of a function with a body, all invariants checked."""
    program = build_from_source(source(body, parameters, above), "f")
    verify(program)
    if program.written is not None:
        verify(program.written)
    return program


def shown(body: str, parameters: str = "A, B, n", above: str = "") -> str:
    """The body of the program of a function, as printed."""
    text = print_module([read(body, parameters, above).function])
    return textwrap.dedent(text.partition("\n")[2]).strip()


def as_given(body: str) -> str:
    """A body in the printer's own layout."""
    tree = ast.parse(f"def f():\n{textwrap.indent(body, '    ')}")
    text = print_module(tree.body)
    return textwrap.dedent(text.partition("\n")[2]).strip()


def kernel(
    body: str, parameters: str = "A, B, n", above: str = "", target: Any = "python"
) -> Kernel[..., Any]:
    """A kernel of a function with a body."""
    return Kernel(function_of(source(body, parameters, above), "f"), target=target)


def printed(program: Program) -> Any:
    """The function of the printed module of a program."""
    space: dict[str, Any] = {}
    exec(compile(module_text(program), "<printed>", "exec"), space)
    return space[program.name]


def outcome(function: Any, *arguments: Any) -> Any:
    """What a call leaves in its arguments and returns, or the name of the error it ends with."""
    own = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            returned = function(*own)
        except Exception as error:
            return type(error).__name__
    return [frozen(each) for each in (*own, returned)]


def frozen(value: Any) -> Any:
    """A value that is equal where all bits are, whatever it holds."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, np.generic):
        return str(value.dtype), value.tobytes()
    if isinstance(value, tuple):
        return tuple(map(frozen, value))
    return type(value).__name__, repr(value)


def grid(*shape: int, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    """An array of 1, 2, 3, ..."""
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1).astype(dtype)
