"""Small random programs with concurrent loops, for comparing verdicts with the oracle."""

from __future__ import annotations

from random import Random

#: Arrays of the programs and their shapes; indices stay well inside.
SHAPES: dict[str, tuple[int, ...]] = {"A": (240,), "B": (60, 60), "X": (60,)}
SHARED = 64


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.arrays = ["A", "A", "B"]
        self.names = ["s"]

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def index(self) -> str:
        choose = self.random.choice
        if not self.variables or self.random.random() < 0.12:
            return str(self.random.randrange(4))
        v, w = choose(self.variables), choose(self.variables)
        forms = [
            v, v, v, v, f"{v} + {choose([1, 2])}", f"2 * {v}", f"2 * {v} + {choose([0, 1])}",
            f"{v} // 2", f"{v} % 2", f"{v} + {w}", f"3 * {v} + {w}", f"4 * {v} + {w}",
            f"5 - {v}", f"n + {v}", f"max({v}, {w})",
        ]  # fmt: skip
        return choose(forms)

    def access(self, array: str) -> str:
        rank = len(SHAPES.get(array, (0,)))
        return f"{array}[{', '.join(self.index() for _ in range(rank))}]"

    def value(self) -> str:
        parts = []
        for _ in range(self.random.choice([1, 1, 2])):
            kind = self.random.random()
            if kind < 0.55:
                parts.append(self.access(self.random.choice([*self.arrays, "X"])))
            elif kind < 0.8:
                parts.append(self.random.choice(self.names))
            else:
                parts.append(str(self.random.randrange(5)))
        return " + ".join(parts)

    def statement(self, depth: int) -> None:
        choose = self.random.choice
        if self.variables and self.random.random() < 0.2:
            v = choose(self.variables)
            self.line(depth, f"if {v} {choose(['<', '==', '>'])} {choose([0, 1, 'n - 1'])}:")
            depth += 1
        operator = choose(["=", "=", "=", "+="])
        if self.random.random() < 0.35:
            self.line(depth, f"{choose(self.names)} {operator} {self.value()}")
        else:
            self.line(depth, f"{self.access(choose(self.arrays))} {operator} {self.value()}")

    def loop(self, depth: int, variable: str, iterator: str) -> int:
        self.line(depth, f"for {variable} in {iterator}:")
        self.variables.append(variable)
        return depth + 1

    def leave(self) -> None:
        self.variables.pop()

    def bounds(self) -> str:
        return self.random.choice(["n", "n", "2", "3", "1, n", "n, 0, -1", "0, n, 2", "1", "n + 1"])


def random_program(random: Random) -> str:
    """The text of a function ``k(A, B, X, n)``."""
    writer = _Writer(random)
    writer.line(0, "def k(A, B, X, n):")
    if random.random() < 0.6:
        writer.line(1, "s = 0")
    depth = 1
    if random.random() < 0.25:
        depth = writer.loop(depth, "t", "range(2)")
    _cpu(writer, depth) if random.random() < 0.4 else _gpu(writer, depth)
    writer.variables.clear()
    if random.random() < 0.2:
        writer.statement(1)
    return "\n".join(writer.lines) + "\n"


def _cpu(writer: _Writer, depth: int) -> None:
    random = writer.random
    kind = random.choice(["parallel", "parallel", "vector"])
    depth = writer.loop(depth, "i", f"{kind}({writer.bounds()})")
    if random.random() < 0.3:
        writer.line(depth, f"L = np.empty(({SHARED},), int64)")
        writer.arrays.append("L")
    if random.random() < 0.4:
        writer.statement(depth)
    if random.random() < 0.6:
        inner = random.choice(["range", "range", "parallel"])
        triangular = random.choice([writer.bounds(), "i", "i, n + 1"])
        depth = writer.loop(depth, "j", f"{inner}({triangular})")
    for _ in range(random.choice([1, 2, 2])):
        writer.statement(depth)


