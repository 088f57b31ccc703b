"""The scheduled program as the module that it is: plain Python with astile's words."""

from __future__ import annotations

from astile.ir import nodes, printer, query
from astile.ir.program import Program
from astile.lower import assemble
from astile.lower.lowered import Lowered

_MEMORY = ("shared", "local")


def lower(program: Program) -> Lowered:
    """The program as a Python module; its words come from ``astile.loops``.

    Args:
        program: the scheduled program.
    """
    function = nodes.clone(program.function)
    words = {
        header.kind.partition(".")[0]
        for loop in query.loops(function)
        if (header := query.header(loop)) is not None and header.kind != "range"
    }
    words |= {
        made.scope
        for each in query.statements(function)
        if (made := query.allocation(each)) is not None and made.scope in _MEMORY
    }
    wanted = {word: f"astile.loops.{word}" for word in words if word not in program.imports}
    body = assemble.header(program, [function], wanted, assemble.numpy_name(program))
    return Lowered(printer.print_module([*body, function]), program.name, "python")
