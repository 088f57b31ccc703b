"""How much a call of a program computes, roughly: whether it is worth starting threads for."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from astile.ir import query
from astile.ir.program import Program

#: Extents of an array, or the value of an integer.
Size = tuple[int, ...] | int
#: So many operations take one core some microseconds, as long as it takes to start the others.
FEW = 1 << 15
_PLAIN = (
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.Subscript,
    ast.Attribute,
    ast.Tuple,
    ast.Name,
    ast.Constant,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
    ast.keyword,
)
#: Functions that compute one number from others.
_BUILTINS = ("abs", "bool", "complex", "float", "int", "len", "max", "min", "round")
_QUICK = ("numpy.", "math.", "cmath.", "astile.loops.")
_COUNTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.Call, ast.Subscript)


class Work:
    """What calls of one program compute.

    Args:
        program: as it was written.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        #: Ranks of the parameters -> what was found out about the text for these.
        self._known: dict[tuple[int, ...], _Text] = {}

    def is_little(self, sizes: Mapping[str, Size]) -> bool:
        """Whether one core is done with a call before others would have begun.

        Args:
            sizes: parameter -> its extents or its value.
        """
        return self.operations(sizes) < FEW

    def operations(self, sizes: Mapping[str, Size]) -> float:
        """About how many operations a call takes; infinity where more than sizes decides.

        A loop counts as often as its body in the middle iteration says, of two branches the longer
        one counts, and whatever works on whole arrays or calls other functions may take any time.

        Args:
            sizes: parameter -> its extents or its value.
        """
        shapes = {name: each for name, each in sizes.items() if isinstance(each, tuple)}
        ranks = tuple(len(shapes[name]) if name in shapes else -1 for name in sizes)
        text = self._known.setdefault(ranks, _Text({}, {}))
        return _Count(sizes, self._program.imports, text).body(self._program.function.body)


@dataclass(frozen=True)
class _Text:
    """What does not depend on sizes; trees by their identity.

    Args:
        costs: expression -> operations.
        written: loop -> names that it changes.
    """

    costs: dict[int, float]
    written: dict[int, set[str]]


