"""Random functions of loops, biased to what has broken compilers of loops before.

Bounds, subscripts and statements are drawn from the lists that `Writer` holds; whole nests come
from a handful of shapes (stages with halos, accumulators, in-place updates, products) or are
free. Sizes, types and extents of arguments are part of a `Source`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Source:
    """A function and what its arguments are.

    Args:
        text: a module that holds the function ``f``.
        extents: array argument -> its extents as expressions over ``n`` and ``m``.
        dtype: type of the elements of all arrays but ``idx``.
        scratch: array arguments whose contents after the call nobody reads.
    """

    text: str
    extents: dict[str, tuple[str, ...]]
    dtype: str = "float64"
    scratch: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variable:
    """A loop variable in scope.

    Args:
        name: its name.
        axis: ``"n"``, ``"m"`` or ``"c"``: which size bounds it; ``"c"`` is a small constant.
        low: its smallest value, as far as it is a constant.
        room: how much may be added without leaving that size.
    """

    name: str
    axis: str
    low: int = 0
    room: int = 0


@dataclass
class Array:
    """An array that statements may use."""

    name: str
    axes: tuple[str, ...]
    room: int = 0
    local: bool = False
    written: bool = field(default=False)


def draw(chance: random.Random) -> Source:
    """A random function."""
    return Writer(chance).source()


class Writer:
    """Writes one function."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []
        self.by_size = chance.random() < 0.5  # n and m are arguments, and arrays are large
        self.wraps = chance.random() < 0.1  # indices may be negative
        self.opaque = chance.random() < 0.15  # conditions on data, indices from arrays
        self.arrays = [
            Array("A", ("n",), chance.choice([0, 1, 2])),
            Array("B", ("n",), chance.choice([0, 0, 2])),
            Array("C", ("m",), chance.choice([0, 1])),
            Array("D", ("n", "m"), chance.choice([0, 2])),
            Array("E", ("m", "n"), chance.choice([0, 2])),
        ]
        chance.shuffle(self.arrays)
        self.arrays = self.arrays[: chance.choice([2, 3, 4])]
        self.scalars: list[str] = []
        self.temporaries = 0
        self.letters = chance.choice(["ijkl", "ijkl", "jikt", "iabc"])

    # --- small choices --------------------------------------------------------------------------

    def often(self, probability: float) -> bool:
        return self.chance.random() < probability

    def pick(self, options: Sequence[str]) -> str:
        return self.chance.choice(options)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # --- the function ---------------------------------------------------------------------------

    def source(self) -> Source:
        """The whole function."""
        if self.often(0.7):
            self.scalars.append("s")
            self.line(1, f"s = {self.pick(['0.0', '0.0', '0', '1.0', '-5.0'])}")
        shapes = [self.free, self.free, self.stages, self.accumulate, self.in_place, self.product]
        shapes += [self.stages, self.accumulate]
        for _ in range(self.chance.choice([1, 1, 1, 2, 2, 3])):
            self.chance.choice(shapes)()
            if self.often(0.08):
                self.after_the_loop()
        if self.scalars and self.often(0.25):
            array = self.chance.choice(self.arrays)
            self.line(1, f"{array.name}[{', '.join('0' for _ in array.axes)}] = s")
        returned = self.pick(["s", "s", "s + 1"]) if self.scalars and self.often(0.12) else None
        if returned is not None:
            self.line(1, f"return {returned}")
        return self.finished()

    def finished(self) -> Source:
        body = "\n".join(self.lines)
        head, parameters = self.head(body)
        names = [*parameters, *(each for each in ("n", "m") if self.by_size)]
        text = f"import numpy as np\n\n\ndef f({', '.join(names)}):\n{head}{body}\n"
        extents = {}
        for array in self.arrays:
            if array.local or array.name not in parameters:
                continue
            extents[array.name] = tuple(self.extent(axis, array) for axis in array.axes)
        if "idx" in parameters:
            extents["idx"] = ("2 * max(n, m) + 10",) if self.by_size else ("max(n, m)",)
        dtype = self.pick(["float64", "float64", "float64", "int64", "float32"])
        outputs = [each for each in extents if each != "idx"]
        scratch = (self.pick(outputs),) if outputs and self.often(0.12) else ()
        return Source(text, extents, dtype, scratch)

    def extent(self, axis: str, array: Array) -> str:
        if self.by_size:
            return "2 * max(n, m) + 10"
        return f"{axis} + {array.room}" if array.room else axis

    def head(self, body: str) -> tuple[str, list[str]]:
        """Where n and m come from, and the array parameters."""
        used = [
            each
            for each in self.arrays
            if not each.local and (f"{each.name}[" in body or f"{each.name}." in body)
        ]
        names = [each.name for each in used]
        if "idx[" in body:
            names.append("idx")
        if self.by_size:
            return "", names or ["A"]
        lines: list[str] = []
        for axis in ("n", "m"):
            if axis not in _words(body):
                continue
            exact = [a for a in self.arrays if not a.local and axis in a.axes and not a.room]
            exact = sorted(exact, key=lambda a: a.name not in names)
            if not exact:
                holder = next((a for a in self.arrays if not a.local and axis in a.axes), None)
                if holder is None:
                    holder = Array("A" if axis == "n" else "C", (axis,))
                    self.arrays.append(holder)
                holder.room = 0
                exact = [holder]
            found = exact[0]
            if found.name not in names:
                names.append(found.name)
            position = found.axes.index(axis)
            if len(found.axes) == 1 and self.often(0.5):
                lines.append(f"    {axis} = len({found.name})\n")
            else:
                lines.append(f"    {axis} = {found.name}.shape[{position}]\n")
        return "".join(lines), names

    # --- loops ----------------------------------------------------------------------------------

    def loop(self, depth: int, around: list[Variable], axis: str | None = None) -> Variable:
        """Write the header of a loop; gives its variable."""
        name = self.letters[len(around)]
        axis = axis or self.pick(["n", "n", "m"])
        draw = self.chance.random()
        if around and draw < 0.25:
            v = self.chance.choice(around)
            text, made = self.dependent(name, v)
        elif draw < 0.40:
            text, made = self.constant(name)
        elif draw < 0.60:
            text, made = f"range({axis})", Variable(name, axis)
        else:
            text, made = self.sized(name, axis)
        self.line(depth, f"for {name} in {text}:")
        return made

    def dependent(self, name: str, v: Variable) -> tuple[str, Variable]:
        size = v.axis if v.axis != "c" else "n"
        forms = [
            (f"range({v.name})", Variable(name, v.axis)),
            (f"range({v.name} + 1)", Variable(name, v.axis)),
            (f"range({v.name}, {size})", Variable(name, size)),
            (f"range({v.name} + 1, {size})", Variable(name, size, 1)),
            (f"range({v.name}, {v.name} + 2)", Variable(name, v.axis, 0, -1)),
            (f"range(min({v.name}, 2))", Variable(name, "c")),
            (f"range(max({v.name} - 1, 0), {size})", Variable(name, size)),
            (f"range({size} - {v.name})", Variable(name, size)),
            (f"range({v.name} // 2)", Variable(name, v.axis)),
            (f"range({v.name}, {size}, 2)", Variable(name, size)),
            (f"range({size} - 1, {v.name} - 1, -1)", Variable(name, size)),
        ]
        return self.chance.choice(forms)

    def constant(self, name: str) -> tuple[str, Variable]:
        forms = ["range(0)", "range(1)", "range(2)", "range(3)", "range(3)", "range(5)"]
        forms += ["range(1, 4)", "range(2, -1, -1)", "range(0, 5, 2)"]
        text = self.pick(forms)
        return text, Variable(name, "c", 1 if text == "range(1, 4)" else 0, -4)

    def sized(self, name: str, axis: str) -> tuple[str, Variable]:
        low = self.chance.choice([1, 1, 2])
        forms = [
            (f"range({low}, {axis})", Variable(name, axis, low)),
            (f"range({axis} - 1)", Variable(name, axis, 0, 1)),
            (f"range({low}, {axis} - {low})", Variable(name, axis, low, low)),
            (f"range({axis} - 1, -1, -1)", Variable(name, axis)),
            (f"range({axis} - 1, 0, -1)", Variable(name, axis, 1)),
            (f"range(0, {axis}, 2)", Variable(name, axis)),
            (f"range(1, {axis}, 3)", Variable(name, axis, 1)),
            (f"range({axis} // 2)", Variable(name, axis)),
            (f"range(({axis} + 1) // 2)", Variable(name, axis)),
            (f"range(min({axis}, 3))", Variable(name, axis)),
            (f"range({axis} - 2, -1, -2)", Variable(name, axis, 0, 1)),
        ]
        return self.chance.choice(forms)

    # --- indices and values ---------------------------------------------------------------------

    def index(self, axis: str, room: int, around: list[Variable]) -> str:
        """An index along an axis that mostly stays inside."""
        fitting = [v for v in around if v.axis == axis or v.axis == "c" or self.by_size]
        if not fitting or self.often(0.06):
            forms = ["0", "0", "1", f"{axis} - 1"] + (["-1", "-2"] if self.wraps else [])
            return self.pick(forms)
        v, w = self.chance.choice(fitting), self.chance.choice(fitting)
        if self.opaque and self.often(0.15):
            return f"idx[{v.name}]"
        below, above = v.low, room + max(v.room, 0)
        if self.by_size:
            above = 3
        forms = [v.name] * 8
        forms += [f"{v.name} - {k}" for k in range(1, below + 1)] * 3
        forms += [f"{v.name} + {k}" for k in range(1, above + 1)] * 3
        forms += [f"{v.name} // 2", f"{v.name} // 2", f"({v.name} + 1) % 3", f"{v.name} % 2"]
        if v.axis == axis:
            forms += [f"{axis} - 1 - {v.name}"] * 2
        if self.by_size:
            forms += [f"2 * {v.name}", f"2 * {v.name} + 1", f"{v.name} + {w.name}"] * 2
        if self.wraps:
            forms += [f"{v.name} - 1", f"{v.name} - {w.name}"] * 3
        if self.often(0.03):
            forms = [f"min({v.name}, {w.name})", f"max({v.name} - 1, 0)", f"{v.name} * {w.name}"]
        return self.pick(forms)

    def cell(self, array: Array, around: list[Variable]) -> str:
        return f"{array.name}[{', '.join(self.index(a, array.room, around) for a in array.axes)}]"

    def place(self, around: list[Variable]) -> str:
        """Something to read or write."""
        if self.scalars and self.often(0.22):
            return self.pick(self.scalars)
        return self.cell(self.chance.choice(self.arrays), around)

    def value(self, around: list[Variable]) -> str:
        parts = [self.place(around) for _ in range(self.chance.choice([1, 1, 1, 2]))]
        if self.often(0.25):
            extra = ["1", "2.0", "3"] + [v.name for v in around]
            parts.insert(self.chance.choice([0, len(parts)]), self.pick(extra))
        text = parts[0]
        for each in parts[1:]:
            text = f"{text} {self.pick(['+', '+', '-', '*'])} {each}"
        if self.often(0.04):
            text = f"{self.pick(['max', 'min', 'abs'])}({text}, {parts[0]})"
            text = text.replace(f", {parts[0]})", ")") if text.startswith("abs") else text
        return text

    # --- statements -----------------------------------------------------------------------------

    def guarded(self, depth: int, around: list[Variable]) -> int:
        """Perhaps write a condition; gives the depth inside it."""
        if not around or not self.often(0.12):
            return depth
        v, w = self.chance.choice(around), self.chance.choice(around)
        forms = [
            f"{v.name} < {self.pick(['n', 'm', '2', w.name])}",
            f"{v.name} >= {self.pick(['1', '2', w.name])}",
            f"{v.name} != {self.pick(['0', 'n - 1', w.name])}",
            f"{v.name} % 2 == 0",
            f"{v.name} == {self.pick(['0', 'n - 1'])}",
            f"0 < {v.name} < n - 1",
            f"{v.name} == 0 or {w.name} > 1",
        ]
        if self.opaque:
            forms += [f"{self.place(around)} > {self.pick(['0', self.place(around)])}"] * 4
        self.line(depth, f"if {self.pick(forms)}:")
        return depth + 1

    def statement(self, depth: int, around: list[Variable]) -> None:
        inner = self.guarded(depth, around)
        self.plain(inner, around)
        if inner > depth and self.often(0.3):
            self.line(depth, "else:")
            self.plain(inner, around)

    def plain(self, depth: int, around: list[Variable]) -> None:
        draw, to = self.chance.random(), self.place(around)
        if draw < 0.42:
            self.line(depth, f"{to} = {self.value(around)}")
        elif draw < 0.70:
            self.line(
                depth, f"{to} {self.pick(['+=', '+=', '+=', '-=', '*='])} {self.value(around)}"
            )
        elif draw < 0.76:
            self.line(depth, f"{to} = {self.pick(['max', 'min'])}({to}, {self.value(around)})")
        elif draw < 0.80:
            self.line(depth, f"{to} = {to} + {self.value(around)}")
        elif draw < 0.83:
            value = self.place(around)
            self.line(depth, f"if {value} > {to}:")
            self.line(depth + 1, f"{to} = {value}")
        elif draw < 0.92:
            self.line(depth, f"t = {self.value(around)}")
            self.line(depth, f"{to} = t {self.pick(['+', '*'])} {self.pick(['t', '2', '1'])}")
        elif self.scalars:
            scalar = self.pick(self.scalars)
            self.line(depth, f"{scalar} += {self.value(around)}")
            self.line(depth, f"{self.cell(self.chance.choice(self.arrays), around)} = {scalar}")
        else:
            self.line(depth, f"{to} = {self.pick(['0', '1.0'])}")

    def after_the_loop(self) -> None:
        array = self.chance.choice(self.arrays)
        where = ", ".join("0" for _ in array.axes)
        self.line(1, f"{array.name}[{where}] = {self.letters[0]}")

    # --- nests ----------------------------------------------------------------------------------

    def free(self) -> None:
        """A nest without a plan, perhaps imperfect."""
        self.nest(1, [], self.chance.choice([1, 2, 2, 2, 3]))

    def nest(self, depth: int, around: list[Variable], levels: int) -> None:
        inside = [*around, self.loop(depth, around)]
        if self.often(0.25):
            self.statement(depth + 1, inside)
        if levels > 1:
            inner = self.guarded(depth + 1, inside)
            self.nest(inner, inside, levels - 1)
            if self.often(0.1):
                self.nest(depth + 1, inside, 1)
        else:
            self.statement(depth + 1, inside)
        if self.often(0.3):
            self.statement(depth + 1, inside)

    def temporary(self, axes: tuple[str, ...], room: int) -> Array:
        """Allocate an array inside the function."""
        self.temporaries += 1
        name = f"T{self.temporaries}"
        extra = f" + {room}" if room else ""
        shape = ", ".join(f"{axis}{extra}" for axis in axes)
        word = self.pick(["empty", "empty", "empty", "zeros"])
        shape = f"({shape})" if len(axes) > 1 else shape
        dtype = self.pick(["", "", "", ", np.float64"])
        self.line(1, f"{name} = np.{word}({shape}{dtype})")
        return Array(name, axes, room, local=True)

    def stages(self) -> None:
        """Producers into arrays allocated here, and consumers with halos."""
        two = self.often(0.45)
        axes = self.chance.choice([("n", "m"), ("n", "n")]) if two else ("n",)
        count = self.chance.choice([1, 1, 2])
        before: Array | None = None
        for level in range(count):
            room = self.chance.choice([0, 1, 2, 2]) + (count - 1 - level)
            made = self.temporary(axes, room)
            self.stage(made, before, room)
            before = made
        outputs = [a for a in self.arrays if not a.local and len(a.axes) == len(axes)]
        last = self.chance.choice(outputs or self.arrays)
        self.stage(last, before, 0, consumer=True)
        if self.often(0.3):
            self.arrays.append(before)  # type: ignore[arg-type]

    def stage(
        self, made: Array, before: Array | None, room: int, *, consumer: bool = False
    ) -> None:
        """A full nest that writes `made` and reads `before` around the same place."""
        inside: list[Variable] = []
        for k, axis in enumerate(made.axes):
            name = self.letters[k]
            extra = f" + {room}" if room else ""
            trimmed = f" - {self.chance.choice([1, 2])}" if consumer and self.often(0.15) else extra
            low = "1, " if consumer and self.often(0.15) else ""
            self.line(1 + k, f"for {name} in range({low}{axis}{trimmed}):")
            inside.append(Variable(name, axis, 1 if low else 0, -room))
        depth = 1 + len(inside)
        to = f"{made.name}[{', '.join(v.name for v in inside)}]"
        if before is None:
            value = self.pick([self.value(inside), inside[0].name, "1.0", self.value(inside)])
        else:
            value = self.around(before, inside, max(before.room - room, 0))
        if self.often(0.25):
            self.line(depth, f"{to} = 0.0")
            self.line(depth, f"for w in range({self.pick(['2', '3', 'n'])}):")
            self.line(depth + 1, f"{to} += {value}")
        elif self.often(0.2):
            depth = self.guarded(depth, inside)
            self.line(depth, f"{to} = {value}")
        else:
            self.line(depth, f"{to} = {value}")

    def around(self, array: Array, inside: list[Variable], halo: int) -> str:
        parts = []
        for _ in range(self.chance.choice([1, 2, 2, 3])):
            indices = []
            for k, _ in enumerate(array.axes):
                name = inside[k].name if k < len(inside) else "0"
                shift = self.chance.choice(range(halo + 1))
                text = f"{name} + {shift}" if shift else name
                if inside and k < len(inside) and inside[k].low and self.often(0.3):
                    text = f"{name} - 1"
                if self.often(0.06):
                    text = f"{name} // 2"
                indices.append(text)
            parts.append(f"{array.name}[{', '.join(indices)}]")
        return " + ".join(parts)

    def accumulate(self) -> None:
        """A scalar set before an inner loop, accumulated in it, stored after it."""
        outer = [self.loop(1, [])]
        depth = 2
        if self.often(0.4):
            outer.append(self.loop(2, outer))
            depth = 3
        name = self.pick(["acc", "acc", "s", "t"])
        if not self.often(0.08):
            self.line(depth, f"{name} = {self.pick(['0.0', '0.0', '0', self.value(outer)])}")
        elif name not in self.scalars:
            self.lines.insert(0, f"    {name} = 0.0")
        inside = [*outer, self.loop(depth, outer)]
        here = self.guarded(depth + 1, inside)
        operator = self.pick(["+=", "+=", "+=", "-=", "*="])
        self.line(here, f"{name} {operator} {self.value(inside)}")
        if self.often(0.15):
            self.line(here, f"{self.cell(self.chance.choice(self.arrays), inside)} = {name}")
        self.line(depth, f"{self.cell(self.chance.choice(self.arrays), outer)} = {name}")

    def in_place(self) -> None:
        """Updates of an array from its own neighbours, perhaps over time steps."""
        array = self.chance.choice(self.arrays)
        depth, around = 1, []
        if self.often(0.4):
            self.line(1, f"for t in range({self.pick(['2', '3', 'm'])}):")
            around, depth = [Variable("t", "c", 0, -4)], 2
        names = self.letters.replace("t", "u")
        inside: list[Variable] = []
        for k, axis in enumerate(array.axes):
            self.line(depth + k, f"for {names[k]} in range(1, {axis} - 1):")
            inside.append(Variable(names[k], axis, 1, 1))
        depth += len(inside)
        here = f"{array.name}[{', '.join(v.name for v in inside)}]"
        parts = []
        for _ in range(self.chance.choice([1, 2, 2])):
            shifts = [self.chance.choice([-1, 0, 0, 1]) for _ in inside]
            texts = [
                f"{v.name} {'-+'[s > 0]} 1" if s else v.name
                for v, s in zip(inside, shifts, strict=True)
            ]
            parts.append(f"{array.name}[{', '.join(texts)}]")
        self.line(depth, f"{here} = {' + '.join(parts)}")
        if self.often(0.2):
            self.statement(depth, [*inside, *around])

    def product(self) -> None:
        """``C[i, j] += A[i, k] * B[k, j]`` in some order, with or without its start value."""
        two = [a for a in self.arrays if len(a.axes) == 2]
        if not two:
            self.accumulate()
            return
        to = self.chance.choice(two)
        row, column, k = self.letters[:3]
        inside = [Variable(row, to.axes[0]), Variable(column, to.axes[1])]
        self.line(1, f"for {row} in range({to.axes[0]}):")
        self.line(2, f"for {column} in range({to.axes[1]}):")
        cell = f"{to.name}[{row}, {column}]"
        if self.often(0.6):
            self.line(3, f"{cell} = {self.pick(['0.0', '1.0', self.value(inside)])}")
        bound = self.pick(["n", "m", "3"])
        self.line(3, f"for {k} in range({bound}):")
        inside.append(Variable(k, bound if bound in "nm" else "c", 0, -4))
        self.line(4, f"{cell} += {self.value(inside)}")


def _words(text: str) -> set[str]:
    kept = "".join(c if c.isalnum() or c == "_" else " " for c in text)
    return set(kept.split())
