"""The scheduled program as the module that it is: plain Python with astile's words."""

from __future__ import annotations

from astile.ir import printer
from astile.ir.module import module_body
from astile.ir.program import Program
from astile.lower.lowered import Lowered


def lower(program: Program) -> Lowered:
    """The program as a Python module; its words come from ``astile.loops``.

    Args:
        program: the scheduled program.
    """
    body = module_body(program)
    return Lowered(printer.print_module(body), program.name, "python", body=tuple(body))