def _gpu(writer: _Writer, depth: int) -> None:
    random = writer.random
    if random.random() < 0.8:
        depth = writer.loop(depth, "b", f"block.x({writer.bounds()})")
    if random.random() < 0.7:
        writer.line(depth, f"S = shared.empty(({SHARED},), int64)")
        writer.arrays += ["S", "S", "S"]
    if random.random() < 0.15:
        writer.line(depth, f"R = local.empty(({SHARED},), int64)")
        writer.arrays.append("R")
    bound = len(writer.variables)
    if bound and random.random() < 0.35:
        depth = writer.loop(depth, "q", f"range({writer.bounds()})")
    for _ in range(random.choice([1, 2, 2, 3])):
        _phase(writer, depth)


def _phase(writer: _Writer, depth: int) -> None:
    random = writer.random
    if random.random() < 0.2 and writer.variables:
        writer.statement(depth)
        return
    held = list(writer.variables)
    bounds = ["2", "3", "1, 3", "0, 4, 2", "1"]
    axes = random.choice([("x",), ("y",), ("y", "x"), ("x", "y")])
    for position, axis in enumerate(axes):
        depth = writer.loop(depth, "ij"[position], f"thread.{axis}({random.choice(bounds)})")
        if position == 0 and len(axes) == 2 and random.random() < 0.2:
            writer.statement(depth)
    if random.random() < 0.25:
        depth = writer.loop(depth, "r", "range(2)")
    for _ in range(random.choice([1, 1, 2])):
        writer.statement(depth)
    writer.variables[:] = held


def orderly_program(random: Random) -> str:
    """A kernel of phases that each write cells of their own: free of races, given barriers."""
    writer = _Writer(random)
    writer.line(0, "def k(A, B, X, n):")
    depth = 1
    if random.random() < 0.9:
        depth = writer.loop(depth, "b", f"block.x({random.choice(['n', '2', '1, n + 1'])})")
    writer.line(depth, f"S = shared.empty(({SHARED},), int64)")
    writer.line(depth, f"Z = shared.empty(({SHARED},), int64)")
    _orderly_body(writer, depth, random.choice([2, 3, 4]), "q")
    return "\n".join(writer.lines) + "\n"


def _orderly_body(writer: _Writer, depth: int, count: int, variable: str) -> None:
    """Phases, some of them inside sequential loops or uniform conditions."""
    random = writer.random
    for _ in range(count):
        chance = random.random()
        held = list(writer.variables)
        if chance < 0.3 and variable in ("q", "p"):
            iterator = random.choice(["range(2)", "range(n)", "range(n, 0, -1)", "range(1, n, 2)"])
            inner = writer.loop(depth, variable, iterator)
            _orderly_body(writer, inner, random.choice([1, 2, 2]), chr(ord(variable) - 1))
        elif chance < 0.4 and len(writer.variables) > 1:
            writer.line(depth, f"if {writer.variables[-1]} {random.choice(['==', '>'])} 0:")
            _orderly_body(writer, depth + 1, 1, "")
        else:
            _orderly_phase(writer, depth)
        writer.variables[:] = held


def _orderly_phase(writer: _Writer, depth: int) -> None:
    random = writer.random
    axes = random.choice([("x",), ("y",), ("y", "x"), ("x", "y")])
    outer = list(writer.variables)
    for position, axis in enumerate(axes):
        bounds = random.choice(["2", "3", "1, 3", "4"])
        depth = writer.loop(depth, "ij"[position], f"thread.{axis}({bounds})")
    own = random.choice(["4 * i + j", "4 * j + i"]) if len(axes) == 2 else "i"
    target = random.choice(["S", "S", "Z", "A"])
    other = random.choice([each for each in ("S", "S", "Z") if each != target])
    index = random.choice([own, f"7 - {own}", own])
    if target == "A" and "b" in outer:
        index = f"16 * b + {own}"
    read = random.choice([f"{other}[{writer.index()}]", f"{other}[{own}]", f"X[{writer.index()}]"])
    operator = random.choice(["=", "=", "+="])
    writer.line(depth, f"{target}[{index}] {operator} {read.replace('5 - ', '12 - ')}")
