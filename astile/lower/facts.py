"""What a lowering knows about the integers of a program: which names they are, which are sizes."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from astile.analysis.forms import affine, intervals, params
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.ir import nodes, query
from astile.ir.program import Program

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)


@dataclass(frozen=True)
class Facts:
    """Integer names of a program.

    Args:
        integers: names that hold integers wherever they are read.
        sizes: top-level names assigned once from sizes -> their value over ``A.shape[k]``.
        constants: module constants and top-level names that hold one known integer.
    """

    integers: frozenset[str]
    sizes: Mapping[str, Affine]
    constants: Mapping[str, int] = field(default_factory=dict)

    def form(self, expression: ast.expr) -> Affine:
        """The linear form of an integer expression, names of sizes and constants resolved."""
        return affine.of(expression).substituted(self.sizes)

    def number(self, expression: ast.expr) -> int | None:
        """The value of an integer expression where it is known now."""
        return self.form(expression).value

    def is_integer(self, expression: ast.expr) -> bool:
        """Whether an expression is certainly an integer made of integers, without cells."""
        if isinstance(expression, ast.Constant):
            return type(expression.value) is int
        if isinstance(expression, ast.Name):
            return expression.id in self.integers
        if isinstance(expression, ast.BinOp):
            return (
                isinstance(expression.op, _ARITHMETIC)
                and self.is_integer(expression.left)
                and self.is_integer(expression.right)
            )
        if isinstance(expression, ast.UnaryOp):
            return isinstance(expression.op, (ast.USub, ast.UAdd)) and self.is_integer(
                expression.operand
            )
        if isinstance(expression, ast.Call):
            word = query.dotted(expression.func)
            if word == "len":
                return True
            return word in ("min", "max") and all(map(self.is_integer, expression.args))
        return isinstance(expression, ast.Subscript) and is_size(expression)

    def is_static(self, condition: ast.expr) -> bool:
        """Whether a condition compares integers only: the same for all data."""
        if isinstance(condition, ast.Compare):
            return all(map(self.is_integer, [condition.left, *condition.comparators]))
        if isinstance(condition, ast.BoolOp):
            return all(map(self.is_static, condition.values))
        if isinstance(condition, ast.UnaryOp):
            return isinstance(condition.op, ast.Not) and self.is_static(condition.operand)
        return isinstance(condition, ast.Constant)

    def is_nonnegative(self, form: Affine, ranges: Sequence[Range]) -> bool:
        """Whether a form is proved ``>= 0`` for the given loop variables."""
        return intervals.is_nonnegative(form.substituted(self.sizes), self.ranges(ranges))

    def ranges(self, given: Sequence[Range]) -> list[Range]:
        """Ranges of loop variables, names of sizes and constants in their bounds resolved."""
        sizes = self.sizes
        return [
            Range(each.variable, each.first.substituted(sizes), each.last.substituted(sizes))
            for each in given
        ]


def is_size(expression: ast.expr) -> bool:
    """Whether this is ``A.shape[k]`` for a literal k."""
    return (
        isinstance(expression, ast.Subscript)
        and isinstance(expression.value, ast.Attribute)
        and expression.value.attr == "shape"
        and query.integer(expression.slice) is not None
    )


def of(program: Program) -> Facts:
    """The facts of a program."""
    function = program.function
    counts = _assignments(function)
    sizes: dict[str, Affine] = {}
    numbers: dict[str, int] = {}
    parameters = set(query.parameters(function))
    taken = query.names_written(function) | parameters
    for name, frozen in program.constants.items():
        if type(frozen) is int and name not in taken:
            sizes[name], numbers[name] = affine.constant(frozen), frozen
    unstable = {name for name, times in counts.items() if times > 1 or name in parameters}
    for statement in function.body:
        for name, value in _defined(statement):
            if name in unstable:
                continue
            form = affine.of(value).substituted(sizes)
            if _is_resolved(form) and not form.names() & unstable:
                sizes[name] = form
                if form.value is not None:
                    numbers[name] = form.value
    demanded = {n for n in params.names_of(program).integers if not counts.get(n)}
    integers = _integer_names(function, counts) | demanded | set(sizes)
    return Facts(frozenset(integers), sizes, numbers)


def _assignments(function: ast.FunctionDef) -> dict[str, int]:
    """How often each name is written, anywhere."""
    counts: dict[str, int] = {}
    for node in query.preorder(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def _defined(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Names and what they are set to; ``H, W = A.shape`` gives both sizes."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        yield target.id, value
    if not isinstance(target, (ast.Tuple, ast.List)):
        return
    names = target.elts
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        for position, each in enumerate(names):
            if isinstance(each, ast.Name):
                size = nodes.subscript(nodes.clone(value), [nodes.const(position)])
                yield each.id, size
    elif isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(names):
        for each, part in zip(names, value.elts, strict=True):
            if isinstance(each, ast.Name):
                yield each.id, part


def _is_resolved(form: Affine) -> bool:
    """Whether a form is made of sizes and numbers alone."""

    def known(atom: ast.expr) -> bool:
        if isinstance(atom, ast.BinOp):
            return known(atom.left) and known(atom.right) and isinstance(atom.op, _ARITHMETIC)
        if isinstance(atom, ast.Call):
            word = query.dotted(atom.func)
            return (word in ("min", "max") and all(map(known, atom.args))) or word == "len"
        return query.integer(atom) is not None or is_size(atom)

    return all(known(atom) for _, atom in form.terms.values())


def _integer_names(function: ast.FunctionDef, counts: Mapping[str, int]) -> set[str]:
    """Variables of counted loops, and names that Python itself demands to be integers."""
    found: set[str] = set()
    variables: dict[str, int] = {}
    for loop in query.loops(function):
        header = query.header(loop)
        if header is None:
            continue
        variables[header.variable] = variables.get(header.variable, 0) + 1
        for bound in (header.start, header.stop, header.step):
            found |= _demanded(bound)
    found = {
        name for name in found if counts.get(name, 0) == (0 if _is_parameter(function, name) else 1)
    }
    return found | {name for name, times in variables.items() if counts.get(name) == times}


def _is_parameter(function: ast.FunctionDef, name: str) -> bool:
    return name in query.parameters(function)


def _demanded(bound: ast.expr) -> set[str]:
    """Names in a bound that must be integers, since `range` takes nothing else."""
    if isinstance(bound, ast.Name):
        return {bound.id}
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, _ARITHMETIC):
        return _demanded(bound.left) | _demanded(bound.right)
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        return _demanded(bound.operand)
    return set()
