"""Casts: to the type of an array's cells, ``x.dtype.type(value)``, and to fewer bits."""

from __future__ import annotations

import ast

#: Functions that round a number to what matrix units multiply, and give it as float32.
ROUNDINGS = ("astile.loops.bf16", "astile.loops.tf32")


def array_of_type(function: ast.expr) -> str | None:
    """``x`` for ``x.dtype.type``, which casts a number to the type of the cells of x."""
    match function:
        case ast.Attribute(
            value=ast.Attribute(value=ast.Name(id=array), attr="dtype"), attr="type"
        ):
            return array
    return None
