"""Random functions of mixed types: ``python -m tests.fuzz.typed --programs 1000``.

Each value that a target leaves has to be that of the plain function, to the last bit, or the target
has to refuse the types before anything runs. Names change their types, the data choose between
types, literals stand beside all of them. The exit status is 1 when a value was wrong; the program
is then printed, made small.

Left out: what semantics.md leaves open (integers of Python beyond 64 bits, NaN and numbers that no
integer holds stored into integers, the type of what is returned), and what raises in Python.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from astile.decorator import tile
from astile.errors import LoweringError
from astile.ir.printer import print_statement
from tests.semantics.agreement import Outcome, outcome

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
TYPES = (*INTEGERS, "int64", "int32", "float32", "float32", "float32", "float64", "float64", "bool")
_SIZE = 5
_LITERALS = ("0", "1", "2", "3", "100", "-1", "-7", "0.0", "1.0", "0.5", "0.1", "-0.3", "1e9")
_STARTS = ("0", "0.0", "1", "1.0", "3", "0.1", "-1e30", "-np.inf", "True", "n", "alpha")
_SIGNS = (
    "+",
    "+",
    "-",
    "-",
    "*",
    "*",
    "*",
    "/",
    "//",
    "%",
    "&",
    "|",
    "^",
    "<",
    "==",
    "**",
    "<<",
    ">>",
)
_CASTS = ("int", "float", "np.float32", "np.int8", "np.uint8", "np.int32", "np.uint64", "np.int64")


@dataclass(frozen=True)
class Source:
    """A function and the types of its arrays.

    Args:
        text: a module with the function ``f``.
        types: array -> type of its cells.
        seed: of what they hold.
    """

    text: str
    types: dict[str, str]
    seed: int


class Writer:
    """Writes one function."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.types = {name: chance.choice(TYPES) for name in "abc"}
        if chance.random() < 0.1:
            self.types["c"] = chance.choice(("float16", "complex64", "complex128"))
        self.names: list[str] = []
        self.lines: list[str] = []

    def source(self) -> Source:
        """The whole function."""
        chance = self.chance
        self.types |= {"c_": "bool", "d_": "bool"}
        for name in "st"[: chance.choice((0, 1, 1, 2))]:
            self.lines.append(f"    {name} = {chance.choice(_STARTS)}")
            self.names.append(name)
        self.lines.append("    for i in range(len(a)):")
        for _ in range(chance.choice((1, 2, 2, 3))):
            self.statement(8)
        self.store(8, "o")
        if self.names and chance.random() < 0.4:
            self.store(4, "p", "0")
        wide = chance.choice(("float64", "float64", "float32", "int64", "complex128", *INTEGERS))
        self.types |= {"o": wide, "p": chance.choice(("float64", "int64", "float32", *TYPES))}
        text = "import numpy as np\n\n\ndef f(a, b, c, c_, d_, n, alpha, o, p):\n"
        return Source(text + "\n".join(self.lines) + "\n", self.types, chance.randrange(1 << 30))

    def statement(self, depth: int) -> None:
        """One statement, perhaps under a condition."""
        indent, chance = " " * depth, self.chance
        draw = chance.random()
        if draw < 0.30 and depth < 16:
            self.lines.append(f"{indent}if {self.condition()}:")
            self.statement(depth + 4)
            if chance.random() < 0.4:
                self.lines.append(f"{indent}else:")
                self.statement(depth + 4)
        elif draw < 0.55 or not self.names:
            value = self.value(2)
            name = chance.choice("stu")
            if name not in self.names:
                if depth > 8:
                    self.store(depth, "o")
                    return
                self.names.append(name)
            self.lines.append(f"{indent}{name} = {value}")
        elif draw < 0.75:
            operator = chance.choice(("+", "+", "+", "-", "*", "*", "/", "//", "%", "&", "|", ">>"))
            self.lines.append(f"{indent}{chance.choice(self.names)} {operator}= {self.value(1)}")
        elif draw < 0.85:
            name, word = chance.choice(self.names), chance.choice(("min", "max"))
            self.lines.append(f"{indent}{name} = {word}({name}, {self.value(1)})")
        else:
            self.store(depth, chance.choice("op"))

    def store(self, depth: int, array: str, index: str = "i") -> None:
        """A store into an array, or an update of its cell."""
        sign = self.chance.choice(("=", "=", "=", "=", "+=", "-=", "*=", "//="))
        self.lines.append(f"{' ' * depth}{array}[{index}] {sign} {self.value(2, index)}")

    def condition(self) -> str:
        """Something that the data decide."""
        if self.chance.random() < 0.5:
            return f"{self.chance.choice(('c_', 'd_'))}[i]"
        operator = self.chance.choice(("<", "<=", ">", ">=", "==", "!="))
        return f"{self.value(1)} {operator} {self.value(0)}"

    def value(self, depth: int, index: str = "i") -> str:
        """An expression."""
        chance = self.chance
        draw = chance.random()
        if depth == 0 or draw < 0.25:
            names = [*self.names] * 2
            cells = [f"{each}[{index}]" for each in ("a", "a", "b", "b", "c")]
            loose = [chance.choice(_LITERALS), "n", "alpha", *(["i"] if index == "i" else [])]
            return chance.choice([*names, *cells, *loose])
        inner = lambda: self.value(depth - 1, index)  # noqa: E731
        if draw < 0.65:
            sign = chance.choice(_SIGNS)
            right = chance.choice("23") if sign == "**" else inner()
            return f"({inner()} {sign} {right})"
        if draw < 0.78:
            test = self.condition() if index == "i" else "n > 2"
            return f"({inner()} if {test} else {inner()})"
        if draw < 0.86:
            return f"{chance.choice(('min', 'max'))}({inner()}, {inner()})"
        if draw < 0.90:
            word = chance.choice(("np.sqrt", "np.minimum", "np.maximum", "np.abs", "np.floor"))
            second = f", {inner()}" if "m" in word[3:5] else ""
            return f"{word}({inner()}{second})"
        if draw < 0.96:
            return f"{chance.choice(_CASTS)}({inner()})"
        return f"{chance.choice(('abs', '-', '~', '-'))}({inner()})"