class _Count:
    """Counts with what is known of names.

    Args:
        sizes: of the parameters.
        imports: name in the text -> what it stands for.
        text: is added to.
    """

    def __init__(self, sizes: Mapping[str, Size], imports: Mapping[str, str], text: _Text) -> None:
        self._shapes = {name: each for name, each in sizes.items() if isinstance(each, tuple)}
        self._numbers = {name: each for name, each in sizes.items() if isinstance(each, int)}
        self._ranks = {name: len(each) for name, each in self._shapes.items()}
        self._imports, self._text = imports, text

    def body(self, body: Sequence[ast.stmt]) -> float:
        """The operations of statements in order."""
        return math.fsum(map(self._statement, body))

    def _statement(self, statement: ast.stmt) -> float:
        match statement:
            case ast.Assign(targets=[target], value=value):
                return self._assign(statement, target, value)
            case ast.AugAssign(target=target, value=value):
                self._forget(target)
                return 1 + self._expression(value) + self._expression(target)
            case ast.For():
                return self._loop(statement)
            case ast.If(test=test, body=body, orelse=orelse):
                return self._expression(test) + max(self.body(body), self.body(orelse))
            case ast.Expr(value=value) | ast.Return(value=ast.expr() as value):
                return self._expression(value)
            case ast.Return() | ast.Pass() | ast.Continue() | ast.Break():
                return 0.0
        return math.inf

    def _assign(self, statement: ast.stmt, target: ast.expr, value: ast.expr) -> float:
        made = query.allocation(statement)
        if made is not None:
            self._ranks[made.array] = len(made.shape or ())
            extents = [self._integer(each) for each in made.shape or ()]
            known = [each for each in extents if each is not None]
            is_known = made.shape is not None and len(known) == len(extents)
            return float(math.prod(known)) if is_known else math.inf
        self._forget(target)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Attribute):
            shape = self._shape(value)
            if shape is None or len(shape) != len(target.elts):
                return math.inf
            for name, extent in zip(target.elts, shape, strict=True):
                if isinstance(name, ast.Name):
                    self._numbers[name.id] = extent
            return 0.0
        found = self._integer(value)
        if isinstance(target, ast.Name) and found is not None:
            self._numbers[target.id] = found
        return self._expression(value) + self._expression(target)

    def _forget(self, target: ast.expr) -> None:
        for name in query.names_written(target):
            self._numbers.pop(name, None)

    def _loop(self, loop: ast.For) -> float:
        header = query.header(loop)
        if header is None:
            return math.inf
        ends = (header.start, header.stop, header.step)
        start, stop, step = (self._integer(each) for each in ends)
        if start is None or stop is None or not step:
            return math.inf
        written = self._text.written.get(id(loop))
        if written is None:
            written = self._text.written[id(loop)] = query.names_written(loop)
        for name in written:
            self._numbers.pop(name, None)  # what another iteration leaves
        trips = max(0, -((start - stop) // step))  # `len` of a range fits into 64 bits only
        if not trips:
            return 0.0
        self._numbers[header.variable] = start + trips // 2 * step
        return trips * (1 + self.body(loop.body)) + self.body(loop.orelse)

    # --- expressions ----------------------------------------------------------------------------

    def _expression(self, value: ast.expr) -> float:
        found = self._text.costs.get(id(value))
        if found is None:
            found = self._text.costs[id(value)] = self._cost(value)
        return found

    def _cost(self, value: ast.expr) -> float:
        nodes = list(ast.walk(value))
        inside = {id(n.value) for n in nodes if isinstance(n, (ast.Subscript, ast.Attribute))}
        inside |= {id(each) for n in nodes if _is_length(n) for each in ast.iter_child_nodes(n)}
        is_single = all(map(self._is_single, nodes)) and all(
            id(each) in inside
            for each in nodes
            if isinstance(each, ast.Name) and self._is_array(each)
        )
        return float(sum(isinstance(n, _COUNTED) for n in nodes)) if is_single else math.inf

    def _is_array(self, name: ast.Name) -> bool:
        return name.id in self._ranks

    def _is_single(self, node: ast.AST) -> bool:
        """Whether a part of an expression is about single numbers, and quickly done."""
        if isinstance(node, ast.Subscript):
            rank = self._ranks.get(query.base_name(node) or "")
            return rank in (None, len(query.indices(node)))
        if isinstance(node, ast.Call):
            word = query.dotted(node.func) or ""
            head, _, rest = word.partition(".")
            path = f"{self._imports.get(head, head)}.{rest}" if rest else self._imports.get(head)
            return word in _BUILTINS if path is None else path.startswith(_QUICK)
        return isinstance(node, _PLAIN)

    def _shape(self, value: ast.expr) -> tuple[int, ...] | None:
        """The extents that ``x.shape`` stands for."""
        if isinstance(value, ast.Attribute) and value.attr == "shape":
            array = value.value
            return self._shapes.get(array.id) if isinstance(array, ast.Name) else None
        return None

    def _integer(self, value: ast.expr) -> int | None:
        match value:
            case ast.Constant(value=int(number)):
                return number
            case ast.Name(id=name):
                return self._numbers.get(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                found = self._integer(operand)
                return None if found is None else -found
            case ast.Subscript(value=array, slice=ast.Constant(value=int(axis))):
                shape = self._shape(array)
                return (
                    shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None
                )
            case ast.BinOp(left=left, op=operator, right=right):
                return _computed(operator, self._integer(left), self._integer(right))
            case ast.Call(func=ast.Name(id="min" | "max" as word), args=args, keywords=[]):
                found_all = [self._integer(each) for each in args]
                known = [each for each in found_all if each is not None]
                if len(known) < max(len(found_all), 2):
                    return None
                return min(known) if word == "min" else max(known)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]):
                return self._shapes[name][0] if self._shapes.get(name) else None
        return None


def _is_length(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and query.dotted(node.func) == "len" and bool(node.args)


def _computed(operator: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv() if right:
            return left // right
        case ast.Mod() if right:
            return left % right
    return None
