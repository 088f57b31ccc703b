"""Random small loop programs, random edits of them, and a run in plain Python.

For the one property that matters most: whatever the proof accepts computes the same.
"""

from __future__ import annotations

import ast
import itertools
import random
from collections.abc import Callable

import numpy as np

from astile import loops
from astile.analysis.reading.statements import with_origins
from astile.ir import nodes, query
from astile.ir.program import Program
from tests.support.programs import program_from

_RANGES = (
    "range(n)", "range(m)", "range(3)", "range(1, n)", "range(n - 1)", "range(1, n - 1)",
    "range(n - 1, -1, -1)", "range(0, n, 2)", "range(n // 2)", "range(min(n, 3))", "range(5)",
)  # fmt: skip
_INNER = ("range({v})", "range({v}, n)", "range({v} + 1)", "range({v} + 1, n)", "range(n - {v})")
_OPERATORS = ("+", "-", "*")


class Writer:
    """Writes one random function ``f(A, B, C, n, m)``; A and C have one axis, B has two."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []
        self.temporaries = False

    def program(self) -> Program:
        """A random program, with origins."""
        self.lines = ["def f(A, B, C, n, m):"]
        if self.chance.random() < 0.5:
            self.temporaries = True
            kind = self.chance.choice(["empty", "zeros"])
            self.lines.append(f"    T = np.{kind}(n + 3)")
            if kind == "empty" and self.chance.random() < 0.8:
                self.lines += ["    for z in range(n + 3):", "        T[z] = z"]
        self.lines.append("    s = 0.0")
        for _ in range(self.chance.choice([1, 1, 2, 2, 3])):
            self.nest("    ", [], self.chance.choice([1, 2, 2, 3]))
        if self.chance.random() < 0.3:
            self.lines.append("    C[0] = s")
        return with_origins(program_from("\n".join(self.lines)))

    def nest(self, indent: str, around: list[str], depth: int) -> None:
        """A loop nest, perhaps imperfect."""
        name = "ijkl"[len(around)]
        if around and self.chance.random() < 0.3:
            header = self.chance.choice(_INNER).format(v=self.chance.choice(around))
        else:
            header = self.chance.choice(_RANGES)
        self.lines.append(f"{indent}for {name} in {header}:")
        inside, body = [*around, name], indent + "    "
        if self.chance.random() < 0.3:
            self.statement(body, inside)
        if self.chance.random() < 0.15:
            left, right = self.index(inside), self.index(inside)
            self.lines.append(f"{body}if {left} {self.chance.choice(['<', '<=', '!='])} {right}:")
            body += "    "
            self.statement(body, inside)
        if depth > 1:
            self.nest(body, inside, depth - 1)
        else:
            self.statement(body, inside)
        if self.chance.random() < 0.3:
            self.statement(body, inside)

    def index(self, names: list[str]) -> str:
        """A random index."""
        v, w = self.chance.choice(names), self.chance.choice(names)
        forms = [v] * 6 + [
            f"{v} + 1", f"{v} - 1", f"{v} + {w}", f"n - 1 - {v}", f"{v} // 2", f"2 * {v}",
            f"({v} + 1) % 3", "0", "n - 1", "-1", f"{v} - {w}", f"min({v}, {w})",
        ]  # fmt: skip
        return self.chance.choice(forms)

    def cell(self, names: list[str]) -> str:
        """A random cell or scalar."""
        arrays = ["A", "A", "B", "C", "s"] + (["T", "T"] if self.temporaries else [])
        array = self.chance.choice(arrays)
        if array == "s":
            return "s"
        if array == "B":
            return f"B[{self.index(names)}, {self.index(names)}]"
        return f"{array}[{self.index(names)}]"

    def value(self, names: list[str]) -> str:
        """A random value."""
        parts = [self.cell(names) for _ in range(self.chance.choice([1, 1, 2]))]
        if self.chance.random() < 0.3:
            parts.append(self.chance.choice(["2", self.chance.choice(names), "1"]))
        text = parts[0]
        for each in parts[1:]:
            text += f" {self.chance.choice(_OPERATORS)} {each}"
        return text

    def statement(self, indent: str, names: list[str]) -> None:
        """A random leaf statement."""
        draw, cell = self.chance.random(), self.cell(names)
        if draw < 0.1:
            self.lines.append(f"{indent}if {self.cell(names)} > {self.cell(names)}:")
            indent += "    "
            if self.chance.random() < 0.6:
                self.lines.append(f"{indent}{self.cell(names)} = {self.value(names)}")
        if draw < 0.6:
            self.lines.append(f"{indent}{cell} = {self.value(names)}")
        elif draw < 0.9:
            op = self.chance.choice(["+=", "-=", "+=", "*="])
            self.lines.append(f"{indent}{cell} {op} {self.value(names)}")
        else:
            word = self.chance.choice(["max", "min"])
            self.lines.append(f"{indent}{cell} = {word}({cell}, {self.value(names)})")


# --- edits --------------------------------------------------------------------------------------


def edited(program: Program, chance: random.Random, count: int) -> Program:
    """The program after random edits that keep the origins, right or wrong ones."""
    new = program.cloned()
    for _ in range(count):
        chance.choice(_EDITS)(new.function, chance)
    return new


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    return [block for node in query.statements(function) for block in query.bodies(node)]


def _some_loop(function: ast.FunctionDef, chance: random.Random) -> ast.For | None:
    found = query.loops(function)
    return chance.choice(found) if found else None


def _swap_neighbours(function: ast.FunctionDef, chance: random.Random) -> None:
    blocks = [block for block in _blocks(function) if len(block) > 1]
    if blocks:
        block = chance.choice(blocks)
        at = chance.randrange(len(block) - 1)
        block[at], block[at + 1] = block[at + 1], block[at]


def _interchange(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [
        e for e in query.loops(function) if len(e.body) == 1 and isinstance(e.body[0], ast.For)
    ]
    if found:
        outer = chance.choice(found)
        inner = outer.body[0]
        assert isinstance(inner, ast.For)
        outer.target, inner.target = inner.target, outer.target
        outer.iter, inner.iter = inner.iter, outer.iter


def _reverse(function: ast.FunctionDef, chance: random.Random) -> None:
    loop = _some_loop(function, chance)
    header = query.header(loop) if loop is not None else None
    if loop is not None and header is not None and query.is_constant(header.step, 1):
        one = nodes.const(1)
        low = nodes.binary(nodes.clone(header.start), ast.Sub, one)
        high = nodes.binary(nodes.clone(header.stop), ast.Sub, nodes.const(1))
        loop.iter = nodes.call("range", [high, low, nodes.const(-1)])


def _split(function: ast.FunctionDef, chance: random.Random) -> None:
    loop = _some_loop(function, chance)
    header = query.header(loop) if loop is not None else None
    if loop is None or header is None or not query.is_constant(header.step, 1):
        return
    outer, inner = f"{header.variable}_o", f"{header.variable}_i"
    if {outer, inner} & query.names(function):
        return
    size = chance.choice([2, 3])
    text = f"{outer} * {size} + {inner}"
    value = nodes.binary(ast.parse(text, mode="eval").body, ast.Add, nodes.clone(header.start))
    body: list[ast.stmt] = [nodes.substitute(e, {header.variable: value}) for e in loop.body]
    if chance.random() < 0.9:
        guard = nodes.compare(nodes.clone(value), ast.Lt, nodes.clone(header.stop))
        body = [nodes.if_then(guard, body)]
    nested = nodes.for_loop(inner, nodes.call("range", [nodes.const(size)]), body)
    length = nodes.binary(nodes.clone(header.stop), ast.Sub, nodes.clone(header.start))
    length = nodes.binary(length, ast.Add, nodes.const(size - 1))
    trips = nodes.binary(length, ast.FloorDiv, nodes.const(size))
    loop.target, loop.iter, loop.body = (
        nodes.target(outer), nodes.call("range", [trips]), [nested],
    )  # fmt: skip


def _distribute(function: ast.FunctionDef, chance: random.Random) -> None:
    places = [
        (block, at)
        for block in _blocks(function)
        for at, each in enumerate(block)
        if isinstance(each, ast.For) and len(each.body) > 1
    ]
    if places:
        block, at = chance.choice(places)
        first = block[at]
        assert isinstance(first, ast.For)
        second = nodes.clone(first)
        cut = chance.randrange(1, len(first.body))
        first.body, second.body = first.body[:cut], second.body[cut:]
        block.insert(at + 1, second)


def _merge(function: ast.FunctionDef, chance: random.Random) -> None:
    for block in _blocks(function):
        for at, (first, second) in enumerate(itertools.pairwise(block)):
            if not isinstance(first, ast.For) or not isinstance(second, ast.For):
                continue
            old, new = query.header(first), query.header(second)
            alike = nodes.same(first.iter, second.iter)
            if old is not None and new is not None and alike and chance.random() < 0.7:
                values = {new.variable: nodes.name(old.variable)}
                first.body += [nodes.substitute(each, values) for each in second.body]
                del block[at + 1]
                return


def _shift_constant(function: ast.FunctionDef, chance: random.Random) -> None:
    found = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.Constant) and type(node.value) is int
    ]
    if found:
        node = chance.choice(found)
        assert isinstance(node.value, int)
        node.value = max(0, node.value + chance.choice([-1, 1]))


def _drop(function: ast.FunctionDef, chance: random.Random) -> None:
    block = chance.choice(_blocks(function))
    if len(block) > 1:
        del block[chance.randrange(len(block))]


def _twice(function: ast.FunctionDef, chance: random.Random) -> None:
    block = chance.choice(_blocks(function))
    at = chance.randrange(len(block))
    block.insert(at, nodes.clone(block[at]))


def _drop_guard(function: ast.FunctionDef, chance: random.Random) -> None:
    for block in _blocks(function):
        for at, each in enumerate(block):
            if isinstance(each, ast.If) and not each.orelse and chance.random() < 0.5:
                block[at : at + 1] = each.body
                return


def _hoist(function: ast.FunctionDef, chance: random.Random) -> None:
    """Move the first or last statement of a loop out of it."""
    for block in _blocks(function):
        for at, each in enumerate(block):
            if isinstance(each, ast.For) and len(each.body) > 1 and chance.random() < 0.3:
                if chance.random() < 0.5:
                    block.insert(at, each.body.pop(0))
                else:
                    block.insert(at + 1, each.body.pop())
                return


def _sink(function: ast.FunctionDef, chance: random.Random) -> None:
    """Move a statement into the loop after it."""
    for block in _blocks(function):
        for at, (first, second) in enumerate(itertools.pairwise(block)):
            if isinstance(second, ast.For) and chance.random() < 0.3:
                second.body.insert(0, first)
                del block[at]
                return


def _stage(function: ast.FunctionDef, chance: random.Random) -> None:
    """Copy an array into a buffer in front of a nest, and read some of its cells from there."""
    array = chance.choice(["A", "C"])
    if "stage" in query.names(function):
        return
    index = next((k for k, each in enumerate(function.body) if isinstance(each, ast.For)), None)
    if index is None:
        return
    loop = function.body[index]
    text = f"for z_1 in range({array}.shape[0]):\n    stage[z_1] = {array}[z_1]"
    copy = ast.parse(text).body
    made = ast.parse(f"stage = np.empty({array}.shape[0], {array}.dtype)").body
    for access in query.accesses(loop, array):
        if isinstance(access.ctx, ast.Load) and chance.random() < 0.8:
            assert isinstance(access.value, ast.Name)
            access.value.id = "stage"
    function.body[index:index] = [*made, *copy]


def _expand(function: ast.FunctionDef, chance: random.Random) -> None:
    """Turn the scalar into an array cell, everywhere or nearly so."""
    if "many" in query.names(function):
        return
    cell = chance.choice(["0", "1", "n"])
    for node in list(query.statements(function)):
        for child in list(ast.iter_child_nodes(node)):
            if isinstance(child, ast.expr) and chance.random() < 0.97:
                _Cells(cell).visit(node)
    made = ast.parse("many = np.empty(n + 1, np.result_type(0.0, A))").body
    function.body[0:0] = made


class _Cells(ast.NodeTransformer):
    def __init__(self, cell: str) -> None:
        self.cell = cell

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id != "s":
            return node
        index = ast.parse(self.cell, mode="eval").body
        return nodes.subscript("many", [index], store=isinstance(node.ctx, ast.Store))


_EDITS: tuple[Callable[[ast.FunctionDef, random.Random], None], ...] = (
    _swap_neighbours, _swap_neighbours, _interchange, _interchange, _reverse, _split, _split,
    _distribute, _merge, _merge, _shift_constant, _drop, _twice, _drop_guard, _hoist, _sink,
    _stage, _stage, _expand,
)  # fmt: skip


# --- running ------------------------------------------------------------------------------------

_CODE = "exec"


class _Numpy:
    """NumPy, with another content of fresh memory."""

    def __init__(self, content: float) -> None:
        self.content = content

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    def empty(self, shape: object, dtype: object = float) -> object:
        return np.full(shape, self.content, dtype)  # type: ignore[call-overload]


def loaded(program: Program, content: float = 7.0) -> Callable[..., object]:
    """The program as a Python function; `content` is what fresh memory holds."""
    module = nodes.module_of([nodes.clone(program.function)])
    space: dict[str, object] = {name: getattr(loops, name) for name in loops.__all__}
    space["np"] = _Numpy(content)
    exec(compile(ast.fix_missing_locations(module), program.source.name, _CODE), space)
    found = space[program.name]
    assert callable(found)
    return found


def outcome(function: Callable[..., object], n: int, m: int, big: int) -> list[object] | None:
    """The arrays after a run on integers, or None when it raised."""
    values = np.random.default_rng(n * 7 + m)
    arrays = [
        values.integers(-4, 5, n + big).astype(float),
        values.integers(-4, 5, (n + big, n + big)).astype(float),
        values.integers(-4, 5, n + big).astype(float),
    ]
    try:
        with np.errstate(all="ignore"):
            result = function(*arrays, n, m)
    except (IndexError, UnboundLocalError, ValueError):
        return None
    return [*arrays, result]


def same(first: list[object] | None, second: list[object] | None) -> bool:
    """Whether two outcomes are equal; NaN equals NaN."""
    if first is None or second is None:
        return first is second
    return all(
        np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
        for a, b in zip(first, second, strict=True)
    )