# --- running --------------------------------------------------------------------------------------


def arguments(source: Source) -> list[Any]:
    """Arrays with the corners of their types, and numbers of Python."""
    generator = np.random.default_rng(source.seed)
    made: list[Any] = []
    for name in ("a", "b", "c", "c_", "d_"):
        cells = _cells(np.dtype(source.types[name]), generator)
        if "int(" in source.text and cells.dtype == np.uint64:
            cells >>= np.uint64(2)  # integers of Python beyond 64 bits are left out
        made.append(cells)
    made += [int(generator.integers(1, 9)), float(generator.choice([0.1, 0.5, 3.0, -2.7]))]
    return made + [np.ones(_SIZE, source.types[name]) for name in ("o", "p")]


def _cells(dtype: np.dtype[Any], generator: np.random.Generator) -> np.ndarray[Any, Any]:
    if dtype.kind == "b":
        return generator.random(_SIZE) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        corners = [info.max, info.min, info.max - 2, 1, 2, 3, 5, 7, 100]
        corners += [2**53 + 1] if dtype.itemsize == 8 else []
        return np.array([corners[k] for k in generator.integers(0, len(corners), _SIZE)], dtype)
    values = generator.choice([0.0, -0.0, 0.1, 1 / 3, 2.3, -7.7, 1e3, 16777217.0, 0.5], _SIZE)
    with np.errstate(over="ignore"):
        return values.astype(dtype)


@dataclass(frozen=True)
class Found:
    """What became of one program on one target: ``"right"``, ``"wrong"``, ``"refused"``, ...."""

    result: str
    told: str = ""

    @property
    def kind(self) -> str:
        """What makes two alike."""
        return self.result + (self.told.split(" ")[1] if self.result == "crash" else "")


class Runner:
    """Runs functions on targets; modules are kept in a folder of its own."""

    def __init__(self, folder: Path, targets: Sequence[str]) -> None:
        self.folder, self.targets, self.count = folder, targets, 0

    def function(self, text: str) -> Callable[..., Any]:
        """The function of a module."""
        self.count += 1
        path = self.folder / f"typed_{self.count}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found: Callable[..., Any] = module.f
        return found

    def run(self, source: Source) -> dict[str, Found]:
        """Target -> what became of the program there; empty for one that is left out."""
        function = self.function(source.text)
        given = arguments(source)
        if not _is_defined(function, given):
            return {}
        plain = outcome(function, given)
        return {target: self._on(target, function, given, plain) for target in self.targets}

    def _on(
        self, target: str, function: Callable[..., Any], given: Sequence[Any], plain: Outcome
    ) -> Found:
        kernel = tile(target=target, exact=True)(function)
        refusals: list[str] = []

        def called(*copies: Any) -> Any:
            try:
                return kernel(*copies)
            except Exception as error:
                is_refusal = isinstance(error, LoweringError)
                refusals.append(str(error) if is_refusal else f"crash: {error!r}")
                raise

        found = outcome(called, given)
        if found.raised is not None:
            told = refusals[-1]
            return Found("crash" if told.startswith("crash") else "refused", told)
        if found.arrays == plain.arrays:
            return Found("right")
        names = ("a", "b", "c", "c_", "d_", "o", "p")
        apart = [
            f"{name}: {target} {got}, plain {wanted}"
            for name, got, wanted in zip(names, found.arrays, plain.arrays, strict=True)
            if got != wanted
        ]
        return Found("wrong", "; ".join(apart))


