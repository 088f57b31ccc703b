"""Names that a lowering adds to a program: imported functions and types, new variables."""

from __future__ import annotations

from astile.ir.program import Program, free_name

_INTRINSICS = "astile.intrinsics.vectors"


class Words:
    """Gives names that are free in a program, each meaning one.

    Args:
        program: what the names are added to; whoever edits it takes new names from here.
    """

    def __init__(self, program: Program) -> None:
        self.imports: dict[str, str] = dict(program.imports)
        self._taken = program.used_names()

    def intrinsic(self, name: str) -> str:
        """The name of a function of `astile.intrinsics.vectors`."""
        return self._imported(f"{_INTRINSICS}.{name}")

    def has(self, name: str) -> bool:
        """Whether a function of `astile.intrinsics.vectors` has a name already."""
        return f"{_INTRINSICS}.{name}" in self.imports.values()

    def dtype(self, name: str) -> str:
        """The name of a type of NumPy."""
        return self._imported(f"numpy.{name}")

    def fresh(self, wanted: str) -> str:
        """A name for a new variable."""
        found = free_name(wanted, self._taken)
        self._taken.add(found)
        return found

    def _imported(self, path: str) -> str:
        for name, known in self.imports.items():
            if known == path:
                return name
        name = self.fresh(path.rpartition(".")[2])
        self.imports[name] = path
        return name
