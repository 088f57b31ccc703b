"""What callers see of a program, and what its names mean outside of it."""

from __future__ import annotations

import ast

from astile.ir.program import Program


def other_interface(original: Program, new: Program) -> str | None:
    """How the signature or the outside of two programs differs, or None.

    Args:
        original: a program.
        new: another form of it.
    """
    if ast.dump(original.function.args) != ast.dump(new.function.args):
        return "the parameters differ"
    for kind in ("constants", "imports", "helpers"):
        before, after = getattr(original, kind), getattr(new, kind)
        for name in before.keys() & after.keys():
            same = before[name] is after[name] or (
                before[name] == after[name] and type(before[name]) is type(after[name])
            )
            if not same:
                return f"the name {name} means something else"
    if original.scratch != new.scratch:
        return "the scratch arrays differ"
    return None
