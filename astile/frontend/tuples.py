"""Assignments of several names at once become one assignment each, where the order is free."""

from __future__ import annotations

import ast

from astile.frontend.arrays import Facts
from astile.ir import nodes, query
from astile.ir.program import Program


def tuples(program: Program) -> Program:
    """Part assignments of tuples to names; values that are exchanged wait under a name.

    Assignments of cells (``A[i], A[j] = A[j], A[i]``) and of arrays (``A, B = B, A``) stay.

    Args:
        program: is not changed.

    Before::

        def f(A, n):
            s, count = 0.0, 0
            a, b = A[0], A[1]
            a, b = b, a

    After::

        def f(A, n):
            s = 0.0
            count = 0
            a = A[0]
            b = A[1]
            value = b
            b = a
            a = value
    """
    new = program.cloned()
    parter = _Parter(new)
    changed = [parter.edit(block) for block in parter.blocks()]
    return new if any(changed) else program


class _Parter:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.facts = Facts(program)
        self.taken = program.used_names()

    def blocks(self) -> list[list[ast.stmt]]:
        """Every statement list of the function."""
        return [
            block
            for statement in query.statements(self.program.function)
            for block in query.bodies(statement)
        ]

    def edit(self, block: list[ast.stmt]) -> bool:
        """Part the assignments of one list, in place."""
        done: list[ast.stmt] = []
        for statement in block:
            made = self._parted(statement)
            done += [statement] if made is None else made
        has_changed = len(done) != len(block)
        block[:] = done
        return has_changed

    def _parted(self, statement: ast.stmt) -> list[ast.stmt] | None:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values):
                names = [each.id for each in targets if isinstance(each, ast.Name)]
            case _:
                return None
        if len(names) != len(targets) or len(set(names)) != len(names):
            return None
        if any(isinstance(node, ast.Starred) for each in values for node in ast.walk(each)):
            return None
        later = [
            any(name in query.names(each) for each in values[position + 1 :])
            for position, name in enumerate(names)
        ]
        if any(later) and not all(map(self._is_number, names, values)):
            return None
        made: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for name, value, is_read in zip(names, values, later, strict=True):
            if is_read:
                held = self._fresh()
                made.append(nodes.assign(held, value))
                waiting.append(nodes.assign(name, nodes.name(held)))
            else:
                made.append(nodes.assign(name, value))
        return [nodes.copy_place(statement, each) for each in [*made, *waiting]]

    def _is_number(self, name: str, value: ast.expr) -> bool:
        return name in self.facts.numbers and self.facts.is_number(value)

    def _fresh(self) -> str:
        number, result = 0, "value"
        while result in self.taken:
            number += 1
            result = f"value_{number}"
        self.taken.add(result)
        return result
