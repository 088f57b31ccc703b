"""`transform_layout`: an intermediate array in another order of its cells."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence

from astile.analysis.forms import affine, intervals
from astile.analysis.forms.affine import Affine
from astile.analysis.forms.intervals import Range
from astile.errors import ScheduleError
from astile.ir import nodes, query
from astile.ir.printer import print_expression
from astile.ir.program import Program
from astile.rewrites.parts.result import Editor, Rewritten
from astile.rewrites.parts.storage import Intermediate, accesses_of, intermediate, reindex
from astile.rewrites.parts.trips import at_least_0

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_HINT = 'write it like `"lambda i, j: (j, i)"` or `"lambda i, j: (i // 16, j, i % 16)"`'


def transform_layout(program: Program, array: str, index_map: str) -> Rewritten:
    """Keep the cells of an array in other places: transposed, in tiles, interleaved.

    The text of the map is parsed, and nothing of it is run. That no two cells come to the same
    place is left to the proof.

    Args:
        program: the program before.
        array: an array allocated in the function.
        index_map: a lambda as text, from old indices to a tuple of new ones, made of ``+``, ``-``,
            ``*``, ``//`` and ``%`` by numbers.

    Raises:
        ScheduleError: for a map of another form, one that does not fit the axes or leaves the
            array on the lower side, and an array that is no intermediate.

    Before:
        b = np.empty((n, 64), np.float32)
        for i in range(n):
            for j in range(64):
                b[i, j] = x[i, j]
        for j in range(64):
            for i in range(n):
                y[j, i] = b[i, j] * 2

    After ``transform_layout("b", "lambda i, j: (j // 16, i, j % 16)")``:
        b = np.empty((4, n, 16), np.float32)
        for i in range(n):
            for j in range(64):
                b[j // 16, i, j % 16] = x[i, j]
        for j in range(64):
            for i in range(n):
                y[j, i] = b[j // 16, i, j % 16] * 2
    """
    edit = Editor(program)
    parameters, results = read_map(index_map)
    held = intermediate(edit, array)
    if len(parameters) != len(held.shape):
        raise ScheduleError(
            f"the map takes {len(parameters)} indices, {array} has {len(held.shape)} axes",
            code="schedule.bad-map",
            span=edit.span(held.statement),
            hints=[_HINT],
        )
    shape = [_extent(edit, held, parameters, each) for each in results]
    for access in accesses_of(edit, array):
        forms = [affine.of(each) for each in query.indices(access)]
        values = dict(zip(parameters, forms, strict=True))
        reindex(access, array, [_applied(each, values) for each in results])
    edit.replace(held.statement, [held.remade(shape)])
    return edit.finish()


def read_map(text: str) -> tuple[list[str], list[ast.expr]]:
    """The parameters and results of a map of indices.

    Args:
        text: a lambda; it is parsed and never run.

    Raises:
        ScheduleError: for anything that is no map of this form.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        tree = None
    if not isinstance(tree, ast.Lambda):
        raise ScheduleError("the map is no lambda", code="schedule.bad-map", hints=[_HINT])
    given = tree.args
    plain = not (given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs)
    if not plain or given.defaults or not given.args:
        raise ScheduleError(
            "the map must take one plain parameter for each axis",
            code="schedule.bad-map",
            hints=[_HINT],
        )
    parameters = [each.arg for each in given.args]
    results = list(tree.body.elts) if isinstance(tree.body, ast.Tuple) else [tree.body]
    for each in results:
        _check(each, set(parameters))
    if not results:
        raise ScheduleError("the map gives no index", code="schedule.bad-map", hints=[_HINT])
    return parameters, results


def _check(expression: ast.expr, known: set[str]) -> None:
    match expression:
        case ast.Name(id=name) if name in known:
            return
        case ast.Constant(value=value) if type(value) is int:
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, known)
            return
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            _check(left, known)
            _check(right, known)
            if _is_readable(left, op, right):
                return
    raise ScheduleError(
        f"{print_expression(expression)} is no sum, multiple, quotient or remainder of indices",
        code="schedule.bad-map",
        hints=[_HINT],
    )


def _is_readable(left: ast.expr, op: ast.operator, right: ast.expr) -> bool:
    """Whether a product has a number in it, and a quotient a positive number below."""
    if isinstance(op, ast.Mult):
        return affine.of(left).value is not None or affine.of(right).value is not None
    divisor = query.integer(right)
    divides = isinstance(op, (ast.FloorDiv, ast.Mod))
    return not divides or (divisor is not None and divisor > 0)


def _applied(result: ast.expr, values: Mapping[str, Affine]) -> ast.expr:
    expressions = {name: form.expression() for name, form in values.items()}
    return affine.of(nodes.substitute(result, expressions)).expression()


def _extent(
    edit: Editor, held: Intermediate, parameters: Sequence[str], result: ast.expr
) -> ast.expr:
    """How long the new axis is, from the ranges of the old indices."""
    # extents may name variables that are called like the parameters of the map
    renamed = {each: edit.fresh_name(f"{each}_index") for each in parameters}
    zero = affine.constant(0)
    ranges = [
        Range(renamed[name], zero, affine.of(extent) - 1)
        for name, extent in zip(parameters, held.shape, strict=True)
    ]
    values = {name: nodes.name(each) for name, each in renamed.items()}
    form = affine.of(nodes.substitute(result, values))
    low, high = intervals.lowest(form, ranges), intervals.highest(form, ranges)
    named = set(renamed.values()) & (low.names() | high.names())
    if named or low.value is None or low.value < 0:
        raise ScheduleError(
            f"{print_expression(result)} may be below 0 or has no known extent",
            code="schedule.bad-map",
            span=edit.span(held.statement),
            hints=["start every new index at 0"],
        )
    return _together(at_least_0(edit, held.statement, high + 1)).expression()


def _together(form: Affine) -> Affine:
    """``(n - 1) // 16 + 1`` as ``(n + 15) // 16``."""
    if len(form.terms) == 1:
        [(coefficient, atom)] = form.terms.values()
        if coefficient == 1 and isinstance(atom, ast.BinOp) and isinstance(atom.op, ast.FloorDiv):
            divisor = query.integer(atom.right)
            if divisor is not None and divisor > 0:
                return affine.atom(
                    nodes.binary(
                        (affine.of(atom.left) + form.constant * divisor).expression(),
                        ast.FloorDiv,
                        nodes.const(divisor),
                    )
                )
    return form


class _Index:
    """An index that writes down what is computed from it."""

    def __init__(self, expression: ast.expr) -> None:
        self.expression = expression

    def _with(self, op: type[ast.operator], other: object, *, first: bool = True) -> _Index:
        operand = other.expression if isinstance(other, _Index) else _number(other)
        sides = (self.expression, operand) if first else (operand, self.expression)
        return _Index(nodes.binary(nodes.clone(sides[0]), op, nodes.clone(sides[1])))

    def __add__(self, other: object) -> _Index:
        return self._with(ast.Add, other)

    def __radd__(self, other: object) -> _Index:
        return self._with(ast.Add, other, first=False)

    def __sub__(self, other: object) -> _Index:
        return self._with(ast.Sub, other)

    def __rsub__(self, other: object) -> _Index:
        return self._with(ast.Sub, other, first=False)

    def __mul__(self, other: object) -> _Index:
        return self._with(ast.Mult, other)

    def __rmul__(self, other: object) -> _Index:
        return self._with(ast.Mult, other, first=False)

    def __floordiv__(self, other: object) -> _Index:
        return self._with(ast.FloorDiv, other)

    def __mod__(self, other: object) -> _Index:
        return self._with(ast.Mod, other)

    def __neg__(self) -> _Index:
        return _Index(ast.UnaryOp(ast.USub(), nodes.clone(self.expression)))


def _number(value: object) -> ast.expr:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is no integer")
    return nodes.const(operator.index(value))


def text_of(index_map: Callable[..., object]) -> str:
    """The text of a map that is given as a function: it is called with indices that write it down.

    Args:
        index_map: a lambda from old indices to a tuple of new ones.

    Raises:
        ScheduleError: when it does anything but arithmetic with its indices.
    """
    try:
        parameters = list(inspect.signature(index_map).parameters)
        found = index_map(*(_Index(nodes.name(each)) for each in parameters))
        results = [
            each.expression if isinstance(each, _Index) else _number(each)
            for each in (found if isinstance(found, (tuple, list)) else (found,))
        ]
    except (TypeError, ValueError, AttributeError) as problem:
        raise ScheduleError(
            f"the map does something else than arithmetic with indices: {problem}",
            code="schedule.bad-map",
            hints=[_HINT],
        ) from None
    texts = [print_expression(each) for each in results]
    return f"lambda {', '.join(parameters)}: ({', '.join(texts)}{',' * (len(texts) == 1)})"