class _Strict(np.ndarray):
    """An array of integers that takes no floating-point number that 32 bits do not hold."""

    def __setitem__(self, key: Any, value: Any) -> None:
        is_real = self.dtype.kind in "iu" and isinstance(value, (float, np.floating))
        if is_real and not abs(value) < 2**31:
            raise OverflowError(value)
        np.ndarray.__setitem__(self, key, value)


def _is_defined(function: Callable[..., Any], given: Sequence[Any]) -> bool:
    """Whether the plain function returns, and casts nothing that a machine decides."""
    copies = [e.copy().view(_Strict) if isinstance(e, np.ndarray) else e for e in given]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", "invalid value encountered in cast")
        try:
            function(*copies)
        except Exception:
            return False
    return True


# --- making small ---------------------------------------------------------------------------------


def _printed(tree: ast.Module) -> str:
    return "import numpy as np\n\n\n" + print_statement(tree.body[-1])


def smaller(text: str) -> Iterator[str]:
    """Modules with one statement or one part of an expression less."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                if isinstance(node, ast.Module):
                    continue
                for position, each in enumerate(value):
                    shorter = value[:position] + value[position + 1 :]
                    bodies = [shorter] if shorter or field == "orelse" else []
                    if isinstance(each, ast.If):
                        bodies.append(value[:position] + each.body + value[position + 1 :])
                    for body in bodies:
                        setattr(node, field, body)
                        yield _printed(tree)
                        setattr(node, field, value)
            elif isinstance(value, ast.expr) and not isinstance(node, ast.Subscript):
                for part in ast.iter_child_nodes(value):
                    if isinstance(part, ast.expr) and not isinstance(value, ast.Subscript):
                        setattr(node, field, part)
                        yield _printed(tree)
                        setattr(node, field, value)
            elif isinstance(value, list):
                for position, each in enumerate(value):
                    if not isinstance(each, (ast.BinOp, ast.IfExp, ast.Call, ast.UnaryOp)):
                        continue
                    for part in ast.iter_child_nodes(each):
                        if isinstance(part, ast.expr):
                            value[position] = part
                            yield _printed(tree)
                            value[position] = each


def shrunk(runner: Runner, source: Source, target: str, wanted: Found) -> Source:
    """The smallest program found that still goes wrong in the same way."""
    alone = Runner(runner.folder / target, [target])
    alone.folder.mkdir(exist_ok=True)
    tried = 0
    while tried < 250:
        for text in smaller(source.text):
            tried += 1
            made = Source(text, source.types, source.seed)
            try:
                found = alone.run(made).get(target)
            except Exception:
                continue
            if found is not None and found.kind == wanted.kind:
                source = made
                break
        else:
            return source
    return source


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.typed", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many are run")
    parser.add_argument("--seed", type=int, default=0, help="where programs are drawn from")
    parser.add_argument("--targets", default="emulate", help="separated by commas")
    parser.add_argument("--most", type=int, default=10, help="failures that are printed")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    shown = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(Path(folder), options.targets.split(","))
        number = ran = 0
        while ran < options.programs:
            number += 1
            source = Writer(random.Random(f"{options.seed}:{number}")).source()
            found = runner.run(source)
            counts["left out"] += not found
            ran += bool(found)
            for target, each in found.items():
                counts[f"{target} {each.result}"] += 1
                if each.result in ("wrong", "crash") and shown < options.most:
                    shown += 1
                    made = shrunk(runner, source, target, each)
                    told = runner.run(made)[target].told
                    print(
                        f"=== {number}: {target} {each.result}\n{made.text}\n{made.types}\n{told}"
                    )
                    sys.stdout.flush()
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    return int(any(each.endswith(("wrong", "crash")) for each in counts))


if __name__ == "__main__":
    sys.exit(main())
