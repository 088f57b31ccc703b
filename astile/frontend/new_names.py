"""Names for what the frontend adds to a program."""

from __future__ import annotations

import ast

from astile.ir import nodes
from astile.ir.program import Program

_LETTERS = ("i", "j", "k", "l", "p", "q", "r")


class NewNames:
    """Gives names that nothing in a program has.

    Args:
        program: the program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.taken = program.used_names()
        self.letters: list[str] = []
        self.imports: dict[str, str] = {}

    def fresh(self, wanted: str) -> str:
        """A name that nothing in the program has."""
        number, result = 0, wanted
        while result in self.taken:
            number += 1
            result = f"{wanted}_{number}"
        self.taken.add(result)
        return result

    def variables(self, count: int) -> list[str]:
        """Variables for made loops; the same ones for each statement."""
        while len(self.letters) < count:
            free = [each for each in _LETTERS if each not in self.taken]
            self.letters.append(self.fresh(free[0] if free else "i"))
            self.taken.add(self.letters[-1])
        return self.letters[:count]

    def numpy(self, word: str) -> ast.expr:
        """``np.word``."""
        imports = {**self.program.imports, **self.imports}
        for name, path in imports.items():
            if path == "numpy":
                return nodes.attribute(name, word)
        name = self.fresh("np")
        self.imports[name] = "numpy"
        return nodes.attribute(name, word)
